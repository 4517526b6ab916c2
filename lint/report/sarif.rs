//! SARIF 2.1.0, in the subset that GitHub's code scanning reads. Columns count units of UTF-16, as viewers do that do not read `columnKind`.

use std::io::{self, Write};

use rideout_rules::{
    RULES, Rule,
    model::{Level, Location},
};
use serde_json::{Value, json};

use super::{
    Report, Row,
    fingerprints::Fingerprints,
    head::{Head, Unit},
    json::{self, TOOL},
    repository::Repository,
};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// One document with one run, also where there is nothing to report.
pub(crate) fn sarif(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut fingerprints = Fingerprints::default();
    let results: Vec<Value> = report.over().map(|row| result(report, row, &mut fingerprints)).collect();
    let driver = json!({
        "name": "rideout",
        "semanticVersion": TOOL.version,
        "rules": RULES.iter().map(rule).collect::<Vec<_>>(),
    });
    let run = json!({ "tool": { "driver": driver }, "columnKind": "utf16CodeUnits", "results": results });
    json::write(out, &json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] }))
}

fn rule(rule: &Rule) -> Value {
    let page = rule.page();
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.summary },
        "fullDescription": { "text": rule.why },
        "help": { "text": page, "markdown": page },
        "defaultConfiguration": { "level": "error" },
    })
}

fn result(report: &Report<'_>, row: &Row, fingerprints: &mut Fingerprints) -> Value {
    let finding = &row.finding;
    let related: Vec<Value> = report
        .related(row)
        .into_iter()
        .map(|(location, label)| {
            let mut place = place(report, location.file, region(&Head::new(&report.sources, location)));
            place["message"] = json!({ "text": label });
            place
        })
        .collect();
    let print = fingerprints.of(row, &path(report, finding.primary.file));
    let mut result = json!({
        "ruleId": finding.rule,
        "ruleIndex": RULES.iter().position(|rule| rule.id == finding.rule),
        "level": match finding.level {
            Level::Deny => "error",
            Level::Pedantic => "warning",
        },
        "message": { "text": format!("{}\n\nhelp: {}", finding.message, finding.help) },
        "locations": [place(report, finding.primary.file, region(&report.head(row)))],
        "relatedLocations": related,
        "partialFingerprints": { "primaryLocationLineHash": print },
    });
    if let Some(suggestion) = &finding.suggestion {
        result["fixes"] = json!([fix(report, row, &suggestion.message)]);
    }
    result
}

fn place(report: &Report<'_>, file: u32, region: Value) -> Value {
    let uri = encoded(&path(report, file));
    json!({ "physicalLocation": { "artifactLocation": { "uri": uri }, "region": region } })
}

fn path(report: &Report<'_>, file: u32) -> String {
    Repository::around(report.root).path(report.sources.path(file))
}

fn region(head: &Head<'_>) -> Value {
    let (start, end) = head.columns(Unit::Utf16);
    json!({ "startLine": head.line, "startColumn": start, "endLine": head.line, "endColumn": end })
}

/// The suggestion's edits, which lie in one file. It need not be the finding's own.
fn fix(report: &Report<'_>, row: &Row, message: &str) -> Value {
    let edits = report.edits(row);
    let file = edits.first().map_or(row.finding.primary.file, |(location, _)| location.file);
    let point = |location: Location| {
        let head = Head::new(&report.sources, location);
        (head.line, head.columns(Unit::Utf16).0)
    };
    let replacement = |(location, text): (Location, String)| {
        let (line, column) = point(location);
        let (end_line, end_column) = point(Location { start: location.end, ..location });
        json!({
            "deletedRegion": {
                "startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column,
            },
            "insertedContent": { "text": text },
        })
    };
    let replacements: Vec<Value> = edits.into_iter().map(replacement).collect();
    json!({
        "description": { "text": message },
        "artifactChanges": [{
            "artifactLocation": { "uri": encoded(&path(report, file)) },
            "replacements": replacements,
        }],
    })
}

/// A path as a relative URI.
fn encoded(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/!$&'()*+,;=@".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};

    use super::{encoded, sarif};
    use crate::report::{Report, testing};

    fn shown(analysis: &crate::analysis::Analysis) -> Value {
        let mut out = Vec::new();
        sarif(&Report::new(Path::new("/w"), analysis, true), &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    fn place(uri: &str, line: u32, start: u32, end: u32) -> Value {
        let region = json!({ "startLine": line, "startColumn": start, "endLine": line, "endColumn": end });
        json!({ "artifactLocation": { "uri": uri }, "region": region })
    }

    #[test]
    fn a_result_has_a_rule_a_place_and_its_way() {
        let run = &shown(&testing::analysis())["runs"][0];
        let result = &run["results"][1];
        assert_eq!(result["ruleId"], "unguarded-watch");
        assert_eq!(run["tool"]["driver"]["rules"][2]["id"], "unguarded-watch");
        assert_eq!(result["ruleIndex"], 2);
        // The emoji before the loop is two units.
        assert_eq!(result["locations"][0]["physicalLocation"], place("src/run.rs", 2, 15, 51));
        let related = &result["relatedLocations"][0];
        assert_eq!(related["physicalLocation"], place("src/open.rs", 1, 9, 27));
        assert_eq!(related["message"]["text"], "opened here, and only here");
        assert!(result.get("fixes").is_none());
    }

    #[test]
    fn a_suggestion_is_a_fix() {
        let mut analysis = testing::analysis();
        testing::suggest(&mut analysis);
        let fix = &shown(&analysis)["runs"][0]["results"][1]["fixes"][0];
        assert_eq!(fix["description"]["text"], "open it again");
        assert_eq!(
            fix["artifactChanges"][0]["replacements"][0],
            json!({
                "deletedRegion": { "startLine": 2, "startColumn": 15, "endLine": 3, "endColumn": 3 },
                "insertedContent": { "text": "loop {\n\t}" }
            })
        );
    }

    #[test]
    fn a_path_is_a_uri() {
        assert_eq!(encoded("src/a b%c:d,e\u{e9}\n#?.rs"), "src/a%20b%25c%3Ad,e%C3%A9%0A%23%3F.rs");
    }

    #[test]
    fn no_finding_is_a_run_without_results() {
        assert_eq!(shown(&crate::analysis::Analysis::default())["runs"][0]["results"], json!([]));
    }
}
