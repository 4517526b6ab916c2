//! Which entry stands for which finding. Each is used once, so that one that is mended never pays for one that is new.

use std::collections::{HashMap, VecDeque};

use super::{entry::Entry, verdict::State};

/// The entries and the findings, paired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pairs {
    /// For each finding, its entry and how it stands to it.
    pub(crate) found: Vec<Option<(usize, State)>>,
    /// The entries that no finding needs, in order.
    pub(crate) left: Vec<usize>,
}

impl Pairs {
    /// The state of a finding.
    pub(crate) fn state(&self, found: usize) -> State {
        self.found.get(found).copied().flatten().map_or(State::New, |(_, state)| state)
    }
}

/// What two must share to be paired, from the most to the least.
#[derive(Clone, Copy)]
enum Step {
    /// All.
    Same,
    /// File, rule and item; the code differs.
    Edited,
    /// Rule, item and code; the file differs.
    Moved,
    /// Rule, the function's own name and code; its type has another name.
    MovedName,
    /// Rule, file and code; the function has another name.
    Renamed,
}

const STEPS: [Step; 5] = [Step::Same, Step::Edited, Step::Moved, Step::MovedName, Step::Renamed];

type Key<'a> = (bool, &'static str, &'a str, &'a str, &'a str);

impl Step {
    fn key(self, entry: &Entry, plain: bool) -> Key<'_> {
        let Entry { file, rule, item, fingerprint, .. } = entry;
        match self {
            Self::Same => (plain, rule, file, item, fingerprint),
            Self::Edited => (plain, rule, file, item, ""),
            Self::Moved => (plain, rule, "", item, fingerprint),
            Self::MovedName => (plain, rule, "", item.rsplit(':').next().unwrap_or(item), fingerprint),
            Self::Renamed => (plain, rule, file, "", fingerprint),
        }
    }

    fn state(self) -> State {
        match self {
            Self::Same => State::Known,
            Self::Edited => State::Edited,
            Self::Moved | Self::MovedName | Self::Renamed => State::Moved,
        }
    }
}

/// Pairs entries with findings. `is_gone` tells whether the function of an entry is no longer where the entry has it: only then can
/// its watch have moved.
///
/// An allowed finding may use a plain entry: somebody has said why it is to stay. A plain one cannot use an allowed entry.
pub(crate) fn pair(entries: &[Entry], found: &[Entry], is_gone: &dyn Fn(&Entry) -> bool) -> Pairs {
    let mut free = vec![true; entries.len()];
    let mut pairs: Vec<Option<(usize, State)>> = vec![None; found.len()];
    // Neither the order of a file nor that of threads may decide which is taken.
    let mut offered: Vec<usize> = (0..entries.len()).collect();
    offered.sort_by_key(|index| &entries[*index]);
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by_key(|index| !found[*index].plain);
    let mut gone: HashMap<usize, bool> = HashMap::new();
    for step in STEPS {
        let left = order.iter().copied().filter(|index| pairs[*index].is_none());
        let keys = left
            .flat_map(|index| [true, false].map(|plain| (step.key(&found[index], plain), VecDeque::new())));
        let mut waiting: HashMap<Key<'_>, VecDeque<usize>> = keys.collect();
        if waiting.is_empty() {
            break;
        }
        for index in offered.iter().copied().filter(|index| free[*index]) {
            let entry = &entries[index];
            if let Some(queue) = waiting.get_mut(&step.key(entry, entry.plain)) {
                queue.push_back(index);
            }
        }
        for plain in [false, true] {
            for index in order.iter().copied() {
                let wanted = &found[index];
                if pairs[index].is_some() || wanted.plain && !plain {
                    continue;
                }
                let Some(queue) = waiting.get_mut(&step.key(wanted, plain)) else { continue };
                if matches!(step.state(), State::Moved) {
                    queue.retain(|entry| *gone.entry(*entry).or_insert_with(|| is_gone(&entries[*entry])));
                }
                if let Some(entry) = queue.pop_front() {
                    free[entry] = false;
                    pairs[index] = Some((entry, step.state()));
                }
            }
        }
    }
    let left = free.iter().enumerate().filter(|(_, free)| **free).map(|(index, _)| index).collect();
    Pairs { found: pairs, left }
}

#[cfg(test)]
mod tests {
    use super::{Pairs, pair};
    use crate::ratchet::{Entry, State};

    fn entry(file: &str, item: &str, fingerprint: &str) -> Entry {
        Entry {
            file: file.into(),
            plain: true,
            rule: "unguarded-watch",
            item: item.into(),
            fingerprint: fingerprint.into(),
        }
    }

    fn states(pairs: &Pairs) -> Vec<State> {
        (0..pairs.found.len()).map(|index| pairs.state(index)).collect()
    }

    fn gone(_: &Entry) -> bool {
        true
    }

    #[test]
    fn each_step_of_the_ladder() {
        let entries = [entry("a.rs", "f", "1"), entry("a.rs", "g", "2"), entry("a.rs", "h", "3")];
        let found = [
            entry("a.rs", "f", "1"),
            entry("a.rs", "g", "9"),
            entry("b.rs", "h", "3"),
            entry("b.rs", "i", "8"),
        ];
        let pairs = pair(&entries, &found, &gone);
        assert_eq!(states(&pairs), [State::Known, State::Edited, State::Moved, State::New]);
        assert!(pairs.left.is_empty());
    }

    #[test]
    fn a_mended_one_does_not_pay_for_a_new_one_of_the_same_code() {
        let pairs = pair(&[entry("a.rs", "f", "1")], &[entry("b.rs", "f", "1")], &|_| false);
        assert_eq!((states(&pairs), pairs.left), (vec![State::New], vec![0]));
    }

    #[test]
    fn of_the_file_and_the_name_one_must_stay() {
        let old = [entry("a.rs", "Feed::run", "1")];
        for (file, item, state) in [
            ("b.rs", "PriceFeed::run", State::Moved),
            ("a.rs", "Feed::walk", State::Moved),
            ("b.rs", "Feed::walk", State::New),
        ] {
            assert_eq!(states(&pair(&old, &[entry(file, item, "1")], &gone)), [state], "{file} {item}");
        }
    }

    #[test]
    fn the_same_item_is_preferred_to_the_same_code() {
        let entries = [entry("a.rs", "f", "1"), entry("c.rs", "g", "1")];
        let pairs = pair(&entries, &[entry("b.rs", "g", "1")], &gone);
        assert_eq!((pairs.found, pairs.left), (vec![Some((1, State::Moved))], vec![0]));
    }

    #[test]
    fn an_allowance_may_use_a_plain_entry_and_not_the_other_way() {
        let plain = entry("a.rs", "f", "1");
        let allowed = Entry { plain: false, ..plain.clone() };
        let (one, other) = ([plain.clone()], [allowed.clone()]);
        assert_eq!(states(&pair(&one, &other, &gone)), [State::Known]);
        assert_eq!(states(&pair(&other, &one, &gone)), [State::New]);
        let both = [plain, allowed];
        assert_eq!(states(&pair(&both, &[both[1].clone(), both[0].clone()], &gone)), [State::Known; 2]);
    }
}
