//! Puts the case's own structs, or what is in their fields, behind an `Arc`.

use std::collections::{BTreeMap, BTreeSet};

use syn::{
    Expr, FieldValue, FnArg, ImplItem, Item, Member, ReceiverKind, Signature, Type,
    visit::{self, Visit},
};

use super::{
    code,
    edits::{Edits, range},
    names::{self, Own, last},
    owners::Scope,
};

const ARC: &str = "std::sync::Arc";

/// How a struct's methods take it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Receiver {
    /// `self: &Arc<Self>`
    Borrowed,
    /// `self: Arc<Self>`, and callers clone.
    Owned,
}

/// Every `&self` of a struct that has no other receivers becomes an `Arc`.
pub(super) fn receivers(text: &str, receiver: Receiver) -> Option<String> {
    let file = code::open(text);
    let own = Own::of(&file);
    let mut shared = shared(&file, &own, receiver);
    shared.retain(|name| !text.contains(&format!("&mut {name}")));
    if shared.is_empty() {
        return None;
    }
    let mut found = Receivers {
        own: &own,
        shared: &shared,
        receiver,
        scope: Scope::outside(&own, None),
        edits: Edits::default(),
        wrapped: true,
    };
    found.visit_file(&file);
    Some(found.edits.apply(text))
}

fn is_shared(sig: &Signature) -> bool {
    sig.receiver().is_some_and(|node| matches!(node.kind, ReceiverKind::Reference(_, _, None)))
}

/// The structs whose methods all take `&self`, and no trait's method takes them.
fn shared(file: &syn::File, own: &Own, receiver: Receiver) -> BTreeSet<String> {
    let (mut good, mut bad) = (BTreeSet::new(), BTreeSet::new());
    for item in names::all(&file.items) {
        if let Item::Fn(node) = item
            && let Some(name) = names::output(&node.sig).as_ref().and_then(last)
        {
            bad.insert(name);
        }
        let Item::Impl(node) = item else { continue };
        let Some(name) = last(&node.self_ty).filter(|name| own.types.contains(name)) else { continue };
        if !node.generics.params.is_empty() {
            bad.insert(name.clone());
        }
        for item in &node.items {
            let ImplItem::Fn(function) = item else { continue };
            if function.sig.receiver().is_none() {
                continue;
            }
            let output = quote::ToTokens::to_token_stream(&function.sig.output).to_string();
            let borrows = output.contains('&') || output.contains('\'') || output.contains("impl ");
            let fits = node.trait_.is_none() && is_shared(&function.sig);
            if fits && !(borrows && receiver == Receiver::Owned) {
                good.insert(name.clone());
            } else {
                bad.insert(name.clone());
            }
        }
    }
    &good - &bad
}

struct Receivers<'o> {
    own: &'o Own,
    shared: &'o BTreeSet<String>,
    receiver: Receiver,
    scope: Scope<'o>,
    edits: Edits,
    /// Whether values are wrapped here: not in a constructor.
    wrapped: bool,
}

impl Receivers<'_> {
    fn function(&mut self, sig: &Signature, visit: impl FnOnce(&mut Self), block: &syn::Block) {
        let self_type = self.scope.self_type();
        let constructs = sig.receiver().is_none() && self_type.is_some();
        let inner = Scope::of(self.own, self_type, sig, block);
        let outer = std::mem::replace(&mut self.scope, inner);
        let wrapped = std::mem::replace(&mut self.wrapped, !constructs);
        for input in &sig.inputs {
            if let FnArg::Typed(arg) = input {
                self.visit_type(&arg.ty);
            }
        }
        visit(self);
        self.wrapped = wrapped;
        self.scope = outer;
    }

    fn is_shared(&self, owner: Option<String>) -> bool {
        owner.is_some_and(|owner| self.shared.contains(&owner))
    }

    /// Whether the expression makes a value of a struct: a literal, or a call of a constructor with its `.await` and `?`.
    fn makes(&self, node: &Expr) -> bool {
        match node {
            Expr::Struct(_) => self.is_shared(self.scope.owner(node)),
            Expr::Call(call) => {
                let Expr::Path(function) = &*call.func else { return false };
                function.path.segments.len() == 2 && self.is_shared(self.scope.path_owner(&function.path))
            }
            Expr::Try(inner) => self.makes(&inner.expr),
            Expr::Await(inner) => self.makes(&inner.base),
            _ => false,
        }
    }
}

