//! Where the baseline is, and which file each of its paths means.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use super::{document::Document, read::read};
use crate::workspace::relative;

/// The name of a baseline that no option names.
const NAME: &str = "baseline.toml";

/// A baseline on disk, which may not be there yet.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The file.
    pub(crate) path: PathBuf,
    /// The folder that its paths start from.
    pub(crate) dir: PathBuf,
    /// How the file is named to people.
    pub(crate) shown: String,
}

impl Place {
    /// The baseline of a run with this root: the one that is named, or the nearest from the root up to the top of the repository.
    ///
    /// # Errors
    ///
    /// A named one that is not there.
    pub(crate) fn find(root: &Path, cwd: &Path, named: Option<&Path>) -> Result<Option<Self>> {
        if named.is_some() {
            let place = Self::create(root, cwd, named)?;
            if !place.path.is_file() {
                bail!("there is no baseline `{}`; `cargo rideout baseline init` writes one", place.shown);
            }
            return Ok(Some(place));
        }
        let top = root.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(root);
        let mut dirs = root.ancestors().take_while(|dir| dir.starts_with(top));
        Ok(dirs.find(|dir| dir.join(NAME).is_file()).map(|dir| Self::at(dir.join(NAME), dir, root)))
    }

    /// Where `init` writes: the file that is named, or the one in the root.
    ///
    /// # Errors
    ///
    /// A folder that is not there.
    pub(crate) fn create(root: &Path, cwd: &Path, named: Option<&Path>) -> Result<Self> {
        let Some(named) = named else { return Ok(Self::at(root.join(NAME), root, root)) };
        let shown = named.display();
        let Some(name) = named.file_name() else { bail!("`--baseline {shown}` names no file") };
        let folder = cwd.join(named.parent().unwrap_or(Path::new("")));
        let folder = fs::canonicalize(&folder)
            .with_context(|| format!("cannot enter the folder of the baseline `{shown}`"))?;
        // One that is kept in a folder of its own still speaks of the whole workspace.
        let dir = if root.starts_with(&folder) { folder.as_path() } else { root };
        Ok(Self { shown: shown.to_string(), ..Self::at(folder.join(name), dir, root) })
    }

    fn at(path: PathBuf, dir: &Path, root: &Path) -> Self {
        let shown = relative(root, &path);
        Self { path, dir: dir.to_owned(), shown }
    }

    /// The folder that the file lies in.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.dir)
    }

    /// The name of the file.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Reads the file.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or a mistake in it, with its line.
    pub(crate) fn read(&self) -> Result<(Document, Vec<u8>)> {
        let bytes = fs::read(&self.path).with_context(|| format!("cannot read `{}`", self.shown))?;
        Ok((parsed(&bytes, &self.shown)?, bytes))
    }

    /// The path of an entry for a file that is named relative to the root. None: it lies outside of the folder of the baseline.
    pub(crate) fn file(&self, root: &Path, rel: &str) -> Option<String> {
        if root == self.dir {
            return (!rel.starts_with("../")).then(|| rel.to_owned());
        }
        let mut path = root.to_owned();
        for part in rel.split('/') {
            if part == ".." {
                path.pop();
            } else {
                path.push(part);
            }
        }
        path.starts_with(&self.dir).then(|| relative(&self.dir, &path))
    }
}

/// Reads the bytes of a baseline that is called so.
///
/// # Errors
///
/// A mistake, with its line.
pub(crate) fn parsed(bytes: &[u8], shown: &str) -> Result<Document> {
    read(bytes).map_err(|mistake| anyhow::anyhow!("{shown}:{}: {}", mistake.line, mistake.reason))
}

/// Whether there is nothing in a file but comments.
pub(crate) fn is_blank(bytes: &[u8]) -> bool {
    let lines = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes).split(|byte| *byte == b'\n');
    lines.map(<[u8]>::trim_ascii).all(|line| line.is_empty() || line.starts_with(b"#"))
}
