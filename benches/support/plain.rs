//! A workspace without a needle, of any size: those of this repository's own files that hold none, again and again.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Result, ensure};
use rideout_rules::{
    catalog::{PANIC_HOOK, builtin, needles},
    suppression::MARK,
};
use tempfile::TempDir;

/// How many crates of the catalog each package depends on.
const DEPENDENCIES: usize = 12;

/// It is deleted when it is dropped.
pub(crate) struct Plain {
    dir: TempDir,
    texts: Vec<String>,
    packages: usize,
    pub(crate) files: usize,
    pub(crate) bytes: usize,
}

impl Plain {
    pub(crate) fn new() -> Result<Self> {
        let dir = tempfile::tempdir()?;
        fs::write(
            dir.path().join("Cargo.toml"),
            "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"3\"\n",
        )?;
        let texts = texts()?;
        ensure!(texts.len() > 30, "this repository has too few files without a needle");
        Ok(Self { dir, texts, packages: 0, files: 0, bytes: 0 })
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Adds packages until there are so many bytes of Rust.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<()> {
        while self.bytes < bytes {
            let name = format!("plain{}", self.packages);
            let package = self.path().join("crates").join(&name);
            fs::create_dir_all(package.join("src"))?;
            fs::write(package.join("Cargo.toml"), manifest(&name, self.packages * DEPENDENCIES)?)?;
            let mut root = String::new();
            for (index, text) in self.texts.iter().enumerate() {
                if self.bytes >= bytes {
                    break;
                }
                fs::write(package.join(format!("src/part{index}.rs")), text)?;
                writeln!(root, "mod part{index};")?;
                self.bytes += text.len();
                self.files += 1;
            }
            fs::write(package.join("src/lib.rs"), &root)?;
            self.bytes += root.len();
            self.files += 1;
            self.packages += 1;
        }
        Ok(())
    }
}

/// A manifest with some dependencies from the catalog: ten packages look for every needle between them.
fn manifest(name: &str, first: usize) -> Result<String> {
    let mut text =
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n");
    let crates = builtin().iter().map(|entry| &entry.package).filter(|package| *package != "std");
    for package in crates.cycle().skip(first % builtin().len()).take(DEPENDENCIES) {
        writeln!(text, "{package} = \"*\"")?;
    }
    Ok(text)
}

/// The texts of this repository in which neither a needle of any crate nor the mark of a suppression shows, in the order of their
/// paths.
fn texts() -> Result<Vec<String>> {
    let mut needles: Vec<String> = builtin().iter().flat_map(needles).map(|needle| needle.text).collect();
    needles.extend([MARK, PANIC_HOOK].map(str::to_owned));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> = ["lint", "rules/src", "runtime/src"]
        .iter()
        .flat_map(|folder| ignore::Walk::new(root.join(folder)))
        .map(|entry| entry.map(ignore::DirEntry::into_path))
        .collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    paths.sort();
    let mut texts = Vec::new();
    for path in paths {
        let text = fs::read_to_string(path)?;
        if !needles.iter().any(|needle| text.contains(needle.as_str())) {
            texts.push(text);
        }
    }
    Ok(texts)
}
