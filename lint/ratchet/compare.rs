//! What a run has found, held against the baseline.

use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap, HashSet},
    fs,
    path::Path,
};

use rideout_rules::model::{Finding, Level};

use super::{
    document::Document,
    edit::Fate,
    entry::Entry,
    pairs::{Pairs, pair},
    place::Place,
    verdict::{Stale, State, Verdict},
};
use crate::{
    analysis::Analysis,
    syntax,
    workspace::{Modules, SourceFile, Standing, Workspace},
};

/// A run and the baseline it is held against, paired.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// What was found, as entries.
    pub(crate) found: Vec<Found>,
    pairs: Pairs,
    /// What becomes of each entry if the file is tightened.
    fates: Vec<Fate>,
    verdict: Verdict,
}

/// One finding as the baseline sees it.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) entry: Entry,
    pub(crate) level: Level,
    slot: Slot,
}

/// Where a finding is in the analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Slot {
    Finding(usize),
    Allowed(usize, usize),
}

impl Found {
    /// Whether it counts at this level.
    pub(crate) fn counts(&self, pedantic: bool) -> bool {
        pedantic || self.level == Level::Deny
    }
}

impl Comparison {
    /// Holds an analysis against a baseline.
    pub(crate) fn new(
        workspace: &Workspace,
        analysis: &Analysis,
        place: &Place,
        document: &Document,
    ) -> Self {
        let found = found(workspace, analysis, place);
        let findings: Vec<Entry> = found.iter().map(|found| found.entry.clone()).collect();
        let entries: Vec<Entry> = document.entries().cloned().collect();
        let homes = Homes::new(&place.dir);
        let pairs = pair(&entries, &findings, &|entry| homes.is_gone(entry));

        let seen = Seen::new(workspace, analysis, place);
        let mut fates = vec![Fate::Keep; entries.len()];
        let mut verdict = Verdict { baseline: Some(place.shown.clone()), ..Verdict::default() };
        let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
        entries.iter().for_each(|entry| *counts.entry(entry.rule).or_default() += 1);
        verdict.entries = counts;
        for (index, pair) in pairs.found.iter().enumerate() {
            if let Some((entry, _)) = pair
                && entries[*entry] != findings[index]
            {
                fates[*entry] = Fate::Become(findings[index].clone());
            }
        }
        let lines: Vec<usize> = document.lines().map(|(_, line)| line).collect();
        // What has moved to where this run does not look is not stale.
        let left: Vec<Entry> = pairs.left.iter().map(|index| entries[*index].clone()).collect();
        let elsewhere = pair(&left, &elsewhere(workspace, analysis, place), &|entry| homes.is_gone(entry));
        let elsewhere: HashSet<usize> = elsewhere.found.iter().flatten().map(|(entry, _)| *entry).collect();
        for (at, index) in pairs.left.iter().copied().enumerate() {
            let entry = &entries[index];
            if !elsewhere.contains(&at) && seen.contains(&entry.file) {
                fates[index] = Fate::Drop;
                verdict.stale.push(Stale { entry: entry.clone(), line: lines[index] });
            } else {
                verdict.unseen += 1;
            }
        }
        verdict.findings = vec![State::New; analysis.findings.len()];
        verdict.allowed = analysis
            .suppressions
            .iter()
            .map(|suppression| vec![State::New; suppression.findings.len()])
            .collect();
        for (index, found) in found.iter().enumerate() {
            match found.slot {
                Slot::Finding(at) => verdict.findings[at] = pairs.state(index),
                Slot::Allowed(at, inner) => verdict.allowed[at][inner] = pairs.state(index),
            }
        }
        Self { found, pairs, fates, verdict }
    }

    /// How the run stands.
    pub(crate) fn verdict(&self) -> Verdict {
        self.verdict.clone()
    }

    /// The findings at this level that have no entry.
    pub(crate) fn new_ones(&self, pedantic: bool) -> Vec<&Found> {
        let news = self.found.iter().enumerate().filter(|(index, _)| self.pairs.state(*index) == State::New);
        news.map(|(_, found)| found).filter(|found| found.counts(pedantic)).collect()
    }

    /// How many entries are rewritten by a tightening because their finding has been edited or moved.
    pub(crate) fn followed(&self) -> usize {
        self.fates.iter().filter(|fate| matches!(fate, Fate::Become(_))).count()
    }

    /// The baseline without its stale entries, the others as they are now, and with what is added.
    pub(crate) fn tightened(&self, document: &Document, added: Vec<Entry>, prune: bool) -> Document {
        let mut document = document.clone();
        let fates = self.fates.iter().cloned();
        document
            .rewrite(fates.map(|fate| if fate == Fate::Drop && !prune { Fate::Keep } else { fate }), added);
        document
    }
}

