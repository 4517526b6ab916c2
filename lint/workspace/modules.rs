//! Which module a file is, told by the text of the files that may declare it: enough to leave out test modules and files that are
//! part of no crate.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use super::Package;
use crate::cfg;

/// The modules that a file declares without a body.
#[derive(Debug, Default)]
struct Declared {
    /// Name, and whether only tests have it.
    modules: Vec<(String, bool)>,
}

/// Answers about files of one run; each declaring file is read once.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    /// Files that a manifest names as roots.
    targets: HashSet<PathBuf>,
    /// Those of tests and benchmarks among them.
    tests: HashSet<PathBuf>,
    read: Mutex<HashMap<PathBuf, Option<Arc<Declared>>>>,
}

/// How a file is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The root of a target, or declared.
    Module,
    /// Declared under `#[cfg(test)]` or by a test, itself or a module around it, or one that by its name is there for tests.
    Test,
    /// No file that could declare it does.
    Orphan,
}

impl Modules {
    pub(crate) fn new(packages: &[Package]) -> Self {
        let targets = packages.iter().flat_map(|package| &package.targets).cloned().collect();
        let tests = packages.iter().flat_map(|package| &package.test_targets).cloned().collect();
        Self { targets, tests, read: Mutex::default() }
    }

    /// How the file at `path` is declared. Climbs from module to module up to a root (`lib.rs`, `main.rs`, a file in `bin`).
    pub(crate) fn standing(&self, path: &Path) -> Standing {
        let mut current = path.to_owned();
        for _ in 0..20 {
            if self.tests.contains(&current) {
                return Standing::Test;
            }
            if self.targets.contains(&current) {
                return Standing::Module;
            }
            let Some(stem) = current.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned) else {
                return Standing::Orphan;
            };
            let Some(folder) = current.parent().map(Path::to_owned) else { return Standing::Orphan };
            let inside = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            let of_package = || folder.parent().is_some_and(|above| above.join("Cargo.toml").is_file());
            let target = match inside.as_str() {
                "bin" => true,
                "examples" | "tests" | "benches" => of_package(),
                _ => false,
            };
            if target || matches!(stem.as_str(), "lib" | "main" | "build") {
                return Standing::Module;
            }
            let (name, above) = if stem == "mod" {
                let Some(above) = folder.parent() else { return Standing::Orphan };
                (inside, above.to_owned())
            } else {
                (stem, folder)
            };
            match self.declarer(&above, &name) {
                Some(_) if supports_tests(&name) => return Standing::Test,
                Some((_, true)) => return Standing::Test,
                Some((file, false)) => current = file,
                None => return Standing::Orphan,
            }
        }
        Standing::Module
    }

    /// The file that declares a module whose own file lies in `folder`, and whether only tests have it.
    fn declarer(&self, folder: &Path, name: &str) -> Option<(PathBuf, bool)> {
        let candidates = ["mod.rs", "lib.rs", "main.rs"].map(|file| folder.join(file));
        let beside =
            folder.file_name().zip(folder.parent()).map(|(own, above)| above.join(own).with_extension("rs"));
        let targets = self.targets.iter().filter(|target| target.parent() == Some(folder)).cloned();
        candidates.into_iter().chain(beside).chain(targets).find_map(|file| {
            let declared = self.declared(&file)?;
            let (_, test) = declared.modules.iter().find(|(known, _)| known == name)?;
            Some((file, *test))
        })
    }

    fn declared(&self, path: &Path) -> Option<Arc<Declared>> {
        let mut read = self.read.lock().ok()?;
        if let Some(known) = read.get(path) {
            return known.clone();
        }
        let declared = fs::read(path).ok().map(|bytes| Arc::new(scan(&String::from_utf8_lossy(&bytes))));
        read.insert(path.to_owned(), declared.clone());
        declared
    }
}

/// Whether a module of this name is there for tests, by custom: `test_helpers`, `testing`.
fn supports_tests(name: &str) -> bool {
    cfg::supports_tests(name) || matches!(name, "testing" | "testkit" | "testutil" | "testutils")
}

/// An attribute that is longer was misread.
const LONGEST_ATTRIBUTE: usize = 600;

