//! `docs/own-sources.md`: its files are those of the example, its output is the binary's, and its tables are read.

use std::fs;

use crate::{
    docs::{current, fences, replaced, rideout, root},
    support::{Project, WATCH},
};

const PAGE: &str = "docs/own-sources.md";

/// What follows `<!-- kind ` in the page, up to the end of each opening mark.
fn marks<'a>(text: &'a str, kind: &str) -> Vec<&'a str> {
    let open = format!("<!-- {kind} ");
    text.split(&open)
        .skip(1)
        .filter_map(|rest| rest.split(":begin -->").next())
        .filter(|it| !it.contains('\n'))
        .collect()
}

#[test]
fn the_example_is_the_fixture_and_what_rideout_says_of_it() {
    let path = root().join(PAGE);
    let text = fs::read_to_string(&path).unwrap();
    let mut wanted = text.clone();
    let files = marks(&text, "file");
    assert!(files.len() > 2);
    for file in files {
        let code = fs::read_to_string(root().join(file)).unwrap();
        let language = if file.ends_with(".toml") { "toml" } else { "rust" };
        wanted =
            replaced(&wanted, &format!("file {file}"), &format!("```{language}\n{}\n```\n", code.trim_end()));
    }
    let commands = marks(&text, "output");
    assert_eq!(commands.len(), 2);
    for command in commands {
        let arguments: Vec<&str> = command.split(' ').chain(["--color", "never"]).collect();
        let output = rideout(&arguments, root());
        assert_eq!(output.status.code(), Some(i32::from(command.starts_with("check"))), "{command}");
        let shown = String::from_utf8(output.stdout).unwrap();
        let block = format!("```console\n$ cargo rideout {command}\n{}\n```\n", shown.trim_end());
        wanted = replaced(&wanted, &format!("output {command}"), &block);
    }
    current(path, &wanted);
}

#[test]
fn every_table_of_the_page_is_read() {
    let text = fs::read_to_string(root().join(PAGE)).unwrap();
    let blocks = fences(&text, "", "toml");
    assert!(blocks.len() > 4);
    let project = Project::package(&[("src/lib.rs", WATCH)]);
    for block in blocks {
        project.write("rideout.toml", block);
        let ran = project.run(&[]);
        assert_eq!(ran.code, Some(1), "{block}\n{}", ran.stderr);
    }
}

#[test]
fn the_page_has_every_key_and_level() {
    let text = fs::read_to_string(root().join(PAGE)).unwrap();
    let project = Project::package(&[("src/lib.rs", WATCH)]);
    project.write("rideout.toml", "nonsense = 1\n");
    let keys = project.run(&[]).stderr;
    let keys: Vec<&str> = keys.lines().next().unwrap().split('`').skip(3).step_by(2).collect();
    assert_eq!(keys.len(), 7);
    for key in keys {
        assert!(text.contains(&format!("`{key}`")) || text.contains(&format!("[{key}]")), "{key}");
    }
    for level in rideout_rules::Setting::NAMES {
        assert!(text.contains(&format!("| `{level}` |")), "{level}");
    }
}
