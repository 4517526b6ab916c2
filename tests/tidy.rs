//! The walls of the house: what a file may name, how long it may be, and that docs name only paths that exist.

use std::fs;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use rideout_rules::catalog::builtin;

/// Longer files hold more than one idea.
const MOST_LINES: usize = 500;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files with this extension under a folder of the repository, by relative path, in order.
fn files(folder: &str, extension: &str) -> Vec<(String, String)> {
    let mut paths: Vec<PathBuf> = WalkBuilder::new(root().join(folder))
        .build()
        .filter_map(Result::ok)
        .map(ignore::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no .{extension} file in {folder}");
    let name = |path: &Path| path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
    paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// The program's own lines: no comments, nothing from the first test module on.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .take_while(|line| line.trim() != "#[cfg(test)]")
        .filter(|line| !line.trim_start().starts_with("//"))
}

/// The words of a line, in the sense of Rust's identifiers.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_'))
}

/// The string literals of a line, as far as they begin and end on it.
fn strings(line: &str) -> Vec<String> {
    let plain = line.replace("'\"'", "").replace("\\\"", "");
    plain.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn syn_is_named_only_in_lint_syntax() {
    let outside = |name: &str| !(name.starts_with("lint/syntax/") || name == "lint/syntax.rs");
    for (name, text) in
        ["lint", "rules/src", "runtime/src"].into_iter().flat_map(|folder| files(folder, "rs"))
    {
        for line in code(&text).filter(|_| outside(&name)) {
            let named = words(line).any(|word| word == "syn" || word == "proc_macro2");
            assert!(!named, "{name}: {line}");
        }
    }
}

#[test]
fn no_crate_of_the_catalog_is_named_in_lint() {
    // The standard library is part of the language: the walk may know it.
    let packages: Vec<&str> =
        builtin().iter().map(|entry| entry.package.as_str()).filter(|package| *package != "std").collect();
    for (name, text) in files("lint", "rs").into_iter().filter(|(name, _)| !name.ends_with("/testing.rs")) {
        for line in code(&text) {
            for string in strings(line) {
                let head = string.split("::").next().unwrap_or_default();
                // The tool's own name is the runtime's too, whose items the texts for people name.
                let own = string.trim_end_matches("::") == "rideout";
                let named =
                    packages.iter().any(|package| head == *package || head == package.replace('-', "_"));
                assert!(own || !named, "{name}: {string:?} belongs into rules/catalog\n{line}");
            }
        }
    }
}

#[test]
fn files_say_what_they_are_and_stay_short() {
    for (name, text) in ["lint", "rules/src", "runtime/src", "tests", "benches"]
        .into_iter()
        .flat_map(|folder| files(folder, "rs"))
    {
        assert!(text.starts_with("//!"), "{name} does not begin with a `//!` line");
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "{name} has {lines} lines, more than {MOST_LINES}");
    }
}

#[test]
fn rules_do_no_io() {
    for (name, text) in files("rules/src", "rs") {
        for line in code(&text) {
            for module in ["fs", "env", "io", "net", "time", "process", "thread"] {
                let path = format!("std::{module}");
                let named = line.match_indices(&path).any(|(at, _)| {
                    !line[at + path.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
                });
                assert!(!named || in_page(&text, line), "{name}: {line}");
            }
        }
    }
}

/// Whether the line stands in the raw string of a rule's page, where examples may name anything.
fn in_page(text: &str, line: &str) -> bool {
    let Some(start) = text.find("docs: r") else { return false };
    let end = text[start..].find("\n\"").map_or(text.len(), |length| start + length);
    text[start..end].contains(line)
}

#[test]
fn the_linter_knows_no_runtime_and_the_runtime_no_linter() {
    for (name, text) in files("rules/src", "rs").into_iter().chain(files("runtime/src", "rs")) {
        let other = if name.starts_with("rules/") { "rideout" } else { "rideout_rules" };
        for line in code(&text) {
            assert!(!line.trim_start().starts_with(&format!("use {other}::")), "{name}: {line}");
        }
    }
}

#[test]
fn paths_that_docs_name_exist() {
    for (name, text) in files("docs", "md")
        .into_iter()
        .chain(files(".", "md").into_iter().filter(|(name, _)| !name.contains('/')))
    {
        let folder = root().join(&name).parent().unwrap().to_path_buf();
        for path in text.split('`').skip(1).step_by(2).filter(|span| is_path(span)) {
            assert!(root().join(path).exists(), "{name}: `{path}` does not exist");
        }
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let local = target.split('#').next().unwrap_or_default();
            if !local.is_empty() && !local.contains("://") {
                assert!(folder.join(local).exists(), "{name}: link to {local} does not exist");
            }
        }
    }
}

/// Whether a span of code is a path of this repository, not of some other project.
fn is_path(span: &str) -> bool {
    let folders =
        ["lint/", "rules/", "runtime/", "tests/", "benches/", "fixtures/", "docs/", ".ci/", ".cargo/"];
    folders.iter().any(|folder| span.starts_with(folder))
        && !span.contains(|c: char| c.is_whitespace() || "*<>{}".contains(c))
}
