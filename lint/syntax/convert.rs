//! syn's tree to ours.

mod ends;
mod exprs;
mod items;
mod pats;
mod types;

use proc_macro2::Ident;
use syn::spanned::Spanned;

use super::{
    parse,
    tree::{self, Span},
};

/// What a conversion needs to know of its file.
#[derive(Clone, Copy)]
pub(super) struct Context {
    /// Bytes before the parsed text.
    skipped: u32,
}

impl Context {
    pub(super) fn span(self, node: &impl Spanned) -> Span {
        parse::span(node.span(), self.skipped)
    }

    pub(super) fn expr_span(self, expr: &syn::Expr) -> Span {
        let (first, last) = ends::ends(expr);
        self.token_span(first).to(self.token_span(last))
    }

    pub(super) fn block_span(self, block: &syn::Block) -> Span {
        self.token_span(block.brace_token.span.join())
    }

    pub(super) fn token_span(self, span: proc_macro2::Span) -> Span {
        parse::span(span, self.skipped)
    }

    pub(super) fn ident_span(self, ident: &Ident) -> Span {
        parse::span(ident.span(), self.skipped)
    }
}

/// Converts a whole file. Items under `#[cfg(test)]` are left out.
pub(super) fn file(file: &syn::File, skipped: u32) -> tree::File {
    let context = Context { skipped };
    if items::is_test(&file.attrs) {
        return tree::File { items: vec![tree::Item::Test(context.span(file))] };
    }
    tree::File { items: context.items(&file.items) }
}

/// Converts a body that starts at this byte of its file.
pub(super) fn block(block: &syn::Block, start: u32) -> tree::Block {
    Context { skipped: start }.block(block)
}

/// An identifier's text without `r#`.
pub(super) fn name(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map_or_else(|| text.clone(), str::to_owned)
}
