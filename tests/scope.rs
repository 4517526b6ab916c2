//! Which files are looked at. A file that is not UTF-8 is a finding wherever it is in scope, which makes scopes visible.

use crate::support::{NOT_UTF8, Project, WATCH, manifest};

/// The files that are reported, by their paths.
fn seen(project: &Project, dir: &str, args: &[&str]) -> Vec<String> {
    let ran = project.run_in(dir, &[&["--format", "short"], args].concat());
    assert!(matches!(ran.code, Some(0 | 1)), "{args:?}: {ran:?}");
    ran.stdout.lines().map(|line| line.split(':').next().unwrap().to_owned()).collect()
}

/// A virtual workspace of two members, `a` and `b`, and a package `out` that is no member.
fn workspace() -> Project {
    let project = Project::empty();
    project.write(
        "Cargo.toml",
        "[workspace]\nresolver = \"3\"\nmembers = [\"a\", \"b\"]\nexclude = [\"out\"]\n",
    );
    for name in ["a", "b", "out"] {
        project.write(&format!("{name}/Cargo.toml"), manifest(name));
        project.write(&format!("{name}/src/lib.rs"), NOT_UTF8);
    }
    project
}

#[test]
fn without_a_choice_it_is_cargos() {
    let project = workspace();
    assert_eq!(seen(&project, ".", &[]), ["a/src/lib.rs", "b/src/lib.rs"]);
    assert_eq!(seen(&project, "a/src", &[]), ["a/src/lib.rs"]);
    assert_eq!(seen(&project, "out", &[]), ["src/lib.rs"]);
    assert_eq!(seen(&project, ".", &["--manifest-path", "b/Cargo.toml"]), ["b/src/lib.rs"]);
}

#[test]
fn a_root_package_stands_for_itself() {
    let project = Project::package(&[]);
    project.write("Cargo.toml", format!("{}[workspace]\nmembers = [\"a\", \"b\"]\n", manifest("top")));
    for path in ["src/lib.rs", "a/src/lib.rs", "b/src/lib.rs"] {
        project.write(path, NOT_UTF8);
    }
    project.write("a/Cargo.toml", manifest("a"));
    project.write("b/Cargo.toml", manifest("b"));
    assert_eq!(seen(&project, ".", &[]), ["src/lib.rs"]);
    assert_eq!(seen(&project, ".", &["--workspace"]), ["a/src/lib.rs", "b/src/lib.rs", "src/lib.rs"]);
}

