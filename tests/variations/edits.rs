//! Edits of a text by byte ranges.

use std::ops::Range;

use syn::spanned::Spanned;

/// Replacements in one text, in any order.
#[derive(Default)]
pub(super) struct Edits {
    list: Vec<(Range<usize>, String)>,
}

impl Edits {
    pub(super) fn replace(&mut self, range: Range<usize>, with: impl Into<String>) {
        self.list.push((range, with.into()));
    }

    pub(super) fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at..at, text);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The text with all replacements made. Insertions at one place keep the order in which they were given.
    pub(super) fn apply(mut self, text: &str) -> String {
        self.list.sort_by_key(|(range, _)| (range.start, range.end));
        self.list.dedup();
        let (mut result, mut done) = (String::new(), 0);
        for (range, with) in &self.list {
            assert!(done <= range.start, "edits overlap at {:?}: {with}", &text[range.clone()]);
            result.push_str(&text[done..range.start]);
            result.push_str(with);
            done = range.end;
        }
        result + &text[done..]
    }
}

/// Where a piece of syntax stands in the text.
pub(super) fn range(node: &impl Spanned) -> Range<usize> {
    node.span().byte_range()
}
