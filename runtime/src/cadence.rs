//! How long to wait before the n-th re-open in a row.
//!
//! A cadence is a table, not an exponential: the two ladders of this crate are measured ones, and a table is what a reader of a
//! log can check. The last step is the *cap*: it repeats for as long as the outage lasts.
//!
//! ```
//! use std::{num::NonZeroU32, time::Duration};
//! use rideout::cadence::Cadence;
//!
//! let third = NonZeroU32::new(3).unwrap();
//! assert_eq!(Cadence::STANDING_WATCH.delay(third), Duration::from_secs(15));
//! assert_eq!(Cadence::HUB_WATCHER.cap(), Duration::from_secs(60));
//! ```

use std::{num::NonZeroU32, sync::Arc, time::Duration};

/// The pauses before the first, second, third ... re-open of one outage.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Cadence {
    first: Duration,
    rest: Rest,
}

#[derive(Clone, Debug)]
enum Rest {
    Fixed(&'static [Duration]),
    Shared(Arc<[Duration]>),
}

impl Rest {
    fn steps(&self) -> &[Duration] {
        match self {
            Self::Fixed(steps) => steps,
            Self::Shared(steps) => steps,
        }
    }
}

impl PartialEq for Rest {
    fn eq(&self, other: &Self) -> bool {
        self.steps() == other.steps()
    }
}

impl Eq for Rest {}

const fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

impl Cadence {
    /// 2, 5, 15, 30, then 60 seconds: the cadence of a watch that gives up.
    ///
    /// Five re-opens in a row wait 112 s in all, so a database that stays down is reported after about two minutes.
    pub const STANDING_WATCH: Self =
        Self::steps(seconds(2), &[seconds(5), seconds(15), seconds(30), seconds(60)]);

    /// 1, 2, 5, 15, 30, then every 60 seconds: the cadence of a watcher that never gives up.
    ///
    /// One hiccup costs one second; an outage of an hour costs 65 opens.
    pub const HUB_WATCHER: Self =
        Self::steps(seconds(1), &[seconds(2), seconds(5), seconds(15), seconds(30), seconds(60)]);

    /// A cadence from a table: `first`, then the steps of `rest`, the last of which repeats.
    pub const fn steps(first: Duration, rest: &'static [Duration]) -> Self {
        Self { first, rest: Rest::Fixed(rest) }
    }

    /// A cadence from any finite list of delays, such as the one that a `backon` builder makes.
    ///
    /// The list is read to its end here, so it must have one.
    pub fn collect(first: Duration, rest: impl IntoIterator<Item = Duration>) -> Self {
        Self { first, rest: Rest::Shared(rest.into_iter().collect()) }
    }

    /// The pause before re-open number `attempt` of an outage; the last step for every number past the table.
    #[must_use]
    pub fn delay(&self, attempt: NonZeroU32) -> Duration {
        let index = usize::try_from(attempt.get() - 1).unwrap_or(usize::MAX);
        match index {
            0 => self.first,
            _ => self.rest.steps().get(index - 1).copied().unwrap_or_else(|| self.cap()),
        }
    }

    /// The last step, which repeats.
    #[must_use]
    pub fn cap(&self) -> Duration {
        self.rest.steps().last().copied().unwrap_or(self.first)
    }

    /// The number of the first re-open that waits for the cap: from here on an outage counts as sustained.
    #[must_use]
    pub fn reaches_cap_at(&self) -> NonZeroU32 {
        let steps = u32::try_from(self.rest.steps().len()).unwrap_or(u32::MAX - 1);
        NonZeroU32::MIN.saturating_add(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(cadence: &Cadence, n: u32) -> Vec<u64> {
        (1..=n).map(|n| cadence.delay(NonZeroU32::new(n).unwrap()).as_secs()).collect()
    }

    #[test]
    fn standing_watch_waits_112_seconds_in_five_steps() {
        let five = delays(&Cadence::STANDING_WATCH, 5);
        assert_eq!(five, [2, 5, 15, 30, 60]);
        assert_eq!(five.iter().sum::<u64>(), 112);
        assert_eq!(delays(&Cadence::STANDING_WATCH, 7)[5..], [60, 60]);
        assert_eq!(Cadence::STANDING_WATCH.reaches_cap_at().get(), 5);
    }

    #[test]
    fn hub_watcher_opens_65_times_in_an_hour() {
        assert_eq!(delays(&Cadence::HUB_WATCHER, 7), [1, 2, 5, 15, 30, 60, 60]);
        assert_eq!(Cadence::HUB_WATCHER.reaches_cap_at().get(), 6);
        let (mut at, mut opens) = (0, 1);
        for delay in delays(&Cadence::HUB_WATCHER, 100) {
            at += delay;
            opens += u32::from(at <= 3600);
        }
        assert_eq!(opens, 65);
    }

    #[test]
    fn a_cadence_of_one_step_is_constant() {
        let constant = Cadence::steps(Duration::from_millis(7), &[]);
        assert_eq!(constant.delay(NonZeroU32::MAX), Duration::from_millis(7));
        assert_eq!(constant.cap(), Duration::from_millis(7));
        assert_eq!(constant, Cadence::collect(Duration::from_millis(7), []));
    }
}
