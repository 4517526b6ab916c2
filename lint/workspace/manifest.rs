//! What Rideout reads in one `Cargo.toml`: the package, its targets, its dependencies, its workspace. No more.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

/// One `Cargo.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct Manifest {
    #[serde(alias = "project")]
    pub(super) package: Option<PackageTable>,
    pub(super) workspace: Option<WorkspaceTable>,
    lib: Option<Target>,
    bin: Vec<Target>,
    example: Vec<Target>,
    test: Vec<Target>,
    bench: Vec<Target>,
    dependencies: Table,
    #[serde(alias = "dev_dependencies")]
    dev_dependencies: Table,
    #[serde(alias = "build_dependencies")]
    build_dependencies: Table,
    target: BTreeMap<String, Platform>,
}

type Table = BTreeMap<String, Dependency>;

/// The `[package]` table.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PackageTable {
    pub(super) name: Option<String>,
    pub(super) version: Option<Inherited>,
    /// Where the workspace is, if not above.
    pub(super) workspace: Option<PathBuf>,
    build: Option<toml::Value>,
    metadata: Option<toml::Value>,
}

/// A value, or a word that says that the workspace holds it.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Inherited {
    Own(String),
    Workspace(serde::de::IgnoredAny),
}

/// The `[workspace]` table.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct WorkspaceTable {
    pub(super) members: Vec<String>,
    pub(super) exclude: Vec<String>,
    pub(super) default_members: Option<Vec<String>>,
    pub(super) dependencies: Table,
    metadata: Option<toml::Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Target {
    name: Option<String>,
    path: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct Platform {
    dependencies: Table,
    #[serde(alias = "dev_dependencies")]
    dev_dependencies: Table,
    #[serde(alias = "build_dependencies")]
    build_dependencies: Table,
}

/// One line of a dependency table.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Dependency {
    Version(String),
    Table(DependencyTable),
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DependencyTable {
    package: Option<String>,
    version: Option<String>,
    pub(super) path: Option<PathBuf>,
    workspace: bool,
}

impl Dependency {
    /// Whether the workspace's manifest holds the rest.
    pub(super) fn inherited(&self) -> bool {
        matches!(self, Self::Table(table) if table.workspace)
    }

    /// The package's own name, given the name that the manifest uses for it.
    pub(super) fn package<'a>(&'a self, key: &'a str) -> &'a str {
        match self {
            Self::Table(DependencyTable { package: Some(package), .. }) => package,
            _ => key,
        }
    }

    /// The requirement as written.
    pub(super) fn requirement(&self) -> Option<&str> {
        match self {
            Self::Version(version) => Some(version),
            Self::Table(table) => table.version.as_deref(),
        }
    }

    /// The folder, for a path dependency.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::Version(_) => None,
            Self::Table(table) => table.path.as_deref(),
        }
    }
}

/// Reads the manifest of a folder. The error is one sentence with file and line.
pub(super) fn read(dir: &Path) -> Result<Manifest, String> {
    let path = dir.join("Cargo.toml");
    let bytes = fs::read(&path).map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    let text = str::from_utf8(&bytes).map_err(|error| {
        let line = line_of(&bytes, error.valid_up_to());
        format!("{}:{line}: the manifest is not UTF-8", path.display())
    })?;
    let manifest: Manifest = toml::from_str(text).map_err(|error| {
        let line = line_of(&bytes, error.span().map_or(0, |span| span.start));
        let message = error.message().trim().replace('\n', ", ");
        format!("{}:{line}: the manifest is broken: {message}", path.display())
    })?;
    if manifest.package.is_none() && manifest.workspace.is_none() {
        return Err(format!(
            "{}:1: the manifest has neither a [package] nor a [workspace] table",
            path.display()
        ));
    }
    if manifest.package.as_ref().is_some_and(|package| package.name.is_none()) {
        return Err(format!("{}:1: the package has no name", path.display()));
    }
    Ok(manifest)
}

