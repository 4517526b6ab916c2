//! Gives every name that the case declares itself another one.
//!
//! A field or a method is left alone where it is reached through a value whose type is not plain to see.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use syn::{
    Block, Expr, FieldPat, FieldValue, FnArg, Lit, Member, Pat, Signature, Stmt,
    visit::{self, Visit},
};

use super::{
    code,
    edits::{Edits, range},
    judge::Case,
    names::{self, Own},
    owners::Scope,
};

pub(super) fn apply(case: &Case) -> Option<String> {
    let file = code::open(&case.text);
    let own = Own::of(&file);
    let mut sites = Sites {
        own: &own,
        scope: Scope::outside(&own, None),
        list: Vec::new(),
        kept: BTreeSet::new(),
        external: false,
    };
    sites.visit_file(&file);
    let names = Names::of(&own, &sites, case.number);
    let mut edits = Edits::default();
    for site in &sites.list {
        names.edit(site, &mut edits);
    }
    (!edits.is_empty()).then(|| edits.apply(&case.text))
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Value,
    Type,
    Field,
    Method,
    Variant,
    Label,
}

struct Site {
    kind: Kind,
    name: String,
    range: Range<usize>,
    /// What `field` in `X { field }` stands for as a field: the range of the pattern or expression, and whether the field is own.
    shorthand: Option<(Range<usize>, bool)>,
}

/// Everything that has a name of the case.
struct Sites<'o> {
    own: &'o Own,
    scope: Scope<'o>,
    list: Vec<Site>,
    /// Names that stay because it is not plain what they belong to.
    kept: BTreeSet<(Kind, String)>,
    /// Within an `impl` of a trait that is not the case's.
    external: bool,
}

impl Sites<'_> {
    fn add(&mut self, kind: Kind, ident: &syn::Ident) {
        self.list.push(Site { kind, name: ident.to_string(), range: range(ident), shorthand: None });
    }

    /// A member of the type, if it is one of the case's and has such a member.
    fn member(&mut self, kind: Kind, owner: Option<String>, ident: &syn::Ident) {
        let name = ident.to_string();
        let Some(owner) = owner else {
            self.kept.insert((kind, name));
            return;
        };
        if self.has(kind, (owner, name)) {
            self.add(kind, ident);
        }
    }

    fn has(&self, kind: Kind, member: (String, String)) -> bool {
        match kind {
            Kind::Field => self.own.fields.contains_key(&member),
            Kind::Method => self.own.methods.contains_key(&member),
            _ => self.own.variants.contains(&member),
        }
    }

    fn function(&mut self, sig: &Signature, block: &Block) {
        let self_type = self.scope.self_type();
        let inner = Scope::of(self.own, self_type, sig, block);
        let outer = std::mem::replace(&mut self.scope, inner);
        self.visit_generics(&sig.generics);
        for input in &sig.inputs {
            if let FnArg::Typed(arg) = input {
                self.visit_pat(&arg.pat);
                self.visit_type(&arg.ty);
            }
        }
        self.visit_return_type(&sig.output);
        self.visit_block(block);
        self.scope = outer;
    }

    fn within(&mut self, self_type: Option<String>, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.scope, Scope::outside(self.own, self_type));
        visit(self);
        self.scope = outer;
    }

    /// The names that a format string captures.
    fn captures(&mut self, literal: &syn::LitStr) {
        let start = range(literal).start;
        let text = literal.token().to_string();
        for (at, _) in text.match_indices('{') {
            let rest = &text[at + 1..];
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if rest[name.len()..].starts_with(['}', ':']) && self.own.values.contains(&name) {
                let at = start + at + 1;
                self.list.push(Site { kind: Kind::Value, range: at..at + name.len(), name, shorthand: None });
            }
        }
    }
}

