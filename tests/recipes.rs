//! The recipes of `docs/ci.md` and `docs/editors.md` are commands that run.

use std::fs;

use crate::{docs::root, support::Project};

/// The arguments of every `cargo rideout` in the fenced blocks of a page, written as a line or as a list of strings.
fn commands(page: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let blocks = text.split("```").skip(1).step_by(2);
    let mut found = Vec::new();
    for block in blocks {
        for line in block.lines() {
            if let Some((_, command)) = line.split_once("cargo rideout ") {
                let end = command.find(['>', '|', '\'']).unwrap_or(command.len());
                found.push(command[..end].split_whitespace().map(str::to_owned).collect());
            } else if let Some((_, list)) = line.split_once("\"rideout\"") {
                found.push(list.split('"').skip(1).step_by(2).map(str::to_owned).collect());
            }
        }
    }
    found
}

/// A package that compiles without a network and has no watch.
fn project() -> Project {
    let project = Project::empty();
    project.write("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    project.write("src/main.rs", "fn main() {}\n");
    project
}

#[test]
fn the_recipes_run() {
    let project = project();
    for (page, least) in [("docs/ci.md", 6), ("docs/editors.md", 7)] {
        let commands = commands(page);
        assert!(commands.len() >= least, "{page}: {commands:?}");
        for command in commands {
            let mut args: Vec<&str> = command.iter().map(String::as_str).collect();
            // There is no repository around the package.
            args.retain(|arg| *arg != "--base");
            let ran = project.run(&args);
            assert_eq!(ran.code, Some(0), "{page}: {args:?}: {}", ran.stderr);
        }
    }
}

#[test]
fn every_gate_of_a_server_holds_the_baseline_against_its_base() {
    for command in commands("docs/ci.md").iter().filter(|command| !command.contains(&"--quiet".to_owned())) {
        assert!(command.contains(&"--base".to_owned()), "{command:?}");
    }
}
