//! Bad input is data: a clear sentence or an `unread-file` finding, never a panic, never a hang.

use std::fmt::Write as _;

use crate::support::{NOT_UTF8, Project, Ran, WATCH};

/// One sentence on stderr, nothing on stdout, exit 2.
fn refused(ran: &Ran, parts: &[&str]) {
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    for part in parts {
        assert!(ran.stderr.contains(part), "`{part}` is not in: {}", ran.stderr);
    }
}

/// One finding, at this place.
fn unread(ran: &Ran, place: &str, reason: &str) {
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.starts_with(&format!("{place}: error[unread-file]: ")), "{}", ran.stdout);
    assert!(ran.stdout.contains(reason), "{}", ran.stdout);
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
}

#[test]
fn a_missing_path() {
    let project = Project::package(&[("src/lib.rs", "")]);
    refused(&project.run(&["src/gone.rs"]), &["error: there is no file or folder `src/gone.rs`"]);
}

#[test]
fn a_folder_without_rust() {
    let project = Project::empty();
    project.write("notes/readme.md", "no code here");
    refused(&project.run(&["notes"]), &["error: there is no Rust file under `notes`"]);
    refused(&project.run(&["notes/readme.md"]), &["`notes/readme.md` is neither a folder nor a Rust file"]);
    let project = Project::package(&[]);
    refused(&project.run(&[]), &["error: there is no Rust file under "]);
}

#[test]
fn a_broken_manifest_of_the_asked_workspace() {
    let project = Project::package(&[("src/lib.rs", "")]);
    for (text, parts) in [
        ("[package]\nname = \"app\"\nversion = \n", &["Cargo.toml:3: the manifest is broken: "][..]),
        (
            "[package]\nname = \"app\"\n\n[dependencies]\nserde = 3\n",
            &["Cargo.toml:5: the manifest is broken: "],
        ),
        ("", &["Cargo.toml:1: the manifest has neither a [package] nor a [workspace] table"]),
        ("<<<<<<< HEAD\n[package]\n", &["Cargo.toml:1: the manifest is broken: "]),
    ] {
        project.write("Cargo.toml", text);
        for args in [&[][..], &["src"], &["src/lib.rs"], &["--manifest-path", "Cargo.toml"]] {
            refused(&project.run(args), parts);
        }
    }
    project.write("Cargo.toml", b"[package]\nname = \"\xff\"\n");
    refused(&project.run(&[]), &["Cargo.toml:2: the manifest is not UTF-8"]);
}

#[test]
fn a_broken_manifest_further_down() {
    let project = Project::empty();
    project.write("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\n");
    project.write("a/Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\n");
    project.write("a/src/lib.rs", WATCH);
    project.write("b/Cargo.toml", "[package\n");
    project.write("b/src/lib.rs", WATCH);
    for args in [&["--format", "short"][..], &["--format", "short", "."]] {
        let ran = project.run(args);
        assert!(
            ran.stderr.contains("warning: ") && ran.stderr.contains("b/Cargo.toml:1: "),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.code, Some(1), "every source is active in `b`: {ran:?}");
        assert!(ran.stdout.starts_with("b/src/lib.rs:5:5: error[unguarded-watch]: "), "{}", ran.stdout);
        assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
    }
}

#[test]
fn a_manifest_that_cargo_refuses() {
    let project = Project::package(&[("src/lib.rs", WATCH)]);
    let text = "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2099\"\n[dependencies]\ntokio-tungstenite = \"0.28\"\n\
                gone = { path = \"../gone\" }\n[workspace]\nmembers = [\"nowhere\"]\n";
    project.write("Cargo.toml", text);
    assert_eq!(project.run(&[]).code, Some(1));
}

#[test]
fn a_file_that_is_no_rust() {
    let project = Project::package(&[("src/lib.rs", "// connect_async\n\nfn main( {\n")]);
    unread(&project.run(&["--format", "short"]), "src/lib.rs:3:1", "");
    let human = project.run(&[]);
    assert!(human.stdout.contains("  --> src/lib.rs:3:1\n"), "{}", human.stdout);
}

#[test]
fn a_file_that_is_not_utf8() {
    let project = Project::package(&[]);
    project.write("src/lib.rs", NOT_UTF8);
    unread(&project.run(&["--format", "short"]), "src/lib.rs:2:1", "the file is not valid UTF-8");
}

