//! Where a configuration stands, what it leaves out, the levels that it gives, and what is a mistake in it.

use crate::support::{NOT_UTF8, Project, Ran, WATCH, manifest};

/// The files of the findings and their rules.
fn found(ran: &Ran) -> Vec<String> {
    assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    let file = |line: &str| line.split(':').next().unwrap().to_owned();
    let rule = |line: &str| line.split(['[', ']']).nth(1).unwrap().to_owned();
    ran.stdout.lines().map(|line| format!("{} {}", file(line), rule(line))).collect()
}

fn check(project: &Project, args: &[&str]) -> Vec<String> {
    found(&project.run(&[&["--format", "short"], args].concat()))
}

/// Exit 2, nothing on stdout, and a sentence that begins so.
fn refused(ran: &Ran, start: &str) {
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.stderr.starts_with(&format!("error: {start}")), "`{start}` does not begin: {}", ran.stderr);
}

const DEAD: &str = "src/lib.rs unguarded-watch";

#[test]
fn a_rule_has_the_level_that_it_is_given() {
    let project = Project::package(&[("src/lib.rs", WATCH)]);
    assert_eq!(check(&project, &[]), [DEAD]);
    project.write("rideout.toml", "[rules]\nunguarded-watch = \"off\"\n");
    assert_eq!(check(&project, &["--pedantic"]), [""; 0]);
    assert!(project.run(&["list"]).stdout.contains("src/lib.rs:5:5"), "it is still a watch");
    project.write("rideout.toml", "[rules]\nunguarded-watch = \"pedantic\"\n");
    assert_eq!(check(&project, &[]), [""; 0]);
    assert!(project.run(&[]).stdout.contains("1 more with `--pedantic`\n"));
    let pedantic = project.run(&["--pedantic", "--format", "short"]).stdout;
    assert!(pedantic.starts_with("src/lib.rs:5:5: warning[unguarded-watch]: "), "{pedantic}");
    project.write("rideout.toml", "[rules]\nunguarded-watch = \"deny\"\nunread-file = \"deny\"\n");
    assert_eq!(check(&project, &[]), [DEAD]);
}

#[test]
fn deny_counts_what_is_pedantic_by_itself() {
    let spins = "
pub async fn serve(listener: tokio::net::TcpListener) {
    loop {
        if let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(async move { drop(socket) });
        }
    }
}
";
    let project = Project::package(&[("src/lib.rs", spins)]);
    let manifest = format!("{}tokio = \"1\"\n", manifest("app"));
    project.write("Cargo.toml", &manifest);
    assert_eq!(check(&project, &[]), [""; 0]);
    assert_eq!(check(&project, &["--pedantic"]), ["src/lib.rs unpaced-reopen"]);
    project.write("rideout.toml", "[rules]\nunpaced-reopen = \"deny\"\n");
    assert_eq!(check(&project, &[]), ["src/lib.rs unpaced-reopen"]);
}

#[test]
fn excluded_files_are_not_read() {
    let project = Project::package(&[("src/lib.rs", WATCH)]);
    for path in ["src/bin/a.rs", "src/bin/keep.rs", "examples/b_gen.rs"] {
        project.write(path, NOT_UTF8);
    }
    let all = |args: &[&str]| check(&project, &[&["."], args].concat()).len();
    assert_eq!(all(&[]), 4);
    for (exclude, left) in [
        ("\"src/bin/\"", 2),
        ("\"bin\", \"*_gen.rs\"", 1),
        ("\"src/bin/*\", \"!keep.rs\"", 3),
        ("\"/bin\"", 4),
        ("\"**/*.rs\"", 0),
    ] {
        project.write("rideout.toml", format!("exclude = [{exclude}]\n"));
        if left == 0 {
            refused(&project.run(&["."]), "the configuration excludes every Rust file under `.`");
        } else {
            assert_eq!(all(&[]), left, "{exclude}");
        }
    }
    project.write("rideout.toml", "exclude = [\"src/bin/\", \"*_gen.rs\"]\n");
    let ran = project.run(&["."]);
    assert!(ran.stderr.contains("Checking 1 file in 1 package, 3 excluded\n"), "{}", ran.stderr);
    // A hook may name any file that was touched.
    assert_eq!(check(&project, &["examples/b_gen.rs"]), [""; 0]);
    assert_eq!(check(&project, &["examples/b_gen.rs", "src/lib.rs"]), [DEAD]);
}

