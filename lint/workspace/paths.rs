//! Arithmetic on paths that asks nothing of the file system.

use std::path::{Component, Path, PathBuf};

/// `base` joined with `path`, without `.` and `..`.
pub(crate) fn join(base: &Path, path: &Path) -> PathBuf {
    let mut joined = base.to_owned();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                joined.pop();
            }
            other => joined.push(other),
        }
    }
    joined
}

/// `path` as seen from `root`, with forward slashes.
pub(crate) fn relative(root: &Path, path: &Path) -> String {
    let common = root.components().zip(path.components()).take_while(|(left, right)| left == right).count();
    if common == 0 {
        return path.to_string_lossy().into_owned();
    }
    let up = root.components().skip(common).map(|_| "..".into());
    let down = path.components().skip(common).map(|component| component.as_os_str().to_string_lossy());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// The deepest folder that holds all of them.
pub(super) fn common_ancestor<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Option<PathBuf> {
    let mut paths = paths.into_iter();
    let mut common = paths.next()?.to_owned();
    for path in paths {
        while !path.starts_with(&common) {
            if !common.pop() {
                return None;
            }
        }
    }
    Some(common)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{common_ancestor, join, relative};

    #[test]
    fn join_resolves_dots() {
        assert_eq!(join(Path::new("/a/b"), Path::new("../c/./d.rs")), Path::new("/a/c/d.rs"));
    }

    #[test]
    fn relative_may_climb() {
        assert_eq!(relative(Path::new("/a/b"), Path::new("/a/b/src/lib.rs")), "src/lib.rs");
        assert_eq!(relative(Path::new("/a/b"), Path::new("/a/c/lib.rs")), "../c/lib.rs");
        assert_eq!(relative(Path::new("/a/b"), Path::new("/a/b")), "");
    }

    #[test]
    fn common_ancestor_is_a_whole_folder() {
        let paths = [Path::new("/a/bc/x"), Path::new("/a/bd/y")];
        assert_eq!(common_ancestor(paths).as_deref(), Some(Path::new("/a")));
        assert_eq!(common_ancestor([Path::new("/a/b")]).as_deref(), Some(Path::new("/a/b")));
    }
}
