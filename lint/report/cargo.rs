//! The lines that `cargo check --message-format=json` prints, for editors.

use std::{
    io::{self, Write},
    path::Path,
};

use cargo_metadata::diagnostic::DiagnosticLevel;
use rideout_rules::model::{Applicability, Level, Location};
use serde::Serialize;
use serde_json::Value;

use super::{
    Look, Report, Row,
    head::{Head, Unit},
    human, repository,
};
use crate::cargo::Compiled;

/// What editors say that a finding comes from.
const SOURCE: &str = "rideout";

#[derive(Serialize)]
struct Line<'a> {
    reason: &'static str,
    package_id: &'a str,
    manifest_path: &'a Path,
    target: &'a Value,
    message: Message<'a>,
}

#[derive(Serialize)]
struct Message<'a> {
    #[serde(rename = "$message_type")]
    message_type: &'static str,
    message: &'a str,
    code: Option<Code>,
    level: DiagnosticLevel,
    spans: Vec<Span<'a>>,
    children: Vec<Message<'a>>,
    rendered: Option<String>,
}

#[derive(Serialize)]
struct Code {
    code: String,
    explanation: Option<&'static str>,
}

/// A place on one line.
#[derive(Serialize)]
struct Span<'a> {
    file_name: String,
    byte_start: usize,
    byte_end: usize,
    line_start: usize,
    line_end: usize,
    column_start: usize,
    column_end: usize,
    is_primary: bool,
    text: Vec<Text<'a>>,
    label: Option<&'a str>,
    suggested_replacement: Option<String>,
    suggestion_applicability: Option<Applicability>,
    expansion: Option<()>,
}

#[derive(Serialize)]
struct Text<'a> {
    text: &'a str,
    highlight_start: usize,
    highlight_end: usize,
}

/// One line a finding, and the line with which cargo ends.
pub(crate) fn cargo(
    report: &Report<'_>,
    compiled: &dyn Fn(&Path) -> Compiled,
    success: bool,
    look: Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    for row in report.over() {
        let path = report.sources.path(row.finding.primary.file);
        let compiled = compiled(&repository::absolute(report.root, path));
        let line = Line {
            reason: "compiler-message",
            package_id: &compiled.package_id,
            manifest_path: &compiled.manifest_path,
            target: &compiled.target,
            message: Compiler { report, compiled: &compiled }.message(row, look)?,
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    let success = success && report.over().all(|row| row.finding.level != Level::Deny);
    writeln!(out, r#"{{"reason":"build-finished","success":{success}}}"#)
}

/// Findings as one package's compiler would tell them.
struct Compiler<'a> {
    report: &'a Report<'a>,
    compiled: &'a Compiled,
}

impl<'a> Compiler<'a> {
    fn message(&self, row: &'a Row, look: Look) -> io::Result<Message<'a>> {
        let finding = &row.finding;
        let mut spans = vec![self.span(finding.primary, &self.report.head(row), true, Some(&finding.label))];
        spans.extend(self.report.related(row).into_iter().map(|(location, label)| {
            self.span(location, &Head::new(&self.report.sources, location), false, Some(label))
        }));
        let mut children = vec![child(DiagnosticLevel::Help, &finding.help, Vec::new())];
        if row.has_watch() {
            children.push(child(DiagnosticLevel::Note, &finding.fault.text, Vec::new()));
        }
        children.push(child(DiagnosticLevel::Note, &finding.why, Vec::new()));
        if let Some(suggestion) = &finding.suggestion {
            let edits = self.report.edits(row).into_iter().map(|(location, text)| Span {
                suggested_replacement: Some(text),
                suggestion_applicability: Some(suggestion.applicability),
                ..self.whole(location)
            });
            children.push(child(DiagnosticLevel::Help, &suggestion.message, edits.collect()));
        }
        Ok(Message {
            message_type: "diagnostic",
            message: &finding.message,
            code: Some(Code {
                code: format!("{SOURCE}::{}", finding.rule.replace('-', "_")),
                explanation: None,
            }),
            level: match finding.level {
                Level::Deny => DiagnosticLevel::Error,
                Level::Pedantic => DiagnosticLevel::Warning,
            },
            spans,
            children,
            rendered: Some(human::rendered(self.report, row, look)?),
        })
    }

    fn span(
        &self,
        location: Location,
        head: &Head<'a>,
        is_primary: bool,
        label: Option<&'a str>,
    ) -> Span<'a> {
        let (start, end) = head.columns(Unit::Characters);
        let bytes = head.bytes();
        let text = Text { text: head.text, highlight_start: start, highlight_end: end };
        Span {
            file_name: self.file_name(location.file),
            byte_start: bytes.start,
            byte_end: bytes.end,
            line_start: head.line,
            line_end: head.line,
            column_start: start,
            column_end: end,
            is_primary,
            text: if head.text.is_empty() { Vec::new() } else { vec![text] },
            label,
            suggested_replacement: None,
            suggestion_applicability: None,
            expansion: None,
        }
    }

    /// The place of an edit, all lines of it.
    fn whole(&self, location: Location) -> Span<'a> {
        let sources = &self.report.sources;
        let mut span = self.span(location, &Head::new(sources, location), true, None);
        let mut start = location.start;
        while let Some(next) = sources.next_line(Location { start, ..location }) {
            let head = Head::new(sources, Location { start: next, ..location });
            let (first, last) = head.columns(Unit::Characters);
            span.text.push(Text { text: head.text, highlight_start: first, highlight_end: last });
            (span.line_end, span.column_end, span.byte_end) = (head.line, last, head.bytes().end);
            start = next;
        }
        span
    }

    /// As cargo shows it: relative to the workspace, if it is in there.
    fn file_name(&self, file: u32) -> String {
        let path = repository::absolute(self.report.root, self.report.sources.path(file));
        path.strip_prefix(&self.compiled.root).unwrap_or(&path).to_string_lossy().into_owned()
    }
}

fn child<'a>(level: DiagnosticLevel, message: &'a str, spans: Vec<Span<'a>>) -> Message<'a> {
    Message {
        message_type: "diagnostic",
        message,
        code: None,
        level,
        spans,
        children: Vec::new(),
        rendered: None,
    }
}
