//! Which of a case's own types an expression has, where that is plain to see.

use std::collections::BTreeMap;

use syn::{
    Block, Expr, FnArg, GenericArgument, Generics, Member, Pat, PathArguments, Signature, Type,
    TypeParamBound, WherePredicate,
    visit::{self, Visit},
};

use super::names::Own;

/// Wrappers through which methods and fields are reached.
const THROUGH: &[&str] = &["Arc", "Rc", "Box", "Pin"];

/// The own types of the locals of one function.
pub(super) struct Scope<'o> {
    own: &'o Own,
    self_type: Option<String>,
    locals: BTreeMap<String, Option<String>>,
    generics: BTreeMap<String, String>,
}

impl<'o> Scope<'o> {
    /// What is known outside functions.
    pub(super) fn outside(own: &'o Own, self_type: Option<String>) -> Self {
        Self { own, self_type, locals: BTreeMap::new(), generics: BTreeMap::new() }
    }

    pub(super) fn of(own: &'o Own, self_type: Option<String>, sig: &Signature, block: &Block) -> Self {
        let mut scope = Self::outside(own, self_type);
        scope.bounds(&sig.generics);
        for input in &sig.inputs {
            if let FnArg::Typed(arg) = input {
                let known = scope.own_type(&arg.ty);
                scope.bind(&arg.pat, known);
            }
        }
        let mut locals = Locals(scope);
        locals.visit_block(block);
        locals.0
    }

    pub(super) fn self_type(&self) -> Option<String> {
        self.self_type.clone()
    }

