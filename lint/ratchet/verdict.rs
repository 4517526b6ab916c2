//! How a run stands to its baseline: the state of each finding, and what is left over of the file.

use std::collections::BTreeMap;

use super::entry::Entry;

/// How a finding stands to the baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    /// No entry is left for it.
    #[default]
    New,
    /// Its entry is of the same file, rule and item; the code of the watch has changed.
    Edited,
    /// Its entry is of another file or item; the code of the watch is the same.
    Moved,
    /// Its entry is as it was.
    Known,
}

impl State {
    /// The word for it in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Edited => "edited",
            Self::Moved => "moved",
            Self::Known => "known",
        }
    }
}

/// An entry of the baseline that no finding needs any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stale {
    /// The entry.
    pub(crate) entry: Entry,
    /// Its line in the baseline, from 1.
    pub(crate) line: usize,
}

/// The findings and entries of one rule, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Findings.
    pub(crate) count: usize,
    /// Entries of the baseline.
    pub(crate) baseline: usize,
    /// Findings without an entry.
    pub(crate) new: usize,
    /// Findings whose watch has been edited.
    pub(crate) edited: usize,
    /// Findings that stood elsewhere.
    pub(crate) moved: usize,
    /// Entries without a finding.
    pub(crate) stale: usize,
}

impl Count {
    /// Counts a finding.
    pub(crate) fn add(&mut self, state: State) {
        self.count += 1;
        match state {
            State::New => self.new += 1,
            State::Edited => self.edited += 1,
            State::Moved => self.moved += 1,
            State::Known => {}
        }
    }

    /// How many findings have come while as many have gone: no progress, and no way to pay for the new ones.
    pub(crate) fn swapped(self) -> usize {
        self.new.min(self.stale)
    }
}

/// How a run stands to its baseline.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdict {
    /// The baseline, as a path for people. None: there is none, and every finding is new.
    pub(crate) baseline: Option<String>,
    /// The entries of each rule.
    pub(crate) entries: BTreeMap<&'static str, usize>,
    /// The state of each of `Analysis::findings`, in their order. Those beyond its end are new.
    pub(crate) findings: Vec<State>,
    /// The state of each finding of each of `Analysis::suppressions`. Those beyond its end are known.
    pub(crate) allowed: Vec<Vec<State>>,
    /// What no finding needs, in the order of the file.
    pub(crate) stale: Vec<Stale>,
    /// How many entries are of files that this run has not read.
    pub(crate) unseen: usize,
    /// What the baseline is held against, for people.
    pub(crate) base: Option<String>,
    /// Sentences on how the baseline stands, without a final dot.
    pub(crate) notes: Vec<String>,
    /// Whether a stale entry fails the run.
    pub(crate) strict: bool,
    /// What the baseline has gained over that of the base. Any fails the run.
    pub(crate) raised: Vec<Raise>,
}

/// Something that the baseline may not gain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Raise {
    /// Its line in the baseline, from 1.
    pub(crate) line: usize,
    /// One sentence without a final dot.
    pub(crate) message: String,
}