impl<'a> Visit<'a> for Sites<'_> {
    fn visit_item(&mut self, node: &'a syn::Item) {
        if let syn::Item::Use(_) = node {
            return;
        }
        visit::visit_item(self, node);
    }

    fn visit_item_fn(&mut self, node: &'a syn::ItemFn) {
        node.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        self.add(Kind::Value, &node.sig.ident);
        self.function(&node.sig, &node.block);
    }

    fn visit_item_const(&mut self, node: &'a syn::ItemConst) {
        self.add(Kind::Value, &node.ident);
        visit::visit_item_const(self, node);
    }

    fn visit_item_static(&mut self, node: &'a syn::ItemStatic) {
        self.add(Kind::Value, &node.ident);
        visit::visit_item_static(self, node);
    }

    fn visit_item_struct(&mut self, node: &'a syn::ItemStruct) {
        self.add(Kind::Type, &node.ident);
        visit::visit_item_struct(self, node);
    }

    fn visit_item_enum(&mut self, node: &'a syn::ItemEnum) {
        self.add(Kind::Type, &node.ident);
        visit::visit_item_enum(self, node);
    }

    fn visit_item_type(&mut self, node: &'a syn::ItemType) {
        self.add(Kind::Type, &node.ident);
        visit::visit_item_type(self, node);
    }

    fn visit_item_mod(&mut self, node: &'a syn::ItemMod) {
        self.add(Kind::Type, &node.ident);
        visit::visit_item_mod(self, node);
    }

    fn visit_item_trait(&mut self, node: &'a syn::ItemTrait) {
        self.add(Kind::Type, &node.ident);
        self.within(Some(node.ident.to_string()), |sites| visit::visit_item_trait(sites, node));
    }

    fn visit_item_impl(&mut self, node: &'a syn::ItemImpl) {
        let owner = names::last(&node.self_ty).filter(|name| self.own.types.contains(name));
        let of_trait = node.trait_.as_ref().map(|(path, _)| path.segments.last().unwrap().ident.to_string());
        let outer = self.external;
        self.external = owner.is_none() || of_trait.is_some_and(|name| !self.own.types.contains(&name));
        self.within(owner, |sites| visit::visit_item_impl(sites, node));
        self.external = outer;
    }

    fn visit_impl_item_fn(&mut self, node: &'a syn::ImplItemFn) {
        node.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        if !self.external {
            self.add(Kind::Method, &node.sig.ident);
        }
        self.function(&node.sig, &node.block);
    }

    fn visit_trait_item_fn(&mut self, node: &'a syn::TraitItemFn) {
        self.add(Kind::Method, &node.sig.ident);
        let empty = syn::parse_quote!({});
        self.function(&node.sig, node.default.as_ref().unwrap_or(&empty));
    }

    fn visit_attribute(&mut self, node: &'a syn::Attribute) {
        if node.path().is_ident("doc") {
            return;
        }
        let text = quote::ToTokens::to_token_stream(&node.meta).to_string();
        for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            for kind in [Kind::Value, Kind::Field, Kind::Type] {
                self.kept.insert((kind, word.to_owned()));
            }
        }
    }

    fn visit_field(&mut self, node: &'a syn::Field) {
        if let Some(ident) = &node.ident {
            self.add(Kind::Field, ident);
        }
        self.visit_type(&node.ty);
    }

    fn visit_variant(&mut self, node: &'a syn::Variant) {
        self.add(Kind::Variant, &node.ident);
        self.visit_fields(&node.fields);
    }

    fn visit_pat_ident(&mut self, node: &'a syn::PatIdent) {
        self.add(Kind::Value, &node.ident);
        visit::visit_pat_ident(self, node);
    }

    fn visit_expr_path(&mut self, node: &'a syn::ExprPath) {
        if let Some(ident) = node.path.get_ident().filter(|ident| *ident != "self") {
            self.add(Kind::Value, ident);
        }
        visit::visit_expr_path(self, node);
    }

    fn visit_path(&mut self, node: &'a syn::Path) {
        let first = &node.segments[0].ident;
        let qualified = matches!(first.to_string().as_str(), "super" | "self");
        let named = if qualified { node.segments.get(1).map(|segment| &segment.ident) } else { Some(first) };
        if let Some(ident) = named.filter(|ident| self.own.types.contains(&ident.to_string())) {
            self.add(Kind::Type, ident);
        }
        if let Some(second) = node.segments.get(1).map(|segment| &segment.ident)
            && let Some(owner) = self.scope.path_owner(node)
        {
            let member = (owner.clone(), second.to_string());
            let kind = if self.own.variants.contains(&member) { Kind::Variant } else { Kind::Method };
            self.member(kind, Some(owner), second);
        }
        visit::visit_path(self, node);
    }

    fn visit_expr_field(&mut self, node: &'a syn::ExprField) {
        if let Member::Named(ident) = &node.member {
            self.member(Kind::Field, self.scope.owner(&node.base), ident);
        }
        visit::visit_expr_field(self, node);
    }

    fn visit_expr_method_call(&mut self, node: &'a syn::ExprMethodCall) {
        self.member(Kind::Method, self.scope.owner(&node.receiver), &node.method);
        visit::visit_expr_method_call(self, node);
    }

    fn visit_expr_struct(&mut self, node: &'a syn::ExprStruct) {
        let owner = self.scope.path_owner(&node.path);
        for FieldValue { member, colon_token, expr, .. } in &node.fields {
            let Member::Named(ident) = member else { continue };
            let own = owner.clone().is_some_and(|owner| self.has(Kind::Field, (owner, ident.to_string())));
            if colon_token.is_some() {
                if own {
                    self.add(Kind::Field, ident);
                }
                self.visit_expr(expr);
            } else {
                let shorthand = Some((range(ident), own));
                let (name, range) = (ident.to_string(), range(ident));
                self.list.push(Site { kind: Kind::Value, name, range, shorthand });
            }
        }
        self.visit_path(&node.path);
        if let Some(rest) = &node.rest {
            self.visit_expr(rest);
        }
    }

    fn visit_pat_struct(&mut self, node: &'a syn::PatStruct) {
        let owner = self.scope.path_owner(&node.path);
        for FieldPat { member, colon_token, pat, .. } in &node.fields {
            let Member::Named(ident) = member else { continue };
            let own = owner.clone().is_some_and(|owner| self.has(Kind::Field, (owner, ident.to_string())));
            if colon_token.is_some() {
                if own {
                    self.add(Kind::Field, ident);
                }
                self.visit_pat(pat);
            } else if let Pat::Ident(binding) = &**pat {
                let shorthand = Some((range(&**pat), own));
                let (name, range) = (binding.ident.to_string(), range(&binding.ident));
                self.list.push(Site { kind: Kind::Value, name, range, shorthand });
            }
        }
        self.visit_path(&node.path);
    }

    fn visit_label(&mut self, node: &'a syn::Label) {
        self.add(Kind::Label, &node.name.ident);
    }

    fn visit_expr_break(&mut self, node: &'a syn::ExprBreak) {
        if let Some(label) = &node.label {
            self.add(Kind::Label, &label.ident);
        }
        if let Some(value) = &node.expr {
            self.visit_expr(value);
        }
    }

    fn visit_expr_continue(&mut self, node: &'a syn::ExprContinue) {
        if let Some(label) = &node.label {
            self.add(Kind::Label, &label.ident);
        }
    }

    fn visit_block(&mut self, node: &'a Block) {
        if code::macro_name(node).is_some() {
            for stmt in &node.stmts {
                if let Stmt::Expr(Expr::Lit(literal), _) = stmt
                    && let Lit::Str(text) = &literal.lit
                {
                    self.captures(text);
                }
            }
        }
        visit::visit_block(self, node);
    }
}

