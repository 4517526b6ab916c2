//! What must hold of every baseline, whatever is in it.

use std::collections::BTreeMap;

use proptest::{collection::vec, prelude::*, sample::subsequence};

use super::{Document, Entry, State, edit::Fate, entry::rules, pairs::pair, read::read};

/// Few names, so that many entries are alike.
fn entry() -> impl Strategy<Value = Entry> {
    let (files, items) = (["src/a.rs", "src/b.rs", "x/\"q\" é.rs"], ["", "run", "Feed::run"]);
    (0..3_usize, 0..2_usize, 0..3_usize, 0..3_u32, prop::bool::weighted(0.8)).prop_map(
        move |(file, rule, item, print, plain)| Entry {
            file: files[file].to_owned(),
            plain,
            rule: rules()[rule],
            item: items[item].to_owned(),
            fingerprint: format!("{print:08x}"),
        },
    )
}

fn entries(most: usize) -> impl Strategy<Value = Vec<Entry>> {
    vec(entry(), 0..most)
}

/// Some set of functions that are no longer where they were.
fn gone(mask: u32) -> impl Fn(&Entry) -> bool {
    move |entry| {
        let place = entry.file.len() + 3 * entry.item.len();
        mask >> (place % 32) & 1 == 1
    }
}

/// How many findings are new, edited, moved and known, and how many entries are left.
fn counts(old: &[Entry], now: &[Entry], mask: u32) -> (BTreeMap<State, usize>, usize) {
    let mut now = now.to_vec();
    now.sort();
    let pairs = pair(old, &now, &gone(mask));
    let mut states = BTreeMap::new();
    (0..now.len()).for_each(|index| *states.entry(pairs.state(index)).or_default() += 1);
    (states, pairs.left.len())
}

fn new(old: &[Entry], now: &[Entry], mask: u32) -> usize {
    counts(old, now, mask).0.get(&State::New).copied().unwrap_or_default()
}

fn document(entries: Vec<Entry>) -> Document {
    let mut document = Document::new(None);
    document.rewrite([], entries);
    document
}

/// The same with a comment before each line of each table.
fn commented(document: &Document) -> Document {
    let mut inside = false;
    let mut text = String::new();
    for (number, line) in document.text().lines().enumerate() {
        inside |= line.starts_with('[');
        if inside && line.starts_with(['[', '"']) {
            text += &format!("# note {number}\n");
        }
        text += &format!("{line}\n");
    }
    read(text.as_bytes()).unwrap()
}

