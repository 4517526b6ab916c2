//! What only cargo can say: the ids of packages, and its own check.

use std::{
    env,
    ffi::OsString,
    io::{self, BufRead, BufReader, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result};
use cargo_metadata::{Metadata, MetadataCommand, Package, Target};
use serde_json::{Value, json};

/// The packages that cargo knows.
#[derive(Debug, Default)]
pub(crate) struct Packages(Vec<Metadata>);

/// Who compiles a file, in the words of `cargo check --message-format=json`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Compiled {
    /// The id of the package.
    pub(crate) package_id: String,
    /// The manifest of the package.
    pub(crate) manifest_path: PathBuf,
    /// The target that the file is part of.
    pub(crate) target: Value,
    /// The folder that cargo would show the file's path relative to.
    pub(crate) root: PathBuf,
}

impl Packages {
    /// Asks cargo for the packages of the workspaces around these folders of packages. One that it refuses has none.
    pub(crate) fn around<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Self {
        let mut known = Self::default();
        for folder in folders {
            let manifest = folder.join("Cargo.toml");
            if manifest.is_file() && !known.packages().any(|(_, package)| package.manifest_path == manifest) {
                known.0.extend(metadata(&manifest));
            }
        }
        known
    }

    fn packages(&self) -> impl Iterator<Item = (&Metadata, &Package)> {
        self.0.iter().flat_map(|metadata| metadata.packages.iter().map(move |package| (metadata, package)))
    }

    /// Who compiles a file in the folder of a package.
    pub(crate) fn compiled(&self, folder: &Path, file: &Path) -> Compiled {
        let manifest = folder.join("Cargo.toml");
        let found = self.packages().find(|(_, package)| package.manifest_path == manifest);
        let Some((metadata, package)) = found else { return alone(folder, manifest, file) };
        Compiled {
            package_id: package.id.repr.clone(),
            manifest_path: manifest,
            target: target(package, file).map_or_else(|| made_up(file), |target| json!(target)),
            root: metadata.workspace_root.clone().into_std_path_buf(),
        }
    }
}

/// `cargo metadata`, which may neither use the network nor install anything.
fn metadata(manifest: &Path) -> Option<Metadata> {
    MetadataCommand::new()
        .manifest_path(manifest)
        .current_dir(manifest.parent()?)
        .no_deps()
        .other_options(["--offline".to_owned()])
        .env("RUSTUP_AUTO_INSTALL", "0")
        .exec()
        .ok()
}

/// The target whose folder holds the file, the deepest first; of several in one folder the one whose root it is, or the library.
fn target<'p>(package: &'p Package, file: &Path) -> Option<&'p Target> {
    let rank = |target: &Target| {
        let folder = target.src_path.parent()?.as_std_path();
        let is_root = target.src_path == file;
        file.starts_with(folder).then(|| (is_root, folder.components().count(), target.is_lib()))
    };
    package
        .targets
        .iter()
        .filter_map(|target| Some((rank(target)?, target)))
        .max_by_key(|(rank, _)| *rank)
        .map(|(_, target)| target)
}

/// What stands for the package of a file that cargo compiles for none.
fn alone(folder: &Path, manifest_path: PathBuf, file: &Path) -> Compiled {
    let package_id = format!("path+file://{}#0.0.0", folder.display());
    Compiled { package_id, manifest_path, target: made_up(file), root: folder.to_owned() }
}

fn made_up(file: &Path) -> Value {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    json!({
        "kind": ["bin"], "crate_types": ["bin"], "name": name, "src_path": file, "edition": "2024",
        "doc": false, "doctest": false, "test": false,
    })
}

/// Runs `cargo check`, or another such command, and copies the lines of its standard output, but for the one that says that it is over.
/// Gives whether it succeeded; what it has to say to people goes to stderr.
pub(crate) fn check(command: &str, args: &[OsString], out: &mut dyn Write) -> Result<bool> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let failed = || format!("cannot run `{} {command}`", Path::new(&cargo).display());
    let mut child = Command::new(&cargo)
        .arg(command)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(failed)?;
    let copied = child.stdout.take().map_or(Ok(()), |stdout| copy(stdout, out));
    if let Err(error) = copied {
        child.kill().and_then(|()| child.wait()).with_context(failed)?;
        // A reader that has seen enough changes nothing.
        return if error.kind() == ErrorKind::BrokenPipe {
            Ok(true)
        } else {
            Err(error).with_context(failed)
        };
    }
    Ok(child.wait().with_context(failed)?.success())
}

fn copy(lines: impl Read, out: &mut dyn Write) -> io::Result<()> {
    for line in BufReader::new(lines).split(b'\n') {
        let line = line?;
        if !line.starts_with(br#"{"reason":"build-finished""#) {
            out.write_all(&line)?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
    }
    Ok(())
}
