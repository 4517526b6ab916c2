//! Which functions a call may mean, by its path or by its receiver.

use super::{
    program::{FnId, Program, is_inner},
    ty::Ty,
};
use crate::syntax::tree::{self, Receiver, Type};

impl Program<'_> {
    /// The functions that a method call may mean, by the receiver's type. Several: a trait with several implementations.
    pub(crate) fn methods(&self, receiver: &Ty, name: &str, from: FnId) -> Vec<FnId> {
        let candidates = self.named(name);
        match receiver {
            receiver if self.describes(from, receiver, name) => Vec::new(),
            Ty::Local(id, _) => {
                let facts = &self.types[*id];
                let own = self.owned(name, &facts.name).iter().copied().filter(|id| {
                    let function = &self.functions[*id];
                    !function.in_trait && self.same_package(function.file, facts.file)
                });
                let mut own: Vec<FnId> = own.collect();
                // Of several types of this name in the package, that in its own file.
                let beside = |id: &FnId| self.functions[*id].file == facts.file;
                let same_name = |id: &&usize| self.same_package(self.types[**id].file, facts.file);
                if own.iter().any(beside)
                    && self.types_by_name[&facts.name].iter().filter(same_name).count() > 1
                {
                    own.retain(beside);
                }
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
            Ty::Unknown if !is_ubiquitous(name) => {
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

    /// The `poll_next` of a type that implements `Stream` by hand.
    pub(crate) fn poll_next(&self, ty: &Ty) -> Option<FnId> {
        let Ty::Local(id, _) = ty else { return None };
        let facts = &self.types[*id];
        self.owned("poll_next", &facts.name).iter().copied().find(|id| {
            let function = &self.functions[*id];
            function.of_trait.as_deref() == Some("Stream") && self.same_package(function.file, facts.file)
        })
    }

    /// The functions that a path through a trait may mean: `T::run` of a generic `T`, `Job::run` of the trait itself.
    pub(crate) fn through_trait(&self, from: FnId, segments: &[String]) -> Vec<FnId> {
        let [of, name] = segments else { return Vec::new() };
        let path = tree::Path { segments: vec![of.clone()], arguments: Vec::new() };
        let of = match self.ty_in(from, &Type::Path(path)) {
            Ty::Unknown if self.is_trait(of) => Ty::Dyn(of.as_str().into()),
            ty => ty,
        };
        if matches!(of, Ty::Dyn(_)) { self.methods(&of, name, from) } else { Vec::new() }
    }

    /// The function that a path names, seen from a function.
    pub(crate) fn function_at(&self, from: FnId, path: &[String]) -> Option<FnId> {
        let name = path.last()?;
        let own = &self.known(from).own;
        if !own.is_empty() && own.has(&path.join("::")) {
            return None;
        }
        let candidates = self.named(name);
        let here = &self.functions[from];
        if self.is_foreign(path) {
            return None;
        }
        if path.len() >= 2 {
            let owner = &path[path.len() - 2];
            let owner = if owner == "Self" { here.owner.clone()? } else { owner.clone() };
            if owner.starts_with(char::is_uppercase) {
                let foreign =
                    path.len() > 2 && !is_inner(&path[0]) && !self.types_by_name.contains_key(&owner);
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
        let at_home = || {
            let home = self.home(here.scope, path)?;
            candidates.iter().copied().find(|id| free(id) && self.functions[*id].scope == home)
        };
        if let Some(found) = at_home() {
            return Some(found);
        }
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
        self.stands_in((function.file, function.scope), module)
    }

    /// The same for anything that is declared in a file and scope.
    pub(super) fn stands_in(&self, (file, scope): (usize, usize), module: &str) -> bool {
        if let Some(own) = &self.scopes[scope].module {
            return own == module;
        }
        let path = &self.files[file].path;
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

fn is_ubiquitous(method: &str) -> bool {
    UBIQUITOUS.split_ascii_whitespace().any(|known| known == method)
}

/// Methods that so many types have that the name alone says nothing.
const UBIQUITOUS: &str = "
    accept add all any apply as_ref build call cancel clear clone close collect connect contains
    count create delete drain drop enter entry execute extend filter find finish flush fold get
    handle id init insert into is_empty iter join key keys kind last len list listen load lock log
    map max min name next open parse path ping poll pop process publish push put query read recv
    remove replace request reset run save send set shutdown size sleep spawn split start state
    status stop store stream subscribe sync take tick to_string update url value values wait watch
    write
";
