//! Remembers for a while that a node is absent, so that an absent node is not asked for all the time.

use std::collections::HashMap;
use std::time::Duration;

use crate::address::Address;
use crate::failure::{DeliveryFailure, FailureKind};

/// The first window; each further absence in a row doubles it.
const FIRST_WINDOW: Duration = Duration::from_secs(2);
/// The longest window.
const LONGEST_WINDOW: Duration = Duration::from_secs(300);
/// The absence in a row that is warned of, once.
const WARN_AT: u32 = 5;

/// Whether a failure says something about the owner's moment, and nothing about the node: such a one is never cached.
#[must_use]
pub fn is_transient_owner_failure(failure: &DeliveryFailure) -> bool {
    failure.kind.is_promise() || failure.kind == FailureKind::Unavailable
}

/// Windows in which the last absence of a path is replayed. Times are measured from any fixed start.
#[derive(Debug, Default)]
pub struct NegativeCache {
    absences: HashMap<Address, Absence>,
}

#[derive(Debug)]
struct Absence {
    verdict: DeliveryFailure,
    in_a_row: u32,
    until: Duration,
}

impl NegativeCache {
    /// What a read at `now` is answered with instead of asking; `None` to ask.
    #[must_use]
    pub fn replay(&self, path: &Address, now: Duration) -> Option<&DeliveryFailure> {
        self.absences.get(path).filter(|absence| now < absence.until).map(|absence| &absence.verdict)
    }

    /// A read failed at `now`. Only an absence opens a window.
    pub fn failed(&mut self, path: &Address, failure: &DeliveryFailure, now: Duration) {
        if is_transient_owner_failure(failure) || failure.kind != FailureKind::NotFound {
            return;
        }
        let in_a_row = self.absences.get(path).map_or(1, |absence| absence.in_a_row.saturating_add(1));
        let doublings = in_a_row.saturating_sub(1).min(16);
        let window = FIRST_WINDOW.saturating_mul(1 << doublings).min(LONGEST_WINDOW);
        if in_a_row == WARN_AT {
            tracing::warn!(%path, in_a_row, "'{path}' is asked for again and again and is absent");
        }
        let absence = Absence { verdict: failure.clone(), in_a_row, until: now.saturating_add(window) };
        self.absences.insert(path.clone(), absence);
    }

    /// The path was read, or a change of it was announced.
    pub fn cleared(&mut self, path: &Address) {
        self.absences.remove(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(s: u64) -> Duration {
        Duration::from_secs(s)
    }

    #[test]
    fn a_shutting_down_address_never_poisons_the_cache() {
        let mut cache = NegativeCache::default();
        let path = Address::new("a");
        for kind in [FailureKind::ShuttingDown, FailureKind::Unavailable, FailureKind::Failed] {
            cache.failed(&path, &DeliveryFailure::new(kind, "activation failed"), seconds(0));
            assert!(cache.replay(&path, seconds(0)).is_none(), "{kind:?}");
        }
    }

    #[test]
    fn windows_double_to_a_cap_and_are_cleared_by_a_reading() {
        let mut cache = NegativeCache::default();
        let path = Address::new("a");
        let mut now = seconds(0);
        for window in [2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
            cache.failed(&path, &DeliveryFailure::not_found(&path), now);
            assert!(
                cache.replay(&path, now + seconds(window) - Duration::from_nanos(1)).is_some(),
                "{window}"
            );
            now += seconds(window);
            assert!(cache.replay(&path, now).is_none(), "the first read after the window asks");
        }
        cache.cleared(&path);
        cache.failed(&path, &DeliveryFailure::not_found(&path), now);
        assert!(cache.replay(&path, now + seconds(2)).is_none(), "from the start again");
    }
}
