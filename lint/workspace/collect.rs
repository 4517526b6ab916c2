//! From a scope to its files, each with the package it belongs to.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use rayon::prelude::*;

use super::{
    Package, Request, SourceFile, Workspace, config::Configs, manifests::Manifests, paths, scope::Scope, walk,
};
use crate::{analysis::Unread, cfg};

/// The home of a file: the folder of its nearest manifest, and whether the package's targets can hold the file.
type Home = (PathBuf, bool);

/// Lists the files of a scope. The error is a mistake in a configuration.
///
/// `given` is what a walk of the command line's folders has found.
pub(super) fn collect(
    request: &Request,
    scope: Scope,
    given: walk::Found,
    manifests: &Manifests,
) -> Result<Workspace, String> {
    let Scope { root, layouts, packages: chosen, paths: asked, mut warnings } = scope;
    let asked = asked.unwrap_or_default();
    let members: BTreeSet<&PathBuf> = layouts.iter().flat_map(|layout| &layout.members).collect();
    manifests.preload(&members.iter().map(|dir| (*dir).clone()).collect::<Vec<_>>());

    manifests.preload(&given.manifests);
    let mut homes = Homes::new(manifests, &given.manifests, &asked);

    let mut files: HashMap<PathBuf, (Home, bool)> = HashMap::new();
    let in_choice = |home: &Home| chosen.as_ref().is_none_or(|chosen| chosen.contains(&home.0));
    let entered = |dir: &Path| {
        request.cwd.starts_with(dir)
            || !request.packages.is_empty()
            || asked.iter().any(|asked| asked.starts_with(dir))
    };
    let supports_tests = |dir: &Path| {
        let read = manifests.get(dir);
        let Some(Ok(manifest)) = read.as_deref() else { return false };
        manifest.name().is_some_and(cfg::supports_tests) && !entered(dir)
    };
    let read = members.iter().copied().filter(|dir| request.include_tests || !supports_tests(dir)).collect();
    let (listed, mut failures) = member_files(&read, request.include_tests, manifests, &given, &asked);
    for (path, owner) in listed {
        let home = (owner, true);
        let reported = in_choice(&home) && asked.is_empty();
        files.insert(path, (home, reported));
    }
    let mut tests: HashMap<PathBuf, Tests<'_>> = HashMap::new();
    for path in given.files {
        let home = match files.get(&path) {
            Some((home, _)) => home.clone(),
            None => homes.of(&path),
        };
        let tests = tests.entry(home.0.clone()).or_insert_with(|| Tests {
            all: below_tests(&root, &home.0) || supports_tests(&home.0),
            named: asked
                .iter()
                .filter(|asked| in_tests(&home.0, asked) || below_tests(&root, asked))
                .map(PathBuf::as_path)
                .collect(),
            targets: match manifests.get(&home.0).as_deref() {
                Some(Ok(manifest)) => manifest.test_files(&home.0),
                _ => BTreeSet::new(),
            },
        });
        if request.include_tests || !tests.hold(&home.0, &path, &asked) {
            let reported = in_choice(&home);
            files.insert(path, (home, reported));
        }
    }

    let dirs: HashSet<&PathBuf> = files.values().map(|((dir, _), _)| dir).collect();
    let dirs: BTreeSet<&PathBuf> = dirs.into_iter().collect();
    let configs = Configs::read(request, &root, &dirs, manifests, &mut warnings)?;
    let before = files.values().filter(|(_, reported)| *reported).count();
    files.retain(|path, _| !configs.excludes(path));
    let excluded = before - files.values().filter(|(_, reported)| *reported).count();

    let (mut packages, index) = packages(files.values().map(|(home, _)| home), manifests, &mut warnings);
    let catalog = configs.apply(&mut packages);
    let mut files: Vec<SourceFile> = files
        .into_iter()
        .filter_map(|(path, (home, reported))| {
            let rel = paths::relative(&root, &path);
            let asked = asked.contains(&path);
            index.get(&home).map(|&package| SourceFile { path, rel, package, reported, asked })
        })
        .collect();
    files.sort_by(|left, right| left.rel.cmp(&right.rel));
    failures.extend(given.failures);
    failures.sort();
    failures.dedup();
    let unread = failures
        .into_iter()
        .filter(|(path, _)| !configs.excludes(path))
        .map(|(path, reason)| Unread { path: paths::relative(&root, &path), reason, line: None })
        .collect();
    let tests = request.include_tests;
    Ok(Workspace { root, packages, files, warnings, unread, tests, catalog, excluded })
}

