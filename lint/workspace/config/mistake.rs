//! A mistake in a configuration, shown with its line.

use std::ops::Range;

/// Longer lines are not shown.
const LONGEST: usize = 200;

/// `path:line:column: sentence`, and below it the line with a mark under what is wrong.
pub(super) fn show(path: &str, text: &str, span: Range<usize>, sentence: &str) -> String {
    let at = text.floor_char_boundary(span.start.min(text.len()));
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let number = text[..at].matches('\n').count() + 1;
    let column = text[start..at].chars().count() + 1;
    let sentence = sentence.trim().replace('\n', ", ");
    let head = format!("{path}:{number}:{column}: {sentence}");
    let line = text[start..].lines().next().unwrap_or_default();
    if line.trim().is_empty() || line.len() > LONGEST {
        return head;
    }
    let end = text.floor_char_boundary(span.end.min(start + line.len())).max(at);
    let marks = text[at..end].chars().count().max(1);
    // Tabs stay tabs, so that the mark stands below what it means.
    let indent: String = text[start..at].chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let edge = " ".repeat(number.to_string().len());
    format!("{head}\n{edge} |\n{number} | {line}\n{edge} | {indent}{}", "^".repeat(marks))
}

/// The name among these that one means, if it is close to one.
pub(super) fn meant<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = names.into_iter().map(|name| (distance(wrong, name), name)).min()?;
    (near.0 <= 2.max(wrong.chars().count() / 4)).then_some(near.1)
}

/// How many characters must be put in, taken out or changed.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, one) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, other) in right.iter().enumerate() {
            let change = diagonal + usize::from(one != *other);
            diagonal = row[column + 1];
            row[column + 1] = change.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, meant, show};

    #[test]
    fn the_line_is_shown_with_a_mark() {
        let text = "a = 1\n\té = bad # x\nc = 2\n";
        let at = text.find("bad").unwrap();
        assert_eq!(
            show("f.toml", text, at..at + 3, "no value"),
            "f.toml:2:6: no value\n  |\n2 | \té = bad # x\n  | \t    ^^^"
        );
    }

    #[test]
    fn a_place_at_the_end_has_no_line_to_show() {
        assert_eq!(show("f.toml", "a =\n", 4..4, "no\nvalue"), "f.toml:2:1: no, value");
        assert_eq!(show("f.toml", "", 9..12, "nothing"), "f.toml:1:1: nothing");
        assert_eq!(show("f.toml", "[a\r\n", 2..3, "open"), "f.toml:1:3: open\n  |\n1 | [a\n  |   ^");
    }

    #[test]
    fn near_names_are_offered() {
        assert_eq!(distance("unguarded-watch", "unguarded-watches"), 2);
        assert_eq!(meant("ungarded-wach", ["unread-file", "unguarded-watch"]), Some("unguarded-watch"));
        assert_eq!(meant("nonsense", ["unread-file", "unguarded-watch"]), None);
    }
}
