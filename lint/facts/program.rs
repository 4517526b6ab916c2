//! The parsed files of one analysis, indexed: functions with their graphs, types of the workspace, callers by name.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{
    known::Known,
    resolve::Scope,
    ty::{Ty, WatchTy},
};
use crate::{
    flow::{self, graph::Graph},
    syntax::tree::{self, Bound, File, Function, Generics, Item, Receiver, Span, Type},
};

/// Index of a function in [`Program::functions`].
pub(crate) type FnId = usize;

/// One parsed file.
pub(crate) struct FileInput<'c> {
    pub(crate) tree: File,
    pub(crate) known: Arc<Known<'c>>,
    pub(crate) package: usize,
    /// The package's name in code.
    pub(crate) crate_name: String,
    /// Path with forward slashes.
    pub(crate) path: String,
    /// Index of the file in the analysis.
    pub(crate) index: u32,
    pub(crate) text: Arc<str>,
}

pub(crate) struct FileFacts<'c> {
    pub(crate) known: Arc<Known<'c>>,
    pub(crate) package: usize,
    pub(crate) crate_name: String,
    pub(crate) path: String,
    pub(crate) index: u32,
    pub(crate) text: Arc<str>,
}

/// A function with a name.
pub(crate) struct FunctionFacts {
    pub(crate) file: usize,
    pub(crate) scope: usize,
    pub(crate) name: String,
    /// The type that it is a method of.
    pub(crate) owner: Option<String>,
    pub(crate) of_trait: Option<String>,
    /// Declared in a trait (with or without a body).
    pub(crate) in_trait: bool,
    pub(crate) public: bool,
    pub(crate) is_async: bool,
    pub(crate) receiver: Receiver,
    pub(crate) generics: Arc<Generics>,
    /// The type arguments and associated types around it.
    pub(crate) outer: Arc<OuterFacts>,
    pub(crate) params: Vec<Type>,
    pub(crate) output: Option<Type>,
    pub(crate) attributes: Vec<String>,
    pub(crate) span: Span,
    pub(crate) graph: Graph,
    pub(crate) has_body: bool,
}

/// What an `impl` or `trait` says about the functions in it.
#[derive(Default)]
pub(crate) struct OuterFacts {
    pub(crate) self_type: Option<Type>,
    pub(crate) generics: Generics,
    pub(crate) types: Vec<(String, Type)>,
}

/// A struct or enum of the workspace.
pub(crate) struct TypeFacts {
    pub(crate) name: String,
    pub(crate) file: usize,
    pub(crate) scope: usize,
    /// Fields of a struct; for an enum, those of every variant under `Variant.field`.
    pub(crate) fields: HashMap<String, Type>,
    pub(crate) variants: Vec<String>,
    pub(crate) generics: Generics,
}

pub(crate) struct AliasFacts {
    generics: Vec<String>,
    ty: Type,
    file: usize,
    scope: usize,
}

#[derive(Default)]
pub(crate) struct Program<'c> {
    pub(crate) files: Vec<FileFacts<'c>>,
    pub(crate) functions: Vec<FunctionFacts>,
    pub(crate) types: Vec<TypeFacts>,
    scopes: Vec<Scope>,
    by_name: HashMap<String, Vec<FnId>>,
    /// Methods by name and the name of their type.
    by_owner: HashMap<(String, String), Vec<FnId>>,
    /// Names of the traits.
    traits: HashSet<String>,
    types_by_name: HashMap<String, Vec<usize>>,
    aliases: HashMap<String, Vec<AliasFacts>>,
}

/// Where a type is read: its file, module, and the generics in force.
#[derive(Clone, Copy)]
pub(crate) struct At<'p> {
    pub(crate) file: usize,
    pub(crate) scope: usize,
    pub(crate) generics: &'p [&'p Generics],
    pub(crate) outer: Option<&'p OuterFacts>,
}

