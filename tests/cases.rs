//! Scores the binary on `fixtures/cases`: every mark must be found, and nothing else.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use assert_cmd::Command;

/// Rule and line, by file.
type Verdicts = BTreeMap<String, Vec<(String, u64)>>;

/// The Rust files below a folder, by their paths in it. A folder in it is a workspace: one case of several files.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn marks(folder: &Path) -> Verdicts {
    let mut marks = Verdicts::new();
    let mut paths = Vec::new();
    files(folder, &mut paths);
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let mut found = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            if let Some((_, rule)) = text.split_once("//~ ") {
                found.push((rule.trim().to_owned(), line));
            }
        }
        let flagged = text.lines().nth(1).unwrap_or_default().contains("verdict: flagged");
        assert_eq!(flagged, !found.is_empty(), "{}: the second line and the marks differ", path.display());
        let file = path.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
        marks.insert(file, found);
    }
    marks
}

fn findings(folder: &Path) -> Verdicts {
    let run = Command::cargo_bin("cargo-rideout")
        .unwrap()
        .args(["check", "--pedantic", "--format", "json"])
        .arg(folder)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    let mut found = Verdicts::new();
    for finding in report["findings"].as_array().unwrap() {
        let file = finding["file"].as_str().unwrap();
        let file = file.strip_prefix("fixtures/cases/").unwrap().to_owned();
        let rule = finding["rule"].as_str().unwrap().to_owned();
        found.entry(file).or_default().push((rule, finding["span"]["start"]["line"].as_u64().unwrap()));
    }
    found
}

#[test]
#[expect(clippy::print_stdout, reason = "`--nocapture` shows the score of a run that passes")]
fn the_cases_get_the_right_verdicts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    let mut found = findings(&folder);
    let (mut right, mut missed, mut wrong) = (0_u32, Vec::new(), Vec::new());
    for (file, marks) in marks(&folder) {
        let mut extra = found.remove(&file).unwrap_or_default();
        for (rule, line) in marks {
            match extra.iter().position(|(found, at)| *found == rule && at.abs_diff(line) <= 1) {
                Some(at) => {
                    extra.remove(at);
                    right += 1;
                }
                None => missed.push(format!("{file}:{line}: {rule}")),
            }
        }
        wrong.extend(extra.into_iter().map(|(rule, line)| format!("{file}:{line}: {rule}")));
    }
    let share = |part: u32, rest: usize| f64::from(part) / (f64::from(part) + rest as f64);
    let (precision, recall) = (share(right, wrong.len()), share(right, missed.len()));
    println!("precision {precision:.3}, recall {recall:.3}, {right} right");
    println!("missed: {missed:#?}\nwrong: {wrong:#?}");
    assert!(missed.is_empty() && wrong.is_empty(), "missed {missed:#?}, wrong {wrong:#?}");
}
