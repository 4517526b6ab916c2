//! `--base` on the checkouts that servers make: shallow, detached, merged, and with the variables that they set.

use std::{fs, path::PathBuf};

use super::{
    base::{Forked, forked, raise},
    repo::{Repo, git_in, run_in},
};

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
