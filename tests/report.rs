//! The formats: JSON against its schema, places with tabs and wide characters, the same output every time.

use serde_json::Value;

use crate::support::{NOT_UTF8, Project, WATCH, command, ran};

fn project() -> Project {
    let indented = WATCH.replace("    while", "\t/* \u{1f980} é */ while");
    let lib = format!("{WATCH}\nmod bytes;\nmod tabs;\n");
    let project = Project::package(&[("src/lib.rs", &lib), ("src/tabs.rs", &indented)]);
    project.write("src/bytes.rs", NOT_UTF8);
    project
}

/// The same with a suppression of which only the first rule is used.
fn with_suppression() -> Project {
    let project = project();
    let allow = "    // rideout: allow(unguarded-watch, stale-factory): one feed";
    project.write("src/tabs/allowed.rs", WATCH.replace("    while", &format!("{allow}\n    while")));
    let tabs = std::fs::read_to_string(project.path("src/tabs.rs")).unwrap();
    project.write("src/tabs.rs", tabs + "\nmod allowed;\n");
    project
}

pub(crate) fn schema() -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(include_str!("../lint/report/schema.json")).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn json_is_what_the_schema_says() {
    let ran = with_suppression().run(&["--format", "json"]);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    let faults: Vec<String> = schema().iter_errors(&document).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let rules: Vec<&Value> =
        document["findings"].as_array().unwrap().iter().map(|finding| &finding["rule"]).collect();
    assert_eq!(rules, ["unread-file", "unguarded-watch", "unguarded-watch"]);
    assert_eq!(document["summary"]["unguarded-watch"]["new"], 2);
    assert_eq!(document["unread"][0]["file"], "src/bytes.rs");
    assert_eq!(document["suppressions"].as_array().unwrap().len(), 2);
}

#[test]
fn json_with_a_baseline_is_what_the_schema_says_too() {
    let allowed = WATCH.replace("    while", "    // rideout: allow(unguarded-watch): one feed\n    while");
    let project = Project::package(&[("src/lib.rs", WATCH), ("src/a.rs", WATCH), ("src/b.rs", &allowed)]);
    project.write("src/lib.rs", format!("{WATCH}mod a;\nmod b;\n"));
    assert_eq!(project.run(&["baseline", "init", "-q"]).code, Some(0));
    project.write("src/a.rs", "");
    project.write(
        "src/b.rs",
        allowed.replace("Some(Ok(message))", "Some(Ok(text))").replace("{message}", "{text}"),
    );
    project.write("src/lib.rs", format!("{WATCH}mod a;\nmod b;\n{}", WATCH.replace("run", "walk")));
    let document: Value =
        serde_json::from_str(&project.run(&["--strict", "--format", "json"]).stdout).unwrap();
    let faults: Vec<String> = schema().iter_errors(&document).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let states: Vec<&Value> =
        document["findings"].as_array().unwrap().iter().map(|finding| &finding["state"]).collect();
    assert_eq!(states, ["known", "new"]);
    assert_eq!(document["suppressions"][0]["findings"][0]["state"], "edited");
    let summary = serde_json::json!({ "count": 2, "baseline": 3, "new": 1, "stale": 1 });
    assert_eq!(document["summary"]["unguarded-watch"], summary);
    let baseline = &document["baseline"];
    assert_eq!(
        (&baseline["file"], &baseline["entries"], &baseline["strict"]),
        (&"baseline.toml".into(), &3.into(), &true.into())
    );
    assert_eq!(
        (&baseline["stale"][0]["file"], &baseline["stale"][0]["line"]),
        (&"src/a.rs".into(), &15.into())
    );
}

#[test]
fn the_check_of_the_schema_sees_faults() {
    let schema = schema();
    let ran = with_suppression().run(&["--format", "json"]);
    let good: Value = serde_json::from_str(&ran.stdout).unwrap();
    let breaks: [fn(&mut Value); 6] = [
        |it| it["version"] = 2.into(),
        |it| it["surplus"] = 1.into(),
        |it| it["findings"][0]["severity"] = "bad".into(),
        |it| it["findings"][0]["span"]["start"]["line"] = 0.into(),
        |it| it["suppressions"][0]["used"] = 1.into(),
        |it| drop(it["findings"][0].as_object_mut().unwrap().remove("help")),
    ];
    for (index, break_it) in breaks.into_iter().enumerate() {
        let mut bad = good.clone();
        break_it(&mut bad);
        assert_eq!(schema.iter_errors(&bad).count(), 1, "{index}");
    }
}

#[test]
fn columns_are_characters() {
    let ran = project().run(&["--format", "short"]);
    let places: Vec<&str> = ran.stdout.lines().map(|line| line.split_once(": ").unwrap().0).collect();
    assert_eq!(places, ["src/bytes.rs:2:1", "src/lib.rs:5:5", "src/tabs.rs:5:12"]);
    let human = project().run(&[]).stdout;
    assert!(human.contains("  --> src/tabs.rs:5:12\n"), "{human}");
}

#[test]
fn output_is_ascii_unless_the_locale_can_show_more() {
    let project = Project::package(&[("src/lib.rs", WATCH)]);
    assert!(project.run(&[]).stdout.is_ascii());
    let boxes = ran(command(&project.path(".")).env("LANG", "en_GB.UTF-8"));
    assert!(boxes.stdout.contains("┌─ src/lib.rs:5:5"), "{}", boxes.stdout);
}

#[test]
fn every_run_says_the_same() {
    let project = with_suppression();
    for path in ["a", "b", "c", "d"] {
        project.write(&format!("src/{path}.rs"), WATCH);
    }
    for format in ["human", "short", "json"] {
        let first = project.run(&["--format", format]);
        for _ in 0..3 {
            assert_eq!(project.run(&["--format", format]), first);
        }
    }
}

#[test]
fn list_is_a_table_or_a_document() {
    let project = project();
    let table = project.run(&["list"]);
    assert_eq!(table.code, Some(0));
    assert!(table.stdout.starts_with("PLACE "), "{}", table.stdout);
    assert!(
        table.stdout.ends_with("src/bytes.rs:2  unread: the file is not valid UTF-8\n"),
        "{}",
        table.stdout
    );
    let document: Value = serde_json::from_str(&project.run(&["list", "--format", "json"]).stdout).unwrap();
    assert_eq!(document["watches"].as_array().unwrap().len(), 2);
    assert_eq!(document["watches"][0]["source"]["crate"], "tokio-tungstenite");
}
