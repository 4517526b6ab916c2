//! Items of the workspace that the user's configuration describes: found by crate and name, wherever they are declared and
//! through whatever path the code names them.

use std::collections::{HashMap, HashSet};

use super::{
    program::{FnId, Program, is_inner},
    ty::Ty,
};
use crate::syntax::tree::Receiver;

/// The paths of the user's entries.
#[derive(Debug, Default)]
pub(crate) struct Own<'c> {
    paths: HashSet<&'c str>,
    /// The same by crate and name, without the modules in between.
    by_name: HashMap<String, Vec<&'c str>>,
    /// The same by the last name alone.
    by_last: HashMap<&'c str, &'c str>,
}

impl<'c> Own<'c> {
    pub(super) fn add(&mut self, path: &'c str) {
        if !path.contains('*') && self.paths.insert(path) {
            self.by_name.entry(short(path)).or_default().push(path);
            self.by_last.entry(path.rsplit("::").next().unwrap_or(path)).or_insert(path);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Whether this is one of the paths, as the user writes it.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// Whether one of the paths has this crate and name.
    pub(super) fn has_name(&self, path: &str) -> bool {
        !self.is_empty() && self.by_name.contains_key(&short(path))
    }
}

/// A path without its modules: `acme_bus::topics::Bus::subscribe` is `acme_bus::Bus::subscribe`.
fn short(path: &str) -> String {
    let segments: Vec<&str> = path.split("::").collect();
    match segments.as_slice() {
        [root, .., owner, name] if owner.starts_with(char::is_uppercase) => {
            format!("{root}::{owner}::{name}")
        }
        [root, .., name] => format!("{root}::{name}"),
        _ => path.to_owned(),
    }
}

/// The module of a path's item; that of a crate's root is `crate`.
fn module(path: &str) -> &str {
    let mut segments: Vec<&str> = path.split("::").collect();
    segments.pop();
    if segments.last().is_some_and(|last| last.starts_with(char::is_uppercase)) {
        segments.pop();
    }
    if segments.len() > 1 { segments[segments.len() - 1] } else { "crate" }
}

/// Where an item is declared: file and scope.
type Place = (usize, usize);

impl<'c> Program<'c> {
    /// The described path of the type that a resolved path names, seen from a file.
    pub(super) fn own_type(&self, file: usize, path: &[String]) -> Option<&'c str> {
        let own = &self.files[file].known.own;
        if own.is_empty() {
            return None;
        }
        let name = path.last()?;
        let inner = path.len() == 1 || is_inner(&path[0]);
        let root = if inner { &self.files[file].crate_name } else { &path[0] };
        let listed = own.by_name.get(&format!("{root}::{name}"))?;
        let mut declared = self.declared(root, name);
        let alone = declared.len() == 1;
        if !alone && path.len() > 2 {
            declared.retain(|place| self.stands_in(*place, &path[path.len() - 2]));
        } else if !alone && inner {
            declared.retain(|place| place.0 == file);
        }
        match declared.as_slice() {
            [place] => self.listed_at(listed, *place, alone),
            _ => None,
        }
    }

    /// The described path of a struct or enum of the workspace, seen from a function.
    fn own_local(&self, from: FnId, id: usize) -> Option<&'c str> {
        let facts = &self.types[id];
        let root = &self.files[facts.file].crate_name;
        let listed = self.known(from).own.by_name.get(&format!("{root}::{}", facts.name))?;
        let alone = self.declared(root, &facts.name).len() == 1;
        self.listed_at(listed, (facts.file, facts.scope), alone)
    }

    /// The described path of a receiver of the workspace, seen from a function: a type, or a trait that it is known by.
    pub(crate) fn own_receiver(&self, from: FnId, receiver: &Ty) -> Option<&'c str> {
        let own = &self.known(from).own;
        match receiver {
            _ if own.is_empty() => None,
            Ty::Local(id, _) => self.own_local(from, *id),
            Ty::Dyn(name) => own.by_last.get(&**name).copied(),
            _ => None,
        }
    }

    /// Whether the user says what a method gives or means, so that nobody need look into it.
    pub(crate) fn describes(&self, from: FnId, receiver: &Ty, method: &str) -> bool {
        self.own_receiver(from, receiver)
            .is_some_and(|path| self.known(from).describes_method(&[path], method))
    }

    /// The described path of the function that a resolved path names, seen from a function.
    pub(super) fn own_function(&self, from: FnId, path: &[String]) -> Option<&'c str> {
        let own = &self.known(from).own;
        if own.is_empty() {
            return None;
        }
        let id = self.function_at(from, path)?;
        let function = &self.functions[id];
        let root = &self.files[function.file].crate_name;
        let owner = function.owner.as_ref().or(function.of_trait.as_ref());
        match owner {
            Some(owner) => {
                let listed = own.by_name.get(&format!("{root}::{owner}::{}", function.name))?;
                let declared = self.declared(root, owner);
                match declared.as_slice() {
                    [place] => self.listed_at(listed, *place, true),
                    _ => self.listed_at(listed, (function.file, function.scope), declared.is_empty()),
                }
            }
            None => {
                let listed = own.by_name.get(&format!("{root}::{}", function.name))?;
                let same = |other: &&FnId| {
                    let other = &self.functions[**other];
                    other.owner.is_none()
                        && other.of_trait.is_none()
                        && self.files[other.file].crate_name == *root
                };
                let alone = self.named(&function.name).iter().filter(same).count() == 1;
                self.listed_at(listed, (function.file, function.scope), alone)
            }
        }
    }

    /// The type that `self` has in a method of a described type: there the code behind the description is looked at.
    pub(crate) fn self_type(&self, id: FnId) -> Option<Ty> {
        let function = &self.functions[id];
        if self.known(id).own.is_empty() || function.receiver == Receiver::None {
            return None;
        }
        let owner = function.owner.as_ref()?;
        self.local_type(function.file, std::slice::from_ref(owner)).map(|id| Ty::Local(id, Vec::new()))
    }

    /// Where a crate of the workspace declares types of this name.
    fn declared(&self, root: &str, name: &str) -> Vec<Place> {
        let types = self.types_by_name.get(name).into_iter().flatten();
        let types = types.map(|id| (self.types[*id].file, self.types[*id].scope));
        let aliases = self.aliases.get(name).into_iter().flatten().map(|alias| (alias.file, alias.scope));
        types.chain(aliases).filter(|(file, _)| self.files[*file].crate_name == root).collect()
    }

    /// The listed path whose module an item stands in; for one with a name of its own (`alone`) any will do.
    fn listed_at(&self, listed: &[&'c str], place: Place, alone: bool) -> Option<&'c str> {
        let inside = listed.iter().find(|path| self.stands_in(place, module(path)));
        inside.or_else(|| listed.first().filter(|_| alone)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::{module, short};

    #[test]
    fn modules_are_left_out_of_a_name() {
        assert_eq!(short("acme_bus::topics::Bus::subscribe"), "acme_bus::Bus::subscribe");
        assert_eq!(short("acme_bus::topics::subscribe"), "acme_bus::subscribe");
        assert_eq!(short("acme_bus::Bus"), "acme_bus::Bus");
    }

    #[test]
    fn the_module_of_an_item_is_before_its_type() {
        assert_eq!(module("acme_bus::topics::Bus::subscribe"), "topics");
        assert_eq!(module("acme_bus::topics::Bus"), "topics");
        assert_eq!(module("acme_bus::Bus::subscribe"), "crate");
    }
}
