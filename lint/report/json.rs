//! Findings for machines. `schema.json` beside this file describes the document; a change that breaks readers raises `VERSION`.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use rideout_rules::{
    RULES,
    model::{Applicability, Finding, Location, ShowsAs},
};
use serde::Serialize;

use super::{
    Report, Row,
    diff::EntryRow,
    severity,
    sources::{Position, Sources},
};
use crate::{
    analysis::Suppression,
    ratchet::{Count as Numbers, State},
};

/// The version of the shape of both documents.
pub(super) const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    tool: Tool,
    root: String,
    summary: BTreeMap<&'static str, Count>,
    unread: Vec<UnreadFile<'a>>,
    baseline: Option<BaselineRow<'a>>,
    findings: Vec<FindingRow<'a>>,
    suppressions: Vec<SuppressionRow<'a>>,
}

#[derive(Serialize)]
pub(super) struct Tool {
    name: &'static str,
    pub(super) version: &'static str,
}

pub(super) const TOOL: Tool = Tool { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") };

#[derive(Default, Serialize)]
struct Count {
    count: usize,
    baseline: usize,
    new: usize,
    stale: usize,
}

#[derive(Serialize)]
pub(super) struct UnreadFile<'a> {
    file: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct FindingRow<'a> {
    rule: &'static str,
    severity: &'static str,
    message: &'a str,
    file: &'a str,
    span: Span,
    item: &'a str,
    fingerprint: &'a str,
    state: &'static str,
    source: Option<Source<'a>>,
    fault: Option<Fault<'a>>,
    path: Vec<StepRow<'a>>,
    help: &'a str,
    runtime: Option<&'a str>,
    suggestion: Option<SuggestionRow<'a>>,
    docs: String,
}

#[derive(Serialize)]
struct SuggestionRow<'a> {
    message: &'a str,
    applicability: Applicability,
    edits: Vec<EditRow<'a>>,
}

#[derive(Serialize)]
struct EditRow<'a> {
    file: &'a str,
    span: Span,
    text: String,
}

#[derive(Serialize)]
struct SuppressionRow<'a> {
    rule: &'static str,
    file: &'a str,
    span: Span,
    reason: &'a str,
    used: bool,
    findings: Vec<SuppressedRow<'a>>,
}

#[derive(Serialize)]
struct BaselineRow<'a> {
    file: &'a str,
    entries: usize,
    unseen: usize,
    strict: bool,
    stale: Vec<StaleRow<'a>>,
    base: Option<&'a str>,
    raised: Vec<RaiseRow<'a>>,
}

#[derive(Serialize)]
struct StaleRow<'a> {
    #[serde(flatten)]
    entry: EntryRow<'a>,
    line: usize,
}

#[derive(Serialize)]
struct RaiseRow<'a> {
    line: usize,
    message: &'a str,
}

#[derive(Serialize)]
struct SuppressedRow<'a> {
    severity: &'static str,
    message: &'a str,
    span: Span,
    item: &'a str,
    fingerprint: &'a str,
    state: &'static str,
}

#[derive(Serialize)]
pub(super) struct Span {
    start: Position,
    end: Position,
}

#[derive(Serialize)]
struct Source<'a> {
    #[serde(rename = "crate")]
    package: &'a str,
    api: &'a str,
}

#[derive(Serialize)]
struct Fault<'a> {
    shows_as: ShowsAs,
    text: &'a str,
}

#[derive(Serialize)]
struct StepRow<'a> {
    file: &'a str,
    span: Span,
    label: &'a str,
}

/// One document, with a final newline.
pub(crate) fn json(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut summary: BTreeMap<&'static str, Count> =
        RULES.iter().map(|rule| (rule.id, Count::default())).collect();
    for (rule, found) in report.counts() {
        let Numbers { count, baseline, new, stale, .. } = found;
        summary.insert(rule, Count { count, baseline, new, stale });
    }
    write(
        out,
        &Document {
            version: VERSION,
            tool: TOOL,
            root: root(report),
            summary,
            unread: unread(report),
            baseline: baseline(report),
            findings: report.rows.iter().map(|row| finding(report, row)).collect(),
            suppressions: report.allowed().map(|allowed| suppression(report, allowed)).collect(),
        },
    )
}

