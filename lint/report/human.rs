//! Findings for people: the code with labels on it, the way out, the fault; then suppressions without use, and at the end what was seen
//! and what was not.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
};

use codespan_reporting::{
    diagnostic::{Diagnostic, Label, Severity},
    term::{
        self, Chars, Config,
        termcolor::{Ansi, NoColor},
    },
};
use rideout_rules::model::{Level, Location, Outcome};

use super::{
    Look, Report, Row,
    short::unused_message,
    standing::{held, standing},
};
use crate::analysis::Suppression;

/// How many stale entries are named.
const MOST_STALE: usize = 10;

/// The longest line of code that is shown.
const LONGEST: usize = 400;

/// Findings, then suppressions without use, then a summary.
pub(crate) fn human(report: &Report<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let findings = report.over().map(|row| diagnostic(report, row));
    for diagnostic in findings.chain(report.unused().map(|suppression| unused(report, suppression))) {
        out.write_all(&emit(report, &diagnostic, look)?)?;
    }
    let verdict = &report.verdict;
    let fails = (verdict.strict && !verdict.stale.is_empty()) || !verdict.raised.is_empty();
    if fails || !look.quiet {
        held(report, MOST_STALE, out)?;
    }
    if look.quiet { Ok(()) } else { out.write_all(summary(report).as_bytes()) }
}

/// One finding as `human` shows it.
pub(super) fn rendered(report: &Report<'_>, row: &Row, look: Look) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&emit(report, &diagnostic(report, row), look)?).into_owned())
}

fn emit(report: &Report<'_>, diagnostic: &Diagnostic<usize>, look: Look) -> io::Result<Vec<u8>> {
    let chars = if look.boxes { Chars::box_drawing() } else { Chars::ascii() };
    let config = Config { chars, ..Config::default() };
    let mut bytes = Vec::new();
    let shown = if look.color {
        term::emit_to_write_style(&mut Ansi::new(&mut bytes), &config, &report.sources, diagnostic)
    } else {
        term::emit_to_write_style(&mut NoColor::new(&mut bytes), &config, &report.sources, diagnostic)
    };
    shown.map_err(io::Error::other)?;
    Ok(bytes)
}

fn diagnostic(report: &Report<'_>, row: &Row) -> Diagnostic<usize> {
    let finding = &row.finding;
    let severity = match finding.level {
        Level::Deny => Severity::Error,
        Level::Pedantic => Severity::Warning,
    };
    let mut diagnostic = Diagnostic::new(severity).with_code(finding.rule).with_message(&finding.message);
    if can_show(report, finding.primary) {
        diagnostic = diagnostic.with_labels(labels(report, row));
    } else {
        diagnostic = diagnostic.with_note(format!("at {}", report.place(row)));
    }
    diagnostic = diagnostic.with_note(format!("help: {}", indented(&finding.help)));
    if row.has_watch() {
        diagnostic = diagnostic.with_note(format!("note: {}; {}", finding.fault.text, finding.why));
    } else {
        diagnostic = diagnostic.with_note(format!("note: {}", finding.why));
    }
    diagnostic
}

fn unused(report: &Report<'_>, suppression: &Suppression) -> Diagnostic<usize> {
    let location = suppression.location;
    let diagnostic = Diagnostic::warning().with_message(unused_message(suppression.rule));
    let diagnostic = if can_show(report, location) {
        let label = Label::primary(location.file as usize, report.sources.first_line(location));
        diagnostic.with_labels(vec![label.with_message("it suppresses nothing, on its own line or below")])
    } else {
        diagnostic.with_note(format!("at {}", report.sources.place_of(location)))
    };
    diagnostic.with_note("help: delete it, or move it to the line of the finding or directly above that")
}

/// Lines of code after a sentence stand a little to the right of it.
fn indented(help: &str) -> String {
    help.lines().collect::<Vec<_>>().join("\n  ")
}

/// The primary place, then the way of the fault. A place is labelled once.
fn labels(report: &Report<'_>, row: &Row) -> Vec<Label<usize>> {
    let finding = &row.finding;
    let mut labels = vec![
        Label::primary(finding.primary.file as usize, report.sources.first_line(finding.primary))
            .with_message(&finding.label),
    ];
    for (location, label) in report.related(row) {
        if can_show(report, location) {
            let range = report.sources.first_line(location);
            labels.push(Label::secondary(location.file as usize, range).with_message(label));
        }
    }
    labels
}

fn can_show(report: &Report<'_>, location: Location) -> bool {
    report.sources.has_text(location.file) && report.sources.line_length(location) <= LONGEST
}

