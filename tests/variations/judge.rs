//! Runs the binary over the variants of all cases and compares its findings with their marks.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use rideout_rules::catalog::builtin;

use super::{code, known::KNOWN};
use crate::support::command;

/// One file of `fixtures/cases`.
pub(super) struct Case {
    /// The file's name without its extension.
    pub(super) name: String,
    pub(super) text: String,
    /// Its place among the cases.
    pub(super) number: usize,
}

/// What a transform makes of a case.
pub(super) enum Variant {
    /// One loose file.
    File(String),
    /// The files of a package, by their paths.
    Package(Vec<(&'static str, String)>),
}

impl Variant {
    /// The files to write, by path.
    fn files(self, case: &Case) -> Vec<(String, String)> {
        match self {
            Self::File(text) => vec![(format!("{}.rs", case.name), text)],
            Self::Package(files) => {
                let inside = |path: &str| format!("{}/{path}", case.name);
                let manifest = (inside("Cargo.toml"), manifest(case));
                files.into_iter().map(|(path, text)| (inside(path), text)).chain([manifest]).collect()
            }
        }
    }
}

/// A manifest with the crates that the case names.
fn manifest(case: &Case) -> String {
    let source = case.text.lines().nth(1).unwrap();
    let (_, sources) = source.split_once("source: ").unwrap();
    let sources = sources.split("  ").next().unwrap().split(',');
    let mut packages: Vec<String> =
        sources.map(|name| name.split_whitespace().next().unwrap().to_owned()).collect();
    for root in code::roots(&case.text) {
        let of = |entry: &&rideout_rules::catalog::Crate| {
            entry.roots.iter().any(|path| path.split("::").next() == Some(root.as_str()))
        };
        packages.extend(builtin().iter().filter(of).map(|entry| entry.package.clone()));
        packages.push(root.replace('_', "-"));
    }
    packages.retain(|name| !matches!(name.as_str(), "std" | "core" | "alloc"));
    packages.sort();
    packages.dedup();
    let list: String = packages.iter().map(|name| format!("{name} = \"*\"\n")).collect();
    format!(
        "[package]\nname = \"{}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n{list}",
        case.name
    )
}

/// The rule and the line of what is marked or found.
type Verdict = Vec<(String, u64)>;

fn marks(text: &str) -> Verdict {
    let mark = |(line, text): (u64, &str)| Some((text.split_once("//~ ")?.1.trim().to_owned(), line));
    (1..).zip(text.lines()).filter_map(mark).collect()
}

/// Whether the findings are the marks, give or take a line.
fn agree(marks: &Verdict, found: &Verdict) -> bool {
    let mut rest = found.clone();
    let mut taken = |(rule, line): &(String, u64)| {
        let at = rest.iter().position(|(found, at)| found == rule && at.abs_diff(*line) <= 1);
        at.map(|at| rest.remove(at)).is_some()
    };
    marks.iter().all(&mut taken) && rest.is_empty()
}

fn findings(folder: &Path) -> BTreeMap<String, Verdict> {
    let output = command(folder).args(["check", "--pedantic", "--format", "json", "."]).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let mut found = BTreeMap::<String, Verdict>::new();
    for finding in report["findings"].as_array().unwrap() {
        let rule = finding["rule"].as_str().unwrap().to_owned();
        let line = finding["span"]["start"]["line"].as_u64().unwrap();
        found.entry(finding["file"].as_str().unwrap().to_owned()).or_default().push((rule, line));
    }
    found
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    let case = |(number, path): (usize, &PathBuf)| Case {
        name: path.file_stem().unwrap().to_string_lossy().into_owned(),
        text: fs::read_to_string(path).unwrap(),
        number,
    };
    // A macro of its own makes `for await` of what no parser takes.
    paths.iter().enumerate().map(case).filter(|case| !case.text.contains("for await")).collect()
}

/// Judges what the transform makes of each case. It gives none for a case that it cannot change.
#[expect(clippy::print_stdout, reason = "`--nocapture` shows the counts of a run that passes")]
pub(super) fn judge(transform: &str, change: impl Fn(&Case) -> Option<Variant>) {
    let folder = tempfile::tempdir().unwrap();
    let mut variants = Vec::new();
    for case in cases() {
        let Some(variant) = change(&case) else { continue };
        let files = variant.files(&case);
        let rules = |text: &str| marks(text).into_iter().map(|(rule, _)| rule).collect::<Vec<_>>();
        let mut after: Vec<String> = files.iter().flat_map(|(_, text)| rules(text)).collect();
        let mut before = rules(&case.text);
        before.sort();
        after.sort();
        assert_eq!(before, after, "{transform} {}: the transform loses marks", case.name);
        for (path, text) in &files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            if path.extension().is_some_and(|extension| extension == "rs") {
                let parsed = syn::parse_file(text);
                assert!(parsed.is_ok(), "{transform} {}: {:?}\n{text}", case.name, parsed.err());
            }
        }
        variants.push((case.name, files));
    }
    let count = variants.len();
    let mut found = findings(folder.path());
    let known = |case: &str| {
        let of = |known: &str| KNOWN.iter().any(|(name, cases)| *name == known && cases.contains(&case));
        of("*") || of(transform)
    };
    let mut changed = Vec::new();
    let mut stale = Vec::new();
    for (case, files) in variants {
        let mut why = String::new();
        for (path, text) in &files {
            let (marks, found) = (marks(text), found.remove(path).unwrap_or_default());
            if !agree(&marks, &found) {
                why += &format!("{path}: expected {marks:?}, got {found:?}\n");
            }
        }
        match (why.is_empty(), known(&case)) {
            (true, true) => stale.push(case),
            (false, is_known) => {
                keep(transform, &case, &files, &why);
                changed.extend((!is_known).then_some(why));
            }
            (true, false) => {}
        }
    }
    println!("{transform}: {count} variants, {} changed verdicts", changed.len());
    assert!(found.is_empty(), "{transform}: {found:?}");
    assert!(changed.is_empty(), "{transform}: {} of {count} changed\n{}", changed.len(), changed.concat());
    assert!(stale.is_empty(), "{transform}: judged right, and so to be taken off `KNOWN`: {stale:?}");
}

/// Keeps a variant for a look, if asked to.
fn keep(transform: &str, case: &str, files: &[(String, String)], why: &str) {
    let Some(folder) = std::env::var_os("RIDEOUT_VARIATIONS") else { return };
    let folder = Path::new(&folder).join(transform).join(case);
    for (path, text) in files {
        let inside = path.strip_prefix(case).and_then(|path| path.strip_prefix('/')).unwrap_or(path);
        let path = folder.join(inside);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::write(folder.join("why.txt"), why).unwrap();
}