/// A finding as an entry. None: it lies outside of the folder of the baseline.
fn entry(
    workspace: &Workspace,
    analysis: &Analysis,
    place: &Place,
    (finding, fingerprint): &(Finding, String),
    plain: bool,
) -> Option<Entry> {
    let rel = &analysis.files.get(finding.primary.file as usize)?.path;
    Some(Entry {
        file: place.file(&workspace.root, rel)?,
        plain,
        rule: finding.rule,
        item: finding.item.clone(),
        fingerprint: fingerprint.clone(),
    })
}

/// What was found in files that are not reported on.
fn elsewhere(workspace: &Workspace, analysis: &Analysis, place: &Place) -> Vec<Entry> {
    let found = analysis.elsewhere.iter();
    let mut entries: Vec<Entry> =
        found.filter_map(|found| entry(workspace, analysis, place, found, true)).collect();
    entries.sort();
    entries
}

/// What was found, plain and allowed, those that count by default first.
pub(crate) fn found(workspace: &Workspace, analysis: &Analysis, place: &Place) -> Vec<Found> {
    let make = |found: &(Finding, String), plain: bool, slot: Slot| {
        let entry = entry(workspace, analysis, place, found, plain)?;
        Some(Found { entry, level: found.0.level, slot })
    };
    let plain = analysis.findings.iter().enumerate().map(|(at, found)| make(found, true, Slot::Finding(at)));
    let allowed = analysis.suppressions.iter().enumerate().flat_map(|(at, suppression)| {
        let findings = suppression.findings.iter().enumerate();
        findings.map(move |(inner, found)| make(found, false, Slot::Allowed(at, inner)))
    });
    let mut all: Vec<Found> = plain.chain(allowed).flatten().collect();
    all.sort_by(|left, right| {
        (left.level, &left.entry, left.slot).cmp(&(right.level, &right.entry, right.slot))
    });
    all
}

/// A file with a finding that no entry can name, because it lies outside of the folder of the baseline.
pub(crate) fn outside<'a>(workspace: &Workspace, analysis: &'a Analysis, place: &Place) -> Option<&'a str> {
    let files = analysis.findings.iter().filter_map(|(finding, _)| {
        analysis.files.get(finding.primary.file as usize).map(|file| file.path.as_str())
    });
    files.into_iter().find(|rel| place.file(&workspace.root, rel).is_none())
}

/// The files that this run has looked at and understood, as entries name them.
struct Seen<'a> {
    workspace: &'a Workspace,
    place: &'a Place,
    modules: Modules,
    files: HashMap<String, &'a SourceFile>,
}

impl<'a> Seen<'a> {
    fn new(workspace: &'a Workspace, analysis: &Analysis, place: &'a Place) -> Self {
        let unread: HashSet<&str> = analysis.unread.iter().map(|unread| unread.path.as_str()).collect();
        let read = workspace.files.iter().filter(|file| file.reported && !unread.contains(file.rel.as_str()));
        let files = read.filter_map(|file| Some((place.file(&workspace.root, &file.rel)?, file))).collect();
        Self { workspace, place, modules: Modules::new(&workspace.packages), files }
    }

    /// Whether a file was looked at. One that is gone has nothing in it any more.
    fn contains(&self, file: &str) -> bool {
        let Some(file) = self.files.get(file) else {
            let path = self.place.dir.join(file);
            return path.starts_with(&self.workspace.root) && !path.exists();
        };
        self.workspace.tests || file.asked || self.modules.standing(&file.path) != Standing::Test
    }
}

/// Which functions the files of entries define now.
pub(crate) struct Homes<'a> {
    dir: &'a Path,
    known: RefCell<HashMap<String, Option<Vec<String>>>>,
}

impl<'a> Homes<'a> {
    pub(crate) fn new(dir: &'a Path) -> Self {
        Self { dir, known: RefCell::default() }
    }

    /// Whether the function of an entry is no longer in its file. What cannot be read may still have it.
    pub(crate) fn is_gone(&self, entry: &Entry) -> bool {
        let mut known = self.known.borrow_mut();
        let functions = known.entry(entry.file.clone()).or_insert_with(|| {
            let path = self.dir.join(&entry.file);
            if !path.exists() {
                return Some(Vec::new());
            }
            syntax::functions(&fs::read_to_string(path).ok()?)
        });
        functions.as_ref().is_some_and(|functions| !functions.contains(&entry.item))
    }
}