#[test]
fn what_is_excluded_says_nothing_about_the_rest() {
    let caller = "pub async fn start() -> anyhow::Result<()> {\n    loop {\n        let _ = app::run().await;\n        \
         tokio::time::sleep(std::time::Duration::from_secs(1)).await;\n    }\n}\n";
    let returns = WATCH.replace("    Ok(())\n", "    anyhow::bail!(\"over\")\n");
    let project = Project::package(&[("src/lib.rs", &returns), ("src/main.rs", caller)]);
    let outcome = |project: &Project| {
        let list = project.run(&["list"]).stdout;
        list.lines().nth(1).unwrap_or_default().split("  ").last().unwrap_or_default().trim().to_owned()
    };
    let seen = outcome(&project);
    project.write("rideout.toml", "exclude = [\"src/main.rs\"]\n");
    assert_ne!(outcome(&project), seen);
}

#[test]
fn a_broken_manifest_that_is_excluded_is_no_matter() {
    let project = Project::package(&[("src/lib.rs", "")]);
    project.write("vendor/x/Cargo.toml", "[package\n");
    project.write("vendor/x/src/lib.rs", WATCH);
    assert_eq!(check(&project, &["."]), ["vendor/x/src/lib.rs unguarded-watch"]);
    project.write("rideout.toml", "exclude = [\"vendor\"]\n");
    let ran = project.run(&[".", "--format", "short"]);
    assert_eq!(
        (found(&ran).len(), ran.stderr.as_str()),
        (0, "    Checking 1 file in 1 package, 1 excluded\n")
    );
    project.write("vendor/x/Cargo.toml", manifest("x"));
    assert_eq!(check(&project, &["."]), [""; 0], "one that is a package of its own");
}

/// The off switch for the one rule that these tests need.
const OFF: &str = "rules = { unguarded-watch = \"off\" }\n";

#[test]
fn the_manifest_of_the_root_may_hold_it() {
    let project = Project::package(&[("src/lib.rs", WATCH)]);
    for table in ["package", "workspace"] {
        let own = format!("{}[workspace]\n[{table}.metadata.rideout]\n{OFF}", manifest("app"));
        project.write("Cargo.toml", own);
        assert_eq!(check(&project, &[]), [""; 0], "{table}");
    }
    project.write("Cargo.toml", format!("{}[package.metadata]\nother = 1\n", manifest("app")));
    assert_eq!(check(&project, &[]), [DEAD]);
}

#[test]
fn two_configurations_of_one_workspace_are_refused() {
    let project = Project::package(&[("src/lib.rs", WATCH)]);
    let own = format!("{}[package.metadata.rideout]\n{OFF}", manifest("app"));
    project.write("Cargo.toml", &own);
    project.write("rideout.toml", "");
    let both = "both `rideout.toml` and `[package.metadata.rideout]` in `Cargo.toml` configure Rideout; one of them has to go";
    refused(&project.run(&[]), both);
    std::fs::remove_file(project.path("rideout.toml")).unwrap();
    project.write("Cargo.toml", format!("{own}[workspace.metadata.rideout]\n{OFF}"));
    let both = "`Cargo.toml` configures Rideout in both `[workspace.metadata.rideout]` and `[package.metadata.rideout]`";
    refused(&project.run(&[]), both);
}

#[test]
fn another_file_may_be_named() {
    let project = Project::package(&[("src/lib.rs", WATCH)]);
    project.write("ci/off.toml", OFF);
    project.write("rideout.toml", "exclude = [\"src\"]\n");
    assert_eq!(check(&project, &["--config", "ci/off.toml"]), [""; 0]);
    project.write("ci/off.toml", "");
    assert_eq!(check(&project, &["--config", "ci/off.toml"]), [DEAD], "the other one is not read");
    let in_src = project.run_in("src", &["--config", "../ci/off.toml", "--format", "short"]);
    assert_eq!(found(&in_src), [DEAD]);
    project.write("ci/off.toml", "exclude = [\"/src\"]\n");
    refused(&project.run(&["--config", "ci/off.toml"]), "the configuration excludes every Rust file under ");
    refused(&project.run(&["--config", "gone.toml"]), "cannot read `gone.toml`: ");
    project.write("ci/off.toml", "\nrules = 1\n");
    refused(&project.run(&["list", "--config", "ci/off.toml"]), "ci/off.toml:2:9: invalid type: integer `1`");
}

