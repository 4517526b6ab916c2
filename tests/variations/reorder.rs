//! Writes the items of the file, and those of each `impl`, in reverse order.

use std::ops::Range;

use syn::Item;

use super::{code, edits::range};

pub(super) fn apply(text: &str) -> Option<String> {
    let file = code::open(text);
    let items: Vec<Range<usize>> = file.items.iter().map(range).collect();
    if items.len() < 2 {
        return None;
    }
    let head = line_end(text, text[..items[0].start].find("verdict:").unwrap());
    let pieces = pieces(text, head, &items);
    let inner = |(item, piece): (&Item, Range<usize>)| -> String {
        let Item::Impl(node) = item else { return text[piece].to_owned() };
        if node.items.len() < 2 {
            return text[piece].to_owned();
        }
        let members: Vec<Range<usize>> = node.items.iter().map(range).collect();
        let open = line_end(text, node.brace_token.span.open().byte_range().end);
        let pieces = self::pieces(text, open, &members);
        let end = pieces.last().unwrap().end;
        let turned: String = pieces.into_iter().rev().map(|piece| &text[piece]).collect();
        format!("{}{turned}{}", &text[piece.start..open], &text[end..piece.end])
    };
    let turned: Vec<String> = file.items.iter().zip(pieces).map(inner).collect();
    Some(text[..head].to_owned() + &turned.into_iter().rev().collect::<String>())
}

/// Each item with what stands before it and the rest of its last line.
pub(super) fn pieces(text: &str, start: usize, items: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut start = start;
    let mut piece = |item: &Range<usize>| {
        let end = line_end(text, item.end);
        let piece = start..end;
        start = end;
        piece
    };
    items.iter().map(&mut piece).collect()
}

/// The start of the next line.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |length| at + length + 1)
}
