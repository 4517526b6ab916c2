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
    /// Of functions whose callers decide about a watch, or of the type of one whose own name says nothing.
    pub(crate) used: BTreeSet<String>,
    /// Of types that are not defined in view.
    pub(crate) defined: BTreeSet<String>,
}

impl Survey<'_, '_> {
    /// What is wanted next.
    pub(crate) fn wanted(&self) -> Wanted {
        let used = self.used();
        // Where nothing is polled and nothing handed out, no type makes a difference.
        let defined = if used.is_empty() { BTreeSet::new() } else { self.defined() };
        Wanted { used, defined }
    }

    /// The functions that poll a watch or hand one out, and those that call them.
    fn used(&self) -> BTreeSet<String> {
        let functions = &self.infer.program.functions;
        let opening = (0..functions.len()).filter(|id| self.infer.output(*id).watch().is_some());
        let mut todo: Vec<FnId> = self.polls.iter().map(|site| site.function).chain(opening).collect();
        let sites = self.infer.sites();
        let mut seen: HashSet<FnId> = todo.iter().copied().collect();
        let mut names = BTreeSet::new();
        while let Some(id) = todo.pop() {
            let function = &functions[id];
            let by_trait = function.of_trait.as_deref() == Some("Stream");
            if !is_common(&function.name) && !by_trait {
                names.insert(function.name.clone());
            } else if let Some(owner) = &function.owner {
                // The name says nothing, its type's does.
                names.insert(match function.receiver {
                    Receiver::None => format!("{owner}::{}", function.name),
                    _ => owner.clone(),
                });
            }
            for site in sites.get(&id).into_iter().flatten() {
                if seen.insert(site.function) {
                    todo.push(site.function);
                }
            }
        }
        names
    }

    /// The types of the workspace that live functions take or give, and those that they belong to, with their fields.
    fn defined(&self) -> BTreeSet<String> {
        let program = self.infer.program;
        let mut names = BTreeSet::new();
        let mut owners = HashSet::new();
        for id in program.live() {
            let function = &program.functions[id];
            let at = (function.file, function.scope);
            let is_generic = |segments: &[String]| {
                let named = |names: &[String]| segments.len() == 1 && names.contains(&segments[0]);
                named(&function.generics.names) || named(&function.outer.generics.names)
            };
            for ty in function.outer.self_type.iter().chain(&function.params).chain(&function.output) {
                each_path(ty, &mut |segments| {
                    if !is_generic(segments) {
                        names.extend(program.undefined(at, segments));
                    }
                });
            }
            owners.extend(&function.owner);
        }
        for ty in program.types.iter().filter(|ty| owners.contains(&ty.name)) {
            for field in ty.fields.values() {
                each_path(field, &mut |segments| {
                    if !(segments.len() == 1 && ty.generics.names.contains(&segments[0])) {
                        names.extend(program.undefined((ty.file, ty.scope), segments));
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
