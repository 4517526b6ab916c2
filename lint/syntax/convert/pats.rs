//! Patterns.

use super::{Context, name};
use crate::syntax::tree::Pat;

impl Context {
    pub(in crate::syntax) fn pat(self, pat: &syn::Pat) -> Pat {
        match pat {
            syn::Pat::Ident(node) => {
                let text = name(&node.ident);
                match &node.subpat {
                    Some((_, sub)) => Pat::Bind { name: text, sub: Some(Box::new(self.pat(sub))) },
                    None if text.starts_with(char::is_uppercase) && node.mutability.is_none() => {
                        Pat::Path(crate::syntax::tree::Path { segments: vec![text], arguments: Vec::new() })
                    }
                    None => Pat::Bind { name: text, sub: None },
                }
            }
            syn::Pat::Guard(node) => self.pat(&node.pat),
            syn::Pat::Lit(node) => match &node.lit {
                syn::Lit::Bool(lit) => Pat::Bool(lit.value),
                syn::Lit::Int(lit) => Pat::Int(lit.base10_digits().to_owned()),
                _ => Pat::Other(Vec::new()),
            },
            syn::Pat::Or(node) => Pat::Or(node.cases.iter().map(|pat| self.pat(pat)).collect()),
            syn::Pat::Paren(node) => self.pat(&node.pat),
            syn::Pat::Path(node) => Pat::Path(self.path(&node.path)),
            syn::Pat::Reference(node) => self.pat(&node.pat),
            syn::Pat::Rest(_) => Pat::Rest,
            syn::Pat::Slice(node) => Pat::Other(node.elems.iter().map(|pat| self.pat(pat)).collect()),
            syn::Pat::Struct(node) => Pat::Struct(
                self.path(&node.path),
                node.fields
                    .iter()
                    .map(|field| {
                        let key = match &field.member {
                            syn::Member::Named(ident) => name(ident),
                            syn::Member::Unnamed(index) => index.index.to_string(),
                        };
                        (key, self.pat(&field.pat))
                    })
                    .collect(),
            ),
            syn::Pat::Tuple(node) => Pat::Tuple(node.elems.iter().map(|pat| self.pat(pat)).collect()),
            syn::Pat::TupleStruct(node) => {
                Pat::TupleStruct(self.path(&node.path), node.elems.iter().map(|pat| self.pat(pat)).collect())
            }
            syn::Pat::Type(node) => self.pat(&node.pat),
            syn::Pat::Wild(_) => Pat::Wild,
            _ => Pat::Other(Vec::new()),
        }
    }
}
