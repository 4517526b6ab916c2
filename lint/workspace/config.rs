//! The user's configuration: `rideout.toml` in the root of a workspace, or a table of the manifest there.
//!
//! Each workspace has its own. A workspace without one, and files that belong to no package, go by the one in the root of the run.

mod file;
mod mistake;
mod tables;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use ignore::gitignore::Gitignore;
use rideout_rules::{
    Levels,
    catalog::{self, Crate},
};

use self::file::Settings;
use super::{Package, Request, manifests::Manifests, paths};

/// The name of the file.
const FILE: &str = "rideout.toml";

/// What a configuration says about a package.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// The part of the run's catalog that its files are read with.
    pub(crate) entries: Range<usize>,
    /// The levels of the rules.
    pub(crate) levels: Levels,
}

impl Default for Config {
    fn default() -> Self {
        Self { entries: 0..catalog::builtin().len(), levels: Levels::default() }
    }
}

/// The configurations of a run.
#[derive(Debug, Default)]
pub(super) struct Configs {
    read: Vec<Settings>,
    /// The configuration of each package's folder, by its index.
    of: HashMap<PathBuf, usize>,
}

impl Configs {
    /// Reads the configurations of these packages.
    ///
    /// # Errors
    ///
    /// The first mistake, with its line.
    pub(super) fn read(
        request: &Request,
        root: &Path,
        dirs: &BTreeSet<&PathBuf>,
        manifests: &Manifests,
        warnings: &mut Vec<String>,
    ) -> Result<Self, String> {
        if let Some(path) = &request.config {
            let text = read(&request.cwd.join(path), &path.display().to_string())?;
            let settings = file::settings(&path.display().to_string(), &text, root)?;
            let of = dirs.iter().map(|dir| ((*dir).clone(), 0)).collect();
            return Ok(Self { read: vec![settings], of });
        }
        let mut configs = Self::default();
        let mut known: BTreeMap<PathBuf, Option<usize>> = BTreeMap::new();
        let of_run = configs.found(root, root, manifests)?;
        known.insert(root.to_owned(), of_run);
        for dir in dirs {
            let base = base(dir, root, manifests);
            if **dir != base {
                warnings.extend(unread(dir, root, manifests));
            }
            let index = match known.get(&base) {
                Some(index) => *index,
                None => {
                    let index = configs.found(&base, root, manifests)?.or(of_run);
                    known.insert(base, index);
                    index
                }
            };
            configs.of.extend(index.map(|index| ((*dir).clone(), index)));
        }
        Ok(configs)
    }

    /// Reads the configuration in a folder, if there is one, and tells its index.
    fn found(&mut self, base: &Path, root: &Path, manifests: &Manifests) -> Result<Option<usize>, String> {
        let Some(settings) = settings_in(base, root, manifests)? else { return Ok(None) };
        self.read.push(settings);
        Ok(Some(self.read.len() - 1))
    }

    /// Whether a configuration leaves a path out, its own or one further up.
    pub(super) fn excludes(&self, path: &Path) -> bool {
        self.read.iter().any(|settings| left_out(&settings.exclude, path))
    }

    /// Hands each package its configuration, and gives the catalog that they lead into.
    pub(super) fn apply(&self, packages: &mut [Package]) -> Cow<'static, [Crate]> {
        let mut catalog = Cow::Borrowed(catalog::builtin());
        let names = names(packages);
        let package = |root: &str| names.get(root).cloned().unwrap_or_else(|| root.to_owned());
        let mut configs = Vec::new();
        for settings in &self.read {
            let mut config = Config { levels: settings.levels.clone(), ..Config::default() };
            if !settings.own.is_empty() {
                let first = catalog.len();
                catalog.to_mut().extend(catalog::extended(catalog::builtin(), &settings.own, package));
                config.entries = first..catalog.len();
            }
            configs.push(Arc::new(config));
        }
        for package in packages {
            if let Some(index) = self.of.get(&package.dir) {
                package.config = Arc::clone(&configs[*index]);
            }
        }
        catalog
    }
}

/// The root of the workspace that a package is part of. What has no manifest that can be read goes by what is above it.
fn base(dir: &Path, root: &Path, manifests: &Manifests) -> PathBuf {
    let is_good = |dir: &&Path| matches!(manifests.get(dir).as_deref(), Some(Ok(_)));
    let package = dir.ancestors().take_while(|above| above.starts_with(root)).find(is_good);
    let base = package.and_then(|package| manifests.workspace_root(package).ok());
    base.unwrap_or_else(|| root.to_owned())
}

/// The packages that a run can name, by their names in code.
fn names(packages: &[Package]) -> HashMap<String, String> {
    let named = packages.iter().flat_map(|package| package.dependencies.iter().flatten());
    named.map(|(name, _)| (name.replace('-', "_"), name.clone())).collect()
}

/// Whether a path, or a folder above it, is excluded.
fn left_out(exclude: &Gitignore, path: &Path) -> bool {
    path.starts_with(exclude.path()) && exclude.matched_path_or_any_parents(path, false).is_ignore()
}

/// The configuration in the root of a workspace, if there is one.
fn settings_in(base: &Path, root: &Path, manifests: &Manifests) -> Result<Option<Settings>, String> {
    let file = base.join(FILE);
    let shown = |path: &Path| paths::relative(root, path);
    let tables = tables_of(base, manifests);
    if file.exists() {
        if let Some(table) = tables.first() {
            let manifest = shown(&base.join("Cargo.toml"));
            return Err(format!(
                "both `{}` and `{table}` in `{manifest}` configure Rideout; one of them has to go",
                shown(&file)
            ));
        }
        let text = read(&file, &shown(&file))?;
        return file::settings(&shown(&file), &text, base).map(Some);
    }
    let manifest = base.join("Cargo.toml");
    match tables.as_slice() {
        [] => Ok(None),
        [_] => {
            let text = read(&manifest, &shown(&manifest))?;
            file::settings_in_manifest(&shown(&manifest), &text, base).map(Some)
        }
        tables => Err(format!(
            "`{}` configures Rideout in both {}; one of them has to go",
            shown(&manifest),
            tables.iter().map(|table| format!("`{table}`")).collect::<Vec<_>>().join(" and ")
        )),
    }
}

fn tables_of(dir: &Path, manifests: &Manifests) -> Vec<&'static str> {
    match manifests.get(dir).as_deref() {
        Some(Ok(manifest)) => manifest.configurations(),
        _ => Vec::new(),
    }
}

/// What is there and looks as if it counted.
fn unread(dir: &Path, root: &Path, manifests: &Manifests) -> Vec<String> {
    let shown = |name: &str| paths::relative(root, &dir.join(name));
    let file = dir.join(FILE).exists().then(|| format!("`{}` is", shown(FILE)));
    let tables = tables_of(dir, manifests).into_iter().next();
    let table = tables.map(|table| format!("`{table}` in `{}` is", shown("Cargo.toml")));
    file.into_iter()
        .chain(table)
        .map(|what| format!("{what} not read: a configuration stands in the root of its workspace"))
        .collect()
}

fn read(path: &Path, shown: &str) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| format!("cannot read `{shown}`: {error}"))?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("{shown}:{line}: the file is not UTF-8")
    })
}
