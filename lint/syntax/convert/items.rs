//! Items: functions, types, traits, implementations, uses.

use quote::ToTokens;

use super::{Context, name};
use crate::{
    cfg,
    syntax::tree::{Function, Generics, Impl, Item, Param, Pat, Path, Receiver, Span, Type, Use, Variant},
};

impl Context {
    pub(super) fn items(self, items: &[syn::Item]) -> Vec<Item> {
        items.iter().flat_map(|item| self.expanded(item)).collect()
    }

    /// An item, or those in a macro whose body reads as items (`pin_project! { struct .. }`).
    fn expanded(self, item: &syn::Item) -> Vec<Item> {
        match item {
            syn::Item::Macro(node) if node.ident.is_none() && !is_test(&node.attrs) => {
                syn::parse2::<syn::File>(node.mac.tokens.clone())
                    .map_or_else(|_| Vec::new(), |file| self.items(&file.items))
            }
            item => self.item(item).into_iter().collect(),
        }
    }

    pub(super) fn item(self, item: &syn::Item) -> Option<Item> {
        Some(match item {
            syn::Item::Use(node) => {
                let mut uses = Vec::new();
                flatten(&node.tree, &mut Vec::new(), &mut uses);
                Item::Use(uses)
            }
            syn::Item::Mod(node) => match &node.content {
                Some((brace, _)) if is_test(&node.attrs) => Item::Test(self.to_brace(&node.attrs, brace)),
                Some((_, items)) => Item::Module { name: name(&node.ident), items: self.items(items) },
                None if is_test(&node.attrs) => return None,
                None => Item::Declared { name: name(&node.ident), file: placed(&node.attrs) },
            },
            syn::Item::Fn(node) if is_test(&node.attrs) => {
                Item::Test(self.to_brace(&node.attrs, &node.block.brace_token))
            }
            syn::Item::Fn(node) => Item::Function(self.function(&node.sig, Some(&node.block))),
            syn::Item::Struct(node) => Item::Struct {
                name: name(&node.ident),
                fields: self.fields(&node.fields),
                private: private(&node.fields),
                generics: self.generics(&node.generics),
            },
            syn::Item::Enum(node) => Item::Enum {
                name: name(&node.ident),
                variants: node
                    .variants
                    .iter()
                    .map(|variant| Variant {
                        name: name(&variant.ident),
                        fields: self.fields(&variant.fields),
                    })
                    .collect(),
            },
            syn::Item::Type(node) => Item::Alias {
                name: name(&node.ident),
                generics: node.generics.type_params().map(|param| name(&param.ident)).collect(),
                ty: self.ty(&node.ty),
            },
            syn::Item::Trait(node) => Item::Trait {
                name: name(&node.ident),
                functions: node
                    .items
                    .iter()
                    .filter_map(|item| match item {
                        syn::TraitItem::Fn(node) => Some(self.function(&node.sig, node.default.as_ref())),
                        _ => None,
                    })
                    .collect(),
            },
            syn::Item::Impl(node) if is_test(&node.attrs) => {
                Item::Test(self.to_brace(&node.attrs, &node.brace_token))
            }
            syn::Item::Impl(node) => Item::Impl(self.implementation(node)),
            syn::Item::Const(_) | syn::Item::Static(_) => Item::Constant,
            _ => return None,
        })
    }

    /// From the first attribute to the closing brace.
    fn to_brace(self, attributes: &[syn::Attribute], brace: &syn::token::Brace) -> Span {
        let end = self.token_span(brace.span.join());
        attributes.first().map_or(end, |first| self.token_span(first.pound_token.spans[0]).to(end))
    }

    fn implementation(self, node: &syn::ItemImpl) -> Impl {
        let mut functions = Vec::new();
        let mut types = Vec::new();
        for item in &node.items {
            match item {
                syn::ImplItem::Fn(node) if !is_test(&node.attrs) => {
                    functions.push(self.function(&node.sig, Some(&node.block)));
                }
                syn::ImplItem::Type(node) => types.push((name(&node.ident), self.ty(&node.ty))),
                _ => {}
            }
        }
        Impl {
            generics: self.generics(&node.generics),
            self_type: self.ty(&node.self_ty),
            of_trait: node.trait_.as_ref().map(|(path, _)| self.path(path)),
            functions,
            types,
        }
    }

