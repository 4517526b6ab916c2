//! What a baseline holds stays held while the code around it changes, over every case that is flagged.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command as Process, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use super::repo::{Repo, counted, run_in, watches};
use crate::support::Ran;

/// Those cases as loose files, held by a baseline.
struct Cases {
    scratch: TempDir,
}

impl Cases {
    fn held() -> Self {
        let cases = Self { scratch: tempfile::tempdir().unwrap() };
        for (name, text) in sources() {
            cases.write(&format!("src/{name}"), &text);
        }
        let ran = cases.run(&["baseline", "init", "-q", "--pedantic"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        cases
    }

    fn path(&self, path: &str) -> PathBuf {
        self.scratch.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    fn run(&self, args: &[&str]) -> Ran {
        run_in(self.scratch.path(), args, &[])
    }

    fn baseline(&self) -> String {
        fs::read_to_string(self.path("baseline.toml")).unwrap()
    }

    /// Writes each source anew after a change.
    fn change(&self, change: impl Fn(&str) -> String) {
        for (name, text) in sources() {
            self.write(&format!("src/{name}"), &change(&text));
        }
    }

    /// The states of the findings and the number of stale entries.
    fn states(&self) -> (BTreeMap<String, usize>, usize) {
        let ran = self.run(&["--pedantic", "--format", "json"]);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
        let mut states: BTreeMap<String, usize> = BTreeMap::new();
        for finding in report["findings"].as_array().unwrap() {
            *states.entry(finding["state"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        (states, report["baseline"]["stale"].as_array().unwrap().len())
    }

    fn count(&self) -> usize {
        self.baseline().lines().filter(|line| line.starts_with('"')).count()
    }
}

/// The cases with a finding.
fn sources() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    let mut sources: Vec<(String, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    sources.retain(|(_, text)| text.contains("//~ "));
    sources.sort();
    sources
}

#[test]
fn lines_that_move_and_another_layout_change_nothing() {
    let cases = Cases::held();
    let count = cases.count();
    assert!(count > 150, "{count}");
    cases.change(|text| format!("// one\n// more\n\n{text}").replace('\n', "\n\n"));
    assert_eq!(cases.states(), counted(&[("known", count)], 0));
    cases.change(|text| text.replace("    ", "\t"));
    assert_eq!(cases.states(), counted(&[("known", count)], 0));
}

/// A text as rustfmt lays it out, or as it was if it is too odd for it.
fn formatted(text: &str, config: &str) -> String {
    let mut child = Process::new("rustfmt")
        .args(["--edition", "2024", "--config", config])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    if output.status.success() { String::from_utf8(output.stdout).unwrap() } else { text.to_owned() }
}

#[test]
fn rustfmt_changes_nothing() {
    let cases = Cases::held();
    let count = cases.count();
    for config in
        ["max_width=60,use_small_heuristics=Off", "max_width=160,use_small_heuristics=Max,hard_tabs=true"]
    {
        let mut changed = 0;
        for (name, text) in sources() {
            let new = formatted(&text, config);
            changed += usize::from(new != text);
            cases.write(&format!("src/{name}"), &new);
        }
        assert!(changed > sources().len() / 2, "{changed}");
        assert_eq!(cases.states(), counted(&[("known", count)], 0), "{config}");
    }
}

#[test]
fn a_changed_body_changes_nothing() {
    let cases = Cases::held();
    let count = cases.count();
    // A statement more at the start of each body of a loop, and another name in what is logged.
    cases.change(|text| {
        let lines = text.lines().map(|line| {
            let code = line.split("//").next().unwrap_or_default();
            let opens = code.trim_end().ends_with('{')
                && ["while ", "loop {", "for "].iter().any(|word| code.trim_start().starts_with(word));
            if opens { format!("{line}\n    let _count = 1 + 1;\n") } else { format!("{line}\n") }
        });
        lines.collect::<String>().replace("warn!(\"", "warn!(\"feed: ")
    });
    assert_eq!(cases.states(), counted(&[("known", count)], 0));
}

#[test]
fn renamed_files_move_their_entries() {
    let cases = Cases::held();
    let count = cases.count();
    for (name, _) in sources() {
        fs::create_dir_all(cases.path("src/sub")).unwrap();
        fs::rename(cases.path(&format!("src/{name}")), cases.path(&format!("src/sub/x_{name}"))).unwrap();
    }
    assert_eq!(cases.states(), counted(&[("moved", count)], 0));
    assert_eq!(cases.run(&["baseline", "tighten", "-q", "--pedantic"]).code, Some(0));
    assert_eq!((cases.count(), cases.states()), (count, counted(&[("known", count)], 0)));
}

#[test]
fn neither_threads_nor_the_order_of_files_change_the_file() {
    let cases = Cases::held();
    let first = cases.baseline();
    for threads in ["1", "7"] {
        fs::remove_file(cases.path("baseline.toml")).unwrap();
        for (name, text) in sources().into_iter().rev() {
            let path = format!("src/{name}");
            fs::remove_file(cases.path(&path)).unwrap();
            cases.write(&path, &text);
        }
        let args = ["baseline", "init", "-q", "--pedantic"];
        assert_eq!(run_in(cases.scratch.path(), &args, &[("RAYON_NUM_THREADS", threads)]).code, Some(0));
        assert_eq!(cases.baseline(), first, "{threads}");
    }
}

#[test]
fn an_item_that_moves_keeps_its_entry() {
    let repo = Repo::held(&[("a", &["one", "two"]), ("b", &["three"])]);
    let (one, rest) = (watches(&["one"]), watches(&["two"]));
    repo.write("src/a.rs", &rest);
    repo.edit("src/b.rs", |text| text.to_owned() + &one);
    assert_eq!(repo.states(&["--strict"]), counted(&[("known", 2), ("moved", 1)], 0));
    assert_eq!(repo.run(&["baseline", "tighten", "-q"]).code, Some(0));
    // Under another name, in the same file.
    repo.edit("src/b.rs", |text| text.replace("fn one", "fn first"));
    assert_eq!(repo.states(&["--strict"]), counted(&[("known", 2), ("moved", 1)], 0));
}

#[test]
fn an_edited_watch_is_edited() {
    let repo = Repo::held(&[("a", &["one", "two"])]);
    repo.edit("src/a.rs", |text| text.replace("Some(Ok(m_one))", "Some(Ok(m))").replace("{m_one}", "{m}"));
    assert_eq!(repo.states(&["--strict"]), counted(&[("edited", 1), ("known", 1)], 0));
    let ran = repo.run(&[]);
    assert!(ran.stdout.contains("baseline.toml: 2 entries: 1 known, 1 edited\n"), "{}", ran.stdout);
}