pub(super) fn write(out: &mut dyn Write, document: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    out.write_all(b"\n")
}

pub(super) fn root(report: &Report<'_>) -> String {
    report.root.to_string_lossy().into_owned()
}

pub(super) fn unread<'a>(report: &Report<'a>) -> Vec<UnreadFile<'a>> {
    report.unread.iter().map(|unread| UnreadFile { file: &unread.path, reason: &unread.reason }).collect()
}

pub(super) fn span(sources: &Sources, location: Location) -> Span {
    let (start, end) = sources.span(location);
    Span { start, end }
}

fn finding<'a>(report: &'a Report<'_>, row: &'a Row) -> FindingRow<'a> {
    let finding = &row.finding;
    let (start, end) = report.span(row);
    let step = |step: &'a rideout_rules::model::Step| StepRow {
        file: report.sources.path(step.location.file),
        span: span(&report.sources, step.location),
        label: &step.label,
    };
    let edit = |(location, text): (Location, String)| EditRow {
        file: report.sources.path(location.file),
        span: span(&report.sources, location),
        text,
    };
    let watch = row.has_watch();
    FindingRow {
        rule: finding.rule,
        severity: severity(finding.level),
        message: &finding.message,
        file: report.sources.path(finding.primary.file),
        span: Span { start, end },
        item: &finding.item,
        fingerprint: &row.fingerprint,
        state: row.state.name(),
        source: watch.then(|| Source { package: &finding.source.package, api: &finding.source.api }),
        fault: watch.then(|| Fault { shows_as: finding.fault.shows_as, text: &finding.fault.text }),
        path: finding.path.iter().map(step).collect(),
        help: &finding.help,
        runtime: runtime_item(finding.rule),
        suggestion: finding.suggestion.as_ref().map(|suggestion| SuggestionRow {
            message: &suggestion.message,
            applicability: suggestion.applicability,
            edits: report.edits(row).into_iter().map(edit).collect(),
        }),
        docs: format!("cargo rideout explain {}", finding.rule),
    }
}

fn baseline<'a>(report: &'a Report<'_>) -> Option<BaselineRow<'a>> {
    let verdict = &report.verdict;
    let stale =
        verdict.stale.iter().map(|stale| StaleRow { entry: EntryRow::new(&stale.entry), line: stale.line });
    let raised = verdict.raised.iter().map(|raise| RaiseRow { line: raise.line, message: &raise.message });
    verdict.baseline.as_deref().map(|file| BaselineRow {
        file,
        entries: verdict.entries.values().sum(),
        unseen: verdict.unseen,
        strict: verdict.strict,
        stale: stale.collect(),
        base: verdict.base.as_deref(),
        raised: raised.collect(),
    })
}

fn suppression<'a>(
    report: &'a Report<'_>,
    (suppression, states): (&'a Suppression, &'a [State]),
) -> SuppressionRow<'a> {
    let row = |(index, (finding, fingerprint)): (usize, &'a (Finding, String))| SuppressedRow {
        severity: severity(finding.level),
        message: &finding.message,
        span: span(&report.sources, finding.primary),
        item: &finding.item,
        fingerprint,
        state: states.get(index).copied().unwrap_or(State::Known).name(),
    };
    SuppressionRow {
        rule: suppression.rule,
        file: report.sources.path(suppression.location.file),
        span: span(&report.sources, suppression.location),
        reason: &suppression.reason,
        used: !suppression.findings.is_empty(),
        findings: suppression.findings.iter().enumerate().map(row).collect(),
    }
}