#[test]
fn a_file_that_may_not_be_read() {
    let project = Project::package(&[("src/lib.rs", WATCH)]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = project.path("src/lib.rs");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
        // Permissions do not bind the superuser.
        if std::fs::read(&path).is_err() {
            unread(&project.run(&["--format", "short"]), "src/lib.rs:1:1", "cannot read the file: ");
        }
    }
}

#[test]
fn parentheses_nested_100_000_deep() {
    let deep = 100_000;
    let nested = format!("fn f() {{ let connect_async = {}1{}; }}\n", "(".repeat(deep), ")".repeat(deep));
    let project = Project::package(&[("src/lib.rs", &nested)]);
    unread(&project.run(&["--format", "short"]), "src/lib.rs:1:1", "");
    let open = format!("fn f() {{ let connect_async = {}\n", "(".repeat(2 * deep));
    let project = Project::package(&[("src/lib.rs", &open)]);
    unread(&project.run(&["--format", "short"]), "src/lib.rs:1:1", "");
}

#[test]
fn a_byte_order_mark_and_an_interpreter_line() {
    let plain = Project::package(&[("src/lib.rs", WATCH)]).run(&["--format", "json", "-q"]);
    let plain: serde_json::Value = serde_json::from_str(&plain.stdout).unwrap();
    let byte =
        |document: &serde_json::Value| document["findings"][0]["span"]["start"]["byte"].as_u64().unwrap();
    for (head, lines) in [("\u{feff}", 0), ("#!/usr/bin/env run\n", 1), ("\u{feff}#!/usr/bin/env run\n", 1)] {
        let project = Project::package(&[("src/lib.rs", &format!("{head}{WATCH}"))]);
        let ran = project.run(&["--format", "json", "-q"]);
        let found: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let start = &found["findings"][0]["span"]["start"];
        assert_eq!((&start["line"], &start["column"]), (&(5 + lines).into(), &5.into()), "{head:?}");
        assert_eq!(byte(&found), byte(&plain) + head.len() as u64, "{head:?}");
        let human = project.run(&[]).stdout;
        assert!(
            human.contains(&format!(
                "\n{} |     while let Some(Ok(message)) = socket.next().await {{\n",
                5 + lines
            )),
            "{human}"
        );
    }
}

#[cfg(unix)]
#[test]
fn links_that_lead_in_circles() {
    use std::os::unix::fs::symlink;

    let project = Project::package(&[("src/lib.rs", WATCH)]);
    symlink(project.path("src"), project.path("src/again")).unwrap();
    symlink(project.path("."), project.path("src/top")).unwrap();
    symlink("self.rs", project.path("src/self.rs")).unwrap();
    for args in [&["--format", "short"][..], &["--format", "short", "."]] {
        let ran = project.run(args);
        assert_eq!((ran.code, ran.stdout.lines().count()), (Some(1), 1), "{ran:?}");
    }
    refused(&project.run(&["src/self.rs"]), &["cannot read `src/self.rs`: "]);
}

#[test]
fn a_generated_file_of_10_mb() {
    let mut text = WATCH.to_owned();
    let mut number = 0;
    while text.len() < 10 << 20 {
        writeln!(text, "pub fn generated_{number}(x: u64) -> u64 {{ let y = x * {number}; (y + 1) ^ 0x55 }}")
            .unwrap();
        number += 1;
    }
    let project = Project::package(&[("src/lib.rs", &text)]);
    let ran = project.run(&["--format", "short"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.starts_with("src/lib.rs:5:5: error[unguarded-watch]: "), "{}", ran.stdout);
}

#[test]
fn a_file_too_large_to_parse() {
    let line = "// a comment that goes on and on and on, as comments in generated files do\n";
    let filler = line.repeat((17 << 20) / line.len());
    let project = Project::package(&[("src/lib.rs", &format!("{WATCH}{filler}")), ("src/plain.rs", &filler)]);
    unread(&project.run(&["--format", "short"]), "src/lib.rs:1:1", "the file is larger than 16 MiB");
}

#[test]
fn a_template_below_a_package_is_unread_only_where_it_is_asked_for() {
    let template = "templates/feed/src/lib.rs";
    let text = format!("{WATCH}pub struct {{{{ name }}}};\n");
    let project = Project::package(&[("src/lib.rs", ""), (template, &text)]);
    let whole = project.run(&["--format", "short", "."]);
    assert_eq!((whole.code, whole.stdout.as_str()), (Some(0), ""), "{whole:?}");
    unread(&project.run(&["--format", "short", template]), &format!("{template}:10:1"), "");
}
