//! `--base`: the baseline may be shorter than where the branch started, and nothing else, on every kind of checkout.

use std::{fs, path::PathBuf};

use super::repo::{Repo, git_in, run_in, watches};

/// On `main` one watch was mended after `work` had branched off, and `work` has mended another.
struct Forked {
    repo: Repo,
    start: String,
}

fn forked() -> Forked {
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
fn raise(repo: &Repo) {
    repo.edit("src/b.rs", |text| text.to_owned() + &watches(&["four"]));
    fs::remove_file(repo.dir.join("baseline.toml")).unwrap();
    assert_eq!(repo.run(&["baseline", "init", "-q"]).code, Some(0));
    assert!(repo.baseline().contains("\"unguarded-watch four\" = "));
}

/// A server's checkout of the merge of `work` into `main`: detached, as deep as asked for, and with no other branch.
fn merge_ref(repo: &Repo, depth: &str) -> (PathBuf, String) {
    repo.git(&["checkout", "-q", "--detach", "main"]);
    repo.git(&["merge", "-q", "--no-ff", "-m", "try", "work"]);
    repo.git(&["update-ref", "refs/pull/7/merge", "HEAD"]);
    let made = repo.git(&["rev-parse", "HEAD"]);
    let dir = repo.dir.parent().unwrap().join(format!("server{depth}"));
    git_in(repo.dir.parent().unwrap(), &["init", "-q", &dir.to_string_lossy()]);
    let url = format!("file://{}", repo.dir.display());
    git_in(&dir, &["remote", "add", "origin", &url]);
    let refs = "+refs/pull/7/merge:refs/remotes/pull/7/merge";
    git_in(&dir, &["fetch", "-q", &format!("--depth={depth}"), "origin", refs]);
    git_in(&dir, &["checkout", "-q", "refs/remotes/pull/7/merge"]);
    (dir, made)
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

#[test]
fn a_shallow_clone_works_or_says_what_to_fetch() {
    let Forked { repo, .. } = forked();
    repo.git(&["checkout", "-q", "main"]);
    let dir = repo.clone("shallow", &["--depth", "1", "--branch", "work", "--no-single-branch"]);
    let ran = run_in(&dir, &["--base", "main"], &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.stderr.contains("not in this shallow clone; fetch more of the history (`git fetch --unshallow`; on GitHub `fetch-depth: 0`"), "{}", ran.stderr);
    git_in(&dir, &["fetch", "-q", "--deepen", "1"]);
    for base in [&["--base", "main"][..], &["--base", "origin/main"], &["--base"]] {
        let ran = run_in(&dir, &[base, &["--strict"]].concat(), &[]);
        assert_eq!(ran.code, Some(0), "{base:?}: {ran:?}");
    }
    let one = repo.clone("one", &["--depth", "1", "--branch", "work"]);
    let ran = run_in(&one, &["--base"], &[("GITHUB_BASE_REF", "main")]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("the base `main` is not in this clone"), "{}", ran.stderr);
}

#[test]
fn a_merge_made_by_a_server_has_its_base_as_first_parent() {
    let Forked { repo, .. } = forked();
    let (dir, made) = merge_ref(&repo, "2");
    let variables = [
        ("GITHUB_BASE_REF", "main"),
        ("GITHUB_REF", "refs/pull/7/merge"),
        ("GITHUB_SHA", made.as_str()),
        ("CI", "true"),
    ];
    for base in [&["--base"][..], &["--base", "main"], &["--base", "origin/main"]] {
        for variables in [&variables[..], &variables[..1]] {
            let ran = run_in(&dir, base, variables);
            assert_eq!(ran.code, Some(0), "{base:?}: {ran:?}");
        }
    }
    // What main has mended in the meantime may not come back.
    let text = fs::read_to_string(dir.join("baseline.toml")).unwrap();
    let start = repo.git(&["show", "work~1:baseline.toml"]) + "\n";
    assert_ne!(text, start);
    fs::write(dir.join("baseline.toml"), start).unwrap();
    let ran = run_in(&dir, &["--base", "--format", "short"], &variables);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("error: raised: src/a.rs: unguarded-watch one"), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("raised").count(), 1, "{}", ran.stdout);

    let (dir, made) = merge_ref(&repo, "1");
    let variables =
        [("GITHUB_BASE_REF", "main"), ("GITHUB_REF", "refs/pull/7/merge"), ("GITHUB_SHA", made.as_str())];
    let ran = run_in(&dir, &["--base"], &variables);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(
        ran.stderr.contains("fetch two commits (`git fetch --depth=2`; on GitHub `fetch-depth: 2`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_merge_at_the_end_of_the_branch_is_not_taken_for_the_servers() {
    let Forked { repo, .. } = forked();
    raise(&repo);
    repo.commit("raise");
    repo.git(&["merge", "-q", "-m", "catch up", "-s", "ours", "main"]);
    let dir = repo.clone("head", &["--branch", "work"]);
    git_in(&dir, &["checkout", "-q", "--detach"]);
    let variables =
        [("GITHUB_BASE_REF", "main"), ("GITHUB_REF", "refs/pull/7/merge"), ("GITHUB_SHA", "0123456789")];
    let ran = run_in(&dir, &["--base", "--format", "short"], &variables);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("error: raised: src/b.rs: unguarded-watch four"), "{}", ran.stdout);
}

#[test]
fn each_server_names_its_base() {
    let Forked { repo, start } = forked();
    raise(&repo);
    repo.commit("raise");
    let event = repo.dir.parent().unwrap().join("event.json");
    fs::write(&event, format!("{{\"before\": \"{start}\"}}")).unwrap();
    let zeros = "0".repeat(40);
    let dir = repo.clone("server", &["--branch", "work"]);
    git_in(&dir, &["checkout", "-q", "--detach"]);
    for variables in [
        &[("GITHUB_BASE_REF", "main")][..],
        &[("CI_MERGE_REQUEST_DIFF_BASE_SHA", start.as_str())],
        &[("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")],
        &[("CI_COMMIT_BEFORE_SHA", zeros.as_str()), ("CI_MERGE_REQUEST_DIFF_BASE_SHA", &start)],
        &[("CI_COMMIT_BEFORE_SHA", &start)],
        &[("BITBUCKET_PR_DESTINATION_BRANCH", "main")],
        &[("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main")],
        &[("CHANGE_TARGET", "main")],
        &[("GITHUB_BASE_REF", ""), ("GITHUB_EVENT_PATH", event.to_str().unwrap())],
    ] {
        let ran = run_in(&dir, &["--base", "-q"], variables);
        assert_eq!(ran.code, Some(1), "{variables:?}: {ran:?}");
        assert!(ran.stdout.contains(&start[..10]), "{variables:?}: {}", ran.stdout);
    }
    let gone = [("CI_COMMIT_BEFORE_SHA", "0123456789012345678901234567890123456789")];
    assert_eq!(run_in(&dir, &["--base", "-q"], &gone).code, Some(2));
}

#[test]
fn a_push_to_the_branch_itself_is_held_against_the_commit_before() {
    let Forked { repo, .. } = forked();
    repo.git(&["checkout", "-q", "main"]);
    raise(&repo);
    repo.commit("raise");
    let dir = repo.clone("server", &["--depth", "1"]);
    let ran = run_in(&dir, &["--base", "-q"], &[("CI", "true")]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("fetch two commits"), "{}", ran.stderr);
    git_in(&dir, &["fetch", "-q", "--depth=2"]);
    assert_eq!(run_in(&dir, &["--base", "-q"], &[("CI", "true")]).code, Some(1));
    assert_eq!(run_in(&dir, &["--base", "-q"], &[]).code, Some(0), "nothing is uncommitted");
}

#[test]
fn the_default_branch_may_have_any_name_and_change_it() {
    let Forked { repo, .. } = forked();
    repo.git(&["branch", "-m", "main", "trunk"]);
    repo.git(&["checkout", "-q", "trunk"]);
    let dir = repo.clone("clone", &[]);
    git_in(&dir, &["checkout", "-q", "work"]);
    assert_eq!(run_in(&dir, &["--base"], &[]).code, Some(0));
    repo.git(&["branch", "-m", "trunk", "stem"]);
    git_in(&dir, &["fetch", "-q", "--prune", "origin", "+refs/heads/*:refs/remotes/origin/*"]);
    let ran = run_in(&dir, &["--base"], &[]);
    if ran.code == Some(2) {
        assert!(ran.stderr.contains("git remote set-head origin --auto"), "{}", ran.stderr);
        git_in(&dir, &["remote", "set-head", "origin", "--auto"]);
    }
    let ran = run_in(&dir, &["--base"], &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
