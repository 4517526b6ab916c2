//! Suppressions: where a comment reaches, what it must say, and that one without use is reported.

use serde_json::Value;

use crate::support::{Project, Ran, WATCH, manifest};

const ALLOW: &str = "// rideout: allow(unguarded-watch): one feed, restarted by hand";

/// The line of the finding.
const LOOP: &str = "    while let Some(Ok(message)) = socket.next().await {\n";

/// The watch with this code in place of the line of the finding.
fn with(code: &str) -> String {
    WATCH.replace(LOOP, code)
}

fn package(lib: &str) -> Project {
    Project::package(&[("src/lib.rs", lib)])
}

fn short(project: &Project) -> Ran {
    project.run(&["--format", "short", "-q"])
}

fn json(project: &Project, args: &[&str]) -> Value {
    let ran = project.run(&[args, &["--format", "json"]].concat());
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Whether the code is suppressed without any word, or else found as if there were no comment and with this line for the comment.
fn suppresses(lib: &str) -> bool {
    let ran = short(&package(lib));
    match ran.code {
        Some(0) => assert_eq!(ran.stdout, "", "{lib}"),
        _ => assert!(ran.stdout.contains(": error[unguarded-watch]: "), "{ran:?}\n{lib}"),
    }
    ran.code == Some(0)
}

#[test]
fn a_comment_reaches_its_line_and_the_code_directly_below() {
    let line = LOOP.trim_end();
    for code in [
        format!("{line} {ALLOW}\n"),
        format!("    {ALLOW}\n{LOOP}"),
        format!("    {ALLOW}\n    // and a word more\n    /* or\n     two */\n{LOOP}"),
        format!("    {ALLOW}\n    #[rustfmt::skip]\n{LOOP}"),
        format!("    #[rustfmt::skip]\n    {ALLOW}\n{LOOP}"),
        format!("    //rideout:allow( unguarded-watch , stale-factory ):x\n{LOOP}")
            .replace(" , stale-factory", ""),
    ] {
        assert!(suppresses(&with(&code)), "{code}");
        assert!(suppresses(&with(&code).replace('\n', "\r\n")), "{code}");
    }
    assert!(suppresses(&format!("\u{feff}{}", with(&format!("    {ALLOW}\n{LOOP}")))));
}

#[test]
fn and_no_further() {
    for code in [
        format!("    {ALLOW}\n\n{LOOP}"),
        format!("    {ALLOW}\n    let x = 1;\n{LOOP}"),
        format!("    let x = 1; {ALLOW}\n{LOOP}"),
        format!("{LOOP}        {ALLOW}\n"),
    ] {
        assert!(!suppresses(&with(&code)), "{code}");
    }
    assert!(!suppresses(&format!("{ALLOW}\n{WATCH}")));
    assert!(!suppresses(&WATCH.replace("pub async", &format!("{ALLOW}\npub async"))));
}

#[test]
fn a_comment_reaches_the_rest_of_a_statement_but_not_what_is_inside_it() {
    let chain = |first: &str, second: &str| {
        let chain = format!(
            "{first}    let all = socket\n        .map(|message| message){second}\n        .for_each(|_| async {{}});\n    all.await;\n"
        );
        WATCH.replace(LOOP, &chain).replace("        println!(\"{message}\");\n    }\n", "")
    };
    assert!(!suppresses(&chain("", "")));
    assert!(suppresses(&chain(&format!("    {ALLOW}\n"), "")));
    assert!(suppresses(&chain("", &format!("\n        {ALLOW}"))));
    assert!(suppresses(&chain("", &format!(" {ALLOW}"))));
    let inside = with(&format!("    let all = async {{\n{LOOP}"))
        .replace("    Ok(())", "    };\n    all.await;\n    Ok(())");
    let above = inside.replace("    let all", &format!("    {ALLOW}\n    let all"));
    assert!(!suppresses(&above), "{above}");
    assert!(suppresses(&inside.replace(LOOP, &format!("{ALLOW}\n{LOOP}"))));
}

#[test]
fn only_a_line_comment_counts() {
    for code in [
        format!("    /{ALLOW}\n{LOOP}"),
        format!("    /* {ALLOW} */\n{LOOP}"),
        format!("    /*\n    {ALLOW}\n    */\n{LOOP}"),
        format!("    let x = \"\n    {ALLOW}\n\";\n{LOOP}"),
        format!("    let x = r#\"\"\n    {ALLOW}\"#;\n{LOOP}"),
        format!("    // see {ALLOW}\n{LOOP}"),
    ] {
        let ran = short(&package(&with(&code)));
        assert_eq!((ran.code, ran.stdout.lines().count()), (Some(1), 1), "{ran:?}\n{code}");
        assert!(ran.stdout.contains("error[unguarded-watch]"), "{ran:?}\n{code}");
    }
}

#[test]
fn a_rule_that_is_not_found_is_unused_beside_one_that_is() {
    let allow = ALLOW.replace("unguarded-watch", "stale-factory, unguarded-watch, unguarded-watch");
    let project = package(&with(&format!("    {allow}\n{LOOP}")));
    let ran = short(&project);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let unused = |rule| format!("src/lib.rs:5:5: warning: unused suppression: there is no `{rule}` here\n");
    assert_eq!(ran.stdout, unused("stale-factory") + &unused("unguarded-watch"));
    let document = json(&project, &[]);
    let used: Vec<_> =
        document["suppressions"].as_array().unwrap().iter().map(|it| (&it["rule"], &it["used"])).collect();
    let wanted = [("stale-factory", false), ("unguarded-watch", false), ("unguarded-watch", true)];
    assert_eq!(
        used,
        wanted.map(|(rule, used)| (Value::from(rule), Value::from(used))).each_ref().map(|(a, b)| (a, b))
    );
}

#[test]
fn of_two_comments_the_nearer_one_is_used() {
    let ran = short(&package(&with(&format!("    {ALLOW}\n    {ALLOW}\n{LOOP}"))));
    assert_eq!(ran.code, Some(0));
    assert_eq!(
        ran.stdout,
        "src/lib.rs:5:5: warning: unused suppression: there is no `unguarded-watch` here\n"
    );
}

#[test]
fn another_rule_is_not_suppressed() {
    let ran =
        short(&package(&with(&format!("    {}\n{LOOP}", ALLOW.replace("unguarded-watch", "stale-factory")))));
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.starts_with("src/lib.rs:6:5: error[unguarded-watch]: "), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("there is no `stale-factory` here\n"), "{}", ran.stdout);
}

