//! Names to canonical paths.

use std::collections::{HashMap, HashSet};

use super::known::Known;
use crate::syntax::tree::Use;

/// The names of one module.
#[derive(Debug, Default, Clone)]
pub(crate) struct Scope {
    /// Alias to path, as written.
    pub(crate) names: HashMap<String, Vec<String>>,
    pub(crate) globs: Vec<Vec<String>>,
    /// Names of items that the module defines.
    pub(crate) defined: HashMap<String, ()>,
    /// Names of modules that it declares.
    pub(crate) modules: HashSet<String>,
    /// Its own name, if it is an inline one.
    pub(crate) module: Option<String>,
    /// The names of the modules from the package's folder of sources to it.
    pub(crate) path: Vec<String>,
    pub(crate) file: usize,
}

impl Scope {
    pub(crate) fn add(&mut self, uses: &[Use]) {
        for node in uses {
            match &node.alias {
                Some(alias) => {
                    self.names.insert(alias.clone(), node.path.clone());
                }
                None => self.globs.push(node.path.clone()),
            }
        }
    }

    /// The canonical path of `segments`: the first name replaced by what `use` says of it. Names that a glob of a known crate
    /// brings in are found by asking the catalog.
    pub(crate) fn resolve(&self, segments: &[String], known: &Known<'_>) -> Vec<String> {
        let mut path = segments.to_vec();
        // A bounded number of rounds: `use a::b; use b::c;` chains, and a cycle must end.
        for _ in 0..4 {
            let Some(first) = path.first() else { return path };
            if self.defined.contains_key(first) && path.len() == segments.len() {
                break;
            }
            match self.names.get(first) {
                Some(target) if target.first() != Some(first) || target.len() > 1 => {
                    let replaced: Vec<String> = target.iter().chain(&path[1..]).cloned().collect();
                    let settled = replaced == path || target.first() == Some(first);
                    path = replaced;
                    if settled {
                        break;
                    }
                }
                _ => break,
            }
        }
        if path.as_slice() == segments
            && let Some(first) = segments.first()
            && !self.defined.contains_key(first)
        {
            for glob in &self.globs {
                let prefix = self.names.get(glob.first().map_or("", String::as_str));
                let candidate: Vec<String> = match prefix {
                    Some(prefix) => prefix.iter().chain(&glob[1..]).chain(segments).cloned().collect(),
                    None => glob.iter().chain(segments).cloned().collect(),
                };
                // `T::method` is known by its type.
                let joined = candidate.join("::");
                let owner = candidate[..candidate.len() - 1].join("::");
                if known.has(&joined) || (segments.len() > 1 && known.has(&owner)) {
                    return candidate;
                }
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::{Known, Scope};
    use crate::syntax::tree::Use;

    fn path(text: &str) -> Vec<String> {
        text.split("::").map(str::to_owned).collect()
    }

    #[test]
    fn names_follow_their_uses() {
        let mut scope = Scope::default();
        scope.add(&[
            Use { path: path("tokio::sync::broadcast"), alias: Some("broadcast".into()) },
            Use { path: path("broadcast::Receiver"), alias: Some("Rx".into()) },
            Use { path: path("kube::runtime::watcher"), alias: Some("watcher".into()) },
        ]);
        let known = Known::default();
        assert_eq!(scope.resolve(&path("Rx"), &known), path("tokio::sync::broadcast::Receiver"));
        assert_eq!(scope.resolve(&path("watcher::Event"), &known), path("kube::runtime::watcher::Event"));
        assert_eq!(scope.resolve(&path("tokio::spawn"), &known), path("tokio::spawn"));
    }
}
