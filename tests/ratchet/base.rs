//! `--base`: the baseline may be shorter than where the branch started, and nothing else.

use std::fs;

use super::repo::{Repo, run_in, watches};

/// On `main` one watch was mended after `work` had branched off, and `work` has mended another.
pub(super) struct Forked {
    pub(super) repo: Repo,
    pub(super) start: String,
}

pub(super) fn forked() -> Forked {
    let repo = Repo::held(&[("a", &["one", "two"]), ("b", &["three"])]);
    let start = repo.git(&["rev-parse", "HEAD"]);
    repo.git(&["checkout", "-q", "-b", "work"]);
    repo.mend("b", "three");
    tighten(&repo);
    repo.commit("three");
    repo.git(&["checkout", "-q", "main"]);
    repo.mend("a", "one");
    tighten(&repo);
    repo.commit("one");
    repo.git(&["checkout", "-q", "work"]);
    Forked { repo, start }
}

fn tighten(repo: &Repo) {
    assert_eq!(repo.run(&["baseline", "tighten", "-q"]).code, Some(0));
}

/// Raises the baseline by hand, so that it covers one more watch.
pub(super) fn raise(repo: &Repo) {
    repo.edit("src/b.rs", |text| text.to_owned() + &watches(&["four"]));
    fs::remove_file(repo.dir.join("baseline.toml")).unwrap();
    assert_eq!(repo.run(&["baseline", "init", "-q"]).code, Some(0));
    assert!(repo.baseline().contains("\"unguarded-watch four\" = "));
}