impl<'a> Visit<'a> for Receivers<'_> {
    fn visit_item_impl(&mut self, node: &'a syn::ItemImpl) {
        let owner = last(&node.self_ty).filter(|name| self.own.types.contains(name));
        let outer = std::mem::replace(&mut self.scope, Scope::outside(self.own, owner));
        for item in &node.items {
            self.visit_impl_item(item);
        }
        self.scope = outer;
    }

    fn visit_impl_item_fn(&mut self, node: &'a syn::ImplItemFn) {
        if let Some(receiver) = node.sig.receiver()
            && self.is_shared(self.scope.self_type())
        {
            let by = if self.receiver == Receiver::Borrowed { "&" } else { "" };
            self.edits.replace(range(receiver), format!("self: {by}{ARC}<Self>"));
        }
        self.function(&node.sig, |walk| walk.visit_block(&node.block), &node.block);
    }

    fn visit_item_fn(&mut self, node: &'a syn::ItemFn) {
        self.function(&node.sig, |walk| walk.visit_block(&node.block), &node.block);
    }

    fn visit_type(&mut self, node: &'a Type) {
        if last(node).is_some_and(|name| self.shared.contains(&name)) {
            self.edits.insert(range(node).start, format!("{ARC}<"));
            self.edits.insert(range(node).end, ">");
        } else if !matches!(last(node).as_deref(), Some("Arc" | "Weak")) {
            visit::visit_type(self, node);
        }
    }

    fn visit_expr(&mut self, node: &'a Expr) {
        if self.wrapped && self.makes(node) {
            self.edits.insert(range(node).start, format!("{ARC}::new("));
            self.edits.insert(range(node).end, ")");
            self.wrapped = false;
            visit::visit_expr(self, node);
            self.wrapped = true;
        } else {
            visit::visit_expr(self, node);
        }
    }

    fn visit_expr_call(&mut self, node: &'a syn::ExprCall) {
        // What an `Arc` is made of already is not wrapped again.
        let is_arc = matches!(&*node.func, Expr::Path(function) if function.path.segments[0].ident == "Arc");
        let wrapped = self.wrapped;
        self.wrapped &= !is_arc;
        visit::visit_expr_call(self, node);
        self.wrapped = wrapped;
    }

    fn visit_expr_method_call(&mut self, node: &'a syn::ExprMethodCall) {
        let owner = self.scope.owner(&node.receiver);
        let is_own = owner.is_some_and(|owner| {
            self.shared.contains(&owner) && self.own.methods.contains_key(&(owner, node.method.to_string()))
        });
        if is_own && self.receiver == Receiver::Owned {
            self.edits.insert(range(&*node.receiver).end, ".clone()");
        }
        visit::visit_expr_method_call(self, node);
    }
}

/// The pointer that a field's value moves behind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pointer {
    /// For fields that are only reached through `&self`.
    Arc,
    /// For all.
    Box,
}

/// Every field that is only reached by its methods moves behind a pointer.
pub(super) fn fields(text: &str, pointer: Pointer) -> Option<String> {
    let file = code::open(text);
    let own = Own::of(&file);
    let (path, owners) = match pointer {
        Pointer::Arc => (ARC, shared(&file, &own, Receiver::Borrowed)),
        Pointer::Box => ("Box", own.types.clone()),
    };
    let mut uses = Fields { scope: Scope::outside(&own, None), own: &own, seen: BTreeMap::new() };
    uses.visit_file(&file);
    let mut edits = Edits::default();
    for ((owner, name), ty) in &own.fields {
        let behind = matches!(last(ty).as_deref(), Some("Arc" | "Rc" | "Weak" | "Box" | "Pin" | "Option"));
        let seen = uses.seen.get(&(owner.clone(), name.clone()));
        if !matches!(ty, Type::Path(_))
            || behind
            || !owners.contains(owner)
            || seen.is_none_or(|seen| seen.bad)
        {
            continue;
        }
        edits.insert(range(ty).start, format!("{path}<"));
        edits.insert(range(ty).end, ">");
        for (value, shorthand) in seen.iter().flat_map(|seen| &seen.made) {
            let name = if *shorthand { format!("{name}: ") } else { String::new() };
            edits.insert(value.start, format!("{name}{path}::new("));
            edits.insert(value.end, ")");
        }
    }
    (!edits.is_empty()).then(|| edits.apply(text))
}

