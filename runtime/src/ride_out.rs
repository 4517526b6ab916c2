//! How long to ride out an address that is shutting down: two bounds, one pure state machine.
//!
//! A refusal by *another* activation is another recycle. A refusal by the *same* activation is one teardown that still
//! drains. One count cannot bound both: three chances that all fall inside one millisecond are one chance.
//!
//! ```
//! use rideout::activation::ActivationId;
//! use rideout::ride_out::{ReArm, RideOut, RideOutPolicy};
//!
//! let mut ride = RideOut::new(RideOutPolicy::default());
//! let corpse = Some(ActivationId::mint());
//! assert!(matches!(ride.charge(corpse), ReArm::Join { attempt: 1, .. }));
//! assert!(matches!(ride.charge(corpse), ReArm::Rest { attempt: 1, .. }));
//! ride.answered();
//! assert!(matches!(ride.charge(corpse), ReArm::Join { attempt: 1, .. }));
//! ```

use std::collections::HashSet;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::activation::ActivationId;

/// The bounds of a ride-out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct RideOutPolicy {
    max_re_arms: u32,
    max_same_activation_re_asks: u32,
    pace: Duration,
}

impl RideOutPolicy {
    /// How many activations in a row may refuse before the address counts as recycling in a loop.
    pub const MAX_RE_ARMS: u32 = 3;
    /// How many re-asks one activation may refuse: 16 rests of 500 ms reach the 8 s of the disposal watchdog.
    pub const MAX_SAME_ACTIVATION_RE_ASKS: u32 = 16;
    /// The rest before an activation that refused is asked once more.
    pub const PACE: Duration = Duration::from_millis(500);
    /// When a wedged teardown is torn down by force, and waiting can rescue nothing any more.
    pub const DISPOSAL_WATCHDOG: Duration = Duration::from_secs(8);

    /// Bounds of your own, checked against the disposal watchdog of the hubs that will be asked.
    ///
    /// # Errors
    /// When a count or the pace is zero, or when the rests together end before the watchdog would: such a ride-out gives up
    /// on teardowns that still end by themselves.
    pub fn try_new(
        max_re_arms: u32,
        max_same_activation_re_asks: u32,
        pace: Duration,
        watchdog: Duration,
    ) -> Result<Self, BadRideOutPolicy> {
        if max_re_arms == 0 || max_same_activation_re_asks == 0 || pace.is_zero() {
            return Err(BadRideOutPolicy::Zero);
        }
        let reach = pace.saturating_mul(max_same_activation_re_asks);
        if reach < watchdog {
            return Err(BadRideOutPolicy::EndsBeforeTheWatchdog { reach, watchdog });
        }
        Ok(Self { max_re_arms, max_same_activation_re_asks, pace })
    }

    /// How many activations in a row may refuse.
    #[must_use]
    pub fn max_re_arms(&self) -> u32 {
        self.max_re_arms
    }

    /// How many re-asks in a row one activation may refuse.
    #[must_use]
    pub fn max_same_activation_re_asks(&self) -> u32 {
        self.max_same_activation_re_asks
    }

    /// The rest before an activation that refused is asked once more.
    #[must_use]
    pub fn pace(&self) -> Duration {
        self.pace
    }
}

impl Default for RideOutPolicy {
    fn default() -> Self {
        Self {
            max_re_arms: Self::MAX_RE_ARMS,
            max_same_activation_re_asks: Self::MAX_SAME_ACTIVATION_RE_ASKS,
            pace: Self::PACE,
        }
    }
}

/// Why a [`RideOutPolicy`] was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadRideOutPolicy {
    /// A count or the pace is zero.
    Zero,
    /// The rests on one activation end before its watchdog does.
    EndsBeforeTheWatchdog {
        /// All rests together.
        reach: Duration,
        /// The watchdog that they must reach.
        watchdog: Duration,
    },
}

impl fmt::Display for BadRideOutPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero => f.write_str("a ride-out needs at least one re-arm, one re-ask and a pace"),
            Self::EndsBeforeTheWatchdog { reach, watchdog } => {
                write!(
                    f,
                    "the re-asks at one activation end after {reach:?}, before its disposal watchdog ({watchdog:?})"
                )
            }
        }
    }
}

impl Error for BadRideOutPolicy {}

/// The bound that ended a ride-out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// Too many activations in a row refused: the address recycles in a loop.
    Activation,
    /// One activation refused too long: its teardown is wedged.
    Time,
}

