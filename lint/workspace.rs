//! Which files, which packages, which versions of which dependencies: from the command line to the texts worth parsing.
//!
//! `scope` says what is asked for, `collect` lists the files and gives each to its package, `active` says which catalog entries
//! hold for a package, and `texts` reads the files and keeps those in which one of them shows. Nothing here needs the network, a
//! build or a lock file, and nothing here looks at syntax.

mod active;
mod collect;
mod config;
mod grow;
mod lock;
mod manifest;
mod manifests;
mod members;
mod modules;
mod needles;
mod paths;
mod pattern;
mod place;
mod profile;
mod reach;
mod scope;
mod texts;
mod walk;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
};

use anyhow::{Result, anyhow};
use rideout_rules::catalog::Crate;
use semver::Version;

pub(crate) use active::{Active, active};
pub(crate) use config::Config;
pub(crate) use grow::{Sought, related};
pub(crate) use modules::{Modules, Standing};
pub(crate) use needles::Needles;
pub(crate) use paths::{join, relative};
pub(crate) use profile::panic_aborts;
pub(crate) use reach::Reach;
pub(crate) use texts::texts;

use crate::analysis::Unread;

/// What the command line asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    /// The folder that relative paths start from.
    pub(crate) cwd: PathBuf,
    /// Files and folders to report on. None: the scope that cargo would take.
    pub(crate) paths: Vec<PathBuf>,
    /// The manifest to start from, in place of the nearest one above `cwd`.
    pub(crate) manifest_path: Option<PathBuf>,
    /// Every member of the workspace.
    pub(crate) all: bool,
    /// Only packages with these names; `*` and `?` are wildcards.
    pub(crate) packages: Vec<String>,
    /// No packages with these names.
    pub(crate) exclude: Vec<String>,
    /// Read the `tests` and `benches` folders of packages too.
    pub(crate) include_tests: bool,
    /// The configuration, in place of those in the roots of the workspaces.
    pub(crate) config: Option<PathBuf>,
}

/// The files of a run and the packages they belong to.
#[derive(Clone, Debug)]
pub(crate) struct Workspace {
    /// The folder that paths are shown relative to: the workspace's, if there is one.
    pub(crate) root: PathBuf,
    /// The packages, in order of their folders.
    pub(crate) packages: Vec<Package>,
    /// The files, in order of `rel`.
    pub(crate) files: Vec<SourceFile>,
    /// Sentences for stderr.
    pub(crate) warnings: Vec<String>,
    /// What could not be listed.
    pub(crate) unread: Vec<Unread>,
    /// Whether modules of tests are read too.
    pub(crate) tests: bool,
    /// The catalog, once for each configuration that adds to it.
    pub(crate) catalog: Cow<'static, [Crate]>,
    /// How many files in scope a configuration leaves out.
    pub(crate) excluded: usize,
}

impl Workspace {
    /// `12 files in 3 packages`: what is reported on.
    pub(crate) fn describe(&self) -> String {
        let reported = || self.files.iter().filter(|file| file.reported);
        let packages: BTreeSet<usize> = reported().map(|file| file.package).collect();
        let amount =
            |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
        let left_out = match self.excluded {
            0 => String::new(),
            count => format!(", {count} excluded"),
        };
        format!("{} in {}{left_out}", amount(reported().count(), "file"), amount(packages.len(), "package"))
    }
}

/// A package, or a folder of Rust files that are no part of one.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    /// The name in `Cargo.toml`, or that of the folder.
    pub(crate) name: String,
    /// The name that the manifest gives its library, if another.
    pub(crate) library: Option<String>,
    /// The folder.
    pub(crate) dir: PathBuf,
    /// The files that its manifest names as roots of targets.
    pub(crate) targets: BTreeSet<PathBuf>,
    /// Those of tests and benchmarks among them.
    pub(crate) test_targets: BTreeSet<PathBuf>,
    /// Whether these are files that a target of the manifest can hold, and not others below it.
    pub(crate) of_targets: bool,
    /// The packages that the code may name, with renames resolved and itself included, and the version of each if known.
    /// None: no manifest says, so that every catalog entry is active.
    pub(crate) dependencies: Option<BTreeMap<String, Option<Version>>>,
    /// What the user's configuration says about it.
    pub(crate) config: Arc<Config>,
}

/// One Rust file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceFile {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The path relative to the root, with forward slashes.
    pub(crate) rel: String,
    /// Index of its package.
    pub(crate) package: usize,
    /// Whether findings in it are reported. The others are there for what they say about those.
    pub(crate) reported: bool,
    /// Whether the command line names the file itself: then it is read whatever declares it.
    pub(crate) asked: bool,
}

/// Lists the files and packages that the command line asks for.
///
/// # Errors
///
/// A path that is not there, nothing to read, a manifest of the asked workspace that is broken, a mistake in a configuration.
pub(crate) fn load(request: &Request) -> Result<Workspace> {
    let manifests = manifests::Manifests::default();
    let asked = scope::asked(request, &manifests).map_err(|sentence| anyhow!(sentence))?;
    let paths = asked.paths.clone();
    // Cargo takes its time to tell the members.
    let (scope, given) =
        rayon::join(|| scope::resolve(request, asked, &manifests), || collect::walk_given(&paths));
    let scope = scope.map_err(|sentence| anyhow!(sentence))?;
    let workspace =
        collect::collect(request, scope, given, &manifests).map_err(|message| anyhow!(message))?;
    if workspace.files.iter().any(|file| file.reported) || !workspace.unread.is_empty() {
        return Ok(workspace);
    }
    let places: Vec<String> = match request.paths.as_slice() {
        [] => vec![format!("`{}`", workspace.root.display())],
        paths => paths.iter().map(|path| format!("`{}`", path.display())).collect(),
    };
    if workspace.excluded > 0 {
        // Editors and hooks name the files that were touched, whatever they are.
        let named =
            !request.paths.is_empty() && request.paths.iter().all(|path| request.cwd.join(path).is_file());
        return if named {
            Ok(workspace)
        } else {
            Err(anyhow!("the configuration excludes every Rust file under {}", places.join(", ")))
        };
    }
    let hint =
        if request.include_tests { "" } else { " (`tests` and `benches` folders need `--include-tests`)" };
    Err(anyhow!("there is no Rust file under {}{hint}", places.join(", ")))
}
