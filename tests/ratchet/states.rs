//! What a check says with a baseline: known, edited, moved, new, stale, and a swap.

use super::repo::{Repo, counted, mended, watches};
use crate::support::WATCH;

fn three() -> Repo {
    Repo::held(&[("a", &["one", "two"]), ("b", &["three"])])
}

#[test]
fn what_is_recorded_passes() {
    let repo = three();
    let ran = repo.run(&[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.starts_with("no new findings\nbaseline.toml: 3 entries: 3 known\n"), "{}", ran.stdout);
    assert_eq!(repo.run(&["--format", "short", "--strict"]).stdout, "");
    assert_eq!(repo.states(&[]), counted(&[("known", 3)], 0));
    let all = repo.run(&["--no-baseline", "--format", "short"]);
    assert_eq!((all.code, all.stdout.lines().count()), (Some(1), 3));
}

#[test]
fn what_is_new_fails_and_stands_alone() {
    let repo = three();
    repo.edit("src/b.rs", |text| text.to_owned() + &watches(&["four"]));
    let ran = repo.run(&["--format", "short"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (Some(1), 1), "{}", ran.stdout);
    assert!(ran.stdout.starts_with("src/b.rs:12:5: error[unguarded-watch]"), "{}", ran.stdout);
    let human = repo.run(&[]).stdout;
    assert_eq!(human.matches("error[").count(), 1, "{human}");
    assert!(
        human.contains("\n1 new finding: 1 unguarded-watch\nbaseline.toml: 3 entries: 3 known\n"),
        "{human}"
    );
}

#[test]
fn a_stale_entry_is_told_and_fails_where_it_must() {
    let repo = three();
    repo.mend("a", "one");
    let ran = repo.run(&[]);
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.stdout.starts_with(
            "baseline.toml:15: warning: stale entry: src/a.rs: unguarded-watch one\nno new findings\n\
             baseline.toml: 3 entries: 2 known, 1 stale\n\
             `cargo rideout baseline tighten` takes out what is stale\n"
        ),
        "{}",
        ran.stdout
    );
    for (args, variables) in [(&["--strict", "-q"][..], &[][..]), (&["-q"], &[("CI", "true")])] {
        let ran = super::repo::run_in(&repo.dir, args, variables);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert_eq!(ran.stdout, "baseline.toml:15: error: stale entry: src/a.rs: unguarded-watch one\n");
    }
    assert_eq!(super::repo::run_in(&repo.dir, &[], &[("CI", "false")]).code, Some(0));
}

#[test]
fn a_swap_is_shown_as_one() {
    let repo = three();
    repo.mend("a", "one");
    repo.edit("src/b.rs", |text| text.to_owned() + &watches(&["four"]));
    assert_eq!(repo.states(&[]), counted(&[("known", 2), ("new", 1)], 1));
    let ran = repo.run(&[]);
    assert_eq!(ran.code, Some(1));
    let wanted = "swapped: 1 unguarded-watch gone and 1 new: what is mended does not pay for what is new\n";
    assert!(ran.stdout.contains(wanted), "{}", ran.stdout);
}

#[test]
fn the_same_watch_elsewhere_is_new_while_its_function_is_still_there() {
    let repo = Repo::held(&[("a", &["run"])]);
    repo.write("src/b.rs", &watches(&["run"]));
    repo.write("src/lib.rs", "mod a;\nmod b;\n");
    repo.edit("src/a.rs", mended);
    assert_eq!(repo.states(&[]), counted(&[("new", 1)], 1));
    repo.edit("src/a.rs", |text| text.replace("fn run", "fn walk"));
    assert_eq!(repo.states(&[]), counted(&[("moved", 1)], 0));
}

#[test]
fn a_partial_run_says_nothing_of_what_it_does_not_look_at() {
    let repo = three();
    repo.mend("a", "one");
    let ran = repo.run(&["src/b.rs", "--strict"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("3 entries: 1 known, 2 not looked at\n"), "{}", ran.stdout);
    assert_eq!(repo.run(&["baseline", "tighten", "src/b.rs", "-q"]).code, Some(0));
    assert!(repo.baseline().contains("unguarded-watch one"));
    std::fs::remove_file(repo.dir.join("src/a.rs")).unwrap();
    assert_eq!(
        repo.run(&["src/b.rs", "--strict"]).code,
        Some(1),
        "a file that is gone is looked at by everybody"
    );
}

#[test]
fn what_moves_to_where_a_partial_run_does_not_look_is_not_stale() {
    let repo = three();
    let all = repo.read("src/a.rs");
    repo.write("src/a.rs", &watches(&["two"]));
    repo.edit("src/b.rs", |text| text.to_owned() + &watches(&["one"]));
    assert_eq!(repo.states(&["src/a.rs", "--strict"]), counted(&[("known", 1)], 0));
    assert_eq!(repo.run(&["baseline", "tighten", "-q", "src/a.rs"]).code, Some(0));
    assert_eq!(repo.states(&["src/b.rs", "--strict"]), counted(&[("known", 1), ("moved", 1)], 0));
    assert_eq!(repo.states(&["--strict"]), counted(&[("known", 2), ("moved", 1)], 0));
    std::fs::remove_file(repo.dir.join("src/a.rs")).unwrap();
    repo.write("src/c.rs", &all);
    repo.write("src/lib.rs", "mod b;\nmod c;\n");
    repo.edit("src/b.rs", |_| watches(&["three"]));
    assert_eq!(repo.states(&["src/b.rs", "--strict"]), counted(&[("known", 1)], 0));
    assert_eq!(repo.states(&["--strict"]), counted(&[("known", 1), ("moved", 2)], 0));
}

#[test]
fn tests_are_not_looked_at_unless_asked_for() {
    let repo = Repo::new(&[("a", &["one"]), ("checks", &["two"])]);
    repo.write("src/lib.rs", "mod a;\n#[cfg(test)]\nmod checks;\n");
    repo.write("tests/feed.rs", &watches(&["three"]));
    assert_eq!(repo.run(&["baseline", "init", "-q", "--include-tests"]).code, Some(0));
    assert_eq!(repo.states(&["--strict"]), counted(&[("known", 1)], 0));
    assert_eq!(repo.run(&["baseline", "tighten", "-q"]).code, Some(0));
    assert_eq!(repo.states(&["--strict", "--include-tests"]), counted(&[("known", 3)], 0));
}

#[test]
fn what_is_withheld_is_neither_new_nor_stale() {
    let accept = "pub async fn serve(l: tokio::net::TcpListener) {\n    loop {\n        \
                  let Ok((s, _)) = l.accept().await else { continue };\n        drop(s);\n    }\n}\n";
    let repo = Repo::new(&[]);
    repo.write("src/lib.rs", accept);
    repo.edit("Cargo.toml", |text| text.to_owned() + "tokio = \"1\"\n");
    assert_eq!(repo.run(&["baseline", "init", "--pedantic", "-q"]).code, Some(0));
    assert!(repo.baseline().contains("unpaced-reopen serve"), "{}", repo.baseline());
    for args in [&["--strict"][..], &["--strict", "--pedantic"]] {
        let ran = repo.run(args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    assert_eq!(repo.run(&["baseline", "tighten", "-q"]).code, Some(0));
    assert!(repo.baseline().contains("unpaced-reopen serve"));
}

#[test]
fn an_allowance_is_an_entry() {
    let allowed =
        |text: &str| text.replace("    while", "    // rideout: allow(unguarded-watch): one shot\n    while");
    let repo = Repo::held(&[("a", &["one"]), ("b", &["two"])]);
    // What was recorded may be allowed by somebody who says why.
    repo.edit("src/a.rs", allowed);
    let ran = repo.run(&["--strict"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stdout.contains("no new findings; 1 suppressed\nbaseline.toml: 2 entries: 2 known\n"),
        "{}",
        ran.stdout
    );
    assert_eq!(repo.run(&["baseline", "tighten", "-q"]).code, Some(0));
    assert!(repo.baseline().contains("\"allow unguarded-watch one\" = "), "{}", repo.baseline());
    // The way back is closed: the entry is for the allowance alone.
    repo.edit("src/a.rs", |text| text.replace("    // rideout: allow(unguarded-watch): one shot\n", ""));
    assert_eq!(repo.states(&[]), counted(&[("known", 1), ("new", 1)], 1));
    repo.edit("src/a.rs", allowed);
    // A new one must be recorded.
    repo.write("src/c.rs", &allowed(&watches(&["three"])));
    repo.write("src/lib.rs", "mod a;\nmod b;\nmod c;\n");
    let ran = repo.run(&["--format", "short"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("this allowance is not in the baseline"), "{}", ran.stdout);
    assert_eq!(repo.run(&["baseline", "tighten", "-q"]).code, Some(1));
    assert_eq!(repo.run(&["baseline", "adopt"]).stdout, "baseline.toml: 1 entry adopted; 3 entries now\n");
    assert_eq!(repo.run(&["--strict"]).code, Some(0));
    assert!(
        repo.run(&["--base", "HEAD"]).stdout.contains("1 more allowed by comments than at"),
        "told, not refused"
    );
}

#[test]
fn without_a_baseline_a_comment_is_enough() {
    let repo = Repo::new(&[]);
    repo.write(
        "src/lib.rs",
        &WATCH.replace("    while", "    // rideout: allow(unguarded-watch): one shot\n    while"),
    );
    let ran = repo.run(&[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.starts_with("no findings; 1 suppressed\n"), "{}", ran.stdout);
}

#[test]
fn the_nearest_baseline_up_to_the_repository_holds() {
    let repo = three();
    let inner = Repo::new(&[("x", &["inner"])]);
    for file in ["Cargo.toml", "src/lib.rs", "src/x.rs"] {
        let text = inner.read(file).replace("\"app\"", "\"inner\"");
        repo.write(&format!("inner/{file}"), &text);
    }
    repo.edit("inner/Cargo.toml", |text| format!("{text}\n[workspace]\n"));
    let ran = super::repo::run_in(&repo.dir.join("inner"), &[], &[]);
    assert!(ran.stdout.contains("../baseline.toml: 3 entries: 3 not looked at\n"), "{}", ran.stdout);
    // Of several workspaces together the paths start from where the file lies.
    std::fs::remove_file(repo.dir.join("baseline.toml")).unwrap();
    assert_eq!(repo.run(&["baseline", "init", "-q", "src", "inner"]).code, Some(0));
    assert!(repo.baseline().contains("[\"inner/src/x.rs\"]"), "{}", repo.baseline());
    assert_eq!(super::repo::run_in(&repo.dir.join("inner"), &["--strict"], &[]).code, Some(0));
    // Its own is nearer.
    assert_eq!(super::repo::run_in(&repo.dir.join("inner"), &["baseline", "init", "-q"], &[]).code, Some(0));
    let ran = super::repo::run_in(&repo.dir.join("inner"), &["--strict"], &[]);
    assert!(ran.stdout.contains("\nbaseline.toml: 1 entry: 1 known\n"), "{}", ran.stdout);
    // One that is named is kept anywhere and speaks of the whole workspace.
    std::fs::create_dir(repo.dir.join("ci")).unwrap();
    let named = ["--baseline", "ci/held.toml"];
    assert_eq!(repo.run(&[&["baseline", "init", "-q"][..], &named].concat()).code, Some(0));
    assert_eq!(repo.run(&[&["--strict"][..], &named].concat()).code, Some(0));
    assert!(repo.read("ci/held.toml").contains("[\"src/a.rs\"]"));
    assert_eq!(repo.run(&["--baseline", "gone.toml"]).code, Some(2));
}
