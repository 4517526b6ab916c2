//! The part of a location that lies on its first line: what an editor underlines and a review page marks.

use std::ops::Range;

use rideout_rules::model::Location;

use super::sources::Sources;

/// What a format counts columns in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unit {
    /// Unicode scalar values.
    Characters,
    /// Units of UTF-16.
    Utf16,
    /// Bytes of UTF-8.
    Bytes,
}

/// A piece of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head<'a> {
    /// From 1.
    pub(super) line: usize,
    /// The line without its end, empty if the text is not at hand.
    pub(super) text: &'a str,
    /// The piece, in bytes of `text`.
    piece: Range<usize>,
    /// Where `text` begins in the file.
    offset: usize,
}

impl<'a> Head<'a> {
    /// The first line of a location.
    pub(super) fn new(sources: &'a Sources, location: Location) -> Self {
        let piece = sources.first_line(location);
        let start = sources.line_start(location);
        let text = sources.text(location.file).get(start..).and_then(|rest| rest.lines().next());
        let (position, _) = sources.span(location);
        Self {
            line: position.line,
            text: text.unwrap_or_default(),
            piece: piece.start - start..piece.end - start,
            offset: position.byte - (piece.start - start),
        }
    }

    /// A line of which nothing but the number is known.
    pub(super) fn blank(line: usize) -> Self {
        Self { line, text: "", piece: 0..0, offset: 0 }
    }

    /// The columns of the first character and of the one behind the last, from 1.
    pub(super) fn columns(&self, unit: Unit) -> (usize, usize) {
        let column = |byte: usize| {
            let before = self.text.get(..byte).unwrap_or_default();
            1 + match unit {
                Unit::Characters => before.chars().count(),
                Unit::Utf16 => before.encode_utf16().count(),
                Unit::Bytes => before.len(),
            }
        };
        (column(self.piece.start), column(self.piece.end))
    }

    /// The white space that the line begins with.
    pub(super) fn indentation(&self) -> &'a str {
        self.text.get(..self.text.len() - self.text.trim_start().len()).unwrap_or_default()
    }

    /// The bytes of the file.
    pub(super) fn bytes(&self) -> Range<usize> {
        self.offset + self.piece.start..self.offset + self.piece.end
    }
}

#[cfg(test)]
mod tests {
    use rideout_rules::model::Location;

    use super::{Head, Unit};
    use crate::{analysis::FileText, report::sources::Sources};

    fn sources(text: &str) -> Sources {
        Sources::new([FileText { path: "a.rs".into(), text: text.into() }])
    }

    fn at(text: &str, code: &str) -> Location {
        let start = text.find(code).unwrap();
        let offset = |byte: usize| u32::try_from(byte).unwrap();
        Location { file: 0, start: offset(start), end: offset(start + code.len()) }
    }

    #[test]
    fn each_unit_counts_its_own_way() {
        // A tab, an emoji of two units of UTF-16 and four bytes, an e with a combining accent, an emoji of three characters.
        let text = "fn f() {\r\n\t\u{1f980} e\u{301} \u{1f469}\u{200d}\u{1f4bb}loop {\r\n}\r\n";
        let sources = sources(text);
        let head = Head::new(&sources, at(text, "loop {\r\n}"));
        assert_eq!((head.line, head.text), (2, "\t\u{1f980} e\u{301} \u{1f469}\u{200d}\u{1f4bb}loop {"));
        assert_eq!(head.columns(Unit::Characters), (10, 16));
        assert_eq!(head.columns(Unit::Utf16), (13, 19));
        assert_eq!(head.columns(Unit::Bytes), (22, 28));
        assert_eq!(text.get(head.bytes()), Some("loop {"));
    }

    #[test]
    fn a_byte_order_mark_is_bytes_and_no_column() {
        let text = "\u{feff}loop {}";
        let sources = sources(text);
        let head = Head::new(&sources, at(text, "loop {}"));
        assert_eq!((head.columns(Unit::Bytes), head.bytes(), head.text), ((1, 8), 3..10, "loop {}"));
    }

    #[test]
    fn a_place_out_of_the_text_is_its_end() {
        let sources = sources("a\nbc");
        let head = Head::new(&sources, Location { file: 0, start: 90, end: 99 });
        assert_eq!((head.line, head.columns(Unit::Characters)), (2, (3, 3)));
        let head = Head::new(&sources, Location { file: 7, start: 0, end: 1 });
        assert_eq!((head.line, head.columns(Unit::Characters)), (1, (1, 1)));
    }
}
