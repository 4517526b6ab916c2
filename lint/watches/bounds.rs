//! Bounds on attempts: counters, deadlines and delays that run out.

use rideout_rules::model::Outcome;

use super::{
    scope::in_loop,
    state::State,
    value::Val,
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::{
    facts::FnId,
    flow::graph::{Block, Callee, LoopId, Place, Value},
    syntax::tree::Op as BinaryOp,
};

impl Walk<'_, '_, '_> {
    /// A bound on attempts matters only where the other branch recovers.
    pub(super) fn bounded(&self, states: Vec<State>) -> Flow {
        let verdicts: Vec<Verdict> = states.into_iter().map(|state| self.explore(state)).collect();
        // An error returned is no further attempt: what is counted then are items.
        let surfaces = |verdict: &Verdict| verdict.0.iter().all(|ended| ended.outcome == Outcome::Surfaces);
        let recovers = |verdict: &Verdict| {
            !verdict.0.is_empty() && (!verdict.is_bad() || verdict.gives_up()) && !surfaces(verdict)
        };
        let mut rest = Verdict::none();
        for (at, verdict) in verdicts.iter().enumerate() {
            let beside = verdicts.iter().enumerate().any(|(other, verdict)| other != at && recovers(verdict));
            let mut verdict = verdict.clone();
            let alone = verdicts.iter().filter(|verdict| !verdict.0.is_empty()).count() < 2;
            if !beside && !alone {
                for ended in
                    verdict.0.iter_mut().filter(|ended| matches!(ended.outcome, Outcome::GivesUp { .. }))
                {
                    ended.outcome = Outcome::Ends;
                }
            }
            rest = rest.any(verdict);
        }
        Flow::Done(rest)
    }

    /// Whether a `return` or `break` belongs to the loop whose bound was reached, and to nothing that is called after it.
    pub(super) fn leaves_by_bound(&self, state: &State) -> bool {
        let function = state.frame().function;
        let own = state.bound_on.as_ref().is_none_or(|(bounded, ..)| *bounded == function);
        !state.pending_handle && (own || state.frames.len() == 1)
    }

    /// What a bound compares, seen through plain bindings.
    pub(super) fn compared(&self, state: &State, cond: &Place) -> Option<(FnId, Place, Place)> {
        let function = state.frame().function;
        let graph = self.graph(function);
        let origin = |place: &Place| match graph.made_by(place) {
            Some(op) => op.to.clone(),
            None => place.clone(),
        };
        match graph.made_by(cond).map(|op| &op.value) {
            Some(Value::Compare(_, left, right)) => {
                let (left, right) = (origin(left), origin(right));
                Some(if left <= right { (function, left, right) } else { (function, right, left) })
            }
            _ => None,
        }
    }

    /// The bound is asked for once more, behind its loop: that it was reached is known.
    pub(super) fn bound_again(&self, states: Vec<State>) -> Flow {
        let verdicts = states.into_iter().map(|state| self.explore(state));
        Flow::Done(verdicts.fold(Verdict::none(), |known, other| {
            if known.gives_up() && !other.0.is_empty() {
                other
            } else if other.gives_up() && !known.0.is_empty() {
                known
            } else {
                known.any(other)
            }
        }))
    }

    /// Whether a condition compares something that counts, or a time that has passed.
    pub(super) fn is_bound(&self, state: &State, cond: &Place) -> bool {
        let graph = self.graph(state.frame().function);
        let defined =
            |place: &Place| graph.blocks.iter().flat_map(|block| &block.ops).find(|op| op.to == *place);
        let counts = |place: &Place| {
            (place.fields.is_empty() && graph.locals[place.local as usize].counts)
                || graph.blocks.iter().flat_map(|block| &block.ops).any(|op| matches!(&op.value, Value::Step(to, _) if to == place))
                || defined(place).is_some_and(|op| {
                    matches!(&op.value, Value::Call { callee: Callee::Method { name, .. }, .. } if name == "elapsed")
                })
        };
        match defined(cond).map(|op| &op.value) {
            Some(Value::Compare(BinaryOp::Order | BinaryOp::Equal, left, right)) => {
                // What the fault itself sets back never gets there.
                let counts = |place| counts(place) && !matches!(state.get(place), Val::Int(_));
                counts(left) || counts(right)
            }
            _ => false,
        }
    }

    /// Whether a tested value is the next one of something that runs out: delays, attempts.
    pub(super) fn runs_out(&self, state: &State, place: &Place) -> bool {
        let frame = state.frame();
        let graph = self.graph(frame.function);
        let block = &graph.blocks[frame.block as usize];
        let ops = || graph.blocks.iter().flat_map(|block| &block.ops);
        let named = ops().find_map(|op| match &op.value {
            Value::Use(from) if op.to == *place => Some(from),
            _ => None,
        });
        let place = named.unwrap_or(place);
        let is_next = ops().any(|op| {
            op.to == *place
                && matches!(&op.value, Value::Call { callee: Callee::Method { name, .. }, args, .. }
                    if matches!(name.as_str(), "next" | "next_backoff" | "next_delay")
                        && !self.infer.is_stream(&self.infer.place(frame.function, &args[0])))
        });
        if !is_next {
            return false;
        }
        match block.head_of {
            // Things that nothing waits between are no delays.
            Some(id) => {
                (graph.loops[id as usize].bounded || (state.reopened && state.waited))
                    && went_round(state, id)
            }
            None => true,
        }
    }

    /// Whether the path is at the head of a loop over a collection that asks a watch for each of its things.
    pub(super) fn went_through_all(&self, state: &State) -> bool {
        let frame = state.frame();
        let graph = self.graph(frame.function);
        let asks = &graph.blocks.get(self.site.block as usize);
        let here = |block: &Block| self.site.function == frame.function && block.body == frame.body;
        let head = graph.blocks[frame.block as usize].head_of;
        head.is_some_and(|id| {
            let inside = asks.is_some_and(|block| here(block) && in_loop(graph, block.within, id));
            inside && graph.loops[id as usize].finite && went_round(state, id)
        })
    }
}

/// Whether the path came round this loop of the function at hand.
fn went_round(state: &State, id: LoopId) -> bool {
    state.round.is_some_and(|round| round.id == id && round.function == state.frame().function)
}
