//! Where a walk is and what it carries along.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    rc::Rc,
};

use rideout_rules::model::{Arm, Location};

use super::{
    kept::Kept,
    sites::Site,
    value::{Env, Val},
};
use crate::{
    facts::FnId,
    flow::graph::{ArmId, BlockId, BodyId, LoopId, Place},
};

/// What happens with the value that a frame's body returns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Then {
    /// The frame is the outermost one in view: its callers decide.
    Callers,
    /// The value goes to a place of the frame below.
    Into(Place),
    /// Whatever it is, the place gets what is kept here.
    Keep(Box<Val>, Place),
    /// A future of a set: the place gets the set of which it has completed.
    Set(Place),
    /// The place gets a future that completes with it.
    Ready(Place),
    /// A method of `Stream` makes its answer of it.
    Polled(&'static str, Place),
    /// Wrapped in a variant first.
    Wrap(&'static str, Place),
    /// A task of its own: nobody gets the value.
    Detached,
    /// A task that is waited for: the place gets the handle of the ended task.
    Task(Place),
    /// A library calls it with an item.
    Callback,
    /// An adapter's closure: the rest of the adapters follow.
    Adapter { next: usize, method: &'static str, to: Place },
}

/// One body being walked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    pub(super) function: FnId,
    pub(super) body: BodyId,
    pub(super) block: BlockId,
    pub(super) op: usize,
    /// Index of its locals in [`State::envs`].
    pub(super) env: usize,
    pub(super) then: Then,
}

/// A step of the way, newest first.
#[derive(Debug)]
pub(super) struct Trail {
    pub(super) location: Location,
    pub(super) label: String,
    pub(super) before: Option<Rc<Trail>>,
}

/// How far the fault's script has been played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// The watch has been asked this many times since the fault.
    Polled(u8),
    /// The watch has been opened anew and not been asked yet.
    Fresh,
}

/// A generator has ended, and nobody has asked it since.
pub(super) const NOT_ASKED: u8 = 100;

/// A loop that was gone round, with its depth: the outer, the smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Round {
    pub(super) depth: i32,
    pub(super) function: FnId,
    pub(super) id: LoopId,
}

/// Where a walk is and what it has seen. Cheap enough to copy at every branch.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) frames: Vec<Frame>,
    pub(super) envs: Vec<Env>,
    pub(super) phase: Phase,
    /// Where the watch has been asked since the fault.
    pub(super) asked_at: Vec<(FnId, BlockId, usize)>,
    /// Whether something waited since the last attempt (the fault, an open, a poll).
    pub(super) waited: bool,
    /// Whether the watch has been opened again on this path.
    pub(super) reopened: bool,
    /// Whether the closure that the walk came from has been called.
    pub(super) consumed: bool,
    /// The last closure that the walk came out of.
    pub(super) closure: Option<(FnId, BodyId)>,
    /// Callers gone up.
    pub(super) ups: i32,
    pub(super) chain: Vec<Site>,
    /// The arm that the fault has just been tested into.
    pub(super) tested: bool,
    pub(super) singles: Option<String>,
    /// Arms that the fault entered, in order, with their function.
    pub(super) arms: Vec<(FnId, ArmId)>,
    /// The first arm that logged, or else singled out a transient fault.
    pub(super) arm: Option<Arm>,
    pub(super) arm_item: Option<FnId>,
    /// Whether the path left from inside the arm that singled out the transient fault.
    pub(super) left: bool,
    pub(super) consumer: Location,
    pub(super) consumer_item: FnId,
    pub(super) round: Option<Round>,
    /// Set when a bound was reached: a count, a delay iterator that is over.
    pub(super) bound: Option<Location>,
    /// The function whose bound it is, and what it compares.
    pub(super) bound_on: Option<(FnId, Place, Place)>,
    pub(super) said: bool,
    pub(super) restored: bool,
    /// The connection is back: what the arms do now says nothing about the fault.
    pub(super) healed: bool,
    pub(super) released: bool,
    /// A flag that others look at was set.
    pub(super) marked: bool,
    /// The arm that took the fault takes an ordinary item too.
    pub(super) designed: bool,
    /// The watch serves a `for` over a collection: a job with an end.
    pub(super) finite: bool,
    /// A branch that has nothing to do with the fault was taken.
    pub(super) forked: bool,
    /// The watch's task has ended and its handle has not been looked at.
    pub(super) pending_handle: bool,
    /// Whether the task has ended was asked.
    pub(super) asked: bool,
    /// The field that the handle was put into.
    pub(super) kept: Option<Kept>,
    /// Others that were waited for together with the watch have ended after it.
    pub(super) outlived: bool,
    /// The task started its own successor.
    pub(super) handed_over: Option<(Location, bool)>,
    pub(super) trail: Option<Rc<Trail>>,
}

