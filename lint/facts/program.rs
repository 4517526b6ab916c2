//! The parsed files of one analysis: functions with their graphs, types of the workspace, and the paths that name them.

use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::{known::Known, lowered::Lowered, resolve::Scope};
use crate::{
    flow::graph::Graph,
    syntax::tree::{File, Generics, Receiver, Type},
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
    /// The module that the file is, by its place, and the one that is the root of its crate.
    pub(crate) module: Vec<String>,
    pub(crate) root: Vec<String>,
    /// Index of the file in the analysis.
    pub(crate) index: u32,
    pub(crate) text: Arc<str>,
}

/// What is kept of a file.
pub(crate) struct FileFacts<'c> {
    pub(crate) known: Arc<Known<'c>>,
    pub(crate) package: usize,
    pub(crate) crate_name: String,
    pub(crate) path: String,
    /// The module path of the crate's root: empty, but for a binary of its own.
    pub(super) root: Vec<String>,
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
    pub(crate) is_async: bool,
    pub(crate) receiver: Receiver,
    pub(crate) generics: Arc<Generics>,
    /// The type arguments and associated types around it.
    pub(crate) outer: Arc<OuterFacts>,
    pub(crate) params: Vec<Type>,
    pub(crate) output: Option<Type>,
    pub(super) graph: Lowered,
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
    /// Fields that only the type's own module names.
    pub(crate) private: Vec<String>,
    pub(crate) variants: Vec<String>,
    pub(crate) generics: Generics,
}

/// A `type` of the workspace, with the place where it is read.
pub(crate) struct AliasFacts {
    pub(super) generics: Vec<String>,
    pub(super) ty: Type,
    pub(super) file: usize,
    pub(super) scope: usize,
}

/// Canonical paths by what is written.
type Resolved = HashMap<Vec<String>, Vec<String>>;

/// Everything of one analysis.
#[derive(Default)]
pub(crate) struct Program<'c> {
    pub(crate) files: Vec<FileFacts<'c>>,
    pub(crate) functions: Vec<FunctionFacts>,
    pub(crate) types: Vec<TypeFacts>,
    pub(super) scopes: Vec<Scope>,
    /// The scopes of each module, by package and path. The roots of a library and of a program of one package share theirs.
    pub(super) modules: HashMap<usize, HashMap<Vec<String>, Vec<usize>>>,
    /// Files that a `#[path]` gives to a module, by their paths, with its package and path.
    pub(super) placed: HashMap<String, Vec<String>>,
    /// The names in code of the workspace's packages.
    pub(crate) members: HashSet<String>,
    /// The names in code of the crates that they depend on and that are none of them.
    pub(crate) foreign: HashSet<String>,
    /// Whether the profile for releases makes a panic abort the process.
    pub(crate) panic_aborts: bool,
    /// A file of each crate, by the crate's name in code.
    pub(super) crates: HashMap<String, usize>,
    pub(super) by_name: HashMap<String, Vec<FnId>>,
    /// Methods by name and the name of their type.
    pub(super) by_owner: HashMap<(String, String), Vec<FnId>>,
    /// Names of the traits.
    pub(super) traits: HashSet<String>,
    pub(super) types_by_name: HashMap<String, Vec<usize>>,
    pub(super) aliases: HashMap<String, Vec<AliasFacts>>,
    /// The canonical paths of the names of each module, as far as asked.
    pub(super) resolved: RefCell<HashMap<usize, Resolved>>,
}

impl<'c> Program<'c> {
    /// `Type::name` or `name`.
    pub(crate) fn item_name(&self, id: FnId) -> String {
        let function = &self.functions[id];
        match function.owner.as_ref().or(function.of_trait.as_ref()) {
            Some(owner) => format!("{owner}::{}", function.name),
            None => function.name.clone(),
        }
    }

    /// The graph of a function.
    pub(crate) fn graph(&self, id: FnId) -> &Graph {
        let function = &self.functions[id];
        function.graph.get(&self.files[function.file].text)
    }

    /// The functions in whose bodies something of interest stands.
    pub(crate) fn live(&self) -> impl Iterator<Item = FnId> {
        (0..self.functions.len()).filter(|id| self.functions[*id].graph.is_live())
    }

    /// Makes those functions live for whose package and body `wanted` holds. Gives their number.
    pub(crate) fn wake(&self, wanted: &dyn Fn(usize, &str) -> bool) -> usize {
        let wakes = |function: &&FunctionFacts| {
            let file = &self.files[function.file];
            function.graph.wake(&file.text, &|body| wanted(file.package, body))
        };
        self.functions.iter().filter(wakes).count()
    }

