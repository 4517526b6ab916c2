//! The walk: from a poll that gives the fault, along every edge that the fault can take, to where it leads.

use std::{
    cell::{Cell, OnceCell, RefCell},
    collections::{HashMap, HashSet},
};

use rideout_rules::{
    catalog::FaultFact,
    model::{Location, Outcome, ShowsAs},
};

use super::{
    infer::Infer,
    jobs::Round,
    patterns::Names,
    polls::PollSite,
    scope::{in_loop, loop_around},
    state::{Frame, Phase, State, Then},
    verdict::Verdict,
};
use crate::{
    facts::FnId,
    flow::graph::{Block, BlockId, BodyId, End, Graph},
    syntax::tree::Span,
};

/// Steps that the walk of one fault may take. A walk that needs more says nothing.
const BUDGET: u32 = 20_000;

/// What one operation leads to.
pub(super) enum Flow {
    Next,
    Done(Verdict),
    /// Branches that have nothing to do with the fault.
    Any(Vec<State>),
    /// Branches that the fault takes.
    All(Vec<State>),
    /// Branches on something that the fault decides in a way that cannot be told.
    Either(Vec<State>),
}

/// What the walk of an ordinary item has seen.
#[derive(Debug, Default)]
pub(super) struct Ordinary {
    /// The watch was asked again in the same activation of its function.
    pub(super) again_here: Cell<bool>,
    /// It was asked again after its function had returned.
    pub(super) again_above: Cell<bool>,
    /// The function returned the item, or something made of it.
    pub(super) returned: Cell<bool>,
    /// The function was left, by what the item or the loop itself says.
    pub(super) left: Cell<bool>,
    /// A function that only looks at its items was left with an error.
    pub(super) refused: Cell<bool>,
    /// The loop may end by its own logic: at a time, at the item that it waits for, or when something says that it is done.
    pub(super) ends_itself: Cell<bool>,
}

/// The walk of one fault of one poll.
pub(super) struct Walk<'w, 'p, 'c> {
    pub(super) infer: &'w Infer<'p, 'c>,
    pub(super) site: &'w PollSite,
    pub(super) fact: &'w FaultFact,
    /// The source's id in the catalog.
    pub(super) source: &'w str,
    /// Set to follow an ordinary item in place of the fault.
    pub(super) ordinary: Option<Ordinary>,
    budget: Cell<u32>,
    active: RefCell<HashSet<u64>>,
    memo: RefCell<HashMap<u64, Verdict>>,
    /// Which bodies bring the watch back, as far as asked.
    pub(super) openings: RefCell<HashMap<(FnId, BodyId), bool>>,
    pub(super) round_of_poll: OnceCell<Option<Round<'p>>>,
    pub(super) only_looks: OnceCell<bool>,
}

impl<'w, 'p, 'c> Walk<'w, 'p, 'c> {
    pub(super) fn new(
        infer: &'w Infer<'p, 'c>,
        site: &'w PollSite,
        fact: &'w FaultFact,
        source: &'w str,
    ) -> Self {
        Self {
            infer,
            site,
            fact,
            source,
            ordinary: None,
            budget: Cell::new(BUDGET),
            active: RefCell::default(),
            memo: RefCell::default(),
            openings: RefCell::default(),
            round_of_poll: OnceCell::new(),
            only_looks: OnceCell::new(),
        }
    }

    /// Whether the watch is held: asked again after an ordinary item. One whose first item is handed back to a caller that does
    /// not ask again is a wait for one event, and one whose item leads away is a signal. A loop that ends by its own logic is a job.
    pub(super) fn stands(mut self, state: State) -> bool {
        if self.gathers() {
            return false;
        }
        self.ordinary = Some(Ordinary::default());
        self.budget.set(BUDGET / 4);
        self.explore(state);
        let Some(seen) = &self.ordinary else { return true };
        if seen.refused.get() && !seen.left.get() && seen.ends_itself.get() {
            // It checks the parts of one answer.
            return false;
        }
        if seen.again_above.get() {
            return true;
        }
        if seen.left.get() && self.only_stops() {
            return false;
        }
        let job = seen.left.get() && seen.ends_itself.get();
        !job && (self.is_spent() || (seen.again_here.get() && !seen.returned.get()))
    }

