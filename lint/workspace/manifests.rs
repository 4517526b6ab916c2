//! The manifests of a run, each read once.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use rayon::prelude::*;
use semver::Version;

use super::{
    lock::{Lock, newest},
    manifest::{self, Dependency, Inherited, Manifest, WorkspaceTable},
    paths,
};

/// What reading one manifest gave.
pub(super) type Read = Result<Manifest, String>;

/// Manifests and lock files by folder.
#[derive(Debug, Default)]
pub(super) struct Manifests {
    read: Mutex<HashMap<PathBuf, Option<Arc<Read>>>>,
    locks: Mutex<HashMap<PathBuf, Option<Arc<Lock>>>>,
}

impl Manifests {
    /// The manifest of a folder. None if the folder has no `Cargo.toml`.
    pub(super) fn get(&self, dir: &Path) -> Option<Arc<Read>> {
        once(&self.read, dir, || dir.join("Cargo.toml").is_file().then(|| manifest::read(dir)))
    }

    /// Reads many at once.
    pub(super) fn preload(&self, dirs: &[PathBuf]) {
        dirs.par_iter().for_each(|dir| drop(self.get(dir)));
    }

    fn lock(&self, dir: &Path) -> Option<Arc<Lock>> {
        once(&self.locks, dir, || Lock::read(dir))
    }

    /// The nearest folder at or above `start` that holds a `Cargo.toml`.
    pub(super) fn nearest(&self, start: &Path) -> Option<PathBuf> {
        start.ancestors().find(|dir| self.get(dir).is_some()).map(Path::to_owned)
    }

    /// The root of the workspace that the manifest of `dir` belongs to; `dir` itself for a package alone.
    ///
    /// # Errors
    ///
    /// The first broken manifest on the way.
    pub(super) fn workspace_root(&self, dir: &Path) -> Result<PathBuf, String> {
        for above in dir.ancestors() {
            let Some(read) = self.get(above) else { continue };
            let manifest = read.as_ref().as_ref().map_err(Clone::clone)?;
            if above == dir {
                if let Some(pointer) =
                    manifest.package.as_ref().and_then(|package| package.workspace.as_ref())
                {
                    return Ok(paths::join(dir, pointer));
                }
                if manifest.workspace.is_some() {
                    return Ok(dir.to_owned());
                }
            } else if manifest.workspace.as_ref().is_some_and(|table| !excluded(table, above, dir)) {
                return Ok(above.to_owned());
            }
        }
        Ok(dir.to_owned())
    }

    /// The dependencies of the package in `dir`, itself included, as its examples and binaries use it by name.
    ///
    /// # Errors
    ///
    /// The sentence about the broken manifest of `dir`.
    pub(super) fn dependencies(
        &self,
        dir: &Path,
    ) -> Result<Option<BTreeMap<String, Option<Version>>>, String> {
        let Some(read) = self.get(dir) else { return Ok(None) };
        let manifest = read.as_ref().as_ref().map_err(Clone::clone)?;
        let Some(name) = manifest.name() else { return Ok(None) };
        let root = self.workspace_root(dir).unwrap_or_else(|_| dir.to_owned());
        let above = self.get(&root);
        let inherited = match above.as_deref() {
            Some(Ok(Manifest { workspace: Some(table), .. })) => Some(&table.dependencies),
            _ => None,
        };
        let lock = self.lock(&root).or_else(|| self.lock(dir));

        let mut found = BTreeMap::new();
        let own = match manifest.package.as_ref().and_then(|package| package.version.as_ref()) {
            Some(Inherited::Own(version)) => Version::parse(version).ok(),
            _ => None,
        };
        found.insert(name.to_owned(), own);
        for (key, mut dependency) in manifest.dependencies() {
            if dependency.inherited()
                && let Some(from) = inherited.and_then(|table| table.get(key))
            {
                dependency = from;
            }
            let package = dependency.package(key);
            let locked = lock.as_ref().and_then(|lock| lock.version(name, package));
            let version = locked.or_else(|| dependency.requirement().and_then(newest));
            let slot: &mut Option<Version> = found.entry(package.to_owned()).or_default();
            *slot = slot.take().max(version);
        }
        Ok(Some(found))
    }

    /// The folders of path dependencies of the package in `dir`, those that the workspace passes on included.
    pub(super) fn path_dependencies(&self, dir: &Path, root: &Path) -> Vec<PathBuf> {
        let Some(read) = self.get(dir) else { return Vec::new() };
        let Ok(manifest) = read.as_ref() else { return Vec::new() };
        let above = self.get(root);
        let inherited = match above.as_deref() {
            Some(Ok(Manifest { workspace: Some(table), .. })) => Some(&table.dependencies),
            _ => None,
        };
        let place = |(key, dependency): (&str, &Dependency)| {
            if dependency.inherited() {
                inherited?.get(key)?.path().map(|path| paths::join(root, path))
            } else {
                dependency.path().map(|path| paths::join(dir, path))
            }
        };
        manifest.dependencies().filter_map(place).collect()
    }
}

/// Whether a workspace leaves a folder below it out, by cargo's rule.
pub(super) fn excluded(table: &WorkspaceTable, root: &Path, dir: &Path) -> bool {
    let names = |list: &[String]| list.iter().any(|name| dir.starts_with(paths::join(root, Path::new(name))));
    names(&table.exclude) && !names(&table.members)
}

fn once<T>(
    cache: &Mutex<HashMap<PathBuf, Option<Arc<T>>>>,
    dir: &Path,
    read: impl FnOnce() -> Option<T>,
) -> Option<Arc<T>> {
    if let Some(known) = cache.lock().unwrap_or_else(PoisonError::into_inner).get(dir) {
        return known.clone();
    }
    let value = read().map(Arc::new);
    cache.lock().unwrap_or_else(PoisonError::into_inner).entry(dir.to_owned()).or_insert(value).clone()
}