#[test]
fn a_raise_by_hand_fails_and_is_named() {
    let Forked { repo, start } = forked();
    assert_eq!(
        repo.run(&["--strict", "--base", "main"]).code,
        Some(0),
        "what main has mended since is no raise here"
    );
    raise(&repo);
    assert_eq!(repo.run(&["--strict"]).code, Some(0), "the code and the baseline agree");
    for rev in ["main", &start, "work"] {
        let ran = repo.run(&["--base", rev, "--format", "short"]);
        assert_eq!(ran.code, Some(1), "{rev}: {ran:?}");
        let lines: Vec<&str> = ran.stdout.lines().collect();
        let line =
            repo.baseline().lines().position(|line| line.contains("unguarded-watch four")).unwrap() + 1;
        assert_eq!(lines.len(), 1, "{}", ran.stdout);
        let wanted =
            format!("baseline.toml:{line}: error: raised: src/b.rs: unguarded-watch four; not so at ");
        assert!(lines[0].starts_with(&wanted), "{}", ran.stdout);
    }
    let json = repo.run(&["--base", "main", "--format", "json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["baseline"]["raised"][0]["message"], "raised: src/b.rs: unguarded-watch four");
    let quiet = repo.run(&["-q", "--base", "main"]);
    assert_eq!((quiet.code, quiet.stdout.lines().count()), (Some(1), 1));
}

#[test]
fn what_moves_or_is_edited_is_no_raise() {
    let Forked { repo, .. } = forked();
    repo.git(&["mv", "src/a.rs", "src/c.rs"]);
    repo.write("src/lib.rs", "mod b;\nmod c;\n");
    tighten(&repo);
    repo.edit("src/c.rs", |text| text.replace("Some(Ok(m_two))", "Some(Ok(m))").replace("{m_two}", "{m}"));
    tighten(&repo);
    // Moved in one commit and edited in the next: seen from the fork, the one is gone and the other is new.
    assert_eq!(repo.run(&["--base", "main"]).code, Some(1));
    repo.edit("src/c.rs", |text| text.replace("Some(Ok(m))", "Some(Ok(m_two))").replace("{m}", "{m_two}"));
    tighten(&repo);
    let ran = repo.run(&["--base", "main", "--strict"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn a_door_cannot_be_left_open_for_the_next_one() {
    let Forked { repo, .. } = forked();
    let good = repo.baseline();
    for (from, to, said) in [
        ("analysis = 1", "analysis = 0", "`analysis` has been lowered from 1 to 0"),
        ("    \"unguarded-watch\",\n", "", "`unguarded-watch` has been taken out of `rules`"),
    ] {
        repo.write("baseline.toml", &good.replace(from, to));
        let ran = repo.run(&["--base", "main", "--format", "short"]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stdout.contains(said), "{}", ran.stdout);
    }
}

#[test]
fn what_was_adopted_may_be_more() {
    let repo = Repo::held(&[("a", &["one"])]);
    repo.edit("baseline.toml", |text| text.replace("analysis = 1", "analysis = 0"));
    repo.commit("an older analysis");
    repo.edit("src/a.rs", |text| text.to_owned() + &watches(&["two"]));
    assert_eq!(repo.run(&["baseline", "adopt", "-q", "--reason", "it sees more"]).code, Some(0));
    let ran = repo.run(&["--base", "HEAD"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("note: 1 more adopted than at "), "{}", ran.stdout);
    // Without a reason it is a raise like any other.
    repo.edit("baseline.toml", |text| {
        let (before, after) = text.split_once("adopted = [").unwrap();
        before.to_owned() + after.split_once("]\n").unwrap().1
    });
    assert_eq!(repo.run(&["--base", "HEAD"]).code, Some(1));
}

#[test]
fn a_base_without_a_baseline_is_where_it_begins() {
    let repo = Repo::new(&[("a", &["one"])]);
    repo.commit("begin");
    assert_eq!(repo.run(&["baseline", "init", "-q"]).code, Some(0));
    let ran = repo.run(&["--base", "main"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains(" has no baseline yet: this one is the first"), "{}", ran.stdout);
    let text = repo.baseline();
    repo.write("baseline.toml", "# to come\n");
    repo.commit("comments");
    repo.write("baseline.toml", &text);
    assert_eq!(repo.run(&["--base", "main"]).code, Some(0));
    repo.write("baseline.toml", "broken\n");
    repo.commit("broken");
    repo.write("baseline.toml", &text);
    let ran = repo.run(&["--base", "main"]);
    assert_eq!(ran.code, Some(2), "what cannot be read lets nothing pass");
    assert!(ran.stderr.contains("error: baseline.toml of ") && ran.stderr.contains(":1: "), "{}", ran.stderr);
}

/// A workspace in a folder of its own, held by a baseline at the top of the repository.
fn nested() -> Repo {
    let repo = Repo::new(&[("x", &["one", "two"])]);
    for file in ["Cargo.toml", "src/lib.rs", "src/x.rs"] {
        repo.write(&format!("sub/{file}"), &repo.read(file));
    }
    fs::remove_file(repo.dir.join("Cargo.toml")).unwrap();
    fs::remove_dir_all(repo.dir.join("src")).unwrap();
    assert_eq!(repo.run(&["baseline", "init", "-q", "--baseline", "baseline.toml", "sub"]).code, Some(0));
    assert!(repo.baseline().contains("[\"sub/src/x.rs\"]"), "{}", repo.baseline());
    repo.commit("begin");
    repo
}

#[test]
fn a_baseline_in_another_place_is_held_by_the_one_before() {
    let repo = nested();
    let sub = repo.dir.join("sub");
    // A nearer one takes over what the one at the top held, and no more.
    assert_eq!(run_in(&sub, &["baseline", "init", "-q"], &[]).code, Some(0));
    assert_eq!(run_in(&sub, &["--base", "HEAD", "-q"], &[]).code, Some(0));
    repo.edit("sub/src/x.rs", |text| text.to_owned() + &watches(&["three"]));
    fs::remove_file(sub.join("baseline.toml")).unwrap();
    assert_eq!(run_in(&sub, &["baseline", "init", "-q"], &[]).code, Some(0));
    let ran = run_in(&sub, &["--base", "HEAD", "-q"], &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("error: raised: src/x.rs: unguarded-watch three"), "{}", ran.stdout);
    repo.commit("raise");
    // Nor does one further up, in the place of one that is gone.
    repo.git(&["checkout", "-q", "HEAD~1", "--", "sub"]);
    fs::remove_file(sub.join("baseline.toml")).unwrap();
    fs::remove_file(repo.dir.join("baseline.toml")).unwrap();
    assert_eq!(run_in(&sub, &["baseline", "init", "-q"], &[]).code, Some(0));
    let start = repo.commit("only in sub");
    fs::remove_file(sub.join("baseline.toml")).unwrap();
    assert_eq!(repo.run(&["baseline", "init", "-q", "--baseline", "baseline.toml", "sub"]).code, Some(0));
    assert_eq!(run_in(&sub, &["--base", &start, "-q"], &[]).code, Some(0));
    repo.edit("baseline.toml", |text| text.to_owned() + "\"unguarded-watch z\" = \"00000000\"\n");
    let ran = run_in(&sub, &["--base", &start, "-q"], &[]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("error: raised: sub/src/x.rs: unguarded-watch z"), "{}", ran.stdout);
}

#[test]
fn a_second_workspace_begins_its_own() {
    let repo = Repo::held(&[("a", &["one"])]);
    for file in ["Cargo.toml", "src/lib.rs", "src/a.rs"] {
        repo.write(&format!("left/{file}"), &repo.read(file));
        repo.write(&format!("right/{file}"), &repo.read(file));
    }
    for file in ["src", "Cargo.toml", "baseline.toml"] {
        repo.git(&["rm", "-rq", file]);
    }
    let (left, right) = (repo.dir.join("left"), repo.dir.join("right"));
    assert_eq!(run_in(&left, &["baseline", "init", "-q"], &[]).code, Some(0));
    repo.commit("left");
    assert_eq!(run_in(&right, &["baseline", "init", "-q"], &[]).code, Some(0));
    let ran = run_in(&right, &["--base", "HEAD"], &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("has no baseline yet: this one is the first"), "{}", ran.stdout);
}

#[test]
fn a_base_that_cannot_be_told_or_read_is_no_pass() {
    let Forked { repo, .. } = forked();
    for rev in ["nonsense", "-x", ""] {
        let ran = repo.run(&[&format!("--base={rev}")]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{rev}");
        assert!(ran.stderr.contains("error: "), "{}", ran.stderr);
    }
    let ran = repo.run(&["--base", "src"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("`src` is a path and no revision; paths stand before `--base`"),
        "{}",
        ran.stderr
    );
    let ran = repo.run(&["--base"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("cannot tell the base of this branch; name it: `--base REV`"),
        "{}",
        ran.stderr
    );
    repo.git(&["checkout", "-q", "--orphan", "other"]);
    repo.commit("other");
    let ran = repo.run(&["--base", "main"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("have no commit in common"), "{}", ran.stderr);
}

#[test]
fn without_git_there_is_no_base() {
    let repo = Repo::held(&[("a", &["one"])]);
    fs::remove_dir_all(repo.dir.join(".git")).unwrap();
    assert_eq!(repo.run(&["--strict"]).code, Some(0), "the baseline itself needs no git");
    let ran = repo.run(&["--base", "main"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("is in no git repository"), "{}", ran.stderr);
    let ran = run_in(&repo.dir, &["--base", "main"], &[("PATH", "/nowhere")]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("error: cannot read the base: there is no `git` to ask"), "{}", ran.stderr);
    let ran = run_in(&repo.dir, &["--strict"], &[("PATH", "/nowhere")]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
