//! GitLab's code quality report.

use std::io::{self, Write};

use rideout_rules::model::Level;
use serde::Serialize;

use super::{Report, fingerprints::Fingerprints, json, repository::Repository, standing::surplus};
use crate::ratchet::fingerprint;

#[derive(Serialize)]
struct Violation {
    description: String,
    check_name: &'static str,
    fingerprint: String,
    severity: &'static str,
    location: Place,
}

#[derive(Serialize)]
struct Place {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: usize,
    end: usize,
}

/// One array, empty where there is nothing to report.
pub(crate) fn gitlab(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let repository = Repository::around(report.root);
    let mut fingerprints = Fingerprints::default();
    let findings = report.over().map(|row| {
        let finding = &row.finding;
        let path = repository.path(report.sources.path(finding.primary.file));
        Violation {
            description: finding.message.clone(),
            check_name: finding.rule,
            fingerprint: fingerprints.of(row, &path),
            severity: match finding.level {
                Level::Deny => "major",
                Level::Pedantic => "minor",
            },
            location: place(path, report.head(row).line),
        }
    });
    let baseline = repository.path(report.verdict.baseline.as_deref().unwrap_or_default());
    let entries = surplus(report).into_iter().filter(|entry| entry.fails).map(|entry| Violation {
        fingerprint: fingerprint(&[&baseline, &entry.message]),
        description: entry.message,
        check_name: "baseline",
        severity: "major",
        location: place(baseline.clone(), entry.line),
    });
    json::write(out, &findings.chain(entries).collect::<Vec<_>>())
}

fn place(path: String, line: usize) -> Place {
    Place { path, lines: Lines { begin: line, end: line } }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::Path};

    use serde_json::{Value, json};

    use super::gitlab;
    use crate::report::{Report, testing};

    fn shown(analysis: &crate::analysis::Analysis) -> Value {
        let mut out = Vec::new();
        gitlab(&Report::new(Path::new("/w"), analysis, true), &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn one_entry_a_finding() {
        let shown = shown(&testing::analysis());
        assert_eq!(shown.as_array().unwrap().len(), 4);
        let mut entry = shown[1].clone();
        assert!(entry["fingerprint"].take().as_str().unwrap().ends_with("9f3c1a2e:1"));
        assert_eq!(
            entry,
            json!({
                "description": "this watch on `connect_async` is over after its first error",
                "check_name": "unguarded-watch",
                "fingerprint": null,
                "severity": "major",
                "location": { "path": "src/run.rs", "lines": { "begin": 2, "end": 2 } }
            })
        );
        assert_eq!(shown[2]["severity"], "minor");
    }

    #[test]
    fn equal_findings_have_fingerprints_of_their_own() {
        let mut analysis = testing::analysis();
        analysis.findings = vec![analysis.findings[0].clone(); 3];
        let shown = shown(&analysis);
        let prints: BTreeSet<&str> =
            shown.as_array().unwrap().iter().map(|entry| entry["fingerprint"].as_str().unwrap()).collect();
        assert_eq!(prints.len(), 5, "{shown:#}");
    }

    #[test]
    fn no_finding_is_an_empty_array() {
        assert_eq!(shown(&crate::analysis::Analysis::default()), json!([]));
    }
}