    /// The catalog as the package of a function sees it.
    pub(crate) fn known(&self, id: FnId) -> &Known<'c> {
        &self.files[self.functions[id].file].known
    }

    /// The functions of this name.
    pub(crate) fn named(&self, name: &str) -> &[FnId] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// The methods of this name on types of that name.
    pub(super) fn owned(&self, name: &str, owner: &str) -> &[FnId] {
        self.by_owner.get(&(name.to_owned(), owner.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// The canonical path of a name, seen from a function; of a function that the user describes, the described one.
    pub(crate) fn resolve(&self, id: FnId, segments: &[String]) -> Vec<String> {
        let function = &self.functions[id];
        let path = self.resolve_in(function.file, function.scope, segments);
        match self.own_function(id, &path) {
            Some(own) => own.split("::").map(str::to_owned).collect(),
            None => path,
        }
    }

    /// The canonical path of a name, with `crate` for the package itself and for modules that the file declares.
    pub(super) fn resolve_in(&self, file: usize, scope: usize, segments: &[String]) -> Vec<String> {
        if let Some(path) = self.resolved.borrow().get(&scope).and_then(|known| known.get(segments)) {
            return path.clone();
        }
        let path = self.canonical(file, scope, segments);
        self.resolved.borrow_mut().entry(scope).or_default().insert(segments.to_vec(), path.clone());
        path
    }

    fn canonical(&self, file: usize, scope: usize, segments: &[String]) -> Vec<String> {
        let (id, scope) = (scope, &self.scopes[scope]);
        let mut path = scope.resolve(segments, &self.files[file].known);
        let open = path == segments && !scope.globs.is_empty();
        if (open || path.first().is_some_and(|first| is_inner(first) || self.crates.contains_key(first)))
            && let Some(foreign) = self.re_exported(id, &path)
        {
            return foreign;
        }
        if let Some(own) = self.files[file].known.re_exported(&path) {
            return own.to_vec();
        }
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
            glob.first().is_some_and(|first| {
                is_inner(first) || *first == self.files[file].crate_name || scope.modules.contains(first)
            })
        };
        scope.globs.iter().any(|glob| own(glob))
            && self.files.iter().any(|other| {
                other.package == self.files[file].package
                    && (other.path.ends_with(&format!("/{name}.rs"))
                        || other.path.ends_with(&format!("/{name}/mod.rs")))
            })
    }

    /// Whether a path leads to the workspace, or nothing tells where it leads.
    pub(crate) fn is_inside(&self, id: FnId, path: &[String]) -> bool {
        let scope = &self.scopes[self.functions[id].scope];
        match path {
            [] => false,
            [name] => !scope.names.contains_key(name),
            [first, ..] => is_inner(first) || self.files.iter().any(|file| file.crate_name == *first),
        }
    }

    /// The struct or enum that a path names, seen from a file.
    pub(super) fn local_type(&self, file: usize, path: &[String]) -> Option<usize> {
        let name = path.last()?;
        let candidates = self.types_by_name.get(name)?;
        let same_file = candidates.iter().copied().find(|id| self.types[*id].file == file);
        let foreign = path.len() > 1 && !is_inner(&path[0]);
        if path.len() == 1 {
            return same_file.or_else(|| self.only_in_package(file, candidates));
        }
        if self.is_foreign(path) {
            return None;
        }
        if foreign {
            // Another package of the workspace, or, as far as the catalog does not know better, one that shows its types.
            let mut elsewhere =
                candidates.iter().copied().filter(|id| !self.same_package(file, self.types[*id].file));
            let of_crate = |id: &usize| self.files[self.types[*id].file].crate_name == path[0];
            let in_module = |id: &usize| {
                let facts = &self.types[*id];
                path.len() > 2 && self.stands_in((facts.file, facts.scope), &path[path.len() - 2])
            };
            let own = || elsewhere.clone().filter(of_crate);
            let known = || self.files[file].known.has(&path.join("::"));
            return own()
                .find(in_module)
                .or_else(|| own().next())
                .or_else(|| elsewhere.next().filter(|_| !known()));
        }
        let in_module = || {
            let module = path[..path.len() - 1].last()?;
            self.only_in_package(
                file,
                candidates.iter().filter(|id| {
                    let facts = &self.types[**id];
                    self.stands_in((facts.file, facts.scope), module)
                }),
            )
        };
        self.only_in_package(file, candidates).or_else(in_module).or(same_file)
    }

    /// The name of a type of the workspace that no file in view defines.
    pub(crate) fn undefined(&self, (file, scope): (usize, usize), segments: &[String]) -> Option<String> {
        let name = segments.last()?;
        let is_type = name.starts_with(char::is_uppercase) && name != "Self";
        if !is_type || self.traits.contains(name) {
            return None;
        }
        let path = self.resolve_in(file, scope, segments);
        let (first, name) = (path.first()?, path.last()?);
        let by_glob = || path.len() == 1 && self.scopes[scope].globs.iter().any(|glob| is_inner(&glob[0]));
        let inner = is_inner(first) || by_glob();
        let right = |other: usize| match inner {
            true => self.same_package(file, other),
            false => self.files[other].crate_name == *first,
        };
        let mut types = self.types_by_name.get(name).into_iter().flatten();
        let mut aliases = self.aliases.get(name).into_iter().flatten();
        let mut in_view =
            || types.any(|id| right(self.types[*id].file)) || aliases.any(|alias| right(alias.file));
        ((inner || self.members.contains(first)) && !in_view()).then(|| name.clone())
    }

    /// Whether a canonical path leads into a crate that is no part of the workspace.
    pub(super) fn is_foreign(&self, path: &[String]) -> bool {
        path.len() > 1
            && (matches!(path[0].as_str(), "std" | "core" | "alloc") || self.foreign.contains(&path[0]))
    }

    fn only_in_package<'t>(
        &self,
        file: usize,
        candidates: impl IntoIterator<Item = &'t usize>,
    ) -> Option<usize> {
        let mut found =
            candidates.into_iter().copied().filter(|id| self.same_package(file, self.types[*id].file));
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    /// Whether two files belong to one package.
    pub(crate) fn same_package(&self, left: usize, right: usize) -> bool {
        self.files[left].package == self.files[right].package
    }
}

/// Whether a path starts inside its own package.
pub(super) fn is_inner(first: &str) -> bool {
    matches!(first, "crate" | "self" | "super")
}
