//! Paths as the server that holds the repository knows them: it is not told where the workspace lies in it.

use std::path::{Path, PathBuf};

use crate::workspace::{join, relative};

/// The repository around the root of a run.
pub(super) struct Repository<'a> {
    root: &'a Path,
    folder: &'a Path,
}

impl<'a> Repository<'a> {
    /// The nearest folder with a `.git`, or the root itself.
    pub(super) fn around(root: &'a Path) -> Self {
        let folder = root.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(root);
        Self { root, folder }
    }

    /// A path that is relative to the root, as seen from the repository. One that leads out of it stays as it is.
    pub(super) fn path(&self, path: &str) -> String {
        let full = absolute(self.root, path);
        if full.starts_with(self.folder) { relative(self.folder, &full) } else { path.to_owned() }
    }
}

/// A path that is relative to `root`, from the top.
pub(super) fn absolute(root: &Path, path: &str) -> PathBuf {
    join(root, Path::new(path))
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::Repository;

    #[test]
    fn the_repository_is_the_nearest_folder_with_a_git_entry() {
        let temp = tempfile::tempdir().unwrap();
        let inner = temp.path().join("rust/app");
        fs::create_dir_all(&inner).unwrap();
        assert_eq!(Repository::around(&inner).path("src/lib.rs"), "src/lib.rs", "no repository");
        fs::write(temp.path().join(".git"), "gitdir: elsewhere").unwrap();
        assert_eq!(Repository::around(&inner).path("src/lib.rs"), "rust/app/src/lib.rs");
    }

    #[test]
    fn a_path_may_climb() {
        let repository = Repository { root: Path::new("/w/rust/app"), folder: Path::new("/w") };
        assert_eq!(repository.path("../shared/a b.rs"), "rust/shared/a b.rs");
        assert_eq!(repository.path("../../../out.rs"), "../../../out.rs");
    }
}