#[test]
fn each_workspace_has_its_own() {
    let project = Project::empty();
    for name in ["one", "two"] {
        project.write(&format!("{name}/Cargo.toml"), "[workspace]\nmembers = [\"app\"]\n");
        project.write(&format!("{name}/app/Cargo.toml"), manifest("app"));
        project.write(&format!("{name}/app/src/lib.rs"), WATCH);
    }
    project.write("loose.rs", WATCH);
    let all = [
        "loose.rs unguarded-watch",
        "one/app/src/lib.rs unguarded-watch",
        "two/app/src/lib.rs unguarded-watch",
    ];
    assert_eq!(check(&project, &["."]), all);
    project.write("one/rideout.toml", OFF);
    assert_eq!(check(&project, &["."]), [all[0], all[2]]);
    assert_eq!(found(&project.run_in("one/app", &["--format", "short"])), [""; 0]);
    project.write("two/rideout.toml", "exclude = [\"/app/src\"]\n");
    assert_eq!(check(&project, &["."]), [all[0]]);
    project.write("rideout.toml", OFF);
    project.write("two/rideout.toml", "");
    assert_eq!(check(&project, &["."]), [all[2]], "its own is empty");
    std::fs::remove_file(project.path("two/rideout.toml")).unwrap();
    assert_eq!(check(&project, &["."]), [""; 0], "without its own it goes by that of the run's root");
    project.write("two/rideout.toml", "x");
    refused(&project.run(&["."]), "two/rideout.toml:1:2: ");
}

#[test]
fn one_that_does_not_count_is_told() {
    let project = Project::empty();
    project.write("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\n");
    project.write("a/Cargo.toml", manifest("a"));
    project.write("b/Cargo.toml", format!("{}[package.metadata.rideout]\n{OFF}", manifest("b")));
    project.write("a/rideout.toml", OFF);
    for name in ["a", "b"] {
        project.write(&format!("{name}/src/lib.rs"), WATCH);
    }
    let ran = project.run(&["--format", "short"]);
    assert_eq!(found(&ran).len(), 2);
    for what in ["`a/rideout.toml`", "`[package.metadata.rideout]` in `b/Cargo.toml`"] {
        let warning =
            format!("warning: {what} is not read: a configuration stands in the root of its workspace\n");
        assert!(ran.stderr.contains(&warning), "{}", ran.stderr);
    }
}

