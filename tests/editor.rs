//! The real rust-analyzer, driven as an editor does. `.ci/editor` installs it and runs these tests.

mod server;

use std::fs;

use serde_json::{Value, json};

use self::server::Server;
use crate::suggestions;

/// The document that is looked at: its first watch stands behind emoji, and lies in reach of rustc too.
const FILE: &str = "service/src/rates.rs";

fn bin() -> &'static str {
    env!("CARGO_BIN_EXE_cargo-rideout")
}

/// The way that `docs/editors.md` shows.
fn by_override() -> Value {
    json!({ "overrideCommand": [bin(), "check", "--workspace", "--format", "cargo", "--with-cargo-check"] })
}

/// Cargo's own way of naming a checker.
fn by_command() -> Value {
    json!({ "command": "rideout", "extraArgs": ["--with-cargo-check"] })
}

fn of<'d>(diagnostics: &'d [Value], source: &str, severity: u64) -> Vec<&'d Value> {
    diagnostics.iter().filter(|found| found["source"] == source && found["severity"] == severity).collect()
}

/// Whether both checkers have spoken: this many watches, each with a hint at its fix, and the unused variable.
fn is_whole(diagnostics: &[Value], watches: usize) -> bool {
    let hints = of(diagnostics, "rideout", 4);
    let fixes = hints.iter().filter(|hint| hint["message"].as_str().unwrap().starts_with("go on"));
    of(diagnostics, "rideout", 1).len() == watches
        && fixes.count() >= watches
        && !of(diagnostics, "rustc", 2).is_empty()
}

fn point(line: usize, character: usize) -> Value {
    json!({ "line": line, "character": character })
}

/// The text after the edits of one code action, none of which touch the same line twice.
fn edited(text: &str, edits: &[Value]) -> String {
    let offset = |place: &Value| {
        let (line, character) = (place["line"].as_u64().unwrap(), place["character"].as_u64().unwrap());
        let start: usize = text.split_inclusive('\n').take(line as usize).map(str::len).sum();
        let mut units = character;
        let inside = text[start..].chars().take_while(|c| {
            let goes_on = units > 0;
            units = units.saturating_sub(c.len_utf16() as u64);
            goes_on
        });
        start + inside.map(char::len_utf8).sum::<usize>()
    };
    let mut text = text.to_owned();
    for edit in edits {
        let (start, end) = (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]));
        text.replace_range(start..end, edit["newText"].as_str().unwrap());
    }
    text
}

/// Diagnostic, related place and quick fix; the fix taken and saved, and the diagnostic is gone.
fn an_editor_shows_and_mends_a_watch(check: Value) {
    let project = suggestions::workspace();
    let path = project.path(FILE);
    let text = fs::read_to_string(&path)
        .unwrap()
        .replace("    let mut sum = 0;", "    let unused = 0;\n    let mut sum = 0;");
    fs::write(&path, &text).unwrap();
    let mut server = Server::start(&project.path("service"), check);
    let document = server.open(&path, &text);
    let diagnostics = server.diagnostics(&document, |found| is_whole(found, 4));

    let errors = of(&diagnostics, "rideout", 1);
    assert_eq!(errors.len(), 4, "{errors:#?}");
    let error = errors.iter().find(|error| error["code"] == "transient_as_terminal").unwrap();
    let line = text.lines().position(|line| line.contains("Lagged(missed)")).unwrap();
    let arm = "Err(RecvError::Lagged(missed))";
    let before = text.lines().nth(line).unwrap().split(arm).next().unwrap();
    let start = before.encode_utf16().count();
    assert_eq!(error["range"], json!({ "start": point(line, start), "end": point(line, start + arm.len()) }));
    let message = error["message"].as_str().unwrap();
    assert!(
        message.starts_with("this watch on `tokio::sync::broadcast::Receiver` takes `Lagged` for the end"),
        "{message}"
    );
    assert!(message.contains("\na receiver that falls behind gets"), "{message}");

    let related = error["relatedInformation"].as_array().unwrap();
    let place = |found: &Value| found["location"]["range"]["start"]["line"].as_u64();
    assert!(related.iter().any(|found| place(found) == Some(line as u64 + 1)), "{related:#?}");
    let logged = errors.iter().find(|error| error["code"] == "log_only_error_arm").unwrap();
    assert!(logged["relatedInformation"].is_array(), "{logged:#}");

    let actions = server.quick_fixes(&document, &error["range"], line + 1);
    let meant = |action: &&Value| {
        action["title"].as_str().is_some_and(|title| title.starts_with("go on after this fault"))
    };
    let fix = actions.iter().find(meant).unwrap_or_else(|| panic!("{actions:#?}"));
    assert_eq!((&fix["kind"], &fix["isPreferred"]), (&"quickfix".into(), &true.into()));
    let changes = &fix["edit"]["changes"][&document];
    let changed = edited(&text, changes.as_array().unwrap());
    assert!(changed.contains("/* \u{1f980} */ continue;\n"), "{changed}");

    fs::write(&path, &changed).unwrap();
    server.save(&document, &changed);
    let left = server.diagnostics(&document, |found| is_whole(found, 3));
    let on_line = |found: &&Value| found["range"]["start"]["line"] == line;
    assert!(!of(&left, "rideout", 1).iter().any(on_line), "{left:#?}");
}

#[test]
#[ignore = "needs rust-analyzer: `.ci/editor` installs it and runs this"]
fn an_editor_shows_and_mends_a_watch_by_the_override_command() {
    an_editor_shows_and_mends_a_watch(by_override());
}

#[test]
#[ignore = "needs rust-analyzer: `.ci/editor` installs it and runs this"]
fn an_editor_shows_and_mends_a_watch_by_the_name_of_the_command() {
    an_editor_shows_and_mends_a_watch(by_command());
}
