//! Paths as the server that holds the repository knows them: it is not told where the workspace lies in it.

use std::path::{Component, Path, PathBuf};

/// The folder of the repository around the root of a run, or that root where there is none.
pub(super) fn folder(root: &Path) -> &Path {
    root.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(root)
}

/// A path that is relative to `root`, as seen from the repository, with forward slashes.
pub(super) fn path(repository: &Path, root: &Path, path: &str) -> String {
    match absolute(root, path).strip_prefix(repository) {
        Ok(inside) => inside.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/"),
        Err(_) => path.to_owned(),
    }
}

/// A path that is relative to `root`, from the top.
pub(crate) fn absolute(root: &Path, path: &str) -> PathBuf {
    let mut full = root.to_owned();
    for component in Path::new(path).components() {
        match component {
            Component::ParentDir => {
                full.pop();
            }
            other => full.push(other),
        }
    }
    full
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::{folder, path};

    #[test]
    fn the_repository_is_the_nearest_folder_with_a_git_entry() {
        let temp = tempfile::tempdir().unwrap();
        let inner = temp.path().join("rust/app");
        fs::create_dir_all(&inner).unwrap();
        assert_eq!(folder(&inner), inner, "no repository");
        fs::write(temp.path().join(".git"), "gitdir: elsewhere").unwrap();
        assert_eq!(folder(&inner), temp.path());
    }

    #[test]
    fn paths_start_at_the_repository() {
        let seen = |rel| path(Path::new("/w"), Path::new("/w/rust/app"), rel);
        assert_eq!(seen("src/lib.rs"), "rust/app/src/lib.rs");
        assert_eq!(seen("../shared/a b.rs"), "rust/shared/a b.rs");
        assert_eq!(seen("../../../out.rs"), "../../../out.rs");
    }
}