/// A source with one line in place of another.
fn source(from: &str, to: &str) -> String {
    let source = "\
[[source]]
id = \"bus\"
api = \"bus::Sub\"
types = [\"bus::Sub\"]
open = [{ method = \"subscribe\", on = [\"bus::Bus\"], gives = \"Result<Watch>\" }]
item = \"Result<T>\"

[[source.fault]]
shows-as = \"ends\"
text = \"it ends\"
";
    assert!(source.contains(from), "{from}");
    source.replacen(from, to, 1)
}

#[test]
fn mistakes_are_shown_with_their_line() {
    let project = Project::package(&[("src/lib.rs", WATCH)]);
    let twice = format!("{0}{0}", source("", ""));
    for (text, wanted, shown) in [
        (
            source("item =", "itme ="),
            "6:1: unknown key `itme`, expected one of `id`, ",
            "6 | itme = \"Result<T>\"\n  | ^^^^\n",
        ),
        (source("shows-as", "shows"), "9:1: unknown key `shows`", "9 | shows = \"ends\"\n"),
        (source("method =", "methods ="), "5:11: unknown key `methods`", "  |           ^^^^^^^\n"),
        (
            "[[sources]]\nid = 1\n".into(),
            "1:3: unknown key `sources`, expected one of `exclude`, ",
            "1 | [[sources]]\n",
        ),
        (
            source("\"ends\"", "\"end\""),
            "9:12: unknown value `end`, expected one of `error-then-ends`",
            "^^^^^\n",
        ),
        (source("id = \"bus\"\n", ""), "1:1: missing key `id`", "1 | [[source]]\n  | ^^^^^^^^^^\n"),
        (source("\"Result<T>\"", "\"Result<T\""), "6:8: expected `,` or `>` at 8 in `Result<T`", "^\n"),
        (
            source("item = \"Result<T>\"\n", ""),
            "1:1: source `bus` has neither `item` nor `polls`",
            "1 | [[source]]\n",
        ),
        (
            source("\"bus::Sub\"]", "\"Sub\"]"),
            "4:10: `Sub` does not say of which crate: write `the_crate::Sub`",
            "4 | types",
        ),
        (
            source("\"bus::Bus\"", "\"crate::Bus\""),
            "5:39: `crate::Bus` begins with `crate`: write the name",
            "5 | open",
        ),
        (
            source(", on = [\"bus::Bus\"]", ""),
            "5:20: source `bus`: the method `subscribe` has no types in `on`",
            "5 | open",
        ),
        (source("\"ends\"", "\"variant\""), "9:12: source `bus`: `variant` goes with", "9 | shows-as"),
        (source("id = ", "versions = \"1.x.y\"\nid = "), "2:12: ", "2 | versions"),
        (twice, "12:6: there are two sources `bus`", "12 | id = \"bus\"\n   |      ^^^^^\n"),
        (
            "[[reopen]]\nclosure = 0\n".into(),
            "1:1: a helper has neither `fn` nor `method`",
            "1 | [[reopen]]\n",
        ),
        (
            "[[value]]\ngives = \"a::B\"\n".into(),
            "1:1: a value has neither `fn` nor `method`",
            "1 | [[value]]\n",
        ),
        ("[[word]]\nmeans = \"sleep\"\n".into(), "2:9: unknown value `sleep`", "2 | means"),
        ("[[word]]\nmeans = \"wait\"\nfns = [\"rest\"]\n".into(), "3:8: `rest` does not say", "3 | fns"),
        ("[[transient]]\nnames = []\n".into(), "1:1: `names` is empty", "1 | [[transient]]\n"),
        ("[[transient]]\nnames = [\"A::B\"]\n".into(), "2:10: `A::B` is no name", "2 | names"),
        (
            "[[transient]]\nnames = [\"A\"]\nsources = [\"tonic-stream\"]\n".into(),
            "3:12: there is no source `tonic-stream` (did you mean `tonic-streaming`?)\n",
            "3 | sources",
        ),
        (
            "[source]\nid = 1\n".into(),
            "1:1: one table, where `[[..]]` begins each of several\n",
            "1 | [source]\n",
        ),
        (
            "[rules]\nungarded-watch = \"off\"\n".into(),
            "2:1: there is no rule `ungarded-watch` (did you mean `unguarded-watch`?); the rules are transient-as-terminal, ",
            "2 | ungarded-watch = \"off\"\n  | ^^^^^^^^^^^^^^\n",
        ),
        (
            "[rules]\nunguarded-watch = \"allow\"\n".into(),
            "2:19: `allow` is no level: the levels are deny, pedantic, off\n",
            "  |                   ^^^^^^^\n",
        ),
        (
            "[rules]\nunread-file = \"off\"\n".into(),
            "2:15: `unread-file` can only be deny: ",
            "2 | unread-file",
        ),
        (
            "[rules]\nunread-file = \"pedantic\"\n".into(),
            "2:15: `unread-file` can only be deny: ",
            "2 | unread-file",
        ),
        ("exclude = [\"a\", \"b/{c\"]\n".into(), "1:17: `b/{c` is no glob: ", "1 | exclude"),
        ("exclude = [\"\"]\n".into(), "1:12: `` is no glob: it names nothing\n", "1 | exclude"),
        ("exclude = \"a\"\n".into(), "1:11: invalid type: string \"a\", expected an array", "1 | exclude"),
        ("# \u{e9}\n<<<<<<< HEAD\n".into(), "2:", "2 | <<<<<<< HEAD\n"),
    ] {
        project.write("rideout.toml", &text);
        let ran = project.run(&[]);
        refused(&ran, &format!("rideout.toml:{wanted}"));
        assert!(ran.stderr.contains(shown), "`{shown}` is not in {}", ran.stderr);

        // The same table in a manifest, with the manifest's own lines.
        if let Some(of_table) = in_manifest(&text) {
            let file = project.path("rideout.toml");
            std::fs::remove_file(&file).unwrap();
            let head = manifest("app");
            project.write("Cargo.toml", format!("{head}{of_table}"));
            let ran = project.run(&[]);
            let line: usize = wanted.split(':').next().unwrap().parse().unwrap();
            refused(&ran, &format!("Cargo.toml:{}:", head.lines().count() + line));
            project.write("Cargo.toml", head);
        }
    }
    project.write("rideout.toml", b"a = 1\n# \xff\n");
    refused(&project.run(&[]), "rideout.toml:2: the file is not UTF-8\n");
}

/// The text with its tables moved into a manifest; none for keys at the top, which need a head of their own.
fn in_manifest(text: &str) -> Option<String> {
    let at_top = "package.metadata.rideout";
    let moved = text.replace("[[", "\u{1}").replace('[', "\u{2}");
    let mut result = String::new();
    for line in moved.lines() {
        let line = match line.chars().next() {
            Some('\u{1}') => line.replacen('\u{1}', &format!("[[{at_top}."), 1),
            Some('\u{2}') => line.replacen('\u{2}', &format!("[{at_top}."), 1),
            _ if result.is_empty() => return None,
            _ => line.to_owned(),
        };
        result += &line.replace('\u{1}', "[[").replace('\u{2}', "[");
        result.push('\n');
    }
    Some(result)
}
