//! One line a finding, as compilers print them, then one for each suppression without use.

use std::io::{self, Write};

use super::{Report, severity, standing::held};

/// `path:line:column: error[rule]: message`.
pub(crate) fn short(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for row in report.over() {
        writeln!(
            out,
            "{}: {}[{}]: {}",
            report.place(row),
            severity(row.finding.level),
            row.finding.rule,
            row.finding.message
        )?;
    }
    for unused in report.unused() {
        let place = report.sources.place_of(unused.location);
        writeln!(out, "{place}: warning: {}", unused_message(unused.rule))?;
    }
    held(report, usize::MAX, out)
}

/// What is said of a suppression without use.
pub(super) fn unused_message(rule: &str) -> String {
    format!("unused suppression: there is no `{rule}` here")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::short;
    use crate::report::{Report, testing};

    #[test]
    fn one_line_a_finding() {
        let analysis = testing::analysis();
        let mut out = Vec::new();
        short(&Report::new(Path::new("/w"), &analysis, true), &mut out).unwrap();
        let wanted = "\
src/bad.rs:2:1: error[unread-file]: this file could not be checked: expected `)`
src/run.rs:2:14: error[unguarded-watch]: this watch on `connect_async` is over after its first error
src/run.rs:2:14: warning[unpaced-reopen]: this watch on `connect_async` is over after its first error
src/utf16.rs:3:1: error[unread-file]: this file could not be checked: the file is not valid UTF-8
";
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }

    #[test]
    fn one_line_a_suppression_without_use_and_none_for_what_is_suppressed() {
        let mut analysis = testing::analysis();
        testing::suppress(&mut analysis);
        let mut out = Vec::new();
        short(&Report::new(Path::new("/w"), &analysis, false), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.contains("unguarded-watch"), "{text}");
        let last = "src/open.rs:1:36: warning: unused suppression: there is no `stale-factory` here";
        assert_eq!(text.lines().last(), Some(last), "{text}");
    }
}
