//! The words that tell where a source may matter: in which files, and in which bodies of functions.

use std::{collections::BTreeSet, fs::File, io};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use memchr::memmem;
use rideout_rules::catalog::{self, Crate, Needle};

use super::Active;

/// One automaton over the needles of several entries.
pub(crate) struct Needles {
    automaton: Option<AhoCorasick>,
    /// The needle of each pattern and the entry it is there for; none for a needle that always counts.
    owners: Vec<(Needle, Option<usize>)>,
}

impl Needles {
    /// What a file must hold for a source to matter there, or for what becomes of a panic.
    pub(crate) fn of_files(catalog: &[Crate], active: &[Active<'_>]) -> Self {
        let of_entry = |&index: &usize| {
            catalog::needles(&catalog[index]).into_iter().map(move |needle| (needle, Some(index)))
        };
        let mut owners: Vec<_> = entries(active).iter().flat_map(of_entry).collect();
        owners.push((plain(catalog::PANIC_HOOK), None));
        Self::new(owners)
    }

    /// What a function must hold, in such a file, to be parsed with it: a source, a call that asks one for its next item, or one of
    /// `words`.
    pub(crate) fn of_bodies(catalog: &[Crate], active: &[Active<'_>], words: &[&str]) -> Self {
        let of_entry = |&index: &usize| {
            let own =
                catalog::needles(&catalog[index]).into_iter().map(|needle| Needle { with: None, ..needle });
            let polls = catalog[index].sources.iter().flat_map(|source| &source.polls);
            own.chain(polls.map(|poll| plain(&format!(".{}", poll.method))))
                .map(move |needle| (needle, Some(index)))
        };
        let mut owners: Vec<_> = entries(active).iter().flat_map(of_entry).collect();
        owners.extend(words.iter().map(|text| (plain(text), None)));
        owners.sort();
        owners.dedup();
        Self::new(owners)
    }

    fn new(owners: Vec<(Needle, Option<usize>)>) -> Self {
        let patterns: Vec<&str> = owners.iter().map(|(needle, _)| needle.text.as_str()).collect();
        let kind = (patterns.len() < 2000).then_some(AhoCorasickKind::DFA);
        // Building fails only beyond the automaton's size; without one everything is kept, which is slow and right.
        Self { automaton: AhoCorasick::builder().kind(kind).build(patterns).ok(), owners }
    }

    /// Whether the text holds a needle of one of these entries.
    pub(crate) fn hit(&self, text: &str, active: &Active<'_>) -> bool {
        let Some(automaton) = &self.automaton else { return true };
        let text = text.as_bytes();
        let mut alone = BTreeSet::new();
        automaton.find_overlapping_iter(text).any(|hit| {
            let pattern = hit.pattern().as_usize();
            let (needle, owner) = &self.owners[pattern];
            owner.is_none_or(|owner| active.contains_key(&owner))
                && !alone.contains(&pattern)
                && needle.stands_at(text, hit.start(), hit.end())
                && needle.with.as_ref().is_none_or(|with| {
                    let there = memmem::find(text, with.as_bytes()).is_some();
                    if !there {
                        alone.insert(pattern);
                    }
                    there
                })
        })
    }

    /// The same for a file too large to hold in memory. Needles of other entries may hide one; close enough for a warning.
    pub(super) fn hit_in_stream(&self, file: File, active: &Active<'_>) -> io::Result<bool> {
        let Some(automaton) = &self.automaton else { return Ok(true) };
        for hit in automaton.stream_find_iter(file) {
            let owner = self.owners[hit?.pattern().as_usize()].1;
            if owner.is_none_or(|owner| active.contains_key(&owner)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A word that stands for itself.
fn plain(text: &str) -> Needle {
    Needle { text: text.to_owned(), open_start: false, open_end: false, with: None }
}

/// The entries that any package has use for.
fn entries(active: &[Active<'_>]) -> BTreeSet<usize> {
    active.iter().flat_map(|active| active.keys().copied()).collect()
}