fn sorted(entries: impl IntoIterator<Item = Entry>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = entries.into_iter().collect();
    entries.sort();
    entries
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_baseline_lets_pass_what_it_holds(all in entries(30), mask: u32) {
        let (states, left) = counts(&all, &all, mask);
        prop_assert_eq!(states.get(&State::Known).copied().unwrap_or_default(), all.len());
        prop_assert_eq!(left, 0);
    }

    #[test]
    fn what_is_mended_never_fails_and_never_raises((all, rest) in entries(30).prop_flat_map(|all| {
        let length = all.len();
        (Just(all.clone()), subsequence(all, 0..=length))
    }), mask: u32) {
        prop_assert_eq!(new(&all, &rest, mask), 0);
        let (_, left) = counts(&all, &rest, mask);
        prop_assert_eq!(left, all.len() - rest.len());
    }

    #[test]
    fn less_is_never_worse(old in entries(20), now in vec(entry(), 1..20), at: prop::sample::Index, mask: u32) {
        let mut less = now.clone();
        less.remove(at.index(now.len()));
        prop_assert!(new(&old, &less, mask) <= new(&old, &now, mask));
    }

    #[test]
    fn one_more_always_fails(all in entries(20), one in entry(), mask: u32) {
        let more: Vec<Entry> = all.iter().cloned().chain([one]).collect();
        prop_assert_eq!(new(&all, &more, mask), 1);
    }

    #[test]
    fn a_swap_is_one_new_and_one_stale(all in vec(entry(), 1..20), at: prop::sample::Index, mask: u32) {
        let mut now = all.clone();
        now[at.index(all.len())] = Entry {
            file: "src/new.rs".into(),
            plain: true,
            rule: "unguarded-watch",
            item: "other".into(),
            fingerprint: "ffffffff".into(),
        };
        let (states, left) = counts(&all, &now, mask);
        prop_assert_eq!((states.get(&State::New).copied(), left), (Some(1), 1));
    }

    #[test]
    fn no_order_changes_anything((old, shuffled) in entries(20).prop_flat_map(|all| {
        (Just(all.clone()), Just(all).prop_shuffle())
    }), now in entries(20), mask: u32) {
        prop_assert_eq!(counts(&old, &now, mask), counts(&shuffled, &now, mask));
        prop_assert_eq!(document(old).text(), document(shuffled).text());
    }

    #[test]
    fn what_is_written_is_read_and_written_again_byte_by_byte(all in entries(30)) {
        let text = document(all.clone()).text();
        let again = read(text.as_bytes()).unwrap();
        prop_assert_eq!(again.text(), text.clone());
        prop_assert_eq!(sorted(again.entries().cloned()), sorted(all.clone()));
        let toml: toml::Table = text.parse().unwrap();
        let keys: usize = toml.values().filter_map(toml::Value::as_table).map(toml::Table::len).sum();
        prop_assert_eq!(keys, all.len());
        let other_ends = text.replace('\n', "\r\n");
        prop_assert_eq!(read(other_ends.as_bytes()).unwrap().text(), other_ends);
    }

    #[test]
    fn an_edit_leaves_all_else_as_it_is(
        all in entries(20),
        fates in vec((0..3_usize, entry()), 20),
        added in entries(6),
    ) {
        let document = commented(&document(all));
        let before: Vec<Entry> = document.entries().cloned().collect();
        let fate = |(which, other): &(usize, Entry)| match which {
            0 => Fate::Keep,
            1 => Fate::Drop,
            _ => Fate::Become(other.clone()),
        };
        let fates: Vec<Fate> = fates.iter().map(fate).take(before.len()).collect();
        let mut after = document.clone();
        after.rewrite(fates.clone(), added.clone());
        let text = after.text();
        let again = read(text.as_bytes()).unwrap();
        prop_assert_eq!(again.text(), text.clone());
        let wanted = before.iter().zip(&fates).filter_map(|(entry, fate)| match fate {
            Fate::Keep => Some(entry.clone()),
            Fate::Drop => None,
            Fate::Become(other) => Some(other.clone()),
        });
        prop_assert_eq!(sorted(again.entries().cloned()), sorted(wanted.chain(added)));
        // Each kept line is there, with the comment above it.
        let old = document.text();
        let lines: Vec<&str> = old.lines().collect();
        for ((_, line), fate) in document.lines().zip(&fates) {
            if *fate == Fate::Keep {
                let pair = format!("{}\n{}\n", lines[line - 2], lines[line - 1]);
                prop_assert!(text.contains(&pair), "{pair}\nis not in\n{text}");
            }
        }
        let nothing: usize = text.matches("\n\n\n").count();
        prop_assert_eq!(nothing, 0, "{}", text);
    }

    #[test]
    fn a_text_is_read_whole_or_refused_with_a_line(
        all in entries(6),
        changes in vec((any::<prop::sample::Index>(), 0..3_usize, "[\"'\\[\\]=#\n\r\t a1\\\\é,]{0,3}"), 1..4),
    ) {
        let mut text = commented(&document(all)).text();
        for (at, taken, put) in changes {
            let chars: Vec<char> = text.chars().collect();
            let at = at.index(chars.len());
            text = chars[..at].iter().copied().chain(put.chars()).chain(chars.iter().copied().skip(at + taken)).collect();
        }
        match read(text.as_bytes()) {
            Err(mistake) => {
                prop_assert!(mistake.line >= 1 && mistake.line <= text.matches('\n').count() + 1, "{:?}", mistake);
                prop_assert!(!mistake.reason.is_empty() && !mistake.reason.ends_with('.'));
            }
            Ok(document) => {
                prop_assert_eq!(document.text(), text.clone());
                let toml: Result<toml::Table, _> = text.parse();
                let toml = toml.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
                let tables = toml.iter().filter_map(|(file, table)| Some((file, table.as_table()?)));
                let keys: Vec<String> = tables.flat_map(|(file, table)| table.keys().map(move |key| format!("{file} {key}"))).collect();
                prop_assert_eq!(keys.len(), document.entries().count());
            }
        }
    }
}
