//! Outcomes of the branches of a walk, put together.

use std::rc::Rc;

use rideout_rules::model::{Arm, Location, Outcome};

use super::state::{State, Trail};
use crate::facts::FnId;

/// One end of one path.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) outcome: Outcome,
    pub(super) arm: Option<Arm>,
    pub(super) arm_item: Option<FnId>,
    pub(super) consumer: Location,
    pub(super) consumer_item: FnId,
    /// Whether the path left from inside the arm that singled out the transient fault.
    pub(super) left: bool,
    pub(super) trail: Option<Rc<Trail>>,
}

/// What the paths from one state lead to. Bad ends first, if there are any; else one good end.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdict(pub(super) Vec<Ended>);

impl Verdict {
    pub(super) fn new(outcome: Outcome, state: &State) -> Self {
        Self(vec![Ended {
            outcome,
            arm: state.arm.clone(),
            arm_item: state.arm_item,
            consumer: state.consumer,
            consumer_item: state.consumer_item,
            left: state.left,
            trail: state.trail.clone(),
        }])
    }

    /// A path that says nothing, such as the error of an unrelated call.
    pub(super) fn none() -> Self {
        Self::default()
    }

    /// Whether any path ends badly.
    pub(super) fn is_bad(&self) -> bool {
        self.0.iter().any(|ended| is_bad(ended.outcome))
    }

    /// Whether nothing can be told of any path.
    pub(super) fn says_nothing(&self) -> bool {
        self.0.iter().all(|ended| ended.outcome == Outcome::Unknown)
    }

    /// The call that starts what is running already, if all paths lead to one.
    pub(super) fn nests(&self) -> Option<Location> {
        let calls = self.0.iter().map(|ended| match ended.outcome {
            Outcome::Nests { call } => Some(call),
            _ => None,
        });
        calls.reduce(|left, right| left.and(right)).flatten()
    }

    /// Whether any path gives up at a bound.
    pub(super) fn gives_up(&self) -> bool {
        self.0.iter().any(|ended| matches!(ended.outcome, Outcome::GivesUp { .. }))
    }

    /// Branches on something that has nothing to do with the fault: one that recovers is enough. A bound that ends the recovery in
    /// silence counts all the same.
    pub(super) fn any(self, other: Self) -> Self {
        if self.0.is_empty() {
            return other;
        }
        if other.0.is_empty() {
            return self;
        }
        if self.gives_up() {
            return self;
        }
        if other.gives_up() {
            return other;
        }
        match (self.is_bad(), other.is_bad()) {
            (true, false) => other,
            // Leaving for another reason says less than what happens to the watch that stays.
            (true, true) if self.just_ends() && !other.just_ends() => other,
            _ => self,
        }
    }

    /// Branches that the fault decides in a way that cannot be told: one that recovers is enough, unless the other is an arm that
    /// singles out the transient fault and leaves on it.
    pub(super) fn either(self, other: Self) -> Self {
        match (self.leaves_on_transient(), other.leaves_on_transient()) {
            (true, _) => self,
            (_, true) => other,
            _ => self.any(other),
        }
    }

    fn leaves_on_transient(&self) -> bool {
        self.0.iter().any(|ended| {
            is_bad(ended.outcome)
                && ended.left
                && ended.arm.as_ref().is_some_and(|arm| arm.transient.is_some())
        })
    }

    fn just_ends(&self) -> bool {
        self.0.iter().all(|ended| ended.outcome == Outcome::Ends)
    }

    /// Branches that the fault itself takes: all of them must recover.
    pub(super) fn all(mut self, mut other: Self) -> Self {
        match (self.is_bad(), other.is_bad()) {
            (true, true) => {
                self.0.append(&mut other.0);
                self.0.truncate(8);
                self
            }
            (true, false) => self,
            (false, true) => other,
            (false, false) => {
                if self.0.is_empty() {
                    other
                } else {
                    self
                }
            }
        }
    }
}

fn is_bad(outcome: Outcome) -> bool {
    match outcome {
        Outcome::Ends
        | Outcome::Spins
        | Outcome::Nests { .. }
        | Outcome::GivesUp { .. }
        | Outcome::Stale { .. } => true,
        Outcome::Reopens { paced, .. } | Outcome::Continues { paced, .. } => !paced,
        _ => false,
    }
}