/// Old names and new ones.
struct Names(BTreeMap<(Kind, String), String>);

impl Names {
    fn of(own: &Own, sites: &Sites<'_>, case: usize) -> Self {
        let members = |kind: Kind| -> BTreeSet<String> {
            match kind {
                Kind::Value => own.values.clone(),
                Kind::Type => own.types.clone(),
                Kind::Field => own.fields.keys().map(|(_, name)| name.clone()).collect(),
                Kind::Method => own.methods.keys().map(|(_, name)| name.clone()).collect(),
                Kind::Variant => own.variants.iter().map(|(_, name)| name.clone()).collect(),
                Kind::Label => {
                    let labels = sites.list.iter().filter(|site| site.kind == Kind::Label);
                    labels.map(|site| site.name.clone()).collect()
                }
            }
        };
        let mut names = BTreeMap::new();
        for (kind, word) in [
            (Kind::Value, "v"),
            (Kind::Type, "K"),
            (Kind::Field, "d"),
            (Kind::Method, "m"),
            (Kind::Variant, "E"),
            (Kind::Label, "l"),
        ] {
            for (number, name) in members(kind).into_iter().enumerate() {
                let constant = kind == Kind::Value && name.starts_with(char::is_uppercase);
                let word = if constant { "C" } else { word };
                if !sites.kept.contains(&(kind, name.clone())) {
                    names.insert((kind, name), format!("{word}{number}x{case}"));
                }
            }
        }
        Self(names)
    }

    fn other(&self, kind: Kind, name: &str) -> Option<&String> {
        self.0.get(&(kind, name.to_owned()))
    }

    fn edit(&self, site: &Site, edits: &mut Edits) {
        let new = self.other(site.kind, &site.name);
        if let Some((whole, own)) = &site.shorthand {
            let field = self.other(Kind::Field, &site.name).filter(|_| *own);
            if new.is_none() && field.is_none() {
                return;
            }
            edits.insert(whole.start, format!("{}: ", field.unwrap_or(&site.name)));
        }
        if let Some(new) = new {
            edits.replace(site.range.clone(), new);
        }
    }
}
