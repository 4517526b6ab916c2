//! The diagnostic format of reviewdog. Its columns count bytes.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use rideout_rules::model::{Level, Location};
use serde::Serialize;

use super::{
    Report, Row,
    head::{Head, Unit},
    json,
    repository::Repository,
    standing::surplus,
};

#[derive(Serialize)]
struct Document<'a> {
    source: Named,
    diagnostics: Vec<Diagnostic<'a>>,
}

#[derive(Serialize)]
struct Named {
    name: &'static str,
}

#[derive(Serialize)]
struct Diagnostic<'a> {
    message: Cow<'a, str>,
    location: Place,
    severity: &'static str,
    code: Code,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suggestions: Vec<Suggestion>,
}

#[derive(Serialize)]
struct Code {
    value: &'static str,
}

#[derive(Serialize)]
struct Place {
    path: String,
    range: Range,
}

#[derive(Serialize)]
struct Range {
    start: Point,
    end: Point,
}

#[derive(Serialize)]
struct Point {
    line: usize,
    column: usize,
}

#[derive(Serialize)]
struct Suggestion {
    range: Range,
    text: String,
}

/// One document.
pub(crate) fn rdjson(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let repository = Repository::around(report.root);
    let findings = report.over().map(|row| diagnostic(report, &repository, row));
    let baseline = repository.path(report.verdict.baseline.as_deref().unwrap_or_default());
    let entries = surplus(report).into_iter().filter(|entry| entry.fails).map(|entry| Diagnostic {
        message: entry.message.into(),
        location: Place { path: baseline.clone(), range: range(&Head::blank(entry.line)) },
        severity: "ERROR",
        code: Code { value: "baseline" },
        suggestions: Vec::new(),
    });
    let diagnostics = findings.chain(entries).collect();
    json::write(out, &Document { source: Named { name: "rideout" }, diagnostics })
}

fn diagnostic<'a>(report: &'a Report<'_>, repository: &Repository<'_>, row: &'a Row) -> Diagnostic<'a> {
    let finding = &row.finding;
    let path = repository.path(report.sources.path(finding.primary.file));
    // A reviewer takes one suggestion at a time, so a change of two places is none.
    let suggestions = match report.edits(row).as_slice() {
        [(location, text)] if location.file == finding.primary.file => {
            vec![Suggestion { range: edited(report, *location), text: text.clone() }]
        }
        _ => Vec::new(),
    };
    Diagnostic {
        message: finding.message.as_str().into(),
        location: Place { path, range: range(&report.head(row)) },
        severity: match finding.level {
            Level::Deny => "ERROR",
            Level::Pedantic => "WARNING",
        },
        code: Code { value: finding.rule },
        suggestions,
    }
}

fn range(head: &Head<'_>) -> Range {
    let (start, end) = head.columns(Unit::Bytes);
    Range { start: Point { line: head.line, column: start }, end: Point { line: head.line, column: end } }
}

/// What is replaced ends where it ends, be that on a later line.
fn edited(report: &Report<'_>, location: Location) -> Range {
    let end = Location { start: location.end, ..location };
    let (start, end) = (Head::new(&report.sources, location), Head::new(&report.sources, end));
    let point = |head: &Head<'_>| Point { line: head.line, column: head.columns(Unit::Bytes).0 };
    Range { start: point(&start), end: point(&end) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};

    use super::rdjson;
    use crate::report::{Report, testing};

    fn shown(analysis: &crate::analysis::Analysis) -> Value {
        let mut out = Vec::new();
        rdjson(&Report::new(Path::new("/w"), analysis, true), &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn columns_are_bytes() {
        let shown = shown(&testing::analysis());
        assert_eq!(shown["source"], json!({ "name": "rideout" }));
        assert_eq!(shown["diagnostics"].as_array().unwrap().len(), 4);
        assert_eq!(
            shown["diagnostics"][1],
            json!({
                "message": "this watch on `connect_async` is over after its first error",
                "location": {
                    "path": "src/run.rs",
                    "range": { "start": { "line": 2, "column": 17 }, "end": { "line": 2, "column": 53 } }
                },
                "severity": "ERROR",
                "code": { "value": "unguarded-watch" }
            })
        );
        assert_eq!(shown["diagnostics"][2]["severity"], "WARNING");
    }

    #[test]
    fn a_suggestion_of_one_edit_is_handed_on() {
        let mut analysis = testing::analysis();
        testing::suggest(&mut analysis);
        assert_eq!(
            shown(&analysis)["diagnostics"][1]["suggestions"],
            json!([{
                "range": { "start": { "line": 2, "column": 17 }, "end": { "line": 3, "column": 3 } },
                "text": "loop {\n\t}"
            }])
        );
    }
}
