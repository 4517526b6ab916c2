//! The real pre-commit runs the hook on a repository.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::OnceLock,
};

use crate::support::{Project, WATCH};

const INSTALL: &str = "python3 -m pip install pre-commit";

/// The program: the one that is installed, or one in a virtual environment below `target`.
fn pre_commit() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        if Command::new("pre-commit").arg("--version").output().is_ok_and(|output| output.status.success()) {
            return "pre-commit".into();
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pre-commit");
        let program = folder.join("bin/pre-commit");
        if !program.is_file() {
            let run = |program: &Path, args: &[&str]| {
                let done = Command::new(program).args(args).status();
                assert!(done.is_ok_and(|status| status.success()), "pre-commit is missing: `{INSTALL}`");
            };
            run(Path::new("python3"), &["-m", "venv", folder.to_str().unwrap()]);
            run(&folder.join("bin/pip"), &["install", "--quiet", "pre-commit==4.7.0"]);
        }
        program
    })
}

/// A program in the repository, with the hook's `cargo-rideout` in reach and a cache of its own for pre-commit.
fn run(project: &Project, program: &Path, args: &[&str]) -> Output {
    let tool = Path::new(env!("CARGO_BIN_EXE_cargo-rideout")).parent().unwrap();
    let own = pre_commit().parent().unwrap();
    let before = env::split_paths(&env::var_os("PATH").unwrap()).collect::<Vec<_>>();
    let found = [tool, own].into_iter().filter(|folder| !folder.as_os_str().is_empty());
    let paths = found.map(Path::to_owned).chain(before);
    Command::new(program)
        .args(args)
        .current_dir(project.path("app"))
        .env("PATH", env::join_paths(paths).unwrap())
        .env("PRE_COMMIT_HOME", project.path("cache"))
        .env_remove("CI")
        .env_remove("GIT_DIR")
        .env_remove("GIT_INDEX_FILE")
        .output()
        .unwrap()
}

fn git(project: &Project, folder: &str, args: &[&str]) -> Output {
    let names = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
    let folder = project.path(folder);
    run(project, Path::new("git"), &[&["-C", folder.to_str().unwrap()], &names[..], args].concat())
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn done(output: Output) -> String {
    assert!(output.status.success(), "{}", text(&output));
    text(&output)
}

/// A repository without a watch that uses the hook `id` of the repository `hooks`, at its last commit.
fn repository(hooks: &Path, id: &str) -> Project {
    let project = Project::empty();
    project.write("app/Cargo.toml", crate::support::manifest("app"));
    project.write("app/src/main.rs", "fn main() {}\n");
    done(git(&project, "app", &["init", "--quiet"]));
    let revision = done(git(&project, hooks.to_str().unwrap(), &["rev-parse", "HEAD"]));
    let config =
        format!("repos:\n- repo: {}\n  rev: {}\n  hooks:\n  - id: {id}\n", hooks.display(), revision.trim());
    project.write("app/.pre-commit-config.yaml", config);
    done(run(&project, pre_commit(), &["install"]));
    done(git(&project, "app", &["add", "."]));
    project
}

/// A commit without a watch passes; one with a watch that dies does not come to be, and is told which it is.
fn the_hook_guards(project: &Project) {
    let clean = done(git(project, "app", &["commit", "-m", "clean"]));
    assert!(clean.contains("cargo rideout") && clean.contains("Passed"), "{clean}");

    project.write("app/src/main.rs", "mod feed;\nfn main() {}\n");
    project.write("app/src/feed.rs", WATCH);
    done(git(project, "app", &["add", "."]));
    let blocked = git(project, "app", &["commit", "-m", "watch"]);
    let said = text(&blocked);
    assert!(!blocked.status.success(), "{said}");
    assert!(said.contains("Failed"), "{said}");
    assert!(
        said.contains("error[unguarded-watch]: this watch on `tokio_tungstenite::WebSocketStream`"),
        "{said}"
    );
    assert!(said.contains("src/feed.rs:5:5"), "{said}");
    assert_eq!(done(git(project, "app", &["log", "--format=%s"])).trim(), "clean");

    project.write("app/notes.md", "nothing for the hook\n");
    done(git(project, "app", &["reset", "--quiet"]));
    done(git(project, "app", &["add", "notes.md"]));
    let skipped = done(git(project, "app", &["commit", "-m", "notes"]));
    assert!(skipped.contains("Skipped"), "{skipped}");
}

#[test]
fn the_hook_that_uses_what_is_installed_guards_a_repository() {
    let hooks = Project::empty();
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join(".pre-commit-hooks.yaml");
    hooks.write("app/.pre-commit-hooks.yaml", fs::read(manifest).unwrap());
    for args in [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "-m", "hooks"]] {
        done(git(&hooks, "app", args));
    }
    the_hook_guards(&repository(&hooks.path("app"), "cargo-rideout-system"));
}

#[test]
#[ignore = "builds the tool from the last commit, as pre-commit does, which takes minutes"]
fn the_hook_that_builds_from_source_guards_a_repository() {
    the_hook_guards(&repository(Path::new(env!("CARGO_MANIFEST_DIR")), "cargo-rideout"));
}