/// The item of the runtime that does what a rule's page says to do instead.
fn runtime_item(rule: &str) -> Option<&'static str> {
    RULES.iter().find(|known| known.id == rule)?.runtime
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};

    use crate::report::{Report, testing};

    #[test]
    fn a_finding_has_the_agreed_shape() {
        let analysis = testing::analysis();
        let mut out = Vec::new();
        super::json(&Report::new(Path::new("/w"), &analysis, false), &mut out).unwrap();
        let document: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(document["root"], "/w");
        assert_eq!(
            document["summary"]["unread-file"],
            json!({ "count": 2, "baseline": 0, "new": 2, "stale": 0 })
        );
        assert_eq!(
            document["unread"][1],
            json!({ "file": "src/utf16.rs", "reason": "the file is not valid UTF-8" })
        );
        let place =
            |line: u32, column: u32, byte: u32| json!({ "line": line, "column": column, "byte": byte });
        assert_eq!(
            document["findings"][1],
            json!({
                "rule": "unguarded-watch",
                "severity": "error",
                "message": "this watch on `connect_async` is over after its first error",
                "file": "src/run.rs",
                "span": { "start": place(2, 14, 30), "end": place(3, 3, 69) },
                "item": "run",
                "fingerprint": "9f3c1a2e",
                "state": "new",
                "source": { "crate": "tokio-tungstenite", "api": "connect_async" },
                "fault": { "shows_as": "error-then-ends", "text": "the socket fails and then ends" },
                "path": [{
                    "file": "src/open.rs",
                    "span": { "start": place(1, 9, 8), "end": place(1, 27, 26) },
                    "label": "opened here, and only here"
                }],
                "help": "open it again:\nloop {\n}",
                "runtime": "rideout::reopen::reopen_on_transient_fault_async",
                "suggestion": null,
                "docs": "cargo rideout explain unguarded-watch"
            })
        );
        assert_eq!(document["findings"][2]["source"], Value::Null);
        assert_eq!(document["findings"][2]["span"]["start"], place(3, 1, 0));
    }

    #[test]
    fn a_suggestion_says_what_to_write_where() {
        let mut analysis = testing::analysis();
        testing::suggest(&mut analysis);
        let mut out = Vec::new();
        super::json(&Report::new(Path::new("/w"), &analysis, false), &mut out).unwrap();
        let document: Value = serde_json::from_slice(&out).unwrap();
        let finding = &document["findings"][1];
        assert_eq!(
            finding["suggestion"],
            json!({
                "message": "open it again",
                "applicability": "MaybeIncorrect",
                "edits": [{ "file": "src/run.rs", "span": finding["span"], "text": "loop {\n\t}" }]
            })
        );
    }

    #[test]
    fn suppressions_say_what_they_suppress() {
        let mut analysis = testing::analysis();
        testing::suppress(&mut analysis);
        let mut out = Vec::new();
        super::json(&Report::new(Path::new("/w"), &analysis, false), &mut out).unwrap();
        let document: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(document["summary"]["unguarded-watch"]["count"], 0);
        let [unused, used] = document["suppressions"].as_array().unwrap().as_slice() else {
            panic!("not two")
        };
        assert_eq!((&used["used"], &unused["used"]), (&true.into(), &false.into()));
        assert_eq!(unused["file"], "src/open.rs");
        assert_eq!(unused["span"]["start"], json!({ "line": 1, "column": 36, "byte": 35 }));
        assert_eq!(used["findings"].as_array().unwrap().len(), 2, "both levels");
        assert_eq!(
            used["findings"][0],
            json!({
                "severity": "error",
                "message": "this watch on `connect_async` is over after its first error",
                "span": {
                    "start": { "line": 2, "column": 14, "byte": 30 },
                    "end": { "line": 3, "column": 3, "byte": 69 }
                },
                "item": "run",
                "fingerprint": "9f3c1a2e",
                "state": "known"
            })
        );
    }
}
