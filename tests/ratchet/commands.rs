//! What writes the file, what it refuses, and what it leaves alone.

use std::fs;

use super::repo::{Repo, counted, run_in, watches};
use crate::support::NOT_UTF8;

fn two() -> Repo {
    Repo::held(&[("a", &["one", "two"]), ("b", &["three"])])
}

#[test]
fn init_writes_once_and_check_never() {
    let repo = Repo::new(&[("a", &["one", "two"]), ("b", &["three"])]);
    assert_eq!(repo.run(&[]).code, Some(1));
    assert!(!repo.dir.join("baseline.toml").exists());
    assert_eq!(repo.run(&["baseline", "init"]).stdout, "baseline.toml: 3 entries recorded\n");
    let text = repo.baseline();
    let entries: Vec<&str> = text.lines().filter(|line| line.starts_with(['[', '"'])).collect();
    let keys: Vec<&str> = entries.iter().map(|line| line.split(" = ").next().unwrap()).collect();
    assert_eq!(
        keys,
        [
            "[\"src/a.rs\"]",
            "\"unguarded-watch one\"",
            "\"unguarded-watch two\"",
            "[\"src/b.rs\"]",
            "\"unguarded-watch three\""
        ]
    );
    let again = repo.run(&["baseline", "init"]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("`baseline.toml` is there already"), "{}", again.stderr);
    repo.mend("a", "one");
    repo.run(&[]);
    repo.run(&["--strict", "--base", "HEAD"]);
    assert_eq!(repo.baseline(), text);
}

#[test]
fn tighten_takes_out_what_is_mended_and_leaves_the_rest_byte_by_byte() {
    let repo = two();
    repo.edit("baseline.toml", |text| {
        text.replace("[\"src/a.rs\"]", "# -- feeds --\n\n# of the feed team\n[\"src/a.rs\"]")
            .replace("\"unguarded-watch two\"", "# goes with two\n  \"unguarded-watch two\"")
            .replace("[\"src/b.rs\"]", "# of the b team\n[\"src/b.rs\"]")
            + "\n# the end"
    });
    assert_eq!(
        repo.run(&["baseline", "tighten"]).stdout,
        "baseline.toml: nothing to tighten; 3 entries left\n"
    );
    repo.mend("a", "two");
    let before = repo.baseline();
    assert_eq!(
        repo.run(&["baseline", "tighten"]).stdout,
        "baseline.toml: 1 entry taken out; 2 entries left\n"
    );
    let wanted: Vec<&str> = before.lines().filter(|line| !line.contains("two")).collect();
    assert_eq!(repo.baseline(), wanted.join("\n"));
    repo.mend("b", "three");
    assert_eq!(repo.run(&["baseline", "tighten", "-q"]).stdout, "");
    let wanted: Vec<&str> =
        wanted.into_iter().filter(|line| !line.contains("three") && !line.contains("b team")).collect();
    assert_eq!(repo.baseline(), wanted.join("\n").replace("[\"src/b.rs\"]\n\n", ""));
    assert_eq!(repo.run(&["--strict"]).code, Some(0));
}

