//! Commands of GitHub Actions: annotations on the lines of a pull request.

use std::{
    collections::HashMap,
    io::{self, Write},
};

use super::{Report, Row, head::Unit, repository::Repository, severity, standing::surplus};

/// How many annotations of a kind GitHub shows for one step. It drops what comes after them.
const MOST: usize = 10;

/// One annotation for each finding and each entry of the baseline that fails the run; a plain line for each that GitHub would drop.
pub(crate) fn github(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let repository = Repository::around(report.root);
    let baseline = report.verdict.baseline.as_deref().unwrap_or_default();
    let entries = surplus(report).into_iter().filter(|entry| entry.fails).map(|entry| {
        let place = format!("file={},line={}", property(&repository.path(baseline)), entry.line);
        let plain = format!("{baseline}:{}: error: {}", entry.line, entry.message);
        ("error", format!("::error {place},title=baseline::{}", text(&entry.message)), plain)
    });
    let findings = report.over().map(|row| annotation(report, &repository, row));

    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut cut = 0;
    for (kind, command, plain) in findings.chain(entries) {
        let count = counts.entry(kind).or_default();
        *count += 1;
        if *count <= MOST {
            writeln!(out, "{command}")?;
        } else {
            cut += 1;
            writeln!(out, "{}", text(&plain))?;
        }
    }
    if cut > 0 {
        writeln!(
            out,
            "::notice title=rideout::{cut} more stand in the log of this step: GitHub shows {MOST} of a kind"
        )?;
    }
    Ok(())
}

/// The kind of an annotation, its command, and the same as a plain line.
fn annotation(report: &Report<'_>, repository: &Repository<'_>, row: &Row) -> (&'static str, String, String) {
    let finding = &row.finding;
    let (kind, rule) = (severity(finding.level), finding.rule);
    let head = report.head(row);
    let (line, (column, end)) = (head.line, head.columns(Unit::Characters));
    let file = property(&repository.path(report.sources.path(finding.primary.file)));
    let place = format!("file={file},line={line},endLine={line},col={column},endColumn={end}");
    let message = format!("{}\nhelp: {}\nnote: cargo rideout explain {rule}", finding.message, finding.help);
    let command = format!("::{kind} {place},title={}::{}", property(rule), text(&message));
    (kind, command, format!("{}: {kind}[{rule}]: {}", report.place(row), finding.message))
}

/// The text of a command. Nothing in it may end the line, since the next one could be a command.
fn text(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a command, which a colon or a comma would end.
fn property(value: &str) -> String {
    text(value).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{github, property, text};
    use crate::report::{Report, testing};

    fn shown(analysis: &crate::analysis::Analysis) -> String {
        let mut out = Vec::new();
        github(&Report::new(Path::new("/w"), analysis, true), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn one_command_a_finding() {
        let shown = shown(&testing::analysis());
        let wanted = "::error file=src/run.rs,line=2,endLine=2,col=14,endColumn=50,title=unguarded-watch::\
            this watch on `connect_async` is over after its first error%0A\
            help: open it again:%0Aloop {%0A}%0Anote: cargo rideout explain unguarded-watch";
        assert_eq!(shown.lines().nth(1), Some(wanted), "{shown}");
        assert_eq!(shown.lines().count(), 4);
        assert!(shown.contains("\n::error file=src/utf16.rs,line=3,endLine=3,col=1,endColumn=1,"), "{shown}");
    }

    #[test]
    fn nothing_in_a_message_or_a_path_is_a_command() {
        assert_eq!(text("100 %, a: b\r\n::stop"), "100 %25, a: b%0D%0A::stop");
        assert_eq!(property("src/a b,c:d%\u{1f980}\n.rs"), "src/a b%2Cc%3Ad%25\u{1f980}%0A.rs");
    }

    #[test]
    fn what_github_drops_is_in_the_log() {
        let mut analysis = testing::analysis();
        let finding = analysis.findings[0].clone();
        analysis.files[0].path = "src/a\n::error::b.rs".into();
        analysis.findings = vec![finding; 12];
        let shown = shown(&analysis);
        let commands = shown.lines().filter(|line| line.starts_with("::error")).count();
        assert_eq!(commands, 10, "{shown}");
        assert!(shown.contains("\nsrc/a%0A::error::b.rs:2:14: error[unguarded-watch]: "), "{shown}");
        assert!(
            shown.ends_with(
                "::notice title=rideout::4 more stand in the log of this step: GitHub shows 10 of a kind\n"
            ),
            "{shown}"
        );
    }
}
