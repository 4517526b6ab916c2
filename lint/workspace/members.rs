//! The members of one workspace: cargo says them, or, where it cannot run, its rules are applied to the manifests.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use cargo_metadata::MetadataCommand;

use super::{
    manifest::WorkspaceTable,
    manifests::{Manifests, excluded},
    pattern,
};

/// Folders of packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The folder of the workspace's manifest.
    pub(super) root: PathBuf,
    /// The folders of its packages.
    pub(super) members: BTreeSet<PathBuf>,
    /// Those that a command without a choice means.
    pub(super) default: BTreeSet<PathBuf>,
}

/// The workspace around the manifest in `dir`.
///
/// # Errors
///
/// A sentence that names the broken manifest and its line.
pub(super) fn around(dir: &Path, manifests: &Manifests) -> Result<Layout, String> {
    let root = manifests.workspace_root(dir)?;
    let Some(read) = manifests.get(&root) else {
        return Err(format!("`{}` is named as a workspace but has no Cargo.toml", root.display()));
    };
    let manifest = read.as_ref().as_ref().map_err(Clone::clone)?;
    let layout = match &manifest.workspace {
        None => alone(&root),
        Some(table) => ask_cargo(&root)
            .unwrap_or_else(|| read_members(&root, table, manifest.package.is_some(), manifests)),
    };
    // A package that lies in a workspace without being its member.
    if dir != root && !layout.members.contains(dir) { Ok(alone(dir)) } else { Ok(layout) }
}

fn alone(dir: &Path) -> Layout {
    let one = BTreeSet::from([dir.to_owned()]);
    Layout { root: dir.to_owned(), members: one.clone(), default: one }
}

/// Asks `cargo metadata`, which may neither use the network nor install anything.
fn ask_cargo(root: &Path) -> Option<Layout> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .current_dir(root)
        .no_deps()
        .other_options(["--offline".to_owned()])
        .env("RUSTUP_AUTO_INSTALL", "0")
        .exec()
        .ok()?;
    let folder = |package: &cargo_metadata::Package| {
        let dir = package.manifest_path.parent()?.as_std_path();
        Some(fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned()))
    };
    let members = metadata.workspace_packages().into_iter().filter_map(folder).collect();
    let default =
        metadata.workspace_default_members.is_available().then(|| metadata.workspace_default_packages())?;
    Some(Layout { root: root.to_owned(), members, default: default.into_iter().filter_map(folder).collect() })
}

/// Cargo's rules: `members` with wildcards, the root package, path dependencies below the root; less `exclude`.
fn read_members(root: &Path, table: &WorkspaceTable, has_package: bool, manifests: &Manifests) -> Layout {
    let mut queue: Vec<PathBuf> =
        table.members.iter().flat_map(|pattern| pattern::expand(root, pattern)).collect();
    if has_package {
        queue.push(root.to_owned());
    }
    let mut members = BTreeSet::new();
    while let Some(dir) = queue.pop() {
        let counts = manifests.get(&dir).is_some() && !(dir != root && excluded(table, root, &dir));
        if counts && members.insert(dir.clone()) {
            let below = |dependency: &PathBuf| dependency.starts_with(root);
            queue.extend(manifests.path_dependencies(&dir, root).into_iter().filter(below));
        }
    }
    let default = match &table.default_members {
        Some(patterns) => {
            let named: BTreeSet<PathBuf> =
                patterns.iter().flat_map(|pattern| pattern::expand(root, pattern)).collect();
            named.intersection(&members).cloned().collect()
        }
        None if has_package => [root.to_owned()].into(),
        None => members.clone(),
    };
    Layout { root: root.to_owned(), members, default }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::{Layout, alone, around, ask_cargo, read_members};
    use crate::workspace::manifests::Manifests;

    fn write(root: &Path, file: &str, text: &str) {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn package(root: &Path, dir: &str, more: &str) {
        let name = dir.rsplit('/').next().unwrap();
        let manifest =
            format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{more}");
        write(root, &format!("{dir}/Cargo.toml"), &manifest);
        write(root, &format!("{dir}/src/lib.rs"), "");
    }

    fn read(root: &Path) -> Layout {
        let manifests = Manifests::default();
        let read = manifests.get(root).unwrap();
        let manifest = read.as_ref().as_ref().unwrap();
        read_members(root, manifest.workspace.as_ref().unwrap(), manifest.package.is_some(), &manifests)
    }

    fn dirs(root: &Path, dirs: &[&str]) -> std::collections::BTreeSet<std::path::PathBuf> {
        dirs.iter().map(|dir| super::super::paths::join(root, Path::new(dir))).collect()
    }

    #[test]
    fn a_virtual_workspace_is_read_as_cargo_reads_it() {
        let temp = tempfile::tempdir().unwrap();
        let root = &fs::canonicalize(temp.path()).unwrap();
        write(
            root,
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\", \"tools/one\"]\nexclude = [\"crates/out\"]\n\
             [workspace.dependencies]\nhidden = { path = \"hidden\" }\n",
        );
        package(root, "crates/a", "[dependencies]\nb = { path = \"../../b\" }\nhidden.workspace = true\n");
        package(root, "crates/c", "");
        package(root, "crates/out", "");
        package(root, "tools/one", "");
        package(root, "tools/two", "");
        package(root, "b", "");
        package(root, "hidden", "");
        let layout = read(root);
        assert_eq!(layout.members, dirs(root, &["crates/a", "b", "hidden", "tools/one", "crates/c"]));
        assert_eq!(layout.default, layout.members);
        assert_eq!(ask_cargo(root), Some(layout));

        let manifests = Manifests::default();
        let out = root.join("crates/out");
        assert_eq!(around(&out, &manifests), Ok(alone(&out)));
        assert_eq!(around(&root.join("tools/two"), &manifests), Ok(alone(&root.join("tools/two"))));
        assert_eq!(around(&root.join("b"), &manifests).unwrap().root, *root);
    }

    #[test]
    fn a_root_package_is_read_as_cargo_reads_it() {
        let temp = tempfile::tempdir().unwrap();
        let root = &fs::canonicalize(temp.path()).unwrap();
        package(root, ".", "");
        let head = "[package]\nname = \"top\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\nmembers = [\"x\", \"y\"]\n";
        write(root, "Cargo.toml", head);
        package(root, "x", "");
        package(root, "y", "");
        let layout = read(root);
        assert_eq!(layout.default, dirs(root, &["."]));
        assert_eq!(ask_cargo(root), Some(layout));

        write(root, "Cargo.toml", &format!("{head}default-members = [\".\", \"y\"]\n"));
        let layout = read(root);
        assert_eq!(layout.default, dirs(root, &[".", "y"]));
        assert_eq!(ask_cargo(root), Some(layout));
    }

    #[test]
    fn a_workspace_that_cargo_refuses_is_still_read() {
        let temp = tempfile::tempdir().unwrap();
        let root = &fs::canonicalize(temp.path()).unwrap();
        write(root, "Cargo.toml", "[workspace]\nmembers = [\"a\", \"gone\"]\n");
        package(root, "a", "");
        assert_eq!(ask_cargo(root), None);
        assert_eq!(around(root, &Manifests::default()).unwrap().members, dirs(root, &["a"]));
    }
}