    pub(super) fn graph(&self, id: FnId) -> &'p Graph {
        self.infer.graph(id)
    }

    pub(super) fn location(&self, id: FnId, span: Span) -> Location {
        let program = self.infer.program;
        let file = program.files[program.functions[id].file].index;
        Location { file, start: span.start, end: span.end }
    }

    /// Whether the budget was spent: what came out then says nothing.
    pub(super) fn is_spent(&self) -> bool {
        self.budget.get() == 0
    }

    /// Walks with a part of the steps that are left.
    pub(super) fn within(&self, part: u32, walk: impl FnOnce() -> Verdict) -> Verdict {
        let left = self.budget.get();
        let given = left / part;
        self.budget.set(given);
        let verdict = walk();
        self.budget.set(left - (given - self.budget.get()));
        verdict
    }

    /// The names that decide what a pattern singles out.
    pub(super) fn names(&self) -> Names<'_> {
        Names {
            transient: &self.fact.transient,
            others: &self.fact.others,
            variant: self.fact.variant.as_deref(),
        }
    }

    /// The loop around a block, or the given span where there is none.
    pub(super) fn consumer(&self, id: FnId, block: BlockId, span: Span) -> Location {
        let graph = self.graph(id);
        let within = loop_around(graph, &graph.blocks[block as usize]).filter(|_| !self.is_poll_function(id));
        self.location(id, within.map_or(span, |id| graph.loops[id as usize].span))
    }

    /// The location of the loop that a path went round, or of its consumer.
    pub(super) fn round(&self, state: &State) -> Location {
        state.round.map_or(state.consumer, |round| {
            self.location(round.function, self.graph(round.function).loops[round.id as usize].span)
        })
    }

    /// Whether the source goes on by itself after this fault.
    pub(super) fn heals(&self) -> bool {
        match self.fact.shows_as {
            ShowsAs::ErrorHeals | ShowsAs::CallError => true,
            ShowsAs::Variant => self.fact.heals,
            _ => false,
        }
    }

    /// Walks on from a state to every end.
    pub(super) fn explore(&self, mut state: State) -> Verdict {
        loop {
            let left = self.budget.get();
            if left == 0 {
                return Verdict::new(Outcome::Unknown, &state);
            }
            self.budget.set(left - 1);
            let frame = state.frame();
            let graph = self.graph(frame.function);
            let block = &graph.blocks[frame.block as usize];
            let flow = match block.ops.get(frame.op) {
                Some(op) => {
                    state.frame_mut().op += 1;
                    self.op(&mut state, op)
                }
                None => self.end(&mut state, block),
            };
            match flow {
                Flow::Next => {}
                flow => return self.settle(flow, &state),
            }
        }
    }

    /// Follows every branch.
    pub(super) fn settle(&self, flow: Flow, state: &State) -> Verdict {
        let follow = |states: Vec<State>, join: fn(Verdict, Verdict) -> Verdict| {
            states.into_iter().map(|state| self.explore(state)).fold(Verdict::none(), join)
        };
        match flow {
            Flow::Next => self.explore(state.clone()),
            Flow::Done(verdict) => verdict,
            Flow::Any(states) => follow(states, Verdict::any),
            Flow::All(states) => follow(states, Verdict::all),
            // Inside the arm of a transient fault a closer look decides.
            Flow::Either(states) if state.arm.as_ref().is_some_and(|arm| arm.transient.is_some()) => {
                follow(states, Verdict::any)
            }
            Flow::Either(states) => follow(states, Verdict::either),
        }
    }

    fn end(&self, state: &mut State, block: &Block) -> Flow {
        match &block.end {
            End::Goto(target) => {
                state.tested = false;
                state.singles = None;
                let graph = self.graph(state.frame().function);
                let head = graph.blocks[*target as usize].head_of;
                if let Some(id) = head
                    && in_loop(graph, block.within, id)
                {
                    state.went_round(id);
                }
                self.enter(state, *target);
                if head.is_some() { self.head(state.clone()) } else { Flow::Next }
            }
            End::Branch { cond, then, otherwise } => self.branch(state, cond, *then, *otherwise),
            End::Test { value, pat, yes, no } => self.test(state, value, pat, *yes, *no),
            End::Try { value, to, next, span } => self.question(state, value, to, *next, *span),
            End::Select { arms, otherwise } => self.select(state, arms, *otherwise),
            End::Return(place) => {
                let value = state.get(place);
                self.give_back(state, value)
            }
            End::Panic => self.panic(state),
            End::Never => Flow::Done(Verdict::none()),
        }
    }

    /// Goes on at a loop's head, unless the walk is there already.
    fn head(&self, state: State) -> Flow {
        let key = state.key();
        if self.active.borrow().contains(&key) {
            return Flow::Done(self.cycle(&state));
        }
        if let Some(known) = self.memo.borrow().get(&key) {
            return Flow::Done(known.clone());
        }
        self.active.borrow_mut().insert(key);
        let verdict = self.explore(state);
        self.active.borrow_mut().remove(&key);
        self.memo.borrow_mut().insert(key, verdict.clone());
        Flow::Done(verdict)
    }

    /// A loop that goes round without asking the watch.
    fn cycle(&self, state: &State) -> Verdict {
        if let Some((call, _)) = state.handed_over {
            return Verdict::new(Outcome::Nests { call }, state);
        }
        if state.phase == Phase::Fresh {
            return Verdict::new(Outcome::Reopens { paced: true, by: self.round(state) }, state);
        }
        self.dead(state)
    }
}

/// Makes the frame in which a walk starts.
pub(super) fn first_frame(site: &PollSite, body: u32) -> Frame {
    Frame { function: site.function, body, block: site.block, op: site.op, env: 0, then: Then::Callers }
}
