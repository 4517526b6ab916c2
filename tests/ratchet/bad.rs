//! A baseline that is not understood stops the run, and the line is named. One that is large does not slow it down.

use std::time::{Duration, Instant};

use super::repo::{Repo, run_in};

/// What is put in the place of the line that begins like the first, how many lines further on the mistake is, and what is said.
const MISTAKES: [(&str, &str, usize, &str); 20] = [
    ("[\"src/a.rs\"]", "<<<<<<< HEAD", 0, "a merge conflict; `cargo rideout baseline resolve` mends it"),
    ("[\"src/a.rs\"]", "=======", 0, "a merge conflict"),
    ("[\"src/a.rs\"]", "[\"/src/a.rs\"]", 0, "the path `/src/a.rs` is absolute"),
    ("[\"src/a.rs\"]", "['C:\\src\\a.rs']", 0, "is absolute"),
    ("[\"src/a.rs\"]", "[\"src/../a.rs\"]", 0, "the path `src/../a.rs` leaves the folder"),
    ("[\"src/a.rs\"]", "[\"./src/a.rs\"]", 0, "is not in its shortest form"),
    ("[\"src/a.rs\"]", "[\"src/b.rs\"]", 4, "a second table for `src/b.rs`; the first is in line "),
    ("[\"src/a.rs\"]", "[settings]", 0, "a string in quotes is missing"),
    ("[\"src/a.rs\"]", "[\"settings\"]", 0, "is not that of a Rust file"),
    ("[\"src/a.rs\"]", "[\"src/a.rs\"", 0, "a `]` is missing"),
    ("analysis", "analysis = 99", 0, "analysis 99 is newer than this cargo-rideout"),
    ("analysis", "analysis = one", 0, "`one` is no version of the analysis"),
    ("analysis", "count = 3", 0, "an unknown key `count`"),
    ("rules", "rules = [\n    \"nonsense\",", 1, "there is no rule `nonsense`"),
    ("\"unguarded-watch one\"", "total = 1", 0, "an unknown key `total`"),
    (
        "\"unguarded-watch one\"",
        "\"unguarded-watch two\" = \"00000000\"",
        1,
        "`unguarded-watch two` is here twice",
    ),
    ("\"unguarded-watch one\"", "\"nonsense one\" = \"00000000\"", 0, "there is no rule `nonsense`"),
    (
        "\"unguarded-watch one\"",
        "\"unread-file\" = \"00000000\"",
        0,
        "no baseline holds a finding of `unread-file`",
    ),
    ("\"unguarded-watch one\"", "\"unguarded-watch one\" = 7", 0, "a string in quotes is missing"),
    ("\"unguarded-watch one\"", "\"unguarded-watch one\" = \"xyz\"", 0, "`xyz` is no fingerprint"),
];

#[test]
fn each_mistake_is_named_with_its_line() {
    let repo = Repo::held(&[("a", &["one", "two"]), ("b", &["three"])]);
    let good = repo.baseline();
    for (begins, instead, further, said) in MISTAKES {
        let at = good.lines().position(|line| line.starts_with(begins)).unwrap();
        let mut lines: Vec<&str> = good.lines().collect();
        lines[at] = instead;
        repo.write("baseline.toml", &format!("{}\n", lines.join("\n")));
        let place = format!("error: baseline.toml:{}: ", at + 1 + further);
        for args in [&["check"][..], &["baseline", "tighten"], &["baseline", "adopt", "--reason", "r"]] {
            let ran = repo.run(args);
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{args:?} {instead}");
            assert!(
                ran.stderr.contains(&place) && ran.stderr.contains(said),
                "{place}{said}: {}",
                ran.stderr
            );
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_named_with_their_line() {
    let repo = Repo::held(&[("a", &["one"])]);
    let mut bytes = repo.baseline().into_bytes();
    let line = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    bytes.extend(b"# \xff\n");
    std::fs::write(repo.dir.join("baseline.toml"), bytes).unwrap();
    let ran = repo.run(&[]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains(&format!("error: baseline.toml:{line}: no valid UTF-8\n")), "{}", ran.stderr);
}

#[test]
fn an_empty_one_is_none_and_does_not_let_pass() {
    let repo = Repo::held(&[("a", &["one"])]);
    for text in ["", "# ours\n"] {
        repo.write("baseline.toml", text);
        let ran = repo.run(&[]);
        assert_eq!(ran.code, Some(2));
        assert!(
            ran.stderr.contains("baseline.toml:1: no `analysis`; `cargo rideout baseline init`"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(repo.run(&["baseline", "init", "-q"]).code, Some(0));
    assert!(repo.baseline().starts_with("# ours\nanalysis = "), "{}", repo.baseline());
}

#[test]
fn a_hundred_thousand_entries_take_less_than_a_second() {
    let repo = Repo::held(&[("a", &["one"])]);
    let mut text = repo.baseline();
    for file in 0..10_000 {
        text += &format!("\n[\"src/part{file:05}/feed.rs\"]\n");
        (0..10).for_each(|item| {
            text += &format!("\"unguarded-watch Feed::run_{item}\" = \"{file:04x}{item:04x}\"\n")
        });
    }
    repo.write("baseline.toml", &text);
    let begun = Instant::now();
    let ran = run_in(&repo.dir, &["-q", "--format", "json"], &[]);
    let taken = begun.elapsed();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["baseline"]["stale"].as_array().unwrap().len(), 100_000);
    // Without optimisation, and beside other tests, it is the order that counts.
    let most = if cfg!(debug_assertions) { 20 } else { 1 };
    assert!(taken < Duration::from_secs(most), "{taken:?}");
}