    fn function(self, signature: &syn::Signature, body: Option<&syn::Block>) -> Function {
        let mut receiver = Receiver::None;
        let mut params = Vec::new();
        for input in &signature.inputs {
            match input {
                syn::FnArg::Receiver(node) => {
                    receiver = match &node.kind {
                        syn::ReceiverKind::Reference(..) => Receiver::Reference,
                        syn::ReceiverKind::Typed(_, ty) if self.is_pin(ty) => Receiver::Pinned,
                        _ => Receiver::Value,
                    };
                    params.push(Param {
                        pat: Pat::Bind { name: "self".to_owned(), sub: None },
                        ty: Type::Path(Path { segments: vec!["Self".to_owned()], arguments: Vec::new() }),
                    });
                }
                syn::FnArg::Typed(node) => {
                    params.push(Param { pat: self.pat(&node.pat), ty: self.ty(&node.ty) })
                }
            }
        }
        Function {
            name: name(&signature.ident),
            span: body
                .map_or_else(|| self.span(signature), |body| self.span(signature).to(self.block_span(body))),
            is_async: signature.asyncness.is_some(),
            generics: self.generics(&signature.generics),
            receiver,
            params,
            output: match &signature.output {
                syn::ReturnType::Default => None,
                syn::ReturnType::Type(_, ty) => Some(self.ty(ty)),
            },
            // Braces with nothing but spaces between them: nothing was there, or it was left out.
            deferred: body.is_some_and(|body| {
                let span = self.block_span(body);
                body.stmts.is_empty() && span.end - span.start > 2
            }),
            body: body.map(|body| self.block(body)),
        }
    }

    fn is_pin(self, ty: &syn::Type) -> bool {
        matches!(self.ty(ty), Type::Path(path) if path.last() == "Pin")
    }

    fn fields(self, fields: &syn::Fields) -> Vec<(String, Type)> {
        named(fields).map(|(name, field)| (name, self.ty(&field.ty))).collect()
    }

    fn generics(self, generics: &syn::Generics) -> Generics {
        let mut found = Generics::default();
        for param in generics.type_params() {
            found.names.push(name(&param.ident));
            found.bounds.push((name(&param.ident), self.bounds(&param.bounds)));
        }
        for predicate in generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
            if let syn::WherePredicate::Type(node) = predicate
                && let Type::Path(path) = self.ty(&node.bounded_ty)
                && let Some(single) = path.single()
            {
                found.bounds.push((single.to_owned(), self.bounds(&node.bounds)));
            }
        }
        found
    }
}

/// The file that `#[path = ".."]` names.
fn placed(attributes: &[syn::Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(syn::MetaNameValue {
            path,
            value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }),
            ..
        }) if path.is_ident("path") => Some(text.value()),
        _ => None,
    })
}

/// Whether an item is there for tests only.
pub(super) fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = tokens(attribute.path());
        if path == "cfg" {
            let whole = tokens(&attribute.meta);
            let condition = whole.strip_prefix("cfg(").and_then(|rest| rest.strip_suffix(')'));
            return condition.is_some_and(cfg::is_for_tests);
        }
        path == "test" || path.ends_with("::test") || path == "rstest"
    })
}

/// Source text without spaces.
fn tokens(node: &impl ToTokens) -> String {
    node.to_token_stream().to_string().replace(' ', "")
}

fn flatten(tree: &syn::UseTree, path: &mut Vec<String>, uses: &mut Vec<Use>) {
    match tree {
        syn::UseTree::Path(node) => {
            path.push(name(&node.ident));
            flatten(&node.tree, path, uses);
            path.pop();
        }
        syn::UseTree::Name(node) => {
            let last = name(&node.ident);
            if last == "self" {
                uses.push(Use { alias: path.last().cloned(), path: path.clone() });
            } else {
                path.push(last.clone());
                uses.push(Use { path: path.clone(), alias: Some(last) });
                path.pop();
            }
        }
        syn::UseTree::Rename(node) => {
            let last = name(&node.ident);
            let mut whole = path.clone();
            if last != "self" {
                whole.push(last);
            }
            uses.push(Use { path: whole, alias: Some(name(&node.rename)) });
        }
        syn::UseTree::Glob(_) => uses.push(Use { path: path.clone(), alias: None }),
        syn::UseTree::Group(node) => node.items.iter().for_each(|tree| flatten(tree, path, uses)),
    }
}

/// Fields with their names; those of a tuple are named `0`, `1`, ...
fn named(fields: &syn::Fields) -> impl Iterator<Item = (String, &syn::Field)> {
    fields
        .iter()
        .enumerate()
        .map(|(index, field)| (field.ident.as_ref().map_or_else(|| index.to_string(), name), field))
}

fn private(fields: &syn::Fields) -> Vec<String> {
    named(fields)
        .filter(|(_, field)| matches!(field.vis, syn::Visibility::Inherited))
        .map(|(name, _)| name)
        .collect()
}