/// What of a package is there for tests.
struct Tests<'a> {
    /// All of it.
    all: bool,
    /// What the command line names of it, and so means.
    named: Vec<&'a Path>,
    /// The roots of its tests.
    targets: BTreeSet<PathBuf>,
}

impl Tests<'_> {
    /// Whether a file of the package in `dir` is there for tests, and not asked for.
    fn hold(&self, dir: &Path, path: &Path, asked: &[PathBuf]) -> bool {
        let is_target = || self.targets.contains(path) && !asked.iter().any(|asked| asked == path);
        let is_named = || self.named.iter().any(|named| path.starts_with(named));
        (self.all || in_tests(dir, path) || is_target()) && !is_named()
    }
}

/// Walks the folders of the command line whole; the files of the command line are there whatever an ignore file says.
pub(super) fn walk_given(asked: &[PathBuf]) -> walk::Found {
    let (folders, named): (Vec<PathBuf>, Vec<PathBuf>) =
        asked.iter().cloned().partition(|path| path.is_dir());
    let mut given = walk::walk(&folders, true);
    given.files.extend(named);
    given.files.sort();
    given.files.dedup();
    given
}

/// The files of the members' targets, each with the folder of its package. A file that two packages use goes to the one whose
/// folder holds it. Folders that `given` has been to are not walked again.
fn member_files(
    members: &BTreeSet<&PathBuf>,
    tests: bool,
    manifests: &Manifests,
    given: &walk::Found,
    asked: &[PathBuf],
) -> (HashMap<PathBuf, PathBuf>, Vec<(PathBuf, String)>) {
    let mut owners: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for dir in members {
        let roots = match manifests.get(dir).as_deref() {
            Some(Ok(manifest)) => manifest.roots(dir, tests),
            _ => BTreeSet::from([(*dir).clone()]),
        };
        for root in roots.into_iter().filter(|root| root.exists()) {
            let owner = owners.entry(root).or_insert_with(|| (*dir).clone());
            if dir.starts_with(&owner) {
                *owner = (*dir).clone();
            }
        }
    }
    let mut found = Vec::new();
    let mut others = Vec::new();
    for root in owners.keys() {
        let before = found.len();
        if asked.iter().any(|asked| asked != root && root.starts_with(asked)) {
            found.extend(given.below(root).cloned());
        }
        if found.len() == before {
            others.push(root.clone());
        }
    }
    let walked = walk::walk(&others, false);
    found.extend(walked.files);
    let mut files = HashMap::with_capacity(found.len());
    let mut by_folder: HashMap<PathBuf, Option<PathBuf>> = HashMap::new();
    for path in found {
        // A root may be a file.
        let owner = owners.get(&path).cloned().or_else(|| {
            let folder = path.parent()?;
            if let Some(known) = by_folder.get(folder) {
                return known.clone();
            }
            let owner = folder.ancestors().find_map(|above| owners.get(above)).cloned();
            by_folder.insert(folder.to_owned(), owner.clone());
            owner
        });
        if let Some(owner) = owner.filter(|owner| tests || !in_tests(owner, &path)) {
            files.insert(path, owner);
        }
    }
    (files, walked.failures)
}

/// Whether a package lies below a folder of tests of the whole workspace.
fn below_tests(root: &Path, dir: &Path) -> bool {
    let below = dir.strip_prefix(root).unwrap_or(Path::new(""));
    below
        .components()
        .any(|part| matches!(part.as_os_str().to_str(), Some("test" | "tests" | "benches" | "benchmarks")))
}

