//! A scratch repository with watches in it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command as Process,
};

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Ran, WATCH, command, manifest, ran};

/// A package under git.
pub(super) struct Repo {
    _scratch: TempDir,
    pub(super) dir: PathBuf,
}

/// A file with a dying watch in each of these functions.
pub(super) fn watches(names: &[&str]) -> String {
    names.iter().map(|name| watch(name)).collect()
}

fn watch(name: &str) -> String {
    let text =
        WATCH.replace("use futures_util::StreamExt;\n\n", "").replace("fn run()", &format!("fn {name}()"));
    let text = text.replace("message", &format!("m_{name}"));
    format!("\n{text}")
}

/// The same with the watches mended.
pub(super) fn mended(text: &str) -> String {
    text.replace("while let Some(Ok(", "while let Some(message) = socket.next().await { let ")
        .replace(")) = socket.next().await {", " = message?;")
        .replace("    Ok(())\n}", "    anyhow::bail!(\"over\")\n}")
}

impl Repo {
    /// A repository with these files of functions that watch. Each file is a module.
    pub(super) fn new(files: &[(&str, &[&str])]) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let repo = Self { dir: scratch.path().join("here"), _scratch: scratch };
        fs::create_dir(&repo.dir).unwrap();
        repo.git(&["init", "-q", "-b", "main"]);
        repo.write("Cargo.toml", &manifest("app"));
        for (file, names) in files {
            repo.write(&format!("src/{file}.rs"), &watches(names));
        }
        let modules: String = files.iter().map(|(file, _)| format!("mod {file};\n")).collect();
        repo.write("src/lib.rs", &modules);
        repo
    }

    /// The same, with a baseline, all committed.
    pub(super) fn held(files: &[(&str, &[&str])]) -> Self {
        let repo = Self::new(files);
        assert_eq!(repo.run(&["baseline", "init", "-q"]).code, Some(0));
        repo.commit("begin");
        repo
    }

    /// Another work tree of the same scratch folder, cloned in this way.
    pub(super) fn clone(&self, name: &str, args: &[&str]) -> PathBuf {
        let dir = self.dir.parent().unwrap().join(name);
        let url = format!("file://{}", self.dir.display());
        let target = dir.to_string_lossy().into_owned();
        let all = [&["clone", "-q"], args, &[url.as_str(), target.as_str()]].concat();
        git_in(&self.dir, &all);
        dir
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.dir.join(path)).unwrap()
    }

    pub(super) fn edit(&self, path: &str, change: impl FnOnce(&str) -> String) {
        self.write(path, &change(&self.read(path)));
    }

    pub(super) fn baseline(&self) -> String {
        self.read("baseline.toml")
    }

    /// Mends the watch of one function.
    pub(super) fn mend(&self, file: &str, name: &str) {
        self.edit(&format!("src/{file}.rs"), |text| text.replace(&watch(name), &mended(&watch(name))));
    }

    pub(super) fn git(&self, args: &[&str]) -> String {
        git_in(&self.dir, args)
    }

    pub(super) fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(super) fn run(&self, args: &[&str]) -> Ran {
        run_in(&self.dir, args, &[])
    }

    /// The states of the findings, counted, and how many entries are stale.
    pub(super) fn states(&self, args: &[&str]) -> (BTreeMap<String, usize>, usize) {
        let ran = self.run(&[args, &["--format", "json"]].concat());
        let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
        let mut states = BTreeMap::new();
        for finding in report["findings"].as_array().unwrap() {
            *states.entry(finding["state"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        (states, report["baseline"]["stale"].as_array().map_or(0, Vec::len))
    }
}

/// `states` as it is compared.
pub(super) fn counted(states: &[(&str, usize)], stale: usize) -> (BTreeMap<String, usize>, usize) {
    (states.iter().map(|(state, count)| ((*state).to_owned(), *count)).collect(), stale)
}

/// Variables by which servers tell what they build.
const SERVERS: [&str; 8] = [
    "CI",
    "GITHUB_BASE_REF",
    "GITHUB_REF",
    "GITHUB_SHA",
    "GITHUB_EVENT_PATH",
    "CI_MERGE_REQUEST_DIFF_BASE_SHA",
    "CI_MERGE_REQUEST_TARGET_BRANCH_SHA",
    "CI_COMMIT_BEFORE_SHA",
];

pub(super) fn run_in(dir: &Path, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = command(dir);
    for name in SERVERS {
        command.env_remove(name);
    }
    ran(command.args(args).envs(variables.iter().copied()))
}

/// Runs git with nothing of this machine's settings, and gives what it prints.
pub(super) fn git_in(dir: &Path, args: &[&str]) -> String {
    let (ok, said) = try_git_in(dir, args);
    assert!(ok, "git {args:?}: {said}");
    said
}

pub(super) fn try_git_in(dir: &Path, args: &[&str]) -> (bool, String) {
    let mut command = Process::new("git");
    command.current_dir(dir).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "A").env(format!("GIT_{who}_EMAIL"), "a@example.org");
    }
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let said = if output.status.success() { text(&output.stdout) } else { text(&output.stderr) };
    (output.status.success(), said)
}