impl<'c> Program<'c> {
    pub(crate) fn new(files: Vec<FileInput<'c>>) -> Self {
        let mut program = Self::default();
        files.into_iter().for_each(|file| program.add(file));
        program
    }

    /// Adds one more file.
    pub(crate) fn add(&mut self, file: FileInput<'c>) {
        let id = self.files.len();
        self.files.push(FileFacts {
            known: file.known,
            package: file.package,
            crate_name: file.crate_name,
            path: file.path,
            index: file.index,
            text: file.text,
        });
        self.module(id, None, file.tree.items);
    }

    fn module(&mut self, file: usize, name: Option<String>, items: Vec<Item>) {
        let mut scope = Scope { module: name, ..Scope::default() };
        collect_names(&items, &mut scope);
        let scope_id = self.scopes.len();
        self.scopes.push(scope);
        self.items(file, scope_id, items);
    }

    fn items(&mut self, file: usize, scope: usize, items: Vec<Item>) {
        let nothing = Arc::new(OuterFacts::default());
        for item in items {
            match item {
                Item::Use(_) | Item::Constant { .. } | Item::Declared(_) => {}
                Item::Module { name, items } => self.module(file, Some(name), items),
                Item::Function(function) => self.function(file, scope, function, &nothing, None, None, false),
                Item::Struct { name, fields, generics } => {
                    let fields = fields.into_iter().collect();
                    self.add_type(TypeFacts { name, file, scope, fields, variants: Vec::new(), generics });
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
                    let generics = Generics::default();
                    self.add_type(TypeFacts { name, file, scope, fields, variants: names, generics });
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
                    let of_trait = node.of_trait.as_ref().map(|path| path.last().to_owned());
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
        let graph = flow::lower(&function);
        let mut nested = Vec::new();
        if let Some(body) = &function.body {
            nested_items(body, &mut nested);
        }
        self.functions.push(FunctionFacts {
            file,
            scope,
            name: function.name,
            owner,
            of_trait,
            in_trait,
            public: function.public,
            is_async: function.is_async,
            receiver: function.receiver,
            generics: Arc::new(function.generics),
            outer: Arc::clone(outer),
            params: function.params.into_iter().map(|param| param.ty).collect(),
            output: function.output,
            attributes: function.attributes,
            span: function.span,
            has_body: function.body.is_some(),
            graph,
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

    /// `Type::name` or `name`.
    pub(crate) fn item_name(&self, id: FnId) -> String {
        let function = &self.functions[id];
        match function.owner.as_ref().or(function.of_trait.as_ref()) {
            Some(owner) => format!("{owner}::{}", function.name),
            None => function.name.clone(),
        }
    }

    pub(crate) fn named(&self, name: &str) -> &[FnId] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    fn owned(&self, name: &str, owner: &str) -> &[FnId] {
        self.by_owner.get(&(name.to_owned(), owner.to_owned())).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn known(&self, id: FnId) -> &Known<'c> {
        &self.files[self.functions[id].file].known
    }

    pub(crate) fn resolve(&self, id: FnId, segments: &[String]) -> Vec<String> {
        let function = &self.functions[id];
        self.resolve_in(function.file, function.scope, segments)
    }

    /// The canonical path of a name, with `crate` for the package itself and for modules that the file declares.
    fn resolve_in(&self, file: usize, scope: usize, segments: &[String]) -> Vec<String> {
        let scope = &self.scopes[scope];
        let mut path = scope.resolve(segments, &self.files[file].known);
        if path.len() > 1
            && let Some(first) = path.first_mut()
        {
            if *first == self.files[file].crate_name {
                "crate".clone_into(first);
            } else if scope.modules.contains(first.as_str())
                || (path == segments && self.is_own_module(file, scope, &path[0]))
            {
                path.insert(0, "crate".to_owned());
            }
        }
        path
    }

    /// Whether a name that nothing brings in is a module of the package, which a glob of the package itself gives.
    fn is_own_module(&self, file: usize, scope: &Scope, name: &str) -> bool {
        let own = |glob: &[String]| {
            glob.first().is_some_and(|first| is_inner(first) || *first == self.files[file].crate_name)
        };
        scope.globs.iter().any(|glob| own(glob))
            && self.files.iter().any(|other| {
                other.package == self.files[file].package
                    && (other.path.ends_with(&format!("/{name}.rs"))
                        || other.path.ends_with(&format!("/{name}/mod.rs")))
            })
    }

    /// The struct or enum that a path names, seen from a file.
    fn local_type(&self, file: usize, path: &[String]) -> Option<usize> {
        let name = path.last()?;
        let candidates = self.types_by_name.get(name)?;
        let same_file = candidates.iter().copied().find(|id| self.types[*id].file == file);
        let foreign = path.len() > 1 && !is_inner(&path[0]);
        if path.len() == 1 {
            return same_file.or_else(|| self.only_in_package(file, candidates));
        }
        if foreign {
            // Another package of the workspace, or a dependency: only a unique name elsewhere will do.
            return candidates
                .iter()
                .copied()
                .find(|id| self.types[*id].file != file && !self.same_package(file, self.types[*id].file));
        }
        self.only_in_package(file, candidates).or(same_file)
    }

    fn only_in_package(&self, file: usize, candidates: &[usize]) -> Option<usize> {
        let mut found = candidates.iter().copied().filter(|id| self.same_package(file, self.types[*id].file));
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    pub(crate) fn same_package(&self, left: usize, right: usize) -> bool {
        self.files[left].package == self.files[right].package
    }

    pub(crate) fn at(&self, id: FnId) -> (usize, usize, Arc<Generics>, Arc<OuterFacts>) {
        let function = &self.functions[id];
        (function.file, function.scope, Arc::clone(&function.generics), Arc::clone(&function.outer))
    }

    /// Reads a type as written in a function.
    pub(crate) fn ty_in(&self, id: FnId, ty: &Type) -> Ty {
        let (file, scope, generics, outer) = self.at(id);
        self.ty(ty, At { file, scope, generics: &[&generics, &outer.generics], outer: Some(&outer) }, 0)
    }

    /// The type of a field of a struct of the workspace.
    pub(crate) fn field(&self, id: usize, field: &str, args: &[Ty]) -> Ty {
        let facts = &self.types[id];
        let Some(ty) = facts.fields.get(field) else { return Ty::Unknown };
        if let Type::Path(path) = ty
            && let Some(name) = path.single()
            && let Some(at) = facts.generics.names.iter().position(|generic| generic == name)
            && let Some(argument) = args.get(at)
        {
            return argument.clone();
        }
        self.ty(ty, At { file: facts.file, scope: facts.scope, generics: &[&facts.generics], outer: None }, 0)
    }

    pub(crate) fn ty(&self, ty: &Type, at: At<'_>, depth: usize) -> Ty {
        if depth > 12 {
            return Ty::Unknown;
        }
        match ty {
            Type::Path(path) => self.path_ty(path, at, depth),
            Type::Associated(name) => self.associated(name, at, depth),
            Type::Tuple(parts) => Ty::Tuple(parts.iter().map(|part| self.ty(part, at, depth + 1)).collect()),
            Type::Bounds(bounds) => self.bounds_ty(bounds, at, depth),
            Type::Function(output) => Ty::Callable(Box::new(
                output.as_ref().map_or_else(Ty::default, |output| self.ty(output, at, depth + 1)),
            )),
            Type::Unknown => Ty::Unknown,
        }
    }

    fn associated(&self, name: &str, at: At<'_>, depth: usize) -> Ty {
        let found = at.outer.and_then(|outer| outer.types.iter().find(|(known, _)| known == name));
        found.map_or(Ty::Unknown, |(_, ty)| self.ty(ty, at, depth + 1))
    }

    fn bounds_ty(&self, bounds: &[Bound], at: At<'_>, depth: usize) -> Ty {
        for bound in bounds {
            let associated = |name: &str| {
                let found = bound.associated.iter().find(|(known, _)| known == name);
                found.map(|(_, ty)| ty)
            };
            match bound.path.last() {
                "Stream" | "FusedStream" | "TryStream" | "IntoStream" => {
                    return associated("Item").map_or(Ty::Stream, |item| self.stream_ty(item, at, depth));
                }
                "Iterator" | "IntoIterator" => {
                    return associated("Item").map_or(Ty::Unknown, |item| {
                        match self.stream_ty(item, at, depth) {
                            Ty::Stream => Ty::Unknown,
                            watch => watch,
                        }
                    });
                }
                "Future" | "IntoFuture" => {
                    let output =
                        associated("Output").map_or_else(Ty::default, |ty| self.ty(ty, at, depth + 1));
                    return Ty::Future(Box::new(output));
                }
                "Fn" | "FnMut" | "FnOnce" | "AsyncFn" | "AsyncFnMut" | "AsyncFnOnce" => {
                    let output =
                        associated("Output").map_or_else(Ty::default, |ty| self.ty(ty, at, depth + 1));
                    return Ty::Callable(Box::new(output));
                }
                _ => {}
            }
        }
        let own = bounds.iter().find(|bound| self.is_trait(bound.path.last()));
        own.map_or(Ty::Unknown, |bound| Ty::Dyn(bound.path.last().into()))
    }

    fn is_trait(&self, name: &str) -> bool {
        self.traits.contains(name)
    }

    /// A stream with this item: a source, if the catalog knows a type in it.
    fn stream_ty(&self, item: &Type, at: At<'_>, depth: usize) -> Ty {
        self.item_source(item, at, depth).map_or(Ty::Stream, |source| {
            Ty::Watch(Arc::new(WatchTy { source, calls: Vec::new(), opener: None, guessed: false }))
        })
    }

    fn item_source(&self, item: &Type, at: At<'_>, depth: usize) -> Option<usize> {
        if depth > 12 {
            return None;
        }
        let known = &self.files[at.file].known;
        match item {
            Type::Path(path) => {
                let resolved = self.resolve_in(at.file, at.scope, &path.segments).join("::");
                // Of a `Result`, the error type tells best.
                let of_arguments =
                    || path.arguments.iter().rev().find_map(|arg| self.item_source(arg, at, depth + 1));
                known.source_of_item(&resolved).or_else(of_arguments).or_else(|| {
                    let alias = self.alias(path.last(), at)?;
                    self.item_source(&alias.ty, At { file: alias.file, scope: alias.scope, ..at }, depth + 1)
                })
            }
            Type::Tuple(parts) => parts.iter().find_map(|part| self.item_source(part, at, depth + 1)),
            _ => None,
        }
    }

    fn alias(&self, name: &str, at: At<'_>) -> Option<&AliasFacts> {
        let candidates = self.aliases.get(name)?;
        candidates
            .iter()
            .find(|alias| alias.scope == at.scope)
            .or_else(|| candidates.iter().find(|alias| self.same_package(alias.file, at.file)))
    }

    fn path_ty(&self, path: &tree::Path, at: At<'_>, depth: usize) -> Ty {
        let argument = |index: usize| {
            path.arguments.get(index).map_or_else(Ty::default, |ty| self.ty(ty, at, depth + 1))
        };
        let name = path.last();
        if path.single() == Some("Self") {
            return at.outer.and_then(|outer| outer.self_type.as_ref()).map_or(Ty::Unknown, |ty| match ty {
                Type::Path(own) if own.single() == Some("Self") => Ty::Unknown,
                ty => self.ty(ty, at, depth + 1),
            });
        }
        if path.segments.len() == 2 && path.segments[0] == "Self" {
            return self.associated(name, at, depth);
        }
        if let Some(single) = path.single()
            && at.generics.iter().any(|generics| generics.names.iter().any(|generic| generic == single))
        {
            return self.generic(single, at, depth);
        }
        match name {
            "Box" | "Arc" | "Rc" | "Pin" | "Mutex" | "RwLock" | "RefCell" | "Cell" | "Cow" | "Weak"
            | "OnceCell" | "Fuse" | "MutexGuard" | "OwnedMutexGuard" | "RwLockWriteGuard"
            | "ManuallyDrop" | "Instrumented"
                if !path.arguments.is_empty() =>
            {
                return argument(0);
            }
            "BoxStream" | "LocalBoxStream" => {
                return path.arguments.first().map_or(Ty::Stream, |item| self.stream_ty(item, at, depth));
            }
            "BoxFuture" | "LocalBoxFuture" => return Ty::Future(Box::new(argument(0))),
            _ => {}
        }
        if let Some(alias) =
            self.alias(name, at).filter(|_| path.single().is_some() || is_inner(&path.segments[0]))
        {
            // Arguments are put in where the alias names its parameters plainly.
            let ty = substitute(&alias.ty, &alias.generics, &path.arguments);
            return self.ty(
                &ty,
                At { file: alias.file, scope: alias.scope, generics: at.generics, outer: at.outer },
                depth + 1,
            );
        }
        let known = &self.files[at.file].known;
        let resolved = self.resolve_in(at.file, at.scope, &path.segments);
        if let Some(id) = self.local_type(at.file, &resolved) {
            return Ty::Local(id, path.arguments.iter().map(|ty| self.ty(ty, at, depth + 1)).collect());
        }
        let joined = resolved.join("::");
        if let Some(source) = known.source_of_type(&joined) {
            return Ty::Watch(Arc::new(WatchTy { source, calls: Vec::new(), opener: None, guessed: false }));
        }
        let last = resolved.last().map_or("", String::as_str);
        let args: Vec<Ty> = path.arguments.iter().map(|ty| self.ty(ty, at, depth + 1)).collect();
        match last {
            "Result" | "Option" | "Poll" => Ty::named(last, args),
            _ if last.ends_with("Result") && !args.is_empty() => Ty::named("Result", args),
            // A container is as good as what it holds, if that is a watch.
            "Vec" | "VecDeque" | "HashMap" | "BTreeMap" | "IndexMap" | "DashMap" | "FuturesUnordered"
            | "SelectAll" | "StreamMap" | "SplitStream" | "ReusableBoxFuture" | "Peekable" | "Take"
            | "Skip" | "TakeUntil" | "Map" | "Throttle" | "Response" | "StreamReader"
                if args.iter().any(|arg| arg.watch().is_some()) =>
            {
                args.into_iter().find(|arg| arg.watch().is_some()).unwrap_or_default()
            }
            _ => Ty::Named { path: joined.into(), args, calls: Vec::new() },
        }
    }

    fn generic(&self, name: &str, at: At<'_>, depth: usize) -> Ty {
        let bounds: Vec<Bound> = at
            .generics
            .iter()
            .flat_map(|generics| &generics.bounds)
            .filter(|(generic, _)| generic == name)
            .flat_map(|(_, bounds)| bounds.clone())
            .collect();
        self.bounds_ty(&bounds, at, depth + 1)
    }

    /// The functions that a method call may mean, by the receiver's type. Several: a trait with several implementations.
    pub(crate) fn methods(&self, receiver: &Ty, name: &str, from: FnId) -> Vec<FnId> {
        let candidates = self.named(name);
        match receiver {
            Ty::Local(id, _) => {
                let facts = &self.types[*id];
                let own = self.owned(name, &facts.name).iter().copied().filter(|id| {
                    let function = &self.functions[*id];
                    !function.in_trait && self.same_package(function.file, facts.file)
                });
                let own: Vec<FnId> = own.collect();
                let inherent: Vec<FnId> =
                    own.iter().copied().filter(|id| self.functions[*id].of_trait.is_none()).collect();
                if inherent.is_empty() { own } else { inherent }
            }
            Ty::Dyn(name) => {
                let of_trait = |id: &FnId| self.functions[*id].of_trait.as_deref() == Some(&**name);
                let implementations: Vec<FnId> = candidates
                    .iter()
                    .copied()
                    .filter(|id| of_trait(id) && !self.functions[*id].in_trait)
                    .collect();
                if implementations.is_empty() {
                    candidates.iter().copied().filter(of_trait).collect()
                } else {
                    implementations
                }
            }
            // A method that the workspace adds to another crate's type.
            Ty::Named { path, .. } => {
                let own = |id: &FnId| {
                    let function = &self.functions[*id];
                    let owner = function.outer.self_type.as_ref().map(|ty| self.ty_in(*id, ty));
                    function.of_trait.is_some()
                        && matches!(owner, Some(Ty::Named { path: own, .. }) if own == *path)
                };
                let last = path.rsplit("::").next().unwrap_or(path);
                if is_collection(path) {
                    Vec::new()
                } else {
                    self.owned(name, last).iter().copied().filter(own).collect()
                }
            }
            // Of a receiver that is not known, a name that only one method of the workspace has will do.
            Ty::Unknown if !UBIQUITOUS.contains(&name) => {
                let here = self.functions[from].file;
                let method = |id: &FnId| {
                    let function = &self.functions[*id];
                    function.receiver != Receiver::None
                        && function.has_body
                        && self.same_package(function.file, here)
                };
                let found: Vec<FnId> = candidates.iter().copied().filter(method).collect();
                if found.len() == 1 { found } else { Vec::new() }
            }
            _ => Vec::new(),
        }
    }

    /// The function that a path names, seen from a function.
    pub(crate) fn function_at(&self, from: FnId, path: &[String]) -> Option<FnId> {
        let name = path.last()?;
        let candidates = self.named(name);
        let here = &self.functions[from];
        if path.len() >= 2 {
            let owner = &path[path.len() - 2];
            let owner = if owner == "Self" { here.owner.clone()? } else { owner.clone() };
            if owner.starts_with(char::is_uppercase) {
                let foreign =
                    path.len() > 2 && !is_inner(&path[0]) && self.types_by_name.get(&owner).is_none();
                let owned = self.owned(name, &owner);
                let mut found = owned.iter().copied().filter(|id| {
                    let function = &self.functions[*id];
                    self.same_package(function.file, here.file) && !(foreign && function.of_trait.is_some())
                });
                return found.next().or_else(|| owned.first().copied().filter(|_| !is_inner(&path[0])));
            }
        }
        let free = |id: &FnId| {
            let function = &self.functions[*id];
            function.owner.is_none() && function.of_trait.is_none()
        };
        if path.len() == 1 {
            let same_scope =
                candidates.iter().copied().find(|id| free(id) && self.functions[*id].scope == here.scope);
            return same_scope.or_else(|| {
                candidates.iter().copied().find(|id| free(id) && self.functions[*id].file == here.file)
            });
        }
        let inner = is_inner(&path[0]);
        let package = |id: &FnId| {
            let file = &self.files[self.functions[*id].file];
            if inner { file.package == self.files[here.file].package } else { file.crate_name == path[0] }
        };
        let mut found = candidates.iter().copied().filter(|id| free(id) && package(id));
        let first = found.next()?;
        // A module's own function, if the name alone does not tell.
        if found.next().is_some() {
            let module = &path[path.len() - 2];
            let mut inside = candidates
                .iter()
                .copied()
                .filter(|id| free(id) && package(id) && self.in_module(*id, module));
            return inside.next();
        }
        Some(first)
    }

    /// Whether a function stands in a module of this name, told by its file.
    fn in_module(&self, id: FnId, module: &str) -> bool {
        let function = &self.functions[id];
        if let Some(own) = &self.scopes[function.scope].module {
            return own == module;
        }
        let path = &self.files[function.file].path;
        let mut parts = path.rsplit('/');
        let file = parts.next().unwrap_or_default();
        let folder = parts.next().unwrap_or_default();
        match (file, module) {
            ("lib.rs" | "main.rs", "crate" | "self" | "super") => true,
            ("mod.rs", _) => folder == module,
            _ => file.strip_suffix(".rs") == Some(module),
        }
    }
}

/// Whether a type's own methods win over what the workspace adds to it under the same name.
fn is_collection(path: &str) -> bool {
    let last = path.rsplit("::").next().unwrap_or(path);
    matches!(
        last,
        "HashMap"
            | "BTreeMap"
            | "HashSet"
            | "BTreeSet"
            | "Vec"
            | "VecDeque"
            | "String"
            | "str"
            | "Option"
            | "Result"
    )
}

/// Methods that so many types have that the name alone says nothing.
const UBIQUITOUS: &[&str] = &[
    "accept",
    "add",
    "all",
    "any",
    "apply",
    "as_ref",
    "build",
    "call",
    "cancel",
    "clear",
    "clone",
    "close",
    "collect",
    "connect",
    "contains",
    "count",
    "create",
    "delete",
    "drain",
    "drop",
    "enter",
    "entry",
    "execute",
    "extend",
    "filter",
    "find",
    "finish",
    "flush",
    "fold",
    "get",
    "handle",
    "id",
    "init",
    "insert",
    "into",
    "is_empty",
    "iter",
    "join",
    "key",
    "keys",
    "kind",
    "last",
    "len",
    "list",
    "listen",
    "load",
    "lock",
    "log",
    "map",
    "max",
    "min",
    "name",
    "next",
    "open",
    "parse",
    "path",
    "ping",
    "poll",
    "pop",
    "process",
    "publish",
    "push",
    "put",
    "query",
    "read",
    "recv",
    "remove",
    "replace",
    "request",
    "reset",
    "run",
    "save",
    "send",
    "set",
    "shutdown",
    "size",
    "sleep",
    "spawn",
    "split",
    "start",
    "state",
    "status",
    "stop",
    "store",
    "stream",
    "subscribe",
    "sync",
    "take",
    "tick",
    "to_string",
    "update",
    "url",
    "value",
    "values",
    "wait",
    "watch",
    "write",
];

/// Whether a path starts inside its own package.
fn is_inner(first: &str) -> bool {
    matches!(first, "crate" | "self" | "super")
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
            Item::Declared(name) | Item::Module { name, .. } => {
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

fn substitute(ty: &Type, generics: &[String], arguments: &[Type]) -> Type {
    match ty {
        Type::Path(path) => {
            if let Some(at) =
                path.single().and_then(|name| generics.iter().position(|generic| generic == name))
            {
                return arguments.get(at).cloned().unwrap_or(Type::Unknown);
            }
            let replaced = path.arguments.iter().map(|ty| substitute(ty, generics, arguments)).collect();
            Type::Path(tree::Path { segments: path.segments.clone(), arguments: replaced })
        }
        Type::Tuple(parts) => {
            Type::Tuple(parts.iter().map(|part| substitute(part, generics, arguments)).collect())
        }
        Type::Bounds(bounds) => Type::Bounds(
            bounds
                .iter()
                .map(|bound| Bound {
                    path: bound.path.clone(),
                    associated: bound
                        .associated
                        .iter()
                        .map(|(name, ty)| (name.clone(), substitute(ty, generics, arguments)))
                        .collect(),
                })
                .collect(),
        ),
        other => other.clone(),
    }
}
