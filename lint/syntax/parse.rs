//! Text to tree.

use super::{
    convert, guard,
    tree::{self, Span},
};

/// A file that the parser would not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejected {
    /// One clause without a final dot.
    pub(crate) reason: String,
    /// Line from 1.
    pub(crate) line: Option<u32>,
}

/// Parses a file. Spans are byte ranges of `text`, a byte-order mark and a `#!` line included.
///
/// # Errors
///
/// When the parser rejects the text, or its brackets nest too deep to be parsed safely.
pub(crate) fn parse(text: &str) -> Result<tree::File, Rejected> {
    let code = guard::code(text).map_err(|line| Rejected {
        reason: "brackets nest too deep to be read".to_owned(),
        line: Some(line),
    })?;
    let (skipped, body) = skip_head(&code);
    proc_macro2::extra::invalidate_current_thread_spans();
    match syn::parse_str::<syn::File>(body) {
        Ok(file) => Ok(convert::file(&file, skipped)),
        Err(error) => {
            let lines = text[..skipped as usize].matches('\n').count();
            let line = u32::try_from(error.span().start().line + lines).ok();
            Err(Rejected { reason: error.to_string(), line })
        }
    }
}

/// Cuts off a byte-order mark and a `#!` line, and tells how many bytes they took.
fn skip_head(text: &str) -> (u32, &str) {
    let mut body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_attribute = || body.get(2..).is_some_and(|rest| rest.trim_start().starts_with('['));
    if body.starts_with("#!") && !is_attribute() {
        body = body.find('\n').map_or("", |end| &body[end..]);
    }
    (u32::try_from(text.len() - body.len()).unwrap_or(u32::MAX), body)
}

/// Moves a parser's span to the whole text.
pub(super) fn span(span: proc_macro2::Span, skipped: u32) -> Span {
    let range = span.byte_range();
    let place = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX).saturating_add(skipped);
    Span { start: place(range.start), end: place(range.end) }
}

#[cfg(test)]
mod tests {
    use super::{parse, tree::Item};

    fn name_at(text: &str) -> String {
        let file = parse(text).unwrap();
        let Some(Item::Function(function)) = file.items.first() else { panic!("no function") };
        text[function.span.start as usize..function.span.end as usize].to_owned()
    }

    #[test]
    fn spans_survive_a_mark_and_a_hash_bang_line() {
        assert_eq!(name_at("fn é() {}"), "fn é() {}");
        assert_eq!(name_at("\u{feff}fn a() {}"), "fn a() {}");
        assert_eq!(name_at("#!/usr/bin/env run\nfn a() {}"), "fn a() {}");
        assert_eq!(name_at("\u{feff}#!/usr/bin/env run\n/* é */ fn a() {}"), "fn a() {}");
    }

    #[test]
    fn a_rejected_file_names_its_line() {
        let rejected = parse("#!run\nfn a() {}\nfn b( {}\n").unwrap_err();
        assert_eq!(rejected.line, Some(3), "{rejected:?}");
        assert!(parse(&"(".repeat(200_000)).is_err());
    }

    #[test]
    fn an_inner_attribute_is_no_hash_bang_line() {
        assert_eq!(name_at("#![allow(dead_code)]\nfn a() {}"), "fn a() {}");
    }
}