#[test]
fn packages_are_chosen_by_name() {
    let project = workspace();
    assert_eq!(seen(&project, "a", &["--workspace"]), ["a/src/lib.rs", "b/src/lib.rs"]);
    assert_eq!(seen(&project, "a", &["-p", "b"]), ["b/src/lib.rs"]);
    assert_eq!(seen(&project, ".", &["-p", "?"]), ["a/src/lib.rs", "b/src/lib.rs"]);
    assert_eq!(seen(&project, ".", &["--workspace", "--exclude", "a*"]), ["b/src/lib.rs"]);
    let ran = project.run(&["-p", "out"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("no package `out`") && ran.stderr.contains("which has a, b"),
        "{}",
        ran.stderr
    );
    let ran = project.run(&["--workspace", "--exclude", "zzz"]);
    assert!(ran.stderr.contains("warning: `--exclude zzz` excludes nothing"), "{}", ran.stderr);
}

#[test]
fn paths_restrict_what_is_reported() {
    let project = workspace();
    assert_eq!(seen(&project, ".", &["a"]), ["a/src/lib.rs"]);
    assert_eq!(seen(&project, ".", &["b/src/lib.rs"]), ["b/src/lib.rs"]);
    assert_eq!(seen(&project, ".", &["b/src/lib.rs", "a"]), ["a/src/lib.rs", "b/src/lib.rs"]);
    assert_eq!(seen(&project, ".", &["."]), ["a/src/lib.rs", "b/src/lib.rs", "out/src/lib.rs"]);
    assert_eq!(seen(&project, "a", &["../b"]), ["b/src/lib.rs"]);
}

#[test]
fn a_folder_may_hold_several_workspaces_or_none() {
    let project = Project::empty();
    project.write("one/Cargo.toml", "[workspace]\nmembers = [\"x\"]\n");
    project.write("one/x/Cargo.toml", manifest("x"));
    project.write("two/Cargo.toml", manifest("two"));
    for path in ["one/x/src/lib.rs", "two/src/lib.rs", "loose.rs"] {
        project.write(path, NOT_UTF8);
    }
    let all = ["loose.rs", "one/x/src/lib.rs", "two/src/lib.rs"];
    assert_eq!(seen(&project, ".", &["."]), all);
    assert_eq!(seen(&project, ".", &[]), all);
    assert_eq!(project.run(&["--workspace"]).code, Some(2));
}

#[test]
fn a_file_belongs_to_its_nearest_manifest() {
    let project = Project::empty();
    project.write("with/Cargo.toml", manifest("with"));
    project.write("without/Cargo.toml", "[package]\nname = \"without\"\nversion = \"0.1.0\"\n");
    for path in ["with/src/lib.rs", "without/src/lib.rs", "loose.rs"] {
        project.write(path, WATCH);
    }
    assert_eq!(seen(&project, ".", &["."]), ["loose.rs", "with/src/lib.rs"]);
    assert_eq!(seen(&project, "without", &["../loose.rs"]), ["loose.rs"]);
}

#[test]
fn inherited_and_renamed_dependencies_count() {
    let project = Project::empty();
    project.write(
        "Cargo.toml",
        "[workspace]\nmembers = [\"a\"]\n[workspace.dependencies]\nws = { package = \"tokio-tungstenite\", version = \"0.28\" }\n",
    );
    project.write(
        "a/Cargo.toml",
        "[package]\nname = \"a\"\nversion = \"0.1.0\"\n[dependencies]\nws.workspace = true\n",
    );
    project.write("a/src/lib.rs", WATCH);
    assert_eq!(seen(&project, ".", &[]), ["a/src/lib.rs"]);
}

#[test]
fn only_what_the_targets_hold_is_the_package() {
    let project = Project::package(&[]);
    for path in [
        "src/lib.rs",
        "src/bin/b.rs",
        "build.rs",
        "examples/e.rs",
        "tests/t.rs",
        "benches/b.rs",
        "templates/t.rs",
    ] {
        project.write(path, NOT_UTF8);
    }
    let own = ["build.rs", "examples/e.rs", "src/bin/b.rs", "src/lib.rs"];
    assert_eq!(seen(&project, ".", &[]), own);
    let mut tests = own.to_vec();
    tests.extend(["benches/b.rs", "tests/t.rs"]);
    tests.sort_unstable();
    assert_eq!(seen(&project, ".", &["--include-tests"]), tests);
    assert_eq!(seen(&project, ".", &["tests"]), ["tests/t.rs"]);
    // No crate can hold a template: it need not be readable, unless it is named.
    assert_eq!(seen(&project, ".", &["."]), own);
    assert_eq!(seen(&project, ".", &["templates/t.rs"]), ["templates/t.rs"]);
}

#[test]
fn targets_may_be_anywhere() {
    let project = Project::empty();
    project
        .write("Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\n[lib]\npath = \"code/lib.rs\"\n");
    project.write("code/lib.rs", [b"mod deep; ", NOT_UTF8].concat());
    project.write("code/deep.rs", "mod er;");
    project.write("code/undeclared.rs", NOT_UTF8);
    project.write("code/deep/er.rs", NOT_UTF8);
    project.write("fixtures/f.rs", NOT_UTF8);
    assert_eq!(seen(&project, ".", &[]), ["code/deep/er.rs", "code/lib.rs"]);
}

#[test]
fn ignored_and_built_files_are_left_out() {
    let project = Project::package(&[(".gitignore", "/src/gen\n"), ("src/lib.rs", "")]);
    for path in ["src/gen/g.rs", "target/debug/build/x.rs", "src/.hidden/h.rs"] {
        project.write(path, NOT_UTF8);
    }
    assert_eq!(seen(&project, ".", &[]), [""; 0]);
    assert_eq!(seen(&project, ".", &["."]), [""; 0]);
    assert_eq!(seen(&project, ".", &["src/gen/g.rs"]), ["src/gen/g.rs"]);
}

/// The caller of a library decides, with a helper of a third package; a fourth has nothing to do with them.
#[test]
fn a_file_alone_is_judged_as_in_the_whole() {
    let project = Project::empty();
    project.write(
        "Cargo.toml",
        "[workspace]\nresolver = \"3\"\nmembers = [\"app\", \"feed\", \"again\", \"tool\"]\n",
    );
    let with = |name: &str, on: &[&str]| {
        let local = on.iter().map(|on| format!("{on} = {{ path = \"../{on}\" }}\n"));
        project.write(&format!("{name}/Cargo.toml"), manifest(name) + &local.collect::<String>());
    };
    with("app", &["feed", "again"]);
    with("feed", &[]);
    with("again", &[]);
    with("tool", &[]);
    project.write("feed/src/lib.rs", WATCH);
    project.write("tool/src/lib.rs", WATCH);
    project.write(
        "again/src/lib.rs",
        "pub async fn forever<F: Future>(run: impl Fn() -> F) {\n    loop {\n        run().await;\n        \
         tokio::time::sleep(std::time::Duration::from_secs(1)).await;\n    }\n}\n",
    );
    project.write(
        "app/src/main.rs",
        "#[tokio::main]\nasync fn main() {\n    again::forever(feed::run).await;\n}\n",
    );
    assert_eq!(seen(&project, ".", &["--workspace"]), ["tool/src/lib.rs"]);
    assert_eq!(seen(&project, ".", &["feed/src/lib.rs"]), [""; 0]);
    assert_eq!(seen(&project, ".", &["tool/src/lib.rs"]), ["tool/src/lib.rs"]);
    project.write(
        "again/src/lib.rs",
        "pub async fn forever<F: Future>(run: impl Fn() -> F) {\n    run().await;\n}\n",
    );
    assert_eq!(seen(&project, ".", &["feed/src/lib.rs"]), seen(&project, ".", &["feed"]));
}

#[test]
fn what_examples_show_is_pedantic() {
    let project = Project::package(&[("src/lib.rs", ""), ("examples/demo.rs", WATCH)]);
    assert_eq!(seen(&project, ".", &[]), Vec::<String>::new());
    assert_eq!(seen(&project, ".", &["--pedantic"]), ["examples/demo.rs"]);
    project.write("src/lib.rs", WATCH);
    assert_eq!(seen(&project, ".", &[]), ["src/lib.rs"]);
}

#[test]
fn what_only_an_example_does_with_a_fault_is_pedantic() {
    let incoming = "use std::{pin::Pin, task::{Context, Poll, ready}};\n\
                    pub struct Incoming(pub tokio::net::TcpListener);\n\
                    impl futures::Stream for Incoming {\n    \
                    type Item = std::io::Result<tokio::net::TcpStream>;\n    \
                    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {\n        \
                    let (socket, _) = ready!(self.0.poll_accept(cx)?);\n        \
                    Poll::Ready(Some(Ok(socket)))\n    }\n}\n";
    let example = "use futures::StreamExt;\n\
                   async fn first(mut incoming: app::Incoming) {\n    tokio::spawn(async move {\n        \
                   app::serve(incoming.next().await.unwrap().unwrap()).await\n    });\n}\n\
                   async fn all(mut incoming: app::Incoming) {\n    while let Some(socket) = incoming.next().await {\n        \
                   let Ok(socket) = socket else { break };\n        app::serve(socket).await;\n    }\n}\n\
                   #[tokio::main]\nasync fn main() {\n    \
                   let listener = tokio::net::TcpListener::bind(\"[::]:1\").await.unwrap();\n    \
                   first(app::Incoming(listener)).await;\n    tokio::signal::ctrl_c().await.unwrap();\n}\n";
    let project = Project::package(&[("src/lib.rs", incoming), ("examples/demo.rs", example)]);
    project.write("Cargo.toml", manifest("app") + "futures = \"0.3\"\ntokio = \"1\"\n");
    assert_eq!(seen(&project, ".", &[]), [""; 0]);
    assert_eq!(seen(&project, ".", &["--pedantic"]), ["examples/demo.rs", "src/lib.rs"]);
}

#[test]
fn a_library_is_called_by_its_own_name() {
    let lib = "use futures_util::StreamExt;\n\
               pub async fn follow(url: &str) -> anyhow::Result<()> {\n    \
               let (mut socket, _) = tokio_tungstenite::connect_async(url).await?;\n    \
               while let Some(message) = socket.next().await {\n        \
               if let tokio_tungstenite::tungstenite::Message::Text(text) = message? {\n            \
               println!(\"{text}\");\n        }\n    }\n    Ok(())\n}\n";
    let main = "#[tokio::main]\nasync fn main() -> anyhow::Result<()> {\n    \
                match std::env::args().nth(1) {\n        Some(url) => short::follow(&url).await,\n        \
                None => Ok(()),\n    }\n}\n";
    let project = Project::package(&[("src/lib.rs", lib), ("src/main.rs", main)]);
    assert_eq!(seen(&project, ".", &[]), ["src/lib.rs"]);
    project.write("Cargo.toml", manifest("a-long-name") + "\n[lib]\nname = \"short\"\n");
    assert_eq!(seen(&project, ".", &[]), [""; 0]);
}