    fn bounds(&mut self, generics: &Generics) {
        let mut add = |name: String, bounds: Vec<&TypeParamBound>| {
            if let Some(known) = bounds.into_iter().find_map(|bound| bound_type(self.own, bound)) {
                self.generics.insert(name, known);
            }
        };
        for param in generics.type_params() {
            add(param.ident.to_string(), param.bounds.iter().collect());
        }
        for predicate in generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
            if let WherePredicate::Type(node) = predicate
                && let Some(name) = super::names::last(&node.bounded_ty)
            {
                add(name, node.bounds.iter().collect());
            }
        }
    }

    /// A name with two types has none.
    fn bind(&mut self, pat: &Pat, known: Option<String>) {
        if let Pat::Ident(binding) = pat {
            let slot = self.locals.entry(binding.ident.to_string()).or_insert_with(|| known.clone());
            if *slot != known {
                *slot = None;
            }
        }
    }

    /// The own type that a type is, or holds in a wrapper.
    pub(super) fn own_type(&self, ty: &Type) -> Option<String> {
        match ty {
            Type::Reference(node) => self.own_type(&node.elem),
            Type::Paren(node) => self.own_type(&node.elem),
            Type::ImplTrait(node) => node.bounds.iter().find_map(|bound| bound_type(self.own, bound)),
            Type::TraitObject(node) => node.bounds.iter().find_map(|bound| bound_type(self.own, bound)),
            Type::Path(node) => {
                let segment = node.path.segments.last()?;
                let name = segment.ident.to_string();
                if name == "Self" {
                    return self.self_type.clone();
                }
                if self.own.types.contains(&name) {
                    return Some(name);
                }
                if let Some(known) = self.generics.get(&name) {
                    return Some(known.clone());
                }
                let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
                let through = THROUGH.contains(&name.as_str());
                arguments.args.first().filter(|_| through).and_then(|argument| match argument {
                    GenericArgument::Type(inner) => self.own_type(inner),
                    _ => None,
                })
            }
            _ => None,
        }
    }

    /// The own type that a path of two segments or more starts with.
    pub(super) fn path_owner(&self, path: &syn::Path) -> Option<String> {
        match path.segments[0].ident.to_string() {
            name if name == "Self" => self.self_type.clone(),
            name => self.own.types.contains(&name).then_some(name),
        }
    }

    /// The own type of an expression.
    pub(super) fn owner(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Path(node) if node.path.segments.len() == 1 => {
                let name = node.path.segments[0].ident.to_string();
                if name == "self" { self.self_type.clone() } else { self.locals.get(&name)?.clone() }
            }
            Expr::Reference(node) => self.owner(&node.expr),
            Expr::Paren(node) => self.owner(&node.expr),
            Expr::Unary(node) => self.owner(&node.expr),
            Expr::Try(node) => self.returned(&node.expr),
            Expr::Await(node) => self.owner(&node.base),
            Expr::Struct(node) => {
                let name = node.path.segments.last()?.ident.to_string();
                if name == "Self" { self.self_type.clone() } else { self.own_name(name) }
            }
            Expr::Field(node) => {
                let owner = self.owner(&node.base)?;
                let Member::Named(name) = &node.member else { return None };
                self.own_type(self.own.fields.get(&(owner, name.to_string()))?)
            }
            Expr::MethodCall(node) if node.method == "clone" => self.owner(&node.receiver),
            Expr::MethodCall(node) => {
                let owner = self.owner(&node.receiver)?;
                let output = self.own.methods.get(&(owner.clone(), node.method.to_string()))?.as_ref()?;
                self.output_type(&owner, output)
            }
            Expr::Call(node) => {
                let Expr::Path(function) = &*node.func else { return None };
                let path = &function.path;
                let name = path.segments.last()?.ident.to_string();
                if path.segments.len() == 1 {
                    return self.own_type(self.own.functions.get(&name)?.as_ref()?);
                }
                let first = path.segments[0].ident.to_string();
                if THROUGH.contains(&first.as_str()) {
                    return self.owner(node.args.first()?);
                }
                let owner = self.path_owner(path)?;
                let output = self.own.methods.get(&(owner.clone(), name))?.as_ref()?;
                self.output_type(&owner, output)
            }
            _ => None,
        }
    }

    fn own_name(&self, name: String) -> Option<String> {
        self.own.types.contains(&name).then_some(name)
    }

    fn output_type(&self, owner: &str, output: &Type) -> Option<String> {
        if super::names::last(output).as_deref() == Some("Self") {
            return Some(owner.to_owned());
        }
        self.own_type(output)
    }

    /// The own type in the `Result` or `Option` that a call returns.
    fn returned(&self, expr: &Expr) -> Option<String> {
        let expr = if let Expr::Await(node) = expr { &*node.base } else { expr };
        let (owner, output) = match expr {
            Expr::MethodCall(node) => {
                let owner = self.owner(&node.receiver)?;
                let output = self.own.methods.get(&(owner.clone(), node.method.to_string()))?.clone()?;
                (owner, output)
            }
            Expr::Call(node) => {
                let Expr::Path(function) = &*node.func else { return None };
                let name = function.path.segments.last()?.ident.to_string();
                let owner = self.path_owner(&function.path).unwrap_or_default();
                let free = || self.own.functions.get(&name).cloned();
                let output =
                    self.own.methods.get(&(owner.clone(), name.clone())).cloned().or_else(free)??;
                (owner, output)
            }
            _ => return None,
        };
        let Type::Path(node) = &output else { return None };
        let PathArguments::AngleBracketed(arguments) = &node.path.segments.last()?.arguments else {
            return None;
        };
        match arguments.args.first()? {
            GenericArgument::Type(inner) => self.output_type(&owner, inner),
            _ => None,
        }
    }
}

fn bound_type(own: &Own, bound: &TypeParamBound) -> Option<String> {
    let TypeParamBound::Trait(bound) = bound else { return None };
    let name = bound.path.segments.last()?.ident.to_string();
    own.types.contains(&name).then_some(name)
}

struct Locals<'o>(Scope<'o>);

impl<'a> Visit<'a> for Locals<'_> {
    fn visit_local(&mut self, node: &'a syn::Local) {
        let (pat, known) = match &node.pat {
            Pat::Type(typed) => (&*typed.pat, self.0.own_type(&typed.ty)),
            pat => (pat, node.init.as_ref().and_then(|init| self.0.owner(&init.expr))),
        };
        if let Pat::Ident(_) = pat {
            self.0.bind(pat, known);
        } else {
            self.visit_pat(pat);
        }
        if let Some(init) = &node.init {
            self.visit_local_init(init);
        }
    }

    fn visit_pat(&mut self, node: &'a Pat) {
        match node {
            Pat::Type(typed) => {
                let known = self.0.own_type(&typed.ty);
                self.0.bind(&typed.pat, known);
            }
            pat => {
                self.0.bind(pat, None);
                visit::visit_pat(self, node);
            }
        }
    }

    fn visit_item(&mut self, _: &'a syn::Item) {}
}