/// Whether a path is in the `tests` or `benches` folder of the package in `dir`.
fn in_tests(dir: &Path, path: &Path) -> bool {
    ["tests", "benches"].iter().any(|name| path.starts_with(dir.join(name)))
}

/// Finds the nearest manifest of files, folder by folder.
struct Homes<'a> {
    manifests: &'a Manifests,
    known: BTreeSet<PathBuf>,
    asked: &'a [PathBuf],
    nearest: HashMap<PathBuf, PathBuf>,
    roots: HashMap<PathBuf, BTreeSet<PathBuf>>,
}

impl<'a> Homes<'a> {
    fn new(manifests: &'a Manifests, below: &[PathBuf], asked: &'a [PathBuf]) -> Self {
        let mut known: BTreeSet<PathBuf> = below.iter().cloned().collect();
        known.extend(asked.iter().filter_map(|path| manifests.nearest(path)));
        Self { manifests, known, asked, nearest: HashMap::new(), roots: HashMap::new() }
    }

    fn of(&mut self, file: &Path) -> Home {
        let Some(folder) = file.parent() else { return (file.to_owned(), false) };
        let dir = match self.nearest.get(folder) {
            Some(dir) => dir.clone(),
            None => {
                let dir = folder.ancestors().find(|above| self.known.contains(*above));
                let dir = dir.unwrap_or_else(|| self.unowned(folder)).to_owned();
                self.nearest.insert(folder.to_owned(), dir.clone());
                dir
            }
        };
        let manifests = self.manifests;
        let roots = self.roots.entry(dir.clone()).or_insert_with(|| match manifests.get(&dir).as_deref() {
            Some(Ok(manifest)) => manifest.roots(&dir, true),
            _ => BTreeSet::new(),
        });
        let part = roots.iter().any(|root| file.starts_with(root));
        (dir, part)
    }

    /// The folder that files without a manifest are grouped by: the one given, or their own.
    fn unowned<'p>(&self, folder: &'p Path) -> &'p Path {
        folder.ancestors().find(|above| self.asked.iter().any(|asked| asked == above)).unwrap_or(folder)
    }
}

/// The packages of the files, in order of their folders, and the index of each home.
fn packages<'a>(
    homes: impl Iterator<Item = &'a Home>,
    manifests: &Manifests,
    warnings: &mut Vec<String>,
) -> (Vec<Package>, HashMap<Home, usize>) {
    let mut homes: Vec<Home> = homes.collect::<HashSet<_>>().into_iter().cloned().collect();
    homes.sort();
    let read: Vec<(Package, Option<String>)> =
        homes.par_iter().map(|home| package(home, manifests)).collect();
    let mut packages = Vec::with_capacity(read.len());
    for (package, warning) in read {
        packages.push(package);
        warnings.extend(warning);
    }
    let index = homes.into_iter().enumerate().map(|(index, home)| (home, index)).collect();
    (packages, index)
}

fn package((dir, part): &Home, manifests: &Manifests) -> (Package, Option<String>) {
    let folder = dir.file_name().unwrap_or(dir.as_os_str()).to_string_lossy().into_owned();
    let read = manifests.get(dir);
    let name = match read.as_deref() {
        Some(Ok(manifest)) if *part => manifest.name().map_or(folder, str::to_owned),
        _ => folder,
    };
    let (dependencies, warning) = match (part, read.as_deref()) {
        (_, Some(Err(sentence))) => {
            (None, Some(format!("{sentence}; every source is looked for in its files")))
        }
        (true, _) => (manifests.dependencies(dir).unwrap_or_default(), None),
        (false, _) => (None, None),
    };
    let (targets, test_targets, library) = match read.as_deref() {
        Some(Ok(manifest)) => {
            (manifest.target_files(dir), manifest.test_files(dir), manifest.library().map(str::to_owned))
        }
        _ => Default::default(),
    };
    let (dir, of_targets, config) = (dir.clone(), *part, Arc::default());
    (Package { name, library, dir, targets, test_targets, of_targets, dependencies, config }, warning)
}