#[test]
fn tighten_follows_what_is_edited_or_moved() {
    let repo = two();
    repo.edit("baseline.toml", |text| {
        text.replace("\"unguarded-watch one\" = \"", "# why\n\"unguarded-watch one\" = \"")
            .replace("\n\n[\"src/b", " # JIRA-1\n\n[\"src/b")
    });
    repo.edit("src/a.rs", |text| text.replace("Some(Ok(m_one))", "Some(Ok(m))").replace("{m_one}", "{m}"));
    repo.git(&["mv", "src/a.rs", "src/c.rs"]);
    repo.write("src/lib.rs", "mod b;\nmod c;\n");
    let edited = repo.run(&["--format", "short"]);
    // What is moved and edited at the same time is not recognised.
    assert_eq!(
        (edited.code, repo.states(&[])),
        (Some(1), counted(&[("known", 1), ("moved", 1), ("new", 1)], 1))
    );
    let refused = repo.run(&["baseline", "tighten"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("because 1 finding is not in it"), "{}", refused.stderr);
    repo.git(&["mv", "src/c.rs", "src/a.rs"]);
    repo.write("src/lib.rs", "mod a;\nmod b;\n");
    assert_eq!(repo.states(&[]), counted(&[("edited", 1), ("known", 2)], 0));
    assert_eq!(
        repo.run(&["baseline", "tighten"]).stdout,
        "baseline.toml: 0 entries taken out, 1 edited or moved; 3 entries left\n"
    );
    assert_eq!(repo.states(&["--strict"]), counted(&[("known", 3)], 0));
    repo.git(&["mv", "src/a.rs", "src/c.rs"]);
    repo.write("src/lib.rs", "mod b;\nmod c;\n");
    assert_eq!(repo.states(&["--strict"]), counted(&[("known", 1), ("moved", 2)], 0));
    assert_eq!(repo.run(&["baseline", "tighten", "-q"]).code, Some(0));
    let text = repo.baseline();
    let (_, moved) = text.split_once("[\"src/c.rs\"]\n").unwrap();
    assert!(
        moved.starts_with("# why\n\"unguarded-watch one\" = ") && moved.ends_with(" # JIRA-1\n"),
        "{moved}"
    );
    assert!(!text.contains("src/a.rs") && text.find("src/b.rs") < text.find("src/c.rs"), "{text}");
    assert_eq!(repo.states(&["--strict"]), counted(&[("known", 3)], 0));
}

#[test]
fn nothing_is_written_while_a_file_is_unread() {
    let repo = two();
    repo.mend("b", "three");
    fs::write(repo.dir.join("src/a.rs"), [NOT_UTF8, b"use tokio_tungstenite;"].concat()).unwrap();
    let before = repo.baseline();
    for args in [&["tighten"][..], &["adopt", "--reason", "r"]] {
        let ran = repo.run(&[&["baseline"][..], args].concat());
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(
            ran.stderr.contains(
                "error: `baseline.toml` is left as it is, because a file could not be read: src/a.rs:2: "
            ),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(repo.baseline(), before);
    // What is in it is not called mended.
    assert_eq!(repo.states(&[]), counted(&[("new", 1)], 1));
    fs::remove_file(repo.dir.join("baseline.toml")).unwrap();
    assert_eq!(repo.run(&["baseline", "init"]).code, Some(1));
    assert!(!repo.dir.join("baseline.toml").exists());
}

#[test]
fn the_list_grows_only_with_an_analysis_that_sees_more() {
    let repo = two();
    let known = repo.baseline();
    repo.edit("src/b.rs", |text| text.to_owned() + &watches(&["four"]));
    let refused = repo.run(&["baseline", "adopt", "--reason", "because"]);
    assert_eq!((refused.code, repo.baseline()), (Some(1), known.clone()));
    assert!(
        refused.stderr.contains("1 finding is new and not found by a newer analysis"),
        "{}",
        refused.stderr
    );
    let older =
        [known.replace("analysis = 1", "analysis = 0"), known.replace("    \"unguarded-watch\",\n", "")];
    for older in older {
        repo.write("baseline.toml", &older);
        assert!(
            repo.run(&[])
                .stdout
                .contains("note: `baseline.toml` is of an analysis that sees less than this one")
        );
        assert_eq!(repo.run(&["baseline", "tighten", "-q"]).code, Some(1), "it never grows");
        for args in [&["adopt"][..], &["adopt", "--reason", " "], &["adopt", "--reason", "a\nb"]] {
            assert_eq!(repo.run(&[&["baseline"][..], args].concat()).code, Some(2), "{args:?}");
        }
        assert_eq!(repo.baseline(), older);
        let ran = repo.run(&["baseline", "adopt", "--reason", "it follows \"handles\""]);
        assert_eq!(ran.stdout, "baseline.toml: 1 entry adopted; 4 entries now\n", "{ran:?}");
        let text = repo.baseline();
        assert!(
            text.contains("\nadopted = [\n    \"analysis 1: it follows \\\"handles\\\"\",\n]\n"),
            "{text}"
        );
        let wanted = known.replace(
            "\"unguarded-watch three\"",
            "\"unguarded-watch four\" = \"\"\n\"unguarded-watch three\"",
        );
        let entries = |text: &str| text.lines().filter(|line| line.starts_with('"')).count();
        assert_eq!(entries(&text), entries(&wanted));
        assert!(text.contains("analysis = 1\n") && text.contains("    \"unguarded-watch\",\n"), "{text}");
        assert_eq!(repo.run(&["--strict"]).code, Some(0));
        assert_eq!(
            repo.run(&["baseline", "adopt", "--reason", "r"]).stdout,
            "baseline.toml: nothing to adopt\n"
        );
    }
}

#[test]
fn each_command_wants_a_baseline() {
    let repo = Repo::new(&[("a", &["one"])]);
    for args in [&["tighten"][..], &["adopt", "--reason", "r"], &["resolve"], &["stats"], &["diff"]] {
        let ran = repo.run(&[&["baseline"][..], args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}");
        assert!(ran.stderr.starts_with("error: ") || ran.stderr.contains("\nerror: "), "{}", ran.stderr);
    }
    let ran = repo.run(&["--no-baseline", "--base", "main"]);
    assert_eq!(ran.code, Some(2));
}

#[test]
fn diff_tells_each_change() {
    let repo = two();
    repo.mend("a", "one");
    repo.edit("src/b.rs", |text| {
        text.replace("Some(Ok(m_three))", "Some(Ok(m))").replace("{m_three}", "{m}")
    });
    assert_eq!(repo.run(&["baseline", "tighten", "-q"]).code, Some(0));
    repo.edit("baseline.toml", |text| {
        text.to_owned() + "\n[\"src/z.rs\"]\n\"unguarded-watch raised\" = \"00000000\"\n"
    });
    let ran = repo.run(&["baseline", "diff"]);
    assert_eq!(ran.code, Some(0));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines[0], "- src/a.rs: unguarded-watch one");
    assert!(lines[1].starts_with("~ src/b.rs: unguarded-watch three ("), "{}", ran.stdout);
    assert_eq!(lines[2..], ["+ src/z.rs: unguarded-watch raised (raised)", "1 gone, 1 changed, 1 come"]);
    let markdown = repo.run(&["baseline", "diff", "HEAD", "baseline.toml", "--format", "markdown"]).stdout;
    assert!(
        markdown.starts_with(
            "**Baseline: 1 gone, 1 changed, 1 come**\n\n- mended: `src/a.rs: unguarded-watch one`\n"
        ),
        "{markdown}"
    );
    let json = repo.run(&["baseline", "diff", "HEAD", "--format", "json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["removed"][0]["item"], "one");
    assert_eq!(json["added"][0]["admitted"], serde_json::Value::Null);
    assert_eq!(repo.run(&["baseline", "diff", "nonsense"]).code, Some(2));
}

#[test]
fn stats_draw_the_history() {
    let repo = two();
    repo.mend("a", "one");
    assert_eq!(repo.run(&["baseline", "tighten", "-q"]).code, Some(0));
    repo.commit("one");
    repo.mend("a", "two");
    assert_eq!(repo.run(&["baseline", "tighten", "-q"]).code, Some(0));
    let ran = repo.run(&["baseline", "stats"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[0].ends_with(&format!("  3  {}", "#".repeat(48))), "{}", ran.stdout);
    assert!(lines[1].ends_with(&format!("  2  {}", "#".repeat(32))), "{}", ran.stdout);
    assert_eq!(lines[2], format!("now         1  {}", "#".repeat(16)));
    assert_eq!(
        lines[4..],
        ["RULE             FIRST  NOW", "unguarded-watch  3      1", "all              3      1"]
    );
    let json = repo.run(&["baseline", "stats", "--format", "json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let counts: Vec<u64> =
        json["points"].as_array().unwrap().iter().map(|point| point["count"].as_u64().unwrap()).collect();
    assert_eq!(counts, [3, 2, 1]);
    assert_eq!(json["points"][2]["commit"], serde_json::Value::Null);
    let shallow = repo.clone("shallow", &["--depth", "1"]);
    let said = run_in(&shallow, &["baseline", "stats"], &[]).stdout;
    assert!(said.ends_with("not shown: what this shallow clone has cut off\n"), "{said}");
    // A version that cannot be read is not counted as none.
    repo.write("baseline.toml", "broken\n");
    repo.commit("broken");
    repo.git(&["checkout", "-q", "HEAD~1", "--", "baseline.toml"]);
    let said = repo.run(&["baseline", "stats"]).stdout;
    assert!(said.contains("not shown: 1 commit whose baseline cannot be read"), "{said}");
}
