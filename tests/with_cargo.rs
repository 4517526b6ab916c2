//! Cargo's own check before the findings, as editors ask for it.

use std::fs;

use cargo_metadata::{CompilerMessage, Message, PackageId};

use crate::{
    suggestions,
    support::{Project, Ran, ran},
};

fn run(project: &Project, args: &[&str]) -> Ran {
    let mut command = crate::support::command(&project.path("service"));
    ran(command.env_remove("CARGO_TARGET_DIR").args(args))
}

fn messages(ran: &Ran) -> Vec<Message> {
    Message::parse_stream(ran.stdout.as_bytes()).map(Result::unwrap).collect()
}

fn is_ours(message: &CompilerMessage) -> bool {
    message.message.code.as_ref().is_some_and(|code| code.code.starts_with("rideout::"))
}

fn id(message: &CompilerMessage) -> &PackageId {
    &message.package_id
}

/// The packages of rustc's diagnostics and of ours, in their order.
fn told(messages: &[Message]) -> (Vec<&PackageId>, Vec<&PackageId>) {
    let told = messages.iter().filter_map(|message| match message {
        Message::CompilerMessage(message) => Some(message),
        _ => None,
    });
    let (ours, rustcs): (Vec<_>, Vec<_>) = told.partition(|message| is_ours(message));
    (rustcs.into_iter().map(id).collect(), ours.into_iter().map(id).collect())
}

fn finished(messages: &[Message]) -> Vec<bool> {
    let finished = messages.iter().filter_map(|message| match message {
        Message::BuildFinished(end) => Some(end.success),
        _ => None,
    });
    finished.collect()
}

fn change(project: &Project, from: &str, to: &str) {
    let path = project.path("service/src/rates.rs");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from));
    fs::write(path, text.replace(from, to)).unwrap();
}

#[test]
fn cargos_lines_come_first_and_speak_of_the_same_packages() {
    let project = suggestions::workspace();
    change(&project, "let mut sum = 0;", "let unused = 0;\n    let mut sum = 0;");
    let ran = run(
        &project,
        &[
            "--workspace",
            "--message-format=json",
            "--keep-going",
            "--all-targets",
            "--with-cargo-check",
            "--offline",
        ],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let messages = messages(&ran);
    let (rustcs, ours) = told(&messages);
    assert!(!rustcs.is_empty() && ours.len() == 8, "{rustcs:?} {ours:?}");
    assert!(rustcs.iter().chain(&ours).all(|id| **id == *rustcs[0]));
    let is_ours =
        |message: &Message| matches!(message, Message::CompilerMessage(message) if is_ours(message));
    let first = messages.iter().position(is_ours).unwrap();
    assert!(messages[..first].iter().any(|message| matches!(message, Message::CompilerArtifact(_))));
    assert!(messages[first..messages.len() - 1].iter().all(is_ours));
    assert_eq!(finished(&messages), [false]);
    assert!(matches!(messages.last(), Some(Message::BuildFinished(_))));
}

#[test]
fn code_that_does_not_compile_is_2_and_its_watches_are_told_all_the_same() {
    let project = suggestions::workspace();
    change(&project, "let mut sum = 0;", "let mut sum: u32 = \"\";");
    let ran = run(&project, &["--format", "cargo", "--with-cargo-check", "--offline"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    let messages = messages(&ran);
    let (rustcs, ours) = told(&messages);
    assert!(!rustcs.is_empty() && ours.len() == 8, "{rustcs:?} {ours:?}");
    assert_eq!(finished(&messages), [false]);
}

#[test]
fn the_lines_have_colour_where_the_editor_asks_for_it() {
    let project = suggestions::workspace();
    let plain = run(&project, &["--message-format=json"]);
    let coloured = run(&project, &["--message-format=json-diagnostic-rendered-ansi"]);
    assert!(!plain.stdout.contains("\\u001b[") && coloured.stdout.contains("\\u001b["));
    let id = "path+file:///anywhere/app#0.1.0";
    assert_eq!(run(&project, &["-p", id, "--message-format=json"]).stdout, plain.stdout);
}

#[test]
fn cargos_check_needs_cargos_format() {
    let ran = run(&suggestions::workspace(), &["--with-cargo-check"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert_eq!(ran.stderr, "error: `--with-cargo-check` needs `--format cargo`\n");
    let both = run(&suggestions::workspace(), &["--format", "cargo", "--message-format=json"]);
    assert_eq!(both.code, Some(2));
}