impl Bound {
    /// Its word in metrics: `activation` or `time`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Activation => "activation",
            Self::Time => "time",
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Activation => "distinct activations",
            Self::Time => "re-asks at one activation",
        })
    }
}

/// What a refusal was charged to, and so what must happen before the address is asked again.
///
/// It travels with the attempt: the counts move on while an attempt waits its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum ReArm {
    /// Another activation, or an unnamed one: wait until it is disposed of, then ask.
    Join {
        /// Who refused.
        activation: Option<ActivationId>,
        /// Which re-arm this is, counted from 1.
        attempt: u32,
    },
    /// The activation that refused before: rest, then ask.
    Rest {
        /// Who refused.
        activation: ActivationId,
        /// Which re-ask in a row this is, counted from 1.
        attempt: u32,
        /// How long to rest.
        pace: Duration,
    },
    /// This refusal spent a bound. Say so, once, and stop asking.
    GiveUp(Bound),
    /// A bound was spent by an earlier refusal, and nothing has answered since. Nothing more to say.
    Spent(Bound),
}

/// Counts the refusals of one address since it last answered.
#[derive(Clone, Debug)]
pub struct RideOut {
    policy: RideOutPolicy,
    last: Option<ActivationId>,
    activations: u32,
    same: u32,
    spent: Option<Bound>,
    seen: HashSet<ActivationId>,
}

impl RideOut {
    /// A ride-out in which nothing has refused yet.
    #[must_use]
    pub fn new(policy: RideOutPolicy) -> Self {
        Self { policy, last: None, activations: 0, same: 0, spent: None, seen: HashSet::new() }
    }

    /// Charges one refusal to the axis that it belongs to. The refusal of the first ask is charged too.
    ///
    /// Two refusals that name nobody are not by the same activation: an unnamed one is charged as another activation.
    pub fn charge(&mut self, activation: Option<ActivationId>) -> ReArm {
        if let Some(bound) = self.spent {
            return ReArm::Spent(bound);
        }
        self.seen.extend(activation);
        let before = std::mem::replace(&mut self.last, activation);
        match activation {
            Some(same) if before == activation => self.charge_time(same),
            _ => self.charge_activation(activation),
        }
    }

    /// An answer: proof that this was no degenerate loop. Both axes start afresh.
    pub fn answered(&mut self) {
        *self = Self::new(self.policy);
    }

    /// How many activations refused since the last answer. Those that did not name themselves are not counted.
    #[must_use]
    pub fn distinct_owners(&self) -> usize {
        self.seen.len()
    }

    /// The bound that is spent, until an answer.
    #[must_use]
    pub fn spent(&self) -> Option<Bound> {
        self.spent
    }

    fn charge_time(&mut self, activation: ActivationId) -> ReArm {
        self.same += 1;
        if self.same > self.policy.max_same_activation_re_asks {
            return self.give_up(Bound::Time);
        }
        ReArm::Rest { activation, attempt: self.same, pace: self.policy.pace }
    }

    fn charge_activation(&mut self, activation: Option<ActivationId>) -> ReArm {
        self.same = 0;
        self.activations += 1;
        if self.activations > self.policy.max_re_arms {
            return self.give_up(Bound::Activation);
        }
        ReArm::Join { activation, attempt: self.activations }
    }

