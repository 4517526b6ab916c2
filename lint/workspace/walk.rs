//! From folders to Rust files. Ignore files count, links are not followed, and the order is that of the paths.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use ignore::{DirEntry, WalkBuilder, WalkState};

/// What a walk has found, sorted.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Rust files.
    pub(super) files: Vec<PathBuf>,
    /// Folders that hold a `Cargo.toml`.
    pub(super) manifests: Vec<PathBuf>,
    /// What could not be looked at, and why.
    pub(super) failures: Vec<(PathBuf, String)>,
}

/// Walks folders whole, or (`nested: false`) without those of other packages.
///
/// Only ignore files that a checkout carries count: the settings of one machine must not change what a gate sees.
pub(super) fn walk(roots: &[PathBuf], nested: bool) -> Found {
    let Some((first, rest)) = roots.split_first() else { return Found::default() };
    let mut builder = WalkBuilder::new(first);
    for root in rest {
        builder.add(root);
    }
    builder.require_git(false).git_global(false).git_exclude(false).follow_links(false);
    builder.threads(std::thread::available_parallelism().map_or(1, usize::from).min(8));
    builder.filter_entry(move |entry| entry.depth() == 0 || !skipped(entry, nested));

    let found = Mutex::new(Found::default());
    builder.build_parallel().run(|| {
        Box::new(|entry| {
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            match entry {
                Ok(entry) => found.add(entry),
                Err(error) => found.failures.extend(failure(&error)),
            }
            WalkState::Continue
        })
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    for paths in [&mut found.files, &mut found.manifests] {
        paths.sort();
        paths.dedup();
    }
    found.failures.sort();
    found
}

impl Found {
    /// The files below a folder that are none of another package's: what a walk of that folder finds, if this one came by.
    pub(super) fn below(&self, root: &Path) -> impl Iterator<Item = &PathBuf> {
        let of_others: Vec<&PathBuf> = inside(&self.manifests, root).filter(|dir| *dir != root).collect();
        inside(&self.files, root).filter(move |file| !of_others.iter().any(|dir| file.starts_with(dir)))
    }

    fn add(&mut self, entry: DirEntry) {
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            return;
        }
        if entry.file_name() == "Cargo.toml" {
            self.manifests.extend(entry.path().parent().map(Path::to_owned));
        } else if is_rust(entry.path()) {
            self.files.push(entry.into_path());
        }
    }
}

/// Those of sorted paths that are a folder or lie below it.
fn inside<'p>(sorted: &'p [PathBuf], folder: &Path) -> impl Iterator<Item = &'p PathBuf> {
    let start = sorted.partition_point(|path| path.as_path() < folder);
    sorted[start..].iter().take_while(move |path| path.starts_with(folder))
}

/// Whether the name is that of a Rust file.
pub(super) fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

/// The build folder of cargo, and (unless `nested`) other packages.
fn skipped(entry: &DirEntry, nested: bool) -> bool {
    if !entry.file_type().is_some_and(|kind| kind.is_dir()) {
        return false;
    }
    let path = entry.path();
    // A module may be called `target` too.
    let beside_manifest = || path.parent().is_some_and(|parent| parent.join("Cargo.toml").exists());
    (entry.file_name() == "target" && (path.join("CACHEDIR.TAG").exists() || beside_manifest()))
        || (!nested && path.join("Cargo.toml").exists())
}

/// The place and the reason of an error, with the wrappers of `ignore` taken off.
fn failure(error: &ignore::Error) -> Option<(PathBuf, String)> {
    match error {
        ignore::Error::WithPath { path, err } => Some((path.clone(), reason(err))),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => failure(err),
        // A pattern that `ignore` does not understand in somebody's `.gitignore`.
        _ => None,
    }
}

fn reason(error: &ignore::Error) -> String {
    match error.io_error() {
        Some(error) => error.to_string(),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::walk;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        dir
    }

    fn files(dir: &Path, nested: bool) -> Vec<String> {
        let found = walk(&[dir.to_owned()], nested);
        assert!(found.failures.is_empty(), "{:?}", found.failures);
        found.files.iter().map(|path| super::super::paths::relative(dir, path)).collect()
    }

    #[test]
    fn build_folders_hidden_and_ignored_files_are_left_out() {
        let dir = tree(&[
            "Cargo.toml",
            "src/a.rs",
            "src/target/b.rs",
            "target/c.rs",
            ".d/e.rs",
            "gen/f.rs",
            "g.txt",
        ]);
        fs::write(dir.path().join(".gitignore"), "/gen\n").unwrap();
        assert_eq!(files(dir.path(), true), ["src/a.rs", "src/target/b.rs"]);
    }

    #[test]
    fn other_packages_are_left_out_on_request() {
        let dir = tree(&["Cargo.toml", "a.rs", "inner/Cargo.toml", "inner/b.rs"]);
        assert_eq!(files(dir.path(), true), ["a.rs", "inner/b.rs"]);
        assert_eq!(files(dir.path(), false), ["a.rs"]);
        assert_eq!(walk(&[dir.path().to_owned()], true).manifests.len(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let dir = tree(&["src/a.rs"]);
        std::os::unix::fs::symlink(dir.path(), dir.path().join("src/again")).unwrap();
        std::os::unix::fs::symlink("self.rs", dir.path().join("src/self.rs")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("src/a.rs"), dir.path().join("src/b.rs")).unwrap();
        assert_eq!(files(dir.path(), true), ["src/a.rs"]);
    }
}
