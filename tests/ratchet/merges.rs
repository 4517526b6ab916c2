//! Two branches that mend different watches, merged by a plain `git merge`.

use super::repo::{Repo, try_git_in};

/// Four files with four watches each.
const FILES: [(&str, &[&str]); 4] = [
    ("a", &["a0", "a1", "a2", "a3"]),
    ("b", &["b0", "b1", "b2", "b3"]),
    ("c", &["c0", "c1", "c2", "c3"]),
    ("d", &["d0", "d1", "d2", "d3"]),
];

type Watches<'a> = &'a [(&'a str, &'a str)];

/// Mends some on a branch and some on another, and merges the one into the other. Gives whether git could.
fn merged(ours: Watches<'_>, theirs: Watches<'_>) -> (Repo, bool) {
    let repo = Repo::held(&FILES);
    for (branch, watches) in [("left", ours), ("right", theirs)] {
        repo.git(&["checkout", "-q", "-b", branch, "main"]);
        for (file, name) in watches {
            repo.mend(file, name);
        }
        assert_eq!(repo.run(&["baseline", "tighten", "-q"]).code, Some(0));
        repo.commit(branch);
    }
    let (merges, said) = try_git_in(&repo.dir, &["merge", "-q", "--no-edit", "left"]);
    if !merges {
        let unmerged = repo.git(&["diff", "--name-only", "--diff-filter=U"]);
        assert_eq!(unmerged, "baseline.toml", "the code merges by itself: {said}");
    }
    (repo, merges)
}

fn passes(repo: &Repo, left: usize) {
    let ran = repo.run(&["--strict", "--base", "main"]);
    assert_eq!(ran.code, Some(0), "{ran:?}\n{}", repo.baseline());
    assert!(ran.stdout.contains(&format!("baseline.toml: {left} entries: {left} known\n")), "{}", ran.stdout);
}

/// The layouts of the experiment that chose the format, and whether git merges them by itself.
#[test]
fn different_fixes_merge_by_themselves_or_by_resolve() {
    let layouts: [(&str, Watches<'_>, Watches<'_>, bool); 5] = [
        ("adjacent, same file", &[("a", "a1")], &[("a", "a2")], false),
        ("one apart, same file", &[("a", "a0")], &[("a", "a2")], true),
        ("adjacent, across files", &[("a", "a3")], &[("b", "b0")], true),
        ("far apart", &[("a", "a0")], &[("d", "d3")], true),
        (
            "one clears a file, the other begins the next",
            &[("a", "a0"), ("a", "a1"), ("a", "a2"), ("a", "a3")],
            &[("b", "b0")],
            true,
        ),
    ];
    for (name, ours, theirs, by_itself) in layouts {
        let (repo, merges) = merged(ours, theirs);
        assert_eq!(merges, by_itself, "{name}");
        let left = 16 - ours.len() - theirs.len();
        if !merges {
            let ran = repo.run(&[]);
            assert_eq!(ran.code, Some(2), "{ran:?}");
            assert!(
                ran.stderr.contains("a merge conflict; `cargo rideout baseline resolve` mends it"),
                "{}",
                ran.stderr
            );
            let ran = repo.run(&["baseline", "resolve"]);
            assert_eq!(
                ran.stdout,
                format!("baseline.toml: {left} entries kept; `git add baseline.toml` takes it as mended\n")
            );
            repo.commit("merge");
        }
        passes(&repo, left);
    }
}

#[test]
fn the_same_fix_on_both_sides_merges() {
    let (repo, merges) = merged(&[("a", "a1"), ("c", "c0")], &[("a", "a1")]);
    assert!(merges);
    passes(&repo, 14);
}

#[test]
fn resolve_keeps_what_one_side_has_edited() {
    let repo = Repo::held(&FILES);
    repo.git(&["checkout", "-q", "-b", "left"]);
    repo.edit("src/a.rs", |text| text.replace("Some(Ok(m_a1))", "Some(Ok(m))").replace("{m_a1}", "{m}"));
    repo.edit("baseline.toml", |text| {
        text.replace("\"unguarded-watch a0\"", "# ours\n\"unguarded-watch a0\"")
    });
    assert_eq!(repo.run(&["baseline", "tighten", "-q"]).code, Some(0));
    let edited = repo.baseline();
    let edited = edited.lines().find(|line| line.contains("a1")).unwrap().to_owned();
    repo.commit("edited");
    repo.git(&["checkout", "-q", "-b", "right", "main"]);
    repo.mend("a", "a2");
    assert_eq!(repo.run(&["baseline", "tighten", "-q"]).code, Some(0));
    repo.commit("mended");
    repo.git(&["checkout", "-q", "left"]);
    assert!(!try_git_in(&repo.dir, &["merge", "-q", "--no-edit", "right"]).0);
    assert_eq!(repo.run(&["baseline", "resolve"]).code, Some(0));
    assert!(repo.baseline().contains(&edited) && repo.baseline().contains("# ours\n"), "{}", repo.baseline());
    repo.commit("merge");
    passes(&repo, 15);
    assert_eq!(repo.run(&["baseline", "resolve"]).stdout, "baseline.toml: no conflict\n");
}

#[test]
fn resolve_drops_what_only_one_side_has() {
    let (repo, merges) = merged(&[("a", "a1")], &[("a", "a2")]);
    assert!(!merges);
    // Raised by hand on one side before the merge: it stays out.
    repo.git(&["merge", "--abort"]);
    repo.edit("baseline.toml", |text| {
        text.replace(
            "\"unguarded-watch a3\"",
            "\"unguarded-watch a9\" = \"00000000\"\n\"unguarded-watch a3\"",
        )
    });
    repo.commit("raise");
    assert!(!try_git_in(&repo.dir, &["merge", "-q", "--no-edit", "left"]).0);
    assert_eq!(repo.run(&["baseline", "resolve"]).code, Some(0));
    assert!(!repo.baseline().contains("a9"), "{}", repo.baseline());
    repo.commit("merge");
    passes(&repo, 14);
}

#[test]
fn the_marks_in_the_file_are_enough() {
    for style in ["merge", "diff3"] {
        let (repo, merges) = merged(&[("a", "a1")], &[("a", "a2")]);
        assert!(!merges);
        repo.git(&["merge", "--abort"]);
        try_git_in(&repo.dir, &["-c", &format!("merge.conflictStyle={style}"), "merge", "-q", "left"]);
        assert!(
            repo.baseline().contains("<<<<<<< ")
                && (style == "merge") != repo.baseline().contains("||||||| ")
        );
        repo.git(&["add", "-A"]);
        assert_eq!(repo.run(&[]).code, Some(2));
        assert_eq!(repo.run(&["baseline", "resolve"]).code, Some(0));
        repo.commit("merge");
        passes(&repo, 14);
    }
}

#[test]
fn a_side_without_the_file_is_left_to_a_person() {
    let repo = Repo::held(&FILES);
    repo.git(&["checkout", "-q", "-b", "left"]);
    repo.git(&["rm", "-q", "baseline.toml"]);
    repo.commit("no baseline");
    repo.git(&["checkout", "-q", "-b", "right", "main"]);
    repo.mend("a", "a0");
    assert_eq!(repo.run(&["baseline", "tighten", "-q"]).code, Some(0));
    repo.commit("mended");
    assert!(!try_git_in(&repo.dir, &["merge", "-q", "--no-edit", "left"]).0);
    let ran = repo.run(&["baseline", "resolve"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("one side has deleted `baseline.toml`"), "{}", ran.stderr);
}