impl State {
    /// The state before a watch's first answer.
    pub(super) fn new(frame: Frame, env: Env, consumer: Location) -> Self {
        Self {
            consumer_item: frame.function,
            frames: vec![frame],
            envs: vec![env],
            phase: Phase::Polled(0),
            asked_at: Vec::new(),
            waited: false,
            reopened: false,
            consumed: false,
            closure: None,
            ups: 0,
            chain: Vec::new(),
            tested: false,
            singles: None,
            arms: Vec::new(),
            arm: None,
            arm_item: None,
            left: false,
            consumer,
            round: None,
            bound: None,
            bound_on: None,
            said: false,
            restored: false,
            healed: false,
            released: false,
            marked: false,
            designed: false,
            finite: false,
            forked: false,
            pending_handle: false,
            asked: false,
            kept: None,
            outlived: false,
            handed_over: None,
            trail: None,
        }
    }

    /// The innermost frame.
    pub(super) fn frame(&self) -> &Frame {
        // A state always has a frame: it is made with one, and the last is replaced, never dropped.
        &self.frames[self.frames.len() - 1]
    }

    pub(super) fn frame_mut(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn get(&self, place: &Place) -> Val {
        self.envs[self.frame().env].get(place)
    }

    pub(super) fn set(&mut self, place: &Place, value: Val) {
        let env = self.frame().env;
        self.envs[env].set(place, value);
    }

    /// Drops the locals of a frame that has returned.
    pub(super) fn forget(&mut self, env: usize) {
        if env > 0 && env + 1 == self.envs.len() && self.frames.iter().all(|frame| frame.env != env) {
            self.envs.pop();
        }
    }

    /// Forgets which arms the fault entered.
    pub(super) fn forget_arms(&mut self) {
        self.arm = None;
        self.arm_item = None;
        self.arms.clear();
        self.left = false;
    }

    fn depth(&self) -> i32 {
        i32::try_from(self.frames.len()).unwrap_or(i32::MAX) - self.ups
    }

    /// Remembers that a loop was gone round; the outermost is kept.
    pub(super) fn went_round(&mut self, id: LoopId) {
        self.bound = None;
        let round = Round { depth: self.depth(), function: self.frame().function, id };
        if self.round.is_none_or(|known| round.depth <= known.depth) {
            self.round = Some(round);
        }
    }

    /// Whether the path went round a loop of a function that is still running.
    pub(super) fn in_round(&self) -> bool {
        self.round.is_some_and(|round| self.frames.iter().any(|frame| frame.function == round.function))
    }

    /// Adds a step to the trail.
    pub(super) fn step(&mut self, location: Location, label: &str) {
        if self.trail.as_ref().is_some_and(|last| last.location == location) {
            return;
        }
        self.trail = Some(Rc::new(Trail { location, label: label.to_owned(), before: self.trail.take() }));
    }

    /// A number for everything that decides how the walk goes on.
    pub(super) fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.frames.hash(&mut hasher);
        self.envs.hash(&mut hasher);
        (self.phase, self.waited, self.reopened, self.consumed, self.ups, self.tested, &self.singles)
            .hash(&mut hasher);
        (&self.arms, self.arm.is_some(), self.round, self.bound.is_some(), self.said, self.left)
            .hash(&mut hasher);
        (
            self.restored,
            self.healed,
            self.released,
            self.marked,
            self.designed,
            self.finite,
            self.pending_handle,
            (self.asked, self.kept.is_some()),
            self.outlived,
            self.handed_over.is_some(),
        )
            .hash(&mut hasher);
        (&self.chain, &self.asked_at, &self.bound_on).hash(&mut hasher);
        hasher.finish()
    }
}