#[derive(Default)]
struct Seen {
    bad: bool,
    /// The values that it is made of, and whether they stand for the field's name too.
    made: Vec<(std::ops::Range<usize>, bool)>,
}

struct Fields<'o> {
    own: &'o Own,
    scope: Scope<'o>,
    seen: BTreeMap<(String, String), Seen>,
}

impl Fields<'_> {
    fn field(&mut self, node: &syn::ExprField) -> Option<&mut Seen> {
        let Member::Named(name) = &node.member else { return None };
        let owner = self.scope.owner(&node.base)?;
        Some(self.seen.entry((owner, name.to_string())).or_default())
    }
}

impl<'a> Visit<'a> for Fields<'_> {
    fn visit_item_impl(&mut self, node: &'a syn::ItemImpl) {
        let owner = last(&node.self_ty).filter(|name| self.own.types.contains(name));
        let outer = std::mem::replace(&mut self.scope, Scope::outside(self.own, owner));
        visit::visit_item_impl(self, node);
        self.scope = outer;
    }

    fn visit_impl_item_fn(&mut self, node: &'a syn::ImplItemFn) {
        let inner = Scope::of(self.own, self.scope.self_type(), &node.sig, &node.block);
        let outer = std::mem::replace(&mut self.scope, inner);
        self.visit_block(&node.block);
        self.scope = outer;
    }

    fn visit_item_fn(&mut self, node: &'a syn::ItemFn) {
        let inner = Scope::of(self.own, None, &node.sig, &node.block);
        let outer = std::mem::replace(&mut self.scope, inner);
        self.visit_block(&node.block);
        self.scope = outer;
    }

    fn visit_expr_method_call(&mut self, node: &'a syn::ExprMethodCall) {
        if let Expr::Field(field) = &*node.receiver {
            let clones = node.method == "clone";
            if let Some(seen) = self.field(field) {
                seen.bad |= clones;
                self.visit_expr(&field.base);
                node.args.iter().for_each(|arg| self.visit_expr(arg));
                return;
            }
        }
        visit::visit_expr_method_call(self, node);
    }

    fn visit_expr_reference(&mut self, node: &'a syn::ExprReference) {
        if let Expr::Field(field) = &*node.expr
            && self.field(field).is_some()
        {
            return;
        }
        visit::visit_expr_reference(self, node);
    }

    fn visit_expr_field(&mut self, node: &'a syn::ExprField) {
        if let Some(seen) = self.field(node) {
            seen.bad = true;
        }
        visit::visit_expr_field(self, node);
    }

    fn visit_expr_struct(&mut self, node: &'a syn::ExprStruct) {
        if let Some(owner) = self.scope.path_owner(&node.path) {
            for FieldValue { member, colon_token, expr, .. } in &node.fields {
                let Member::Named(name) = member else { continue };
                let seen = self.seen.entry((owner.clone(), name.to_string())).or_default();
                seen.made.push((range(expr), colon_token.is_none()));
                seen.bad |= node.rest.is_some();
            }
        }
        visit::visit_expr_struct(self, node);
    }

    fn visit_pat_struct(&mut self, node: &'a syn::PatStruct) {
        if let Some(owner) = self.scope.path_owner(&node.path) {
            for field in &node.fields {
                if let Member::Named(name) = &field.member {
                    self.seen.entry((owner.clone(), name.to_string())).or_default().bad = true;
                }
            }
        }
    }
}
