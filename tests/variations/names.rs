//! What a case declares and what it imports.

use std::collections::{BTreeMap, BTreeSet};

use syn::{
    Fields, ImplItem, Item, Pat, ReturnType, TraitItem, Type, UseTree,
    visit::{self, Visit},
};

/// A type of the case and the name of something in it.
type Member = (String, String);

/// The names that a case declares itself.
#[derive(Default)]
pub(super) struct Own {
    /// Locals, parameters, functions, constants.
    pub(super) values: BTreeSet<String>,
    /// Structs, enums, traits, aliases and inline modules.
    pub(super) types: BTreeSet<String>,
    pub(super) variants: BTreeSet<Member>,
    pub(super) fields: BTreeMap<Member, Type>,
    /// Functions of `impl` blocks and of the case's own traits, with what they return.
    pub(super) methods: BTreeMap<Member, Option<Type>>,
    /// Free functions, with what they return.
    pub(super) functions: BTreeMap<String, Option<Type>>,
}

impl Own {
    pub(super) fn of(file: &syn::File) -> Self {
        let mut own = Self::declared(file);
        for import in imports(file) {
            own.values.remove(&import.name);
            own.types.remove(&import.name);
        }
        own
    }

    /// With the names that are imported too.
    pub(super) fn declared(file: &syn::File) -> Self {
        let mut own = Self::default();
        for item in all(&file.items) {
            own.types.extend(type_name(item));
        }
        own.visit_file(file);
        own
    }

    fn fields(&mut self, owner: &syn::Ident, fields: &Fields) {
        for field in fields {
            if let Some(name) = &field.ident {
                self.fields.insert((owner.to_string(), name.to_string()), field.ty.clone());
            }
        }
    }

    fn method(&mut self, owner: &str, sig: &syn::Signature) {
        self.methods.insert((owner.to_owned(), sig.ident.to_string()), output(sig));
    }
}

impl<'a> Visit<'a> for Own {
    fn visit_item_struct(&mut self, node: &'a syn::ItemStruct) {
        self.fields(&node.ident, &node.fields);
    }

    fn visit_item_enum(&mut self, node: &'a syn::ItemEnum) {
        for variant in &node.variants {
            self.variants.insert((node.ident.to_string(), variant.ident.to_string()));
            self.fields(&node.ident, &variant.fields);
        }
    }

    fn visit_item_trait(&mut self, node: &'a syn::ItemTrait) {
        for item in &node.items {
            if let TraitItem::Fn(function) = item {
                self.method(&node.ident.to_string(), &function.sig);
            }
        }
        visit::visit_item_trait(self, node);
    }

    fn visit_item_impl(&mut self, node: &'a syn::ItemImpl) {
        let of_trait = node.trait_.as_ref().map(|(path, _)| path.segments.last().unwrap().ident.to_string());
        let own_trait = of_trait.is_none_or(|name| self.types.contains(&name));
        if let Some(owner) = last(&node.self_ty).filter(|owner| own_trait && self.types.contains(owner)) {
            for item in &node.items {
                if let ImplItem::Fn(function) = item {
                    self.method(&owner, &function.sig);
                }
            }
        }
        visit::visit_item_impl(self, node);
    }

    fn visit_item_fn(&mut self, node: &'a syn::ItemFn) {
        let name = node.sig.ident.to_string();
        self.functions.insert(name.clone(), output(&node.sig));
        if name != "main" {
            self.values.insert(name);
        }
        visit::visit_item_fn(self, node);
    }

    fn visit_item_const(&mut self, node: &'a syn::ItemConst) {
        self.values.insert(node.ident.to_string());
    }

    fn visit_item_static(&mut self, node: &'a syn::ItemStatic) {
        self.values.insert(node.ident.to_string());
    }

    fn visit_pat(&mut self, node: &'a Pat) {
        if let Pat::Ident(binding) = node {
            let name = binding.ident.to_string();
            if name.starts_with(|c: char| c.is_lowercase() || c == '_') {
                self.values.insert(name);
            }
        }
        visit::visit_pat(self, node);
    }
}

/// What a function returns, if it says so.
pub(super) fn output(sig: &syn::Signature) -> Option<Type> {
    match &sig.output {
        ReturnType::Type(_, ty) => Some((**ty).clone()),
        ReturnType::Default => None,
    }
}

/// The last segment of a type that is a path.
pub(super) fn last(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(node) => node.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

/// The items of a file and of its inline modules.
pub(super) fn all(items: &[Item]) -> Vec<&Item> {
    let mut found = Vec::new();
    for item in items {
        found.push(item);
        if let Item::Mod(node) = item
            && let Some((_, items)) = &node.content
        {
            found.extend(all(items));
        }
    }
    found
}

/// The name of an item that lives among the types.
pub(super) fn type_name(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Struct(node) => &node.ident,
        Item::Enum(node) => &node.ident,
        Item::Trait(node) => &node.ident,
        Item::Type(node) => &node.ident,
        Item::Mod(node) if node.content.is_some() => &node.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// One name that a `use` brings in.
#[derive(Clone)]
pub(super) struct Import {
    /// The name in the file, `*` or `_`.
    pub(super) name: String,
    /// The full path, up to the module for `*`.
    pub(super) path: String,
}

impl Import {
    /// The `use` item that brings it in.
    pub(super) fn item(&self) -> String {
        let Self { name, path } = self;
        match name.as_str() {
            "*" => format!("use {path}::*;\n"),
            name if path.rsplit("::").next() == Some(name) => format!("use {path};\n"),
            name => format!("use {path} as {name};\n"),
        }
    }
}

/// The names that the `use` items at the top of a file bring in, without `*` and `_`.
pub(super) fn imports(file: &syn::File) -> Vec<Import> {
    uses(file).into_iter().filter(|import| !matches!(import.name.as_str(), "*" | "_")).collect()
}

/// What the `use` items at the top of a file bring in.
pub(super) fn uses(file: &syn::File) -> Vec<Import> {
    let mut found = Vec::new();
    for item in &file.items {
        if let Item::Use(node) = item {
            leaves(&node.tree, "", &mut found);
        }
    }
    found
}

fn leaves(tree: &UseTree, prefix: &str, found: &mut Vec<Import>) {
    let join = |name: &syn::Ident| match (prefix, name.to_string().as_str()) {
        ("", name) => name.to_owned(),
        (prefix, "self") => prefix.to_owned(),
        (prefix, name) => format!("{prefix}::{name}"),
    };
    let mut add = |name: &str, path: String| found.push(Import { name: name.to_owned(), path });
    match tree {
        UseTree::Path(node) => leaves(&node.tree, &join(&node.ident), found),
        UseTree::Group(node) => node.items.iter().for_each(|tree| leaves(tree, prefix, found)),
        UseTree::Name(node) => {
            let path = join(&node.ident);
            add(path.clone().rsplit("::").next().unwrap(), path);
        }
        UseTree::Rename(node) => add(&node.rename.to_string(), join(&node.ident)),
        UseTree::Glob(_) => add("*", prefix.to_owned()),
    }
}
