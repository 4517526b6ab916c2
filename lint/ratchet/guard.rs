//! Holds a baseline against what held before: it may have become shorter, and nothing else.

use super::{
    ceiling::Ceiling,
    document::Document,
    entry::Entry,
    pairs::{Pairs, pair},
    verdict::Raise,
};

/// What has changed from one baseline to a later one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Change {
    /// Entries that are gone.
    pub(crate) removed: Vec<Entry>,
    /// Entries that are now written in another way, before and after.
    pub(crate) changed: Vec<(Entry, Entry)>,
    /// Entries that have come, with their lines, and whether they may.
    pub(crate) added: Vec<(Entry, usize, Admitted)>,
    /// Settings that would let the list grow next time.
    pub(crate) loosened: Vec<String>,
}

/// Why an entry may be new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admitted {
    /// It may not.
    No,
    /// A comment in the code says why it is to stay.
    Allowed,
    /// The analysis sees more than before, and the list has been adopted with a reason.
    Adopted,
}

impl Change {
    /// Compares two baselines. `is_gone` tells whether the function of an earlier entry has left its file.
    pub(crate) fn new(before: &Ceiling, after: &Document, is_gone: &dyn Fn(&Entry) -> bool) -> Self {
        let old = &before.entries;
        let (new, lines): (Vec<Entry>, Vec<usize>) =
            after.lines().map(|(entry, line)| (entry.clone(), line)).unzip();
        let Pairs { found, left } = pair(old, &new, is_gone);
        let mut change =
            Self { removed: left.iter().map(|index| old[*index].clone()).collect(), ..Self::default() };
        let (was, is) = (&before.settings, after.settings());
        let adopted = is.adopted.iter().any(|reason| !was.adopted.contains(reason));
        for (index, entry) in new.into_iter().enumerate() {
            match found[index] {
                Some((earlier, _)) if old[earlier] == entry => {}
                Some((earlier, _)) => change.changed.push((old[earlier].clone(), entry)),
                None => {
                    let sees_more = is.analysis > was.analysis || !was.rules.contains(entry.rule);
                    let admitted = match (entry.plain, adopted && sees_more) {
                        (_, true) => Admitted::Adopted,
                        (false, false) => Admitted::Allowed,
                        (true, false) => Admitted::No,
                    };
                    change.added.push((entry, lines[index], admitted));
                }
            }
        }
        if is.analysis < was.analysis {
            change
                .loosened
                .push(format!("`analysis` has been lowered from {} to {}", was.analysis, is.analysis));
        }
        for rule in was.rules.difference(&is.rules) {
            change.loosened.push(format!("`{rule}` has been taken out of `rules`"));
        }
        change
    }

    /// What the later baseline may not have.
    pub(crate) fn raises(&self) -> Vec<Raise> {
        let raised = self.added.iter().filter(|(_, _, admitted)| *admitted == Admitted::No);
        let loosened = self.loosened.iter().map(|message| Raise { line: 1, message: message.clone() });
        raised
            .map(|(entry, line, _)| Raise { line: *line, message: format!("raised: {}", entry.shown()) })
            .chain(loosened)
            .collect()
    }

    /// How many entries have come that may.
    pub(crate) fn admitted(&self, by: Admitted) -> usize {
        self.added.iter().filter(|(_, _, admitted)| *admitted == by).count()
    }
}
