//! What the command line asks for: which workspaces, which of their packages, which paths.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::{
    Request,
    manifests::Manifests,
    members::{self, Layout},
    paths, pattern, walk,
};

/// Where the command runs, and the files and folders that it names.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) cwd: PathBuf,
    pub(super) paths: Vec<PathBuf>,
}

/// The answer.
#[derive(Debug)]
pub(super) struct Scope {
    /// The folder that paths are shown relative to.
    pub(super) root: PathBuf,
    /// The workspaces whose files say something about those that are reported.
    pub(super) layouts: Vec<Layout>,
    /// The folders of the packages that are reported. None: whatever is under `paths`.
    pub(super) packages: Option<BTreeSet<PathBuf>>,
    /// The files and folders that are reported. None: whatever is in `packages`.
    pub(super) paths: Option<Vec<PathBuf>>,
    /// Sentences for stderr.
    pub(super) warnings: Vec<String>,
}

/// What the command line asks for by paths, as the file system has it. The error is one sentence.
pub(super) fn asked(request: &Request, manifests: &Manifests) -> Result<Asked, String> {
    let cwd = fs::canonicalize(&request.cwd)
        .map_err(|error| format!("cannot enter `{}`: {error}", request.cwd.display()))?;
    let mut paths = request.paths.iter().map(|path| existing(&cwd, path)).collect::<Result<Vec<_>, _>>()?;
    let names_more = request.all || !request.packages.is_empty() || request.manifest_path.is_some();
    if paths.is_empty() && !names_more && manifests.nearest(&cwd).is_none() {
        paths.push(cwd.clone());
    }
    Ok(Asked { cwd, paths })
}

/// Resolves the request against the file system. The error is one sentence.
pub(super) fn resolve(request: &Request, asked: Asked, manifests: &Manifests) -> Result<Scope, String> {
    let Asked { cwd, paths: asked } = asked;
    let names_packages = request.all || !request.packages.is_empty();

    let mut anchors = Vec::new();
    match (&request.manifest_path, manifests.nearest(&cwd)) {
        (Some(path), _) => anchors.push(manifest_folder(&cwd, path)?),
        (None, Some(dir)) if asked.is_empty() || names_packages => anchors.push(dir),
        (None, None) if names_packages => {
            return Err(format!("there is no Cargo.toml in `{}` or in a folder above it", cwd.display()));
        }
        _ => {}
    }
    anchors.extend(asked.iter().filter_map(|path| manifests.nearest(path)));

    let mut layouts: Vec<Layout> = Vec::new();
    for anchor in &anchors {
        if !layouts.iter().any(|layout| layout.members.contains(anchor) || layout.root == *anchor) {
            layouts.push(members::around(anchor, manifests)?);
        }
        // The folder asked for must be readable even where its workspace is.
        if let Some(Err(sentence)) = manifests.get(anchor).as_deref() {
            return Err(sentence.clone());
        }
    }

    let mut warnings = Vec::new();
    let packages = match layouts.first() {
        Some(layout) if names_packages => Some(named(request, layout, manifests, &mut warnings)?),
        Some(layout) if asked.is_empty() => match anchors.first() {
            Some(anchor) if *anchor != layout.root => Some([anchor.clone()].into()),
            _ => Some(layout.default.clone()),
        },
        _ => None,
    };
    let root = root(&cwd, &asked, &layouts);
    Ok(Scope { root, layouts, packages, paths: (!asked.is_empty()).then_some(asked), warnings })
}

/// A path of the command line, which must be there.
fn existing(cwd: &Path, path: &Path) -> Result<PathBuf, String> {
    let shown = path.display();
    let place = fs::canonicalize(cwd.join(path)).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("there is no file or folder `{shown}`"),
        _ => format!("cannot read `{shown}`: {error}"),
    })?;
    let kind = fs::metadata(&place).map_err(|error| format!("cannot read `{shown}`: {error}"))?;
    if kind.is_dir() || (kind.is_file() && walk::is_rust(&place)) {
        Ok(place)
    } else {
        Err(format!("`{shown}` is neither a folder nor a Rust file"))
    }
}

fn manifest_folder(cwd: &Path, path: &Path) -> Result<PathBuf, String> {
    let shown = path.display();
    if path.file_name().is_none_or(|name| name != "Cargo.toml") {
        return Err(format!("`--manifest-path {shown}` must name a Cargo.toml"));
    }
    let place =
        fs::canonicalize(cwd.join(path)).map_err(|error| format!("cannot read `{shown}`: {error}"))?;
    place.parent().map(Path::to_owned).ok_or_else(|| format!("`{shown}` is not a file"))
}

/// The folders of the packages that `--workspace`, `-p` and `--exclude` name.
fn named(
    request: &Request,
    layout: &Layout,
    manifests: &Manifests,
    warnings: &mut Vec<String>,
) -> Result<BTreeSet<PathBuf>, String> {
    let members: Vec<(String, &PathBuf)> = layout
        .members
        .iter()
        .filter_map(|dir| match manifests.get(dir).as_deref() {
            Some(Ok(manifest)) => manifest.name().map(|name| (name.to_owned(), dir)),
            // A member with a broken manifest goes by the name of its folder.
            _ => dir.file_name().map(|name| (name.to_string_lossy().into_owned(), dir)),
        })
        .collect();
    let hits = |name: &str| {
        members
            .iter()
            .filter(|(member, _)| pattern::matches(name, member))
            .map(|(_, dir)| *dir)
            .collect::<Vec<_>>()
    };

    let mut chosen = BTreeSet::new();
    if request.all {
        chosen.extend(layout.members.iter().cloned());
    }
    for name in &request.packages {
        let found = hits(name);
        if found.is_empty() {
            let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
            return Err(format!(
                "no package `{name}` in the workspace `{}`, which has {}",
                layout.root.display(),
                names.join(", ")
            ));
        }
        chosen.extend(found.into_iter().cloned());
    }
    for name in &request.exclude {
        let found = hits(name);
        if found.is_empty() {
            warnings.push(format!("`--exclude {name}` excludes nothing: no package has that name"));
        }
        chosen.retain(|dir| !found.contains(&dir));
    }
    Ok(chosen)
}

/// One workspace around all paths gives the root. Else the working folder, if all lies below it, or the folder that holds all.
fn root(cwd: &Path, asked: &[PathBuf], layouts: &[Layout]) -> PathBuf {
    if let [layout] = layouts
        && asked.iter().all(|path| path.starts_with(&layout.root))
    {
        return layout.root.clone();
    }
    let folder =
        |path: &PathBuf| if path.is_dir() { path.clone() } else { path.parent().unwrap_or(path).to_owned() };
    let places: Vec<PathBuf> =
        asked.iter().map(folder).chain(layouts.iter().map(|layout| layout.root.clone())).collect();
    if places.iter().all(|place| place.starts_with(cwd)) {
        return cwd.to_owned();
    }
    paths::common_ancestor(places.iter().map(PathBuf::as_path)).unwrap_or_else(|| cwd.to_owned())
}