fn line_of(bytes: &[u8], offset: usize) -> usize {
    bytes.iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

impl Manifest {
    /// The package's name, if there is a package.
    pub(super) fn name(&self) -> Option<&str> {
        self.package.as_ref()?.name.as_deref()
    }

    /// The tables that configure Rideout, by name.
    pub(super) fn configurations(&self) -> Vec<&'static str> {
        let holds = |metadata: Option<&toml::Value>| metadata.is_some_and(|it| it.get("rideout").is_some());
        let package = self.package.as_ref().and_then(|package| package.metadata.as_ref());
        let workspace = self.workspace.as_ref().and_then(|workspace| workspace.metadata.as_ref());
        [("[workspace.metadata.rideout]", workspace), ("[package.metadata.rideout]", package)]
            .into_iter()
            .filter(|(_, metadata)| holds(*metadata))
            .map(|(name, _)| name)
            .collect()
    }

    /// Every dependency: normal, dev and build, of every platform. A name may come twice.
    pub(super) fn dependencies(&self) -> impl Iterator<Item = (&str, &Dependency)> {
        let platforms = self.target.values();
        [&self.dependencies, &self.dev_dependencies, &self.build_dependencies]
            .into_iter()
            .chain(platforms.flat_map(|it| [&it.dependencies, &it.dev_dependencies, &it.build_dependencies]))
            .flatten()
            .map(|(key, dependency)| (key.as_str(), dependency))
    }

    /// The name that it gives the library.
    pub(super) fn library(&self) -> Option<&str> {
        self.lib.as_ref()?.name.as_deref()
    }

    /// The folders and files that can hold code of the package's targets.
    ///
    /// Other Rust files below the manifest (templates, inputs of tests) are no part of the package.
    pub(super) fn roots(&self, dir: &Path, tests: bool) -> BTreeSet<PathBuf> {
        if self.package.is_none() {
            return BTreeSet::new();
        }
        let mut roots: BTreeSet<PathBuf> = [dir.join("src"), dir.join("examples")].into();
        let mut targets: Vec<&Target> = self.lib.iter().chain(&self.bin).chain(&self.example).collect();
        if tests {
            roots.extend([dir.join("tests"), dir.join("benches")]);
            targets.extend(self.test.iter().chain(&self.bench));
        }
        for path in targets.into_iter().filter_map(|target| target.path.as_deref()) {
            roots.extend(super::paths::join(dir, path).parent().map(Path::to_owned));
        }
        roots.extend(self.build_scripts().iter().map(|path| super::paths::join(dir, path)));
        roots
    }

    /// The root files that the manifest names, of every target.
    pub(super) fn target_files(&self, dir: &Path) -> BTreeSet<PathBuf> {
        let targets =
            self.lib.iter().chain(&self.bin).chain(&self.example).chain(&self.test).chain(&self.bench);
        let named = targets.filter_map(|target| target.path.clone());
        named.chain(self.build_scripts()).map(|path| super::paths::join(dir, &path)).collect()
    }

    /// The root files that the manifest names of tests and benchmarks.
    pub(super) fn test_files(&self, dir: &Path) -> BTreeSet<PathBuf> {
        let named = self.test.iter().chain(&self.bench).filter_map(|target| target.path.as_deref());
        named.map(|path| super::paths::join(dir, path)).collect()
    }

    fn build_scripts(&self) -> Vec<PathBuf> {
        match self.package.as_ref().and_then(|package| package.build.as_ref()) {
            None | Some(toml::Value::Boolean(true)) => vec!["build.rs".into()],
            Some(toml::Value::String(path)) => vec![path.into()],
            Some(toml::Value::Array(paths)) => {
                paths.iter().filter_map(|path| path.as_str()).map(PathBuf::from).collect()
            }
            Some(_) => Vec::new(),
        }
    }
}