/// Finds `mod name;` and the `#[cfg(test)]` before them, or before all of the file.
fn scan(text: &str) -> Declared {
    let mut declared = Declared::default();
    let mut whole = false;
    let mut test = false;
    let mut file = None;
    let mut attribute = String::new();
    for line in text.split_inclusive(['\n', ';', '{', '}']).map(str::trim) {
        let mut item = line;
        if !attribute.is_empty() || line.starts_with("#[") || line.starts_with("#![") {
            attribute.extend(line.chars().filter(|c| !c.is_whitespace()));
            let open = attribute.matches('[').count() > attribute.matches(']').count();
            if open && attribute.len() < LONGEST_ATTRIBUTE {
                continue;
            }
            for (start, _) in attribute.match_indices("[cfg(") {
                let condition = attribute[start + 5..].split(")]").next().unwrap_or_default();
                test |= cfg::is_for_tests(condition);
            }
            whole |= test && attribute.starts_with("#!");
            // `#[path = "other.rs"]`
            if let Some((_, rest)) = attribute.split_once("path=\"") {
                let path = rest.split('"').next().unwrap_or_default();
                file = path.rsplit('/').next().and_then(|name| name.strip_suffix(".rs")).map(str::to_owned);
            }
            attribute.clear();
            item = line.rsplit_once(']').map_or(line, |(_, after)| after.trim());
        }
        if item.is_empty() || item.starts_with("//") {
            continue;
        }
        if let Some(name) = declares(item) {
            if let Some(file) = file.take() {
                declared.modules.push((file, test || whole));
            }
            declared.modules.push((name.strip_prefix("r#").unwrap_or(name).to_owned(), test || whole));
        }
        test = false;
    }
    declared
}

/// The name in `mod name;`.
fn declares(item: &str) -> Option<&str> {
    let bare = item.strip_prefix("pub").map_or(item, |rest| match rest.trim_start().strip_prefix('(') {
        Some(rest) => rest.split_once(')').map_or(rest, |(_, rest)| rest),
        None => rest,
    });
    Some(bare.trim_start().strip_prefix("mod ")?.trim().strip_suffix(';')?.trim())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Modules, Standing, scan};
    use crate::workspace::Package;

    #[test]
    fn declarations_and_their_test_attribute_are_read() {
        let text = "mod a;\n#[cfg(test)]\nmod b;\npub(crate) mod c;\n#[cfg(test)] pub mod d;\nmod e { }\n#[cfg(test)]\n// why\nmod f;\ncfg_if! { if #[cfg(unix)] { mod g; } }\n";
        let names: Vec<_> = scan(text).modules;
        let wanted = [("a", false), ("b", true), ("c", false), ("d", true), ("f", true), ("g", false)];
        assert_eq!(names, wanted.map(|(name, test)| (name.to_owned(), test)));
    }

    #[test]
    fn conditions_over_several_lines_and_of_whole_files_count() {
        let text = "#[cfg(any(\n    test,\n    feature = \"test-utils\"\n))]\n/// Why.\npub mod a;\n#[cfg(any(test, feature = \"rpc\"))]\nmod b;\n";
        let wanted = [("a", true), ("b", false)].map(|(name, test)| (name.to_owned(), test));
        assert_eq!(scan(text).modules, wanted);
        assert_eq!(scan("#![cfg(test)]\nmod a;\n").modules, [("a".to_owned(), true)]);
    }

    #[test]
    fn a_file_stands_as_the_modules_around_it_do() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        write("src/lib.rs", "mod net;\n#[cfg(test)]\nmod tests;\nmod test_helpers;\n");
        let helpers = write("src/test_helpers.rs", "");
        let check = write("src/check/mod.rs", "mod proxy;\n");
        let proxy = write("src/check/proxy.rs", "");
        write("src/net.rs", "mod feed;\n");
        write("src/tests/mod.rs", "mod common;\n");
        let feed = write("src/net/feed.rs", "");
        let common = write("src/tests/common.rs", "");
        let lost = write("src/net/lost.rs", "");
        let tool = write("tool.rs", "mod part;\n");
        let part = write("part.rs", "");
        let package = Package {
            name: "app".to_owned(),
            library: None,
            dir: dir.path().to_owned(),
            targets: [tool, check.clone()].into(),
            test_targets: [check].into(),
            of_targets: true,
            dependencies: None,
            config: Default::default(),
        };
        let modules = Modules::new(&[package]);
        assert_eq!(modules.standing(&feed), Standing::Module);
        assert_eq!(modules.standing(&common), Standing::Test);
        assert_eq!(modules.standing(&helpers), Standing::Test);
        assert_eq!(modules.standing(&proxy), Standing::Test);
        assert_eq!(modules.standing(&lost), Standing::Orphan);
        assert_eq!(modules.standing(&part), Standing::Module);
        assert_eq!(modules.standing(&dir.path().join("src/bin/tool.rs")), Standing::Module);
    }
}