/// What was found, what was seen, and what a green run does not cover.
fn summary(report: &Report<'_>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in report.over() {
        *counts.entry(row.finding.rule).or_default() += 1;
    }
    let rules: Vec<String> = counts.iter().map(|(rule, count)| format!("{count} {rule}")).collect();
    let held = report.verdict.baseline.is_some();
    let noun = if held { "new finding" } else { "finding" };
    let mut text = match report.over().count() {
        0 => format!("no {noun}s"),
        count => format!("{}: {}", amount(count, noun), rules.join(", ")),
    };
    if report.suppressed > 0 {
        text += &format!("; {} suppressed", report.suppressed);
    }
    text.push('\n');
    if held {
        text += &standing(report);
    }

    let files: BTreeSet<u32> = report.watches.iter().map(|watch| watch.consumer.file).collect();
    text += &format!("{} seen in {}", amount(report.watches.len(), "watch"), amount(files.len(), "file"));
    let unknown = |watch: &&rideout_rules::model::Watch| {
        watch.faults.iter().any(|fault| fault.outcome == Outcome::Unknown)
    };
    match report.watches.iter().filter(unknown).count() {
        0 => text += "\n",
        count => {
            text += &format!(
                "; not covered: {} whose faults lead out of sight (`cargo rideout list`)\n",
                amount(count, "watch")
            );
        }
    }
    if report.withheld > 0 {
        text += &format!("{} more with `--pedantic`\n", report.withheld);
    }
    if let Some(rule) = counts.keys().next() {
        text += &format!("`cargo rideout explain {rule}` says more about a rule\n");
    }
    text
}

fn amount(count: usize, noun: &str) -> String {
    match (count, noun) {
        (1, _) => format!("1 {noun}"),
        (_, "watch") => format!("{count} watches"),
        _ => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::human;
    use crate::report::{Look, Report, testing};

    fn shown(look: Look) -> String {
        let analysis = testing::analysis();
        let mut out = Vec::new();
        human(&Report::new(Path::new("/w"), &analysis, false), look, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_finding_shows_code_way_out_and_fault() {
        let text = shown(Look::default());
        let wanted = "\
error[unguarded-watch]: this watch on `connect_async` is over after its first error
  --> src/run.rs:2:14
  |
2 |     let \u{1f980} = (); while let Some(m) = s.next().await {
  |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ an `Err` ends this loop
  |
  --> src/open.rs:1:9
  |
1 | let s = connect_async(url).await?;
  |         ------------------ opened here, and only here
  |
  = help: open it again:
      loop {
      }
  = note: the socket fails and then ends; nothing opens it again
";
        assert!(text.contains(wanted), "{text}");
    }

    #[test]
    fn a_file_that_could_not_be_read_is_a_finding_with_or_without_its_text() {
        let text = shown(Look::default());
        let with = "\
error[unread-file]: this file could not be checked: expected `)`
  --> src/bad.rs:2:1
  |
2 | fn main( {
  | ^^^^^^^^^^ ";
        assert!(text.starts_with(with), "{text}");
        assert!(text.contains("not valid UTF-8\n = at src/utf16.rs:3:1\n = help: mend the file"), "{text}");
    }

    #[test]
    fn the_summary_counts_by_rule_and_is_left_out_on_request() {
        let text = shown(Look::default());
        assert!(
            text.contains("\n3 findings: 1 unguarded-watch, 2 unread-file\n0 watches seen in 0 files\n"),
            "{text}"
        );
        assert!(text.contains("\n1 more with `--pedantic`\n"), "{text}");
        assert!(!shown(Look { quiet: true, ..Look::default() }).contains("findings:"));
    }

    #[test]
    fn suppressions_are_counted_and_those_without_use_are_shown() {
        let mut analysis = testing::analysis();
        testing::suppress(&mut analysis);
        let mut out = Vec::new();
        human(&Report::new(Path::new("/w"), &analysis, false), Look::default(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let wanted = "\
warning: unused suppression: there is no `stale-factory` here
  --> src/open.rs:1:36
  |
1 | let s = connect_async(url).await?; // rideout: allow(stale-factory): one feed
  |                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ it suppresses nothing, on its own line or below
  |
  = help: delete it, or move it to the line of the finding or directly above that

2 findings: 2 unread-file; 1 suppressed
";
        assert!(text.contains(wanted), "{text}");
    }

    #[test]
    fn all_is_ascii_but_the_code_unless_the_terminal_can_show_more() {
        let text = shown(Look::default()).replace('\u{1f980}', "");
        assert!(text.is_ascii(), "{text}");
        assert!(shown(Look { boxes: true, ..Look::default() }).contains("┌─ src/run.rs:2:14"));
        assert!(shown(Look { color: true, ..Look::default() }).contains("\u{1b}["));
    }
}