#[test]
fn a_mistake_is_a_finding_and_suppresses_nothing() {
    for (comment, mistake) in [
        ("allow(unguarded-watch)", "it gives no reason"),
        ("allow(unguarded-watch): ", "it gives no reason"),
        ("allow(unguarded_watch): r", "there is no rule `unguarded_watch`"),
        ("allow(unguarded-watch, al): r", "there is no rule `al`"),
        ("allow(unread-file): r", "no comment allows `unread-file`"),
        ("allow(invalid-suppression): r", "no comment allows `invalid-suppression`"),
        ("alow(unguarded-watch): r", "it does not say `allow(rule): reason` but `alow(unguarded-watch): r`"),
    ] {
        let ran = short(&package(&with(&format!("    // rideout: {comment}\n{LOOP}"))));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let lines: Vec<&str> = ran.stdout.lines().collect();
        let first =
            format!("src/lib.rs:5:5: error[invalid-suppression]: this suppression is invalid: {mistake}");
        assert_eq!(lines[0], first);
        assert!(lines[1].starts_with("src/lib.rs:6:5: error[unguarded-watch]: "), "{lines:?}");
        assert_eq!(lines.len(), 2, "{lines:?}");
    }
}

#[test]
fn a_mistake_fails_the_run_also_where_there_is_no_watch() {
    let project = package("// rideout: allow(unguarded-watch)\npub fn f() {}\n");
    let ran = project.run(&[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("1 finding: 1 invalid-suppression\n"), "{}", ran.stdout);
    let document = json(&project, &[]);
    assert_eq!(document["summary"]["invalid-suppression"]["count"], 1);
    assert_eq!(document["findings"][0]["source"], Value::Null);
    assert_eq!(document["findings"][0]["span"]["end"]["column"], 35);
    assert_eq!(document["suppressions"], Value::Array(Vec::new()));
}

#[test]
fn a_suppressed_finding_is_counted_and_in_the_document() {
    let project = package(&with(&format!("    {ALLOW}\n{LOOP}")));
    let ran = project.run(&[]);
    assert_eq!(ran.stdout, "no findings; 1 suppressed\n1 watch seen in 1 file\n");
    let document = json(&project, &[]);
    assert_eq!(document["findings"], Value::Array(Vec::new()));
    assert_eq!(document["summary"]["unguarded-watch"]["count"], 0);
    let suppression = &document["suppressions"][0];
    assert_eq!(suppression["reason"], "one feed, restarted by hand");
    assert_eq!(suppression["span"]["start"]["line"], 5);
    assert_eq!(suppression["findings"][0]["span"]["start"]["line"], 6);
    assert_eq!(suppression["findings"][0]["item"], "run");
}

#[test]
fn the_fingerprint_of_a_finding_is_the_same_with_and_without() {
    let plain = json(&package(WATCH), &[]);
    let allowed = json(&package(&with(&format!("{} {ALLOW}\n", LOOP.trim_end()))), &[]);
    let suppressed = &allowed["suppressions"][0]["findings"][0];
    assert_eq!(suppressed["fingerprint"], plain["findings"][0]["fingerprint"]);
}

#[test]
fn unused_is_reported_in_a_file_without_any_source_too_and_does_not_fail() {
    let project = package(&format!("pub fn f() {{\n    {ALLOW}\n    g();\n}}\n"));
    let ran = short(&project);
    assert_eq!(ran.code, Some(0));
    assert_eq!(
        ran.stdout,
        "src/lib.rs:2:5: warning: unused suppression: there is no `unguarded-watch` here\n"
    );
    assert_eq!(json(&project, &[])["suppressions"][0]["used"], false);
}

#[test]
fn unused_is_not_what_could_not_be_judged() {
    let unused = format!("fn f() {{\n    {ALLOW}\n    g();\n}}\n");
    let lib = format!(
        "{WATCH}\nmod other;\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod inner {{\n    {unused}}}\n"
    );
    let lib = lib.replace(LOOP, &format!("{} {ALLOW}\n", LOOP.trim_end()));
    let project = package(&lib);
    for file in ["src/other.rs", "src/tests.rs", "src/orphan.rs", "tests/all.rs"] {
        project.write(file, &unused);
    }
    let all = short(&project);
    assert_eq!(
        all.stdout,
        "src/other.rs:2:5: warning: unused suppression: there is no `unguarded-watch` here\n"
    );
    let part = project.run(&["--format", "short", "-q", "src/lib.rs"]);
    assert_eq!((part.code, part.stdout.as_str()), (Some(0), ""));
}

#[test]
fn a_comment_in_a_file_that_is_not_reported_on_is_not_looked_at() {
    let project = Project::package(&[("src/lib.rs", "mod feed;\n")]);
    project.write("src/feed.rs", format!("{ALLOW}\n{WATCH}// rideout: alow(x)\n"));
    assert_eq!(short(&project).stdout.lines().count(), 3);
    let ran = project.run(&["--format", "short", "-q", "src/lib.rs"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
}

#[test]
fn a_comment_reaches_into_its_own_file_alone() {
    // Without a manifest each file is a program of its own.
    let project = Project::empty();
    let allowed = with(&format!("    {ALLOW}\n{LOOP}"));
    project.write("a.rs", &allowed);
    project.write("b.rs", with(&format!("    // rideout: allow(unguarded-watch)\n{LOOP}")));
    project.write("c.rs", &allowed);
    project.write("d.rs", with(&format!("    // as in the other files\n{LOOP}")));
    let ran = project.run(&["--format", "short", "-q", "."]);
    let places: Vec<&str> = ran.stdout.lines().map(|line| line.split_once("]: ").unwrap().0).collect();
    let wanted = [
        "b.rs:5:5: error[invalid-suppression",
        "b.rs:6:5: error[unguarded-watch",
        "d.rs:6:5: error[unguarded-watch",
    ];
    assert_eq!(places, wanted, "{}", ran.stdout);
    let document = json(&project, &["."]);
    for (index, file) in ["a.rs", "c.rs"].into_iter().enumerate() {
        let suppression = &document["suppressions"][index];
        assert_eq!((&suppression["file"], &suppression["used"]), (&file.into(), &true.into()));
    }
}

#[test]
fn unused_in_another_package_is_not_reported() {
    let project = Project::empty();
    project.write("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\"]\n");
    for name in ["a", "b"] {
        project.write(&format!("{name}/Cargo.toml"), manifest(name));
        project.write(&format!("{name}/src/lib.rs"), format!("{ALLOW}\npub fn f() {{}}\n"));
    }
    let ran = project.run(&["--format", "short", "-q", "-p", "b"]);
    assert_eq!(
        ran.stdout,
        "b/src/lib.rs:1:1: warning: unused suppression: there is no `unguarded-watch` here\n"
    );
}

#[test]
fn a_pedantic_finding_uses_its_comment_at_either_level() {
    let project = Project::empty();
    let accept = "use tokio::net::TcpListener;\n\npub async fn serve(listener: TcpListener) {\n    loop {\n        match listener.accept().await {\n            Ok((peer, _)) => drop(peer),\n            Err(error) => eprintln!(\"{error}\"),\n        }\n    }\n}\n";
    project.write("a.rs", accept);
    let found = project.run(&["--pedantic", "--format", "short", "-q", "a.rs"]);
    assert!(found.stdout.contains("a.rs:4:5: warning[unpaced-reopen]: "), "{found:?}");
    let allow = "    // rideout: allow(unpaced-reopen): behind a proxy that limits us\n    loop {";
    project.write("a.rs", accept.replace("    loop {", allow));
    for (args, count) in [(&["a.rs"][..], ""), (&["a.rs", "--pedantic"], "; 1 suppressed")] {
        let ran = project.run(args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.stdout, format!("no findings{count}\n1 watch seen in 1 file\n"), "{ran:?}");
        assert_eq!(json(&project, args)["suppressions"][0]["used"], true);
    }
}

#[test]
fn a_path_into_the_runtime_is_no_suppression() {
    let project = package("use rideout::reopen;\n\nfn f( {\n");
    let ran = short(&project);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "not looked into: {ran:?}");
}

#[test]
fn the_page_shows_what_is_so() {
    let page = include_str!("../docs/suppressions.md");
    let block = |language: &str| {
        let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
        rest.split("```").next().unwrap()
    };
    let code: String = block("rust").lines().map(|line| format!("    {line}\n")).collect();
    let code = with(&code).replace("        println!(\"{message}\");\n    }\n", "");
    let project = Project::package(&[("src/lib.rs", "mod feed;\n"), ("src/feed.rs", &code)]);
    let mut shown: Value = serde_json::from_str(block("json")).unwrap();
    let mut found = json(&project, &[])["suppressions"][0].take();
    for document in [&mut shown, &mut found] {
        let message = document["findings"][0]["message"].take();
        assert!(message.as_str().is_some_and(|message| message.starts_with("this watch on ")), "{message}");
    }
    assert_eq!(shown, found, "{found:#}");
}
