//! What the analysis would like to see of the files that it has not parsed: who calls a function, and how a type is defined.

use std::collections::{BTreeSet, HashSet};

use super::Survey;
use crate::{
    facts::FnId,
    syntax::tree::{Receiver, Type},
};

/// Names to look for.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    /// Of functions whose callers decide about a watch, or of the type of one whose own name says nothing, with the package that has
    /// them. None for what a trait declares: a caller need not know the package.
    pub(crate) used: BTreeSet<(Option<usize>, String)>,
    /// Of types that are not defined in view, with the package that names them.
    pub(crate) defined: BTreeSet<(usize, String)>,
}

impl Survey<'_, '_> {
    /// What is wanted next.
    pub(crate) fn wanted(&self) -> Wanted {
        let used = self.used();
        // Where nothing is polled and nothing handed out, only a field of a type that is not in view can make a difference.
        let defined = self.defined(used.is_empty());
        Wanted { used, defined }
    }

    /// The functions that poll a watch or hand one out, and those that call them.
    fn used(&self) -> BTreeSet<(Option<usize>, String)> {
        let files = &self.infer.program.files;
        let functions = &self.infer.program.functions;
        let opening = (0..functions.len()).filter(|id| self.infer.output(*id).watch().is_some());
        // Of a hook that ends the process it is asked who sets it.
        let hooks = self.infer.exit_hooks().iter().copied();
        let mut todo: Vec<FnId> =
            self.polls.iter().map(|site| site.function).chain(opening).chain(hooks).collect();
        let sites = self.infer.sites();
        let mut seen: HashSet<FnId> = todo.iter().copied().collect();
        let mut names = self.carriers();
        while let Some(id) = todo.pop() {
            let function = &functions[id];
            let by_trait = function.of_trait.as_deref() == Some("Stream");
            let package = function.of_trait.is_none().then_some(files[function.file].package);
            if !is_common(&function.name) && !by_trait {
                names.insert((package, function.name.clone()));
            } else if let Some(owner) = &function.owner {
                // The name says nothing, its type's does.
                let name = match function.receiver {
                    Receiver::None => format!("{owner}::{}", function.name),
                    _ => owner.clone(),
                };
                names.insert((package, name));
            }
            for site in sites.get(&id).into_iter().flatten() {
                if seen.insert(site.function) {
                    todo.push(site.function);
                }
            }
        }
        names
    }

    /// The names by which another file may have a watch: of types with one in a field whose methods are not in view, and of aliases.
    fn carriers(&self) -> BTreeSet<(Option<usize>, String)> {
        let program = self.infer.program;
        let owners: HashSet<&String> = program.functions.iter().filter_map(|it| it.owner.as_ref()).collect();
        let carries = |id: usize| {
            program.types[id].fields.keys().any(|field| program.field(id, field, &[]).watch().is_some())
        };
        let types = (0..program.types.len())
            .filter(|id| !owners.contains(&program.types[*id].name) && carries(*id))
            .map(|id| (program.types[id].file, program.types[id].name.clone()));
        let aliases = program
            .aliases()
            .filter(|(_, _, ty)| ty.watch().is_some())
            .map(|(name, file, _)| (file, name.to_owned()));
        types.chain(aliases).map(|(file, name)| (Some(program.files[file].package), name)).collect()
    }

    /// The types of the workspace that live functions belong to, and, unless only these are asked for, those that such functions take
    /// or give, and those of the fields.
    fn defined(&self, owners_only: bool) -> BTreeSet<(usize, String)> {
        let program = self.infer.program;
        let mut names = BTreeSet::new();
        let mut find = |at: (usize, usize), segments: &[String]| {
            let package = program.files[at.0].package;
            names.extend(program.undefined(at, segments).map(|name| (package, name)));
        };
        let mut owners = HashSet::new();
        let live: BTreeSet<FnId> = program.live().collect();
        let called: BTreeSet<FnId> = self.infer.sites().keys().copied().collect();
        for id in live.union(&called).copied() {
            let function = &program.functions[id];
            let at = (function.file, function.scope);
            let is_generic = |segments: &[String]| {
                let named = |names: &[String]| segments.len() == 1 && names.contains(&segments[0]);
                named(&function.generics.names) || named(&function.outer.generics.names)
            };
            let is_live = live.contains(&id);
            let own = function.outer.self_type.iter().filter(|_| is_live);
            let signature = function.params.iter().filter(|_| is_live).chain(&function.output);
            for ty in own.chain(signature.filter(|_| !owners_only)) {
                each_path(ty, &mut |segments| {
                    if !is_generic(segments) {
                        find(at, segments);
                    }
                });
            }
            if is_live {
                owners.extend(&function.owner);
            }
        }
        let with_fields = |name: &String| !owners_only && owners.contains(name);
        for ty in program.types.iter().filter(|ty| with_fields(&ty.name)) {
            for field in ty.fields.values() {
                each_path(field, &mut |segments| {
                    if !(segments.len() == 1 && ty.generics.names.contains(&segments[0])) {
                        find((ty.file, ty.scope), segments);
                    }
                });
            }
        }
        names
    }
}

/// Every path in a type.
fn each_path(ty: &Type, found: &mut dyn FnMut(&[String])) {
    match ty {
        Type::Path(path) => {
            found(&path.segments);
            path.arguments.iter().for_each(|ty| each_path(ty, found));
        }
        Type::Tuple(parts) => parts.iter().for_each(|ty| each_path(ty, found)),
        Type::Bounds(bounds) => bounds.iter().for_each(|bound| {
            found(&bound.path.segments);
            bound.associated.iter().for_each(|(_, ty)| each_path(ty, found));
        }),
        Type::Function(Some(output)) => each_path(output, found),
        Type::Function(None) | Type::Associated(_) | Type::Unknown => {}
    }
}

/// Whether every other file calls a function of this name: searching for it finds nothing in particular.
pub(crate) fn is_common(name: &str) -> bool {
    name.len() < 3 || COMMON.contains(&name)
}

const COMMON: &[&str] =
    &["main", "new", "default", "from", "into", "fmt", "drop", "clone", "poll", "next", "get", "build"];
