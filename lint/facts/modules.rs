//! The module tree of a workspace: what a name means in another module, through globs and re-exports.

use std::collections::HashSet;

use super::program::{Program, is_inner};

/// What a name stands for.
#[derive(Debug, PartialEq, Eq)]
enum Meaning {
    /// An item of the workspace, and the module that defines it, if that is in view.
    Own(Option<usize>),
    /// An item of this path, in another crate.
    Foreign(Vec<String>),
}

impl Program<'_> {
    /// The path in another crate that a path of the workspace stands for, seen from a module: `crate::prelude::Receiver`, a name that
    /// `use super::*` brings in.
    pub(super) fn re_exported(&self, scope: usize, path: &[String]) -> Option<Vec<String>> {
        match self.meaning(scope, path, &mut HashSet::new())? {
            Meaning::Foreign(path) => Some(path),
            Meaning::Own(_) => None,
        }
    }

    /// The module that defines the item of the workspace which a path names, seen from another.
    pub(super) fn home(&self, scope: usize, path: &[String]) -> Option<usize> {
        match self.meaning(scope, path, &mut HashSet::new())? {
            Meaning::Own(home) => home,
            Meaning::Foreign(_) => None,
        }
    }

    /// What a path means where a module writes it.
    ///
    /// `seen` holds what was asked on the way: a name that a module does not have is not looked for there again, and a cycle ends.
    fn meaning(
        &self,
        scope: usize,
        path: &[String],
        seen: &mut HashSet<(usize, Vec<String>)>,
    ) -> Option<Meaning> {
        if !seen.insert((scope, path.to_vec())) {
            return None;
        }
        let facts = &self.scopes[scope];
        let first = path.first()?;
        if let Some(start) = self.start(scope, path) {
            return self.below(scope, start, seen);
        }
        if facts.defined.contains_key(first) {
            return Some(Meaning::Own((path.len() == 1).then_some(scope)));
        }
        if let Some(target) = facts.names.get(first) {
            let whole: Vec<String> = target.iter().chain(&path[1..]).cloned().collect();
            // `use tokio;` names a crate, not itself.
            let again = target.first() != Some(first);
            let inside = if again { self.meaning(scope, &whole, seen) } else { None };
            let out_of_view = || {
                if self.start(scope, &whole).is_some() {
                    Meaning::Own(None)
                } else {
                    Meaning::Foreign(whole.clone())
                }
            };
            return Some(inside.unwrap_or_else(out_of_view));
        }
        facts.globs.iter().find_map(|glob| {
            let whole: Vec<String> = glob.iter().chain(path).cloned().collect();
            match self.start(scope, &whole) {
                Some(start) => self.below(scope, start, seen),
                None => self.catalogued(scope, &whole, path.len() > 1).then_some(Meaning::Foreign(whole)),
            }
        })
    }

    /// Whether the catalog knows a path, or (`of_type`) the type that it is an item of.
    fn catalogued(&self, scope: usize, path: &[String], of_type: bool) -> bool {
        let known = &self.files[self.scopes[scope].file].known;
        known.has(&path.join("::")) || (of_type && known.has(&path[..path.len() - 1].join("::")))
    }

    /// The module of the workspace that a path starts from, if its first name says so, and the names that follow.
    fn start<'s>(&self, scope: usize, path: &'s [String]) -> Option<Start<'s>> {
        let facts = &self.scopes[scope];
        let file = &self.files[facts.file];
        let first = path.first()?;
        if !is_inner(first) {
            if facts.modules.contains(first) {
                return Some(Start { package: file.package, module: facts.path.clone(), rest: path });
            }
            let other = &self.files[*self.crates.get(first)?];
            return Some(Start { package: other.package, module: other.root.clone(), rest: &path[1..] });
        }
        let mut module = if first == "crate" { file.root.clone() } else { facts.path.clone() };
        let mut rest = path;
        while let [first, more @ ..] = rest
            && is_inner(first)
        {
            if first == "super" {
                module.pop();
            }
            rest = more;
        }
        Some(Start { package: file.package, module, rest })
    }

    /// What a path means below a module: its first names are modules as far as there are such.
    fn below(
        &self,
        from: usize,
        start: Start<'_>,
        seen: &mut HashSet<(usize, Vec<String>)>,
    ) -> Option<Meaning> {
        let Start { package, mut module, mut rest } = start;
        let mut found = self.scopes_of(package, &module);
        while let [first, more @ ..] = rest
            && !more.is_empty()
        {
            module.push(first.clone());
            let inner = self.scopes_of(package, &module);
            if inner.is_empty() {
                break;
            }
            found = inner;
            rest = more;
        }
        found.iter().filter(|scope| **scope != from).find_map(|scope| self.meaning(*scope, rest, seen))
    }

    fn scopes_of(&self, package: usize, path: &[String]) -> &[usize] {
        self.modules.get(&package).and_then(|modules| modules.get(path)).map_or(&[], Vec::as_slice)
    }
}

/// A module of a package, and the names behind it.
struct Start<'s> {
    package: usize,
    module: Vec<String>,
    rest: &'s [String],
}
