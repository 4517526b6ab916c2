//! Which module of its package a file is, told by where it lies.

use std::path::{Path, PathBuf};

use super::Package;

/// The module that a file is, and the one that is the root of its crate.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) module: Vec<String>,
    /// Empty for the package's library and its main program, which have their modules in one folder.
    pub(crate) root: Vec<String>,
}

impl Package {
    /// The name of the package's library in code.
    pub(crate) fn crate_name(&self) -> String {
        self.library.as_ref().unwrap_or(&self.name).replace('-', "_")
    }

    /// The place of a file of this package. A file of no package is a crate of its own.
    pub(crate) fn module(&self, path: &Path) -> Place {
        let main = self.folders().find(|folder| path.starts_with(folder));
        let inside = match &main {
            Some(folder) => path.strip_prefix(folder).unwrap_or(path),
            None => path,
        };
        let mut module: Vec<String> =
            inside.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let target =
            self.targets.contains(path) && self.folders().any(|folder| path.parent() == Some(&folder));
        let root = match module.first().map(String::as_str) {
            Some("bin") => module[..module.len().min(2)].to_vec(),
            _ if main.is_none() || self.dependencies.is_none() => module.clone(),
            _ => Vec::new(),
        };
        if target || module.last().is_some_and(|last| matches!(last.as_str(), "lib" | "main" | "mod")) {
            module.pop();
        }
        Place { module, root }
    }

    /// The folders that hold the modules of the package's crates.
    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let own = self.targets.iter().filter_map(|target| target.parent().map(Path::to_owned));
        std::iter::once(self.dir.join("src")).chain(own.filter(|folder| *folder != self.dir))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::workspace::Package;

    #[test]
    fn a_file_is_the_module_of_its_place() {
        let package = Package {
            name: "app".to_owned(),
            library: None,
            dir: "/app".into(),
            targets: ["/app/lint/lib.rs".into(), "/app/tool.rs".into()].into(),
            test_targets: [].into(),
            of_targets: true,
            dependencies: Some([].into()),
            config: Default::default(),
        };
        let place = |path: &str| {
            let place = package.module(Path::new(path));
            (place.module.join("::"), place.root.join("::"))
        };
        let of = |module: &str, root: &str| (module.to_owned(), root.to_owned());
        assert_eq!(place("/app/src/lib.rs"), of("", ""));
        assert_eq!(place("/app/src/net/mod.rs"), of("net", ""));
        assert_eq!(place("/app/src/net/feed.rs"), of("net::feed", ""));
        assert_eq!(place("/app/src/bin/tool.rs"), of("bin::tool", "bin::tool"));
        assert_eq!(place("/app/src/bin/tool/main.rs"), of("bin::tool", "bin::tool"));
        assert_eq!(place("/app/lint/facts/read.rs"), of("facts::read", ""));
        assert_eq!(place("/app/examples/show.rs").0, place("/app/examples/show.rs").1);
    }
}
