//! Line comments and the code that each of them speaks of.

use super::{
    outline::Outline,
    scanner::Scanner,
    statements::{Statements, span},
    tree::Span,
};

/// A line comment that is no documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comment {
    /// From its slashes to the end of its line.
    pub(crate) span: Span,
    /// The line of code that it ends or stands above, and what follows of the statement which that line belongs to. Empty if a
    /// blank line or the end of the file comes first.
    pub(crate) covers: Vec<Span>,
}

/// The line comments that hold `mark`, in order.
pub(crate) fn comments(text: &str, mark: &str) -> Vec<Comment> {
    let mut scanner = Scanner::new(text);
    while scanner.next_code().is_some() {}
    let mut found = scanner.comments;
    found.retain(|range| {
        let comment = &text[range.clone()];
        let is_doc = comment.starts_with("//!") || comment.starts_with("///") && !comment.starts_with("////");
        comment.starts_with("//") && !is_doc && comment.contains(mark)
    });
    if found.is_empty() {
        return Vec::new();
    }
    let Ok(Outline { code, .. }) = Outline::new(text) else { return Vec::new() };
    let statements = Statements::of(text);
    let comment = |range: std::ops::Range<usize>| Comment {
        covers: line_of_code(text, &code, range.start)
            .map(|line| std::iter::once(span(line.clone())).chain(statements.rest(line.start)).collect())
            .unwrap_or_default(),
        span: span(range.start..range.start + text[range].trim_end().len()),
    };
    found.into_iter().map(comment).collect()
}

/// The line of a comment from its first character on if it has code, else the first line below it that has, over lines with comments
/// alone.
fn line_of_code(text: &str, code: &str, comment: usize) -> Option<std::ops::Range<usize>> {
    let mut start = text[..comment].rfind('\n').map_or(0, |end| end + 1);
    for line in text[start..].split_inclusive('\n') {
        let range = start..start + line.len();
        if !code[range.clone()].trim().is_empty() {
            let indent = line.len() - line.trim_start().len();
            return Some(range.start + indent..range.end);
        }
        if line.trim().is_empty() {
            return None;
        }
        start = range.end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::comments;

    /// What the one comment with `mark` covers, line by line, without indents.
    fn covered(text: &str) -> Vec<String> {
        let found = comments(text, "mark");
        assert_eq!(found.len(), 1, "{found:?}");
        let parts = found[0].covers.iter().map(|part| &text[part.start as usize..part.end as usize]);
        parts.map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
    }

    #[test]
    fn only_plain_line_comments_count() {
        let text = "/// mark\n//! mark\n/* // mark */\nconst A: &str = \"// mark\";\nconst B: &str = r#\"// mark\"#;\n";
        assert_eq!(comments(text, "mark"), []);
        assert_eq!(comments("// other\na();\n", "mark"), []);
        let text = "\u{feff}a(); // \u{e9} mark \r\n//// mark";
        let spans: Vec<_> = comments(text, "mark").iter().map(|found| found.span).collect();
        let texts: Vec<_> = spans.iter().map(|span| &text[span.start as usize..span.end as usize]).collect();
        assert_eq!(texts, ["// \u{e9} mark", "//// mark"]);
    }

    #[test]
    fn a_comment_at_the_end_of_a_line_speaks_of_that_line() {
        assert_eq!(covered("{\n a();\n b(); c(); // mark\n d();\n}"), ["b(); c(); // mark", "b();"]);
        assert_eq!(covered("{\n a(\n  \"x\", // mark\n ).b();\n}")[0], "\"x\", // mark");
    }

    #[test]
    fn a_comment_on_its_own_line_speaks_of_the_code_below() {
        assert_eq!(covered("{\n // mark\n a();\n b();\n}"), ["a();", "a();"]);
        assert_eq!(covered("{\n // mark\n // more\n\t/* and\n more */\n a();\n b();\n}")[0], "a();");
        assert_eq!(covered("{\n /* and */ // mark\n a();\n}")[0], "a();");
    }

    #[test]
    fn a_blank_line_or_the_end_comes_between() {
        assert!(covered("{\n // mark\n\n a();\n}").is_empty());
        assert!(covered("a(); // b\n// mark\n").is_empty());
        assert!(covered("// mark").is_empty());
    }

    #[test]
    fn the_rest_of_the_statement_is_covered_and_nothing_before() {
        let chain = |mark: [&str; 3]| {
            format!(
                "{{\n #[a]{}\n b(){}\n  .c(|d| {{ e; }}){}\n  .f();\n g();\n}}",
                mark[0], mark[1], mark[2]
            )
        };
        let last = |text: String| covered(&text).last().unwrap().clone();
        for mark in
            [["\n // mark", "", ""], ["", " // mark", ""], ["", "", " // mark"], ["", "\n  // mark", ""]]
        {
            assert!(last(chain(mark)).ends_with("\n  .f();"), "{mark:?}");
        }
        let first = covered(&chain(["", "\n  // mark", ""])).concat();
        assert!(first.starts_with(".c(") && !first.contains("b()"), "{first}");
    }
}