    fn give_up(&mut self, bound: Bound) -> ReArm {
        self.spent = Some(bound);
        ReArm::GiveUp(bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(bits: u32) -> Option<ActivationId> {
        ActivationId::from_bits(bits)
    }

    fn ride() -> RideOut {
        RideOut::new(RideOutPolicy::default())
    }

    #[test]
    fn the_defaults_reach_the_watchdog() {
        let default = RideOutPolicy::default();
        let checked =
            RideOutPolicy::try_new(3, 16, Duration::from_millis(500), RideOutPolicy::DISPOSAL_WATCHDOG);
        assert_eq!(checked, Ok(default));
    }

    #[test]
    fn a_policy_that_ends_before_the_watchdog_is_refused() {
        let watchdog = Duration::from_secs(8);
        let short = RideOutPolicy::try_new(3, 15, Duration::from_millis(500), watchdog);
        assert!(matches!(short, Err(BadRideOutPolicy::EndsBeforeTheWatchdog { .. })));
        for (re_arms, re_asks, pace) in [(0, 16, 500), (3, 0, 500), (3, 16, 0)] {
            let zero = RideOutPolicy::try_new(re_arms, re_asks, Duration::from_millis(pace), Duration::ZERO);
            assert_eq!(zero, Err(BadRideOutPolicy::Zero));
        }
    }

    #[test]
    fn four_activations_are_one_ask_and_three_re_asks() {
        let mut ride = ride();
        for attempt in 1..=3 {
            assert_eq!(ride.charge(id(attempt)), ReArm::Join { activation: id(attempt), attempt });
        }
        assert_eq!(ride.charge(id(4)), ReArm::GiveUp(Bound::Activation));
        assert_eq!(ride.distinct_owners(), 4);
    }

    #[test]
    fn refusals_that_name_nobody_are_charged_as_other_activations() {
        let mut ride = ride();
        for attempt in 1..=3 {
            assert_eq!(ride.charge(None), ReArm::Join { activation: None, attempt });
        }
        assert_eq!(ride.charge(None), ReArm::GiveUp(Bound::Activation));
        assert_eq!(ride.distinct_owners(), 0);
    }

    #[test]
    fn one_corpse_is_joined_once_and_rested_on_for_eight_seconds() {
        let mut ride = ride();
        let mut rested = Duration::ZERO;
        assert!(matches!(ride.charge(id(7)), ReArm::Join { attempt: 1, .. }));
        for expected in 1..=16 {
            let ReArm::Rest { attempt, pace, .. } = ride.charge(id(7)) else { panic!("refusal {expected}") };
            assert_eq!(attempt, expected);
            rested += pace;
        }
        assert_eq!(rested, RideOutPolicy::DISPOSAL_WATCHDOG);
        assert_eq!(ride.charge(id(7)), ReArm::GiveUp(Bound::Time), "the 18th refusal");
        assert_eq!(ride.charge(id(7)), ReArm::Spent(Bound::Time));
    }

    #[test]
    fn two_activations_that_alternate_are_a_loop() {
        let mut ride = ride();
        for bits in [1, 2, 1] {
            assert!(matches!(ride.charge(id(bits)), ReArm::Join { .. }));
        }
        assert_eq!(ride.charge(id(2)), ReArm::GiveUp(Bound::Activation));
    }

    #[test]
    fn a_new_activation_starts_the_time_axis_afresh() {
        let mut ride = ride();
        for bits in [1, 1, 1, 2] {
            let _ = ride.charge(id(bits));
        }
        assert!(matches!(ride.charge(id(2)), ReArm::Rest { attempt: 1, .. }));
    }

    #[test]
    fn a_spent_ride_is_silent_until_an_answer() {
        let mut ride = ride();
        for bits in 1..=4 {
            let _ = ride.charge(id(bits));
        }
        assert_eq!(ride.charge(id(5)), ReArm::Spent(Bound::Activation));
        assert_eq!(ride.spent(), Some(Bound::Activation));
        ride.answered();
        assert_eq!(ride.spent(), None);
        assert!(matches!(ride.charge(id(5)), ReArm::Join { attempt: 1, .. }));
    }

    proptest! {
        /// Against a model that counts by looking back over the whole history since the last answer.
        #[test]
        fn budgets_are_exact(script in prop::collection::vec(prop::option::of(prop::option::of(1u32..5)), 0..400)) {
            let mut ride = ride();
            let mut since_answer: Vec<Option<ActivationId>> = Vec::new();
            let mut gave_up = false;
            for step in script {
                let Some(bits) = step else {
                    ride.answered();
                    since_answer.clear();
                    gave_up = false;
                    continue;
                };
                let activation = bits.and_then(id);
                since_answer.push(activation);
                let run = since_answer.iter().rev().take_while(|seen| seen.is_some() && **seen == activation).count();
                let changes = since_answer
                    .windows(2)
                    .filter(|pair| pair[1].is_none() || pair[0] != pair[1])
                    .count() + 1;
                let decision = ride.charge(activation);
                if gave_up {
                    prop_assert!(matches!(decision, ReArm::Spent(_)));
                    continue;
                }
                match decision {
                    ReArm::Join { attempt, .. } => {
                        prop_assert!(run <= 1 && changes <= 3);
                        prop_assert_eq!(attempt as usize, changes);
                    }
                    ReArm::Rest { attempt, .. } => {
                        prop_assert!((2..=17).contains(&run));
                        prop_assert_eq!(attempt as usize, run - 1);
                    }
                    ReArm::GiveUp(Bound::Activation) => prop_assert_eq!((changes, run <= 1), (4, true)),
                    ReArm::GiveUp(Bound::Time) => prop_assert_eq!(run, 18),
                    ReArm::Spent(_) => prop_assert!(false, "spent without giving up"),
                }
                gave_up = matches!(decision, ReArm::GiveUp(_));
            }
        }
    }
}
