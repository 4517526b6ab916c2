//! Text to tree.

use super::{
    convert,
    outline::Outline,
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

/// Which function bodies are parsed along with their file.
pub(crate) struct Interest<'a> {
    /// Whether the code of a body holds anything of interest.
    pub(crate) wanted: &'a dyn Fn(&str) -> bool,
    /// Whether a function's name says nothing: that somebody calls it is then of no interest.
    pub(crate) common: &'a dyn Fn(&str) -> bool,
}

#[cfg(test)]
impl Interest<'static> {
    /// Every body is parsed.
    pub(crate) const ALL: Self = Self { wanted: &|_| true, common: &|_| false };
}

/// Parses a file. Spans are byte ranges of `text`, a byte-order mark and a `#!` line included.
///
/// # Errors
///
/// When the parser rejects the text, or its brackets nest too deep to be parsed safely.
pub(crate) fn parse(text: &str, interest: &Interest<'_>) -> Result<tree::File, Rejected> {
    let outline = Outline::new(text).map_err(|line| Rejected {
        reason: "brackets nest too deep to be read".to_owned(),
        line: Some(line),
    })?;
    let code = outline.pruned(interest.wanted, interest.common);
    let (skipped, code) = skip_head(&code);
    proc_macro2::extra::invalidate_current_thread_spans();
    let parsed = syn::parse_str::<syn::File>(code).or_else(|error| {
        // What a macro above an `impl` takes need not be what the language takes.
        let plain = without_visible_impls(code).ok_or_else(|| error.clone())?;
        proc_macro2::extra::invalidate_current_thread_spans();
        syn::parse_str::<syn::File>(&plain).map_err(|_| error)
    });
    match parsed {
        Ok(file) => Ok(convert::file(&file, skipped)),
        Err(error) => {
            let lines = text[..skipped as usize].matches('\n').count();
            let line = u32::try_from(error.span().start().line + lines).ok();
            Err(Rejected { reason: error.to_string(), line })
        }
    }
}

/// Parses the body of a function that was left out of its file's tree. None if the parser rejects it.
pub(crate) fn body(text: &str, span: Span) -> Option<tree::Block> {
    let code = text.get(span.start as usize..span.end as usize)?;
    proc_macro2::extra::invalidate_current_thread_spans();
    let block = syn::parse_str::<syn::Block>(code).ok()?;
    Some(convert::block(&block, span.start))
}

/// The text with `pub` or `pub(..)` before `impl` blanked, if there is one.
fn without_visible_impls(text: &str) -> Option<String> {
    let mut plain = String::new();
    let mut rest = 0;
    for (start, line) in text.split_inclusive('\n').scan(0, |at, line| {
        *at += line.len();
        Some((*at - line.len(), line))
    }) {
        let indent = line.len() - line.trim_start().len();
        let Some(after) = line[indent..].strip_prefix("pub") else { continue };
        let after = match after.strip_prefix('(') {
            Some(inner) => inner.split_once(')').map_or(after, |(_, after)| after),
            None => after,
        };
        if after.trim_start().starts_with("impl") && after.starts_with(char::is_whitespace) {
            let end = start + line.len() - after.len();
            plain.push_str(&text[rest..start + indent]);
            plain.extend(std::iter::repeat_n(' ', end - start - indent));
            rest = end;
        }
    }
    plain.push_str(&text[rest..]);
    (rest > 0).then_some(plain)
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
    use super::{Interest, Rejected, body};
    use crate::syntax::tree::{File, Item, Span};

    fn parse(text: &str) -> Result<File, Rejected> {
        super::parse(text, &Interest { wanted: &|body| body.contains("go"), common: &|_| false })
    }

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
    fn an_impl_may_be_as_visible_as_its_macro_wants() {
        let text =
            "#[extension]\npub(crate) impl Feed for Line {\n    fn go(&self) {}\n}\npub impl A for B {}\n";
        let file = parse(text).unwrap();
        assert_eq!(file.items.len(), 2, "{file:?}");
        assert!(parse("pub(crate) impl A for B {}\nfn c( {}\n").is_err());
    }

    #[test]
    fn an_inner_attribute_is_no_hash_bang_line() {
        assert_eq!(name_at("#![allow(dead_code)]\nfn a() {}"), "fn a() {}");
    }

    #[test]
    fn a_body_left_out_is_parsed_by_itself() {
        let text = "\u{feff}fn a() { go } fn b() { let é = 1; é }";
        let file = parse(text).unwrap();
        let [Item::Function(first), Item::Function(second)] = file.items.as_slice() else {
            panic!("{file:?}")
        };
        assert!(!first.deferred && second.deferred);
        let span = second.body.as_ref().unwrap().span;
        assert_eq!(&text[span.start as usize..span.end as usize], "{ let é = 1; é }");
        let block = body(text, span).unwrap();
        assert_eq!((block.statements.len(), block.span), (2, span));
        assert!(body(text, Span { start: 3, end: 9 }).is_none());
    }
}
