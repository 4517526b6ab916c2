//! One line a finding, as compilers print them.

use std::io::{self, Write};

use super::Report;

/// `path:line:column: error[rule]: message`.
pub(crate) fn short(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    for row in &report.rows {
        writeln!(
            out,
            "{}: {}[{}]: {}",
            report.place(row),
            row.severity(),
            row.finding.rule,
            row.finding.message
        )?;
    }
    Ok(())
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
}
