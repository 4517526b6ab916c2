//! Both ways to call it, exit codes, what goes to which stream.

use std::process::Stdio;

use crate::support::{NOT_UTF8, Project, WATCH, command, ran};

fn clean() -> Project {
    Project::package(&[("src/main.rs", "fn main() {}\n")])
}

#[test]
fn both_forms_do_the_same() {
    let project = Project::package(&[("src/lib.rs", WATCH)]);
    let direct = project.run(&["--format", "short"]);
    assert_eq!(project.run(&["rideout", "--format", "short"]), direct);
    assert_eq!(project.run(&["rideout", "check", "--format", "short"]), direct);
    assert_eq!(project.run(&["check", "--format", "short"]), direct);
}

#[test]
fn no_findings_is_0() {
    let ran = clean().run(&[]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.stdout, "no findings\n0 watches seen in 0 files\n");
    assert_eq!(ran.stderr, "    Checking 1 file in 1 package\n");
}

#[test]
fn findings_are_1() {
    let project = Project::package(&[("src/lib.rs", WATCH)]);
    let ran = project.run(&["--format", "short"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.starts_with("src/lib.rs:5:5: error[unguarded-watch]: "), "{}", ran.stdout);
    assert_eq!(ran.stdout.lines().count(), 1);
}

#[test]
fn a_guarded_watch_is_no_finding_but_listed() {
    let guarded = WATCH
        .replace(
            "while let Some(Ok(message)) = socket.next().await {",
            "while let Some(message) = socket.next().await {",
        )
        .replace("println!(\"{message}\");", "println!(\"{}\", message?);")
        .replace("    Ok(())\n}", "    anyhow::bail!(\"the feed ended\")\n}");
    let project = Project::package(&[("src/lib.rs", &guarded)]);
    let ran = project.run(&[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("1 watch seen in 1 file"), "{}", ran.stdout);
    let list = project.run(&["list"]);
    assert_eq!(list.code, Some(0));
    assert!(list.stdout.starts_with("PLACE"), "{}", list.stdout);
    assert!(list.stdout.contains("src/lib.rs:5:5  run "), "{}", list.stdout);
}

#[test]
fn mistakes_are_2_and_say_so_on_stderr_alone() {
    let project = clean();
    for args in [
        &["--nonsense"][..],
        &["--format", "nonsense"],
        &["--exclude", "app"],
        &["explain", "nonsense"],
        &["check", "no/such/path"],
        &["-p", "nobody"],
        &["--manifest-path", "src/main.rs"],
        &["--manifest-path", "gone/Cargo.toml"],
    ] {
        let ran = project.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(ran.stderr.starts_with("error: "), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn quiet_leaves_findings_alone() {
    let project = Project::package(&[]);
    project.write("src/lib.rs", NOT_UTF8);
    let loud = project.run(&[]);
    let quiet = project.run(&["-q"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(1), ""));
    assert!(loud.stdout.starts_with(&quiet.stdout), "{}", loud.stdout);
    assert!(loud.stdout.contains("1 finding: 1 unread-file\n"), "{}", loud.stdout);
    assert!(!quiet.stdout.contains("1 finding"), "{}", quiet.stdout);
}

#[test]
fn help_is_for_stdout() {
    let project = clean();
    for args in
        [&["--help"][..], &["rideout", "--help"], &["rideout", "-h"], &["list", "--help"], &["--version"]]
    {
        let ran = project.run(args);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{args:?}");
        assert!(!ran.stdout.is_empty());
    }
    let help = project.run(&["rideout", "--help"]).stdout;
    assert!(help.contains("Usage: cargo rideout [OPTIONS] [PATHS]..."), "{help}");
}

#[test]
fn explain_prints_a_page_or_the_table() {
    let project = Project::empty();
    let table = project.run(&["explain"]);
    assert_eq!(table.code, Some(0));
    assert!(table.stdout.contains("\nunguarded-watch "), "{}", table.stdout);
    let page = project.run(&["explain", "unguarded-watch"]);
    assert_eq!(page.code, Some(0));
    assert!(page.stdout.starts_with("# unguarded-watch\n"), "{}", page.stdout);
}

#[test]
fn a_command_after_an_option_is_pointed_out() {
    let ran = clean().run(&["-q", "list"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("write `cargo rideout list` first"), "{}", ran.stderr);
}

#[test]
fn colour_is_asked_for() {
    let project = Project::package(&[]);
    project.write("src/lib.rs", NOT_UTF8);
    assert!(!project.run(&[]).stdout.contains('\u{1b}'));
    assert!(project.run(&["--color", "always"]).stdout.contains('\u{1b}'));
    let forced = ran(command(&project.path(".")).env("CARGO_TERM_COLOR", "always"));
    assert!(forced.stdout.contains('\u{1b}'));
    let never = ran(command(&project.path(".")).env("CARGO_TERM_COLOR", "always").args(["--color", "never"]));
    assert!(!never.stdout.contains('\u{1b}'));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let project = Project::package(&[]);
    project.write("src/lib.rs", NOT_UTF8);
    for (args, code) in [(&["--format", "json"][..], 1), (&["explain", "unguarded-watch"], 0)] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-rideout"))
            .args(args)
            .current_dir(project.path("."))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        assert!(!stderr.contains("panicked") && !stderr.contains("error"), "{stderr}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_2() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-rideout"))
        .arg("explain")
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("error: cannot write the report: "));
}
