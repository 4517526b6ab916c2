//! Types, paths and bounds.

use syn::{Token, punctuated::Punctuated};

use super::{Context, name};
use crate::syntax::tree::{Bound, Path, Type};

impl Context {
    pub(super) fn ty(self, ty: &syn::Type) -> Type {
        match ty {
            syn::Type::Path(node) => match &node.qself {
                Some(_) => Type::Associated(
                    node.path.segments.last().map_or_else(String::new, |last| name(&last.ident)),
                ),
                None => Type::Path(self.path(&node.path)),
            },
            syn::Type::Reference(node) => self.ty(&node.elem),
            syn::Type::Ptr(node) => self.ty(&node.elem),
            syn::Type::Slice(node) => list(self.ty(&node.elem)),
            syn::Type::Array(node) => list(self.ty(&node.elem)),
            syn::Type::Group(node) => self.ty(&node.elem),
            syn::Type::Paren(node) => self.ty(&node.elem),
            syn::Type::Tuple(node) => Type::Tuple(node.elems.iter().map(|ty| self.ty(ty)).collect()),
            syn::Type::ImplTrait(node) => Type::Bounds(self.bounds(&node.bounds)),
            syn::Type::TraitObject(node) => Type::Bounds(self.bounds(&node.bounds)),
            syn::Type::FnPtr(node) => Type::Function(self.output(&node.output).map(Box::new)),
            _ => Type::Unknown,
        }
    }

    pub(super) fn output(self, output: &syn::ReturnType) -> Option<Type> {
        match output {
            syn::ReturnType::Default => None,
            syn::ReturnType::Type(_, ty) => Some(self.ty(ty)),
        }
    }

    pub(super) fn path(self, path: &syn::Path) -> Path {
        let mut found = Path::default();
        for segment in &path.segments {
            found.segments.push(name(&segment.ident));
            let arguments = self.arguments(&segment.arguments);
            if !arguments.is_empty() {
                found.arguments = arguments;
            }
        }
        found
    }

    fn arguments(self, arguments: &syn::PathArguments) -> Vec<Type> {
        let syn::PathArguments::AngleBracketed(node) = arguments else { return Vec::new() };
        node.args
            .iter()
            .filter_map(|argument| match argument {
                syn::GenericArgument::Type(ty) => Some(self.ty(ty)),
                _ => None,
            })
            .collect()
    }

    pub(super) fn turbofish(self, node: Option<&syn::AngleBracketedGenericArguments>) -> Vec<Type> {
        node.map_or_else(Vec::new, |node| self.arguments(&syn::PathArguments::AngleBracketed(node.clone())))
    }

    pub(super) fn bounds(self, bounds: &Punctuated<syn::TypeParamBound, Token![+]>) -> Vec<Bound> {
        bounds
            .iter()
            .filter_map(|bound| match bound {
                syn::TypeParamBound::Trait(node) => Some(self.bound(&node.path)),
                _ => None,
            })
            .collect()
    }

    fn bound(self, path: &syn::Path) -> Bound {
        let mut associated = Vec::new();
        match path.segments.last().map(|segment| &segment.arguments) {
            Some(syn::PathArguments::AngleBracketed(node)) => {
                for argument in &node.args {
                    if let syn::GenericArgument::AssocType(node) = argument {
                        associated.push((name(&node.ident), self.ty(&node.ty)));
                    }
                }
            }
            Some(syn::PathArguments::Parenthesized(node)) => {
                let output = self.output(&node.output).unwrap_or_else(|| Type::Tuple(Vec::new()));
                associated.push(("Output".to_owned(), output));
            }
            _ => {}
        }
        Bound { path: self.path(path), associated }
    }
}

/// A slice or an array is as good as a `Vec`.
fn list(elem: Type) -> Type {
    Type::Path(Path { segments: vec!["Vec".to_owned()], arguments: vec![elem] })
}
