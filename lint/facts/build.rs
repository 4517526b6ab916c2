//! Building a program: one parsed file after the other, its items indexed by name.

use std::{collections::HashMap, sync::Arc};

use super::{
    lowered::Lowered,
    program::{AliasFacts, FileFacts, FileInput, FunctionFacts, OuterFacts, Program, TypeFacts},
    resolve::Scope,
};
use crate::syntax::tree::{self, Function, Generics, Item, Type};

impl<'c> Program<'c> {
    /// Adds one more file.
    pub(crate) fn add(&mut self, file: FileInput<'c>) {
        // What a name stands for may depend on the new file.
        self.resolved.get_mut().clear();
        let id = self.files.len();
        let module = self.placed.get(&file.path).cloned().unwrap_or(file.module);
        self.crates.entry(file.crate_name.clone()).or_insert(id);
        self.files.push(FileFacts {
            known: file.known,
            package: file.package,
            crate_name: file.crate_name,
            path: file.path,
            root: file.root,
            index: file.index,
            text: file.text,
        });
        self.module(id, None, module, file.tree.items);
    }

    fn module(&mut self, file: usize, name: Option<String>, path: Vec<String>, items: Vec<Item>) {
        let mut scope = Scope { module: name, path, file, ..Scope::default() };
        collect_names(&items, &mut scope);
        let scope_id = self.scopes.len();
        let package = self.files[file].package;
        self.modules.entry(package).or_default().entry(scope.path.clone()).or_default().push(scope_id);
        for item in &items {
            if let Item::Declared { name, file: Some(placed) } = item {
                let module = scope.path.iter().chain([name]).cloned().collect();
                self.place(file, placed, module);
            }
        }
        self.scopes.push(scope);
        self.items(file, scope_id, items);
    }

    fn items(&mut self, file: usize, scope: usize, items: Vec<Item>) {
        let nothing = Arc::new(OuterFacts::default());
        for item in items {
            match item {
                Item::Use(_) | Item::Constant | Item::Declared { .. } | Item::Test(_) => {}
                Item::Module { name, items } => {
                    let path = self.scopes[scope].path.iter().chain([&name]).cloned().collect();
                    self.module(file, Some(name), path, items);
                }
                Item::Function(function) => self.function(file, scope, function, &nothing, None, None, false),
                Item::Struct { name, fields, private, generics } => {
                    let fields = fields.into_iter().collect();
                    let variants = Vec::new();
                    self.add_type(TypeFacts { name, file, scope, fields, private, variants, generics });
                }
                Item::Enum { name, variants } => {
                    let mut fields = HashMap::new();
                    let mut names = Vec::new();
                    for variant in variants {
                        for (field, ty) in variant.fields {
                            fields.insert(format!("{}.{field}", variant.name), ty);
                        }
                        names.push(variant.name);
                    }
                    let (variants, private, generics) = (names, Vec::new(), Generics::default());
                    self.add_type(TypeFacts { name, file, scope, fields, private, variants, generics });
                }
                Item::Alias { name, generics, ty } => {
                    self.aliases.entry(name).or_default().push(AliasFacts { generics, ty, file, scope });
                }
                Item::Trait { name, functions } => {
                    self.traits.insert(name.clone());
                    for function in functions {
                        self.function(file, scope, function, &nothing, None, Some(name.clone()), true);
                    }
                }
                Item::Impl(node) => {
                    let owner = match &node.self_type {
                        Type::Path(path) => Some(path.last().to_owned()),
                        _ => None,
                    };
                    // `use futures::Stream as Items;` names a trait whose own name tells more.
                    let imported =
                        |name: &str| self.scopes[scope].names.get(name).and_then(|path| path.last());
                    let of_trait = node.of_trait.as_ref().map(|path| {
                        path.single().and_then(imported).map_or_else(|| path.last().to_owned(), String::clone)
                    });
                    let outer = Arc::new(OuterFacts {
                        self_type: Some(node.self_type),
                        generics: node.generics,
                        types: node.types,
                    });
                    for function in node.functions {
                        self.function(file, scope, function, &outer, owner.clone(), of_trait.clone(), false);
                    }
                }
            }
        }
    }

    /// Gives the file at this path, seen from the file that declares it, to a module.
    fn place(&mut self, declarer: usize, placed: &str, module: Vec<String>) {
        let folder = self.files[declarer].path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
        for part in placed.split('/') {
            match part {
                ".." => drop(parts.pop()),
                "." | "" => {}
                part => parts.push(part),
            }
        }
        let path = parts.join("/");
        // The file may have come first.
        if let Some(file) = self.files.iter().position(|file| file.path == path) {
            let package = self.files[file].package;
            if let Some(scope) = self.scopes.iter().position(|scope| scope.file == file) {
                self.modules.entry(package).or_default().entry(module.clone()).or_default().push(scope);
            }
        }
        self.placed.insert(path, module);
    }

    fn add_type(&mut self, facts: TypeFacts) {
        self.types_by_name.entry(facts.name.clone()).or_default().push(self.types.len());
        self.types.push(facts);
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one call per kind of item; a struct would only rename them"
    )]
    fn function(
        &mut self,
        file: usize,
        scope: usize,
        function: Function,
        outer: &Arc<OuterFacts>,
        owner: Option<String>,
        of_trait: Option<String>,
        in_trait: bool,
    ) {
        let id = self.functions.len();
        self.by_name.entry(function.name.clone()).or_default().push(id);
        if let Some(owner) = &owner {
            self.by_owner.entry((function.name.clone(), owner.clone())).or_default().push(id);
        }
        let mut nested = Vec::new();
        if let Some(body) = &function.body {
            nested_items(body, &mut nested);
        }
        self.functions.push(FunctionFacts {
            file,
            scope,
            name: function.name.clone(),
            owner,
            of_trait,
            in_trait,
            is_async: function.is_async,
            receiver: function.receiver,
            generics: Arc::new(function.generics.clone()),
            outer: Arc::clone(outer),
            params: function.params.iter().map(|param| param.ty.clone()).collect(),
            output: function.output.clone(),
            has_body: function.body.is_some(),
            graph: Lowered::new(function),
        });
        // Items inside a body see the module's names; their own `use` lines join them.
        let uses: Vec<_> = nested
            .iter()
            .filter_map(|item| if let Item::Use(uses) = item { Some(uses) } else { None })
            .collect();
        for uses in uses {
            let uses = uses.clone();
            self.scopes[scope].add(&uses);
        }
        self.items(file, scope, nested);
    }
}

fn collect_names(items: &[Item], scope: &mut Scope) {
    for item in items {
        match item {
            Item::Use(uses) => scope.add(uses),
            Item::Function(Function { name, .. })
            | Item::Struct { name, .. }
            | Item::Enum { name, .. }
            | Item::Alias { name, .. }
            | Item::Trait { name, .. } => {
                scope.defined.insert(name.clone(), ());
            }
            Item::Declared { name, .. } | Item::Module { name, .. } => {
                scope.modules.insert(name.clone());
            }
            _ => {}
        }
    }
}

/// Items declared inside a body, at its top level.
fn nested_items(block: &tree::Block, found: &mut Vec<Item>) {
    for statement in &block.statements {
        if let tree::Statement::Item(item) = statement {
            found.push((**item).clone());
        }
    }
}
