//! Suggestions are code: taken as they stand they compile, and nothing is left to find.

use std::{collections::BTreeMap, fs, path::Path};

use assert_cmd::Command;
use cargo_metadata::{
    Message,
    diagnostic::{Applicability, DiagnosticSpan},
};

use crate::support::Project;

/// The workspace for editors, whose watches can all be mended by a few words.
pub(crate) fn workspace() -> Project {
    let project = Project::empty();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/workspaces/editor");
    for entry in ignore::Walk::new(&root).map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        let path = entry.path().strip_prefix(&root).unwrap().to_str().unwrap();
        project.write(path, fs::read(entry.path()).unwrap());
    }
    project
}

/// The suggested edits of a run, by file.
fn edits(lines: &str) -> BTreeMap<String, Vec<DiagnosticSpan>> {
    let mut edits: BTreeMap<String, Vec<DiagnosticSpan>> = BTreeMap::new();
    for message in Message::parse_stream(lines.as_bytes()).map(Result::unwrap) {
        let Message::CompilerMessage(message) = message else { continue };
        let spans: Vec<DiagnosticSpan> =
            message.message.children.into_iter().flat_map(|child| child.spans).collect();
        assert!(!spans.is_empty(), "no suggestion: {}", message.message.message);
        for span in spans {
            edits.entry(span.file_name.clone()).or_default().push(span);
        }
    }
    edits
}

#[test]
fn what_is_suggested_compiles_and_is_clean() {
    let project = workspace();
    let ran = project.run_in("service", &["--format", "cargo"]);
    let edits = edits(&ran.stdout);
    assert_eq!(edits.keys().map(String::as_str).collect::<Vec<_>>(), ["src/hot.rs", "src/rates.rs"]);
    for (file, mut spans) in edits {
        let path = project.path("service").join(&file);
        let mut text = fs::read_to_string(&path).unwrap();
        spans.sort_by_key(|span| span.byte_start);
        for span in spans.iter().rev() {
            let range = span.byte_start as usize..span.byte_end as usize;
            text.replace_range(range, span.suggested_replacement.as_deref().unwrap());
        }
        fs::write(path, text).unwrap();
    }
    let clean = project.run_in("service", &["--format", "short"]);
    assert_eq!((clean.code, clean.stdout.as_str()), (Some(0), ""), "{}", clean.stderr);
    Command::new("cargo")
        .args(["check", "--offline", "--quiet"])
        .current_dir(project.path("service"))
        .env_remove("CARGO_TARGET_DIR")
        .assert()
        .success();
    let hot = fs::read_to_string(project.path("service/src/hot.rs")).unwrap();
    let pause = "tokio::time::sleep(core::time::Duration::from_secs(1)).await;";
    assert!(
        hot.contains(&format!("Err(error) => {{\n                {pause}\n                println!(\"{{error:?}}\")\n            }},\n")),
        "{hot}"
    );
    assert!(hot.contains(&format!("    loop {{\n        {pause}\n        let mut feed")), "{hot}");
    let rates = fs::read_to_string(project.path("service/src/rates.rs")).unwrap();
    assert!(rates.contains("/* \u{1f980} */ continue;\n"), "{rates}");
}

#[test]
fn an_edit_lies_in_the_file_of_its_watch() {
    let project = workspace();
    let text = fs::read_to_string(project.path("service/src/rates.rs")).unwrap();
    for name in ["a.rs", "b.rs"] {
        project.write(&format!("loose/{name}"), &text);
    }
    let ran = project.run_in("loose", &["--format", "json", "."]);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let findings = document["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 8);
    for finding in findings.iter().filter(|finding| finding["rule"] == "transient-as-terminal") {
        let edit = &finding["suggestion"]["edits"][0];
        assert_eq!(edit["file"], finding["file"]);
        let byte = |end: &str| edit["span"][end]["byte"].as_u64().unwrap() as usize;
        let replaced = &text[byte("start")..byte("end")];
        assert!(["return", ""].contains(&replaced), "{replaced}");
    }
}

#[test]
fn only_what_is_meant_for_sure_is_machine_applicable() {
    let ran = workspace().run_in("service", &["--format", "cargo"]);
    let spans: Vec<DiagnosticSpan> = edits(&ran.stdout).into_values().flatten().collect();
    let sure: Vec<&str> = spans
        .iter()
        .filter(|span| span.suggestion_applicability == Some(Applicability::MachineApplicable))
        .map(|span| span.suggested_replacement.as_deref().unwrap())
        .collect();
    assert_eq!(sure, ["continue"]);
    assert!(spans.iter().all(|span| span.suggestion_applicability.is_some()));
}

#[test]
fn sarif_with_fixes_is_what_its_schema_says() {
    let ran = workspace().run_in("service", &["--format", "sarif"]);
    let log: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let faults: Vec<String> =
        crate::formats::sarif().iter_errors(&log).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert!(results.iter().all(|result| result["fixes"].is_array()));
}

#[test]
fn json_with_suggestions_is_what_the_schema_says() {
    let ran = workspace().run_in("service", &["--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let faults: Vec<String> =
        crate::report::schema().iter_errors(&document).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(document["findings"].as_array().unwrap().iter().all(|finding| finding["suggestion"].is_object()));
}
