//! New openings of the watch: the first goes on in both its results, the second tells whether anything waited.

use rideout_rules::model::{Outcome, ShowsAs};

use super::{
    scope::loop_around,
    state::{Frame, Phase, State},
    value::Val,
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::{
    facts::{FnId, Ty},
    flow::graph::{Op, Place},
};

impl Walk<'_, '_, '_> {
    /// The watch is opened again: a first attempt goes on in both its results, a second one tells whether anything waited.
    pub(super) fn open(&self, state: &mut State, op: &Op, ty: &Ty) -> Flow {
        let location = self.location(state.frame().function, op.span);
        if state.pending_handle {
            // The task has ended, and this is its parent going on beside it.
            state.set(&op.to, Val::Unknown);
            return Flow::Next;
        }
        if self.ordinary.is_some() {
            state.reopened = true;
            state.phase = Phase::Fresh;
            state.set(&op.to, ready(ty));
            return Flow::Next;
        }
        if state.phase == Phase::Fresh {
            // Another stream of the same source, opened along with the first.
            state.set(&op.to, ready(ty));
            return Flow::Next;
        }
        if state.reopened {
            let by = self.round(state);
            let paced = state.waited || self.paces_itself();
            let of_each =
                state.round.is_some_and(|round| self.graph(round.function).loops[round.id as usize].finite);
            // A loop over a collection that never waits opens a stream of each of its things, once.
            let outcome = if of_each && !paced { Outcome::OneShot } else { Outcome::Reopens { paced, by } };
            return Flow::Done(Verdict::new(outcome, state));
        }
        if state.ups > 0 && !self.goes_round(state) {
            // Something else further on, which begins when this one has ended.
            return Flow::Done(Verdict::new(Outcome::Unknown, state));
        }
        state.step(location, "opened again");
        state.bound = None;
        state.reopened = true;
        state.waited = false;
        state.round = None;
        let fails = ty_mentions(ty, "Result");
        let mut failed = fails.then(|| state.clone());
        state.phase = Phase::Fresh;
        state.set(&op.to, ready(ty));
        let Some(failed) = &mut failed else { return Flow::Next };
        // From here on the fault is that of the opening.
        failed.forget_arms();
        let block = failed.frame().block;
        let function = failed.frame().function;
        if self.graph(function).blocks[block as usize].within.is_some() {
            failed.consumer = self.consumer(function, block, op.span);
            failed.consumer_item = function;
        }
        let error = Val::variant("Err", Some(Val::Fault));
        let error = match ty {
            Ty::Future(_) => Val::Done(Box::new(error)),
            _ => error,
        };
        failed.set(&op.to, error);
        Flow::All(vec![state.clone(), failed.clone()])
    }

    /// Whether the path has gone round a loop, or stands in one.
    fn goes_round(&self, state: &State) -> bool {
        let stands_in = |frame: &Frame| {
            let graph = self.graph(frame.function);
            loop_around(graph, &graph.blocks[frame.block as usize]).is_some()
        };
        state.round.is_some() || state.frames.iter().any(stands_in)
    }

    /// Whether every watch among these arguments is one whose opening is known.
    pub(super) fn wraps_only_new(&self, function: FnId, args: &[Place]) -> bool {
        args.iter()
            .all(|place| self.infer.place(function, place).watch().is_none_or(|watch| watch.opener.is_some()))
    }

    /// A value of the source's own type is made, in the package that defines it: that is an opening.
    pub(super) fn construct<'a>(
        &self,
        state: &mut State,
        op: &Op,
        parts: impl IntoIterator<Item = &'a Place>,
    ) -> Option<Flow> {
        let function = state.frame().function;
        let ty = self.infer.place(function, &op.to);
        let made = matches!(ty, Ty::Watch(_)) && self.is_source(function, &ty);
        let wraps = parts.into_iter().any(|place| state.get(place).holds(&Val::Ours));
        (made && !wraps).then(|| self.open(state, op, &ty))
    }

    /// Whether the next poll waits by itself: after a lag the receiver has items, and after them it waits. Of a source that only
    /// opening again can heal, the opening waits.
    fn paces_itself(&self) -> bool {
        if self.heals() { self.fact.shows_as == ShowsAs::Variant } else { self.fact.paced }
    }

    /// A closure that was walked already is called again: the whole watch starts anew.
    pub(super) fn again(&self, state: &mut State, op: &Op, value: Val) -> Flow {
        if let Some(flow) = self.starts_anew(state, state.waited) {
            return flow;
        }
        state.set(&op.to, value);
        Flow::Next
    }

    /// The watch starts anew, without an opening in view: the first time the walk goes on, the second time the path is known.
    pub(super) fn starts_anew(&self, state: &mut State, paced: bool) -> Option<Flow> {
        if let Some(seen) = &self.ordinary {
            seen.again_above.set(true);
            return Some(Flow::Done(Verdict::none()));
        }
        if state.reopened {
            let by = self.round(state);
            return Some(Flow::Done(Verdict::new(Outcome::Reopens { paced, by }, state)));
        }
        state.reopened = true;
        state.waited = false;
        state.round = None;
        None
    }
}

/// What a successful opening gives.
fn ready(ty: &Ty) -> Val {
    match ty {
        Ty::Future(_) => Val::Done(Box::new(fresh(ty))),
        _ => fresh(ty),
    }
}

/// A value of this type with the watch opened anew in it.
fn fresh(ty: &Ty) -> Val {
    match ty {
        Ty::Watch(_) => Val::Fresh,
        Ty::Named { path, args, .. } => {
            let inner = args.iter().find(|arg| arg.watch().is_some()).map_or(Val::Unknown, fresh);
            match &**path {
                "Result" => Val::variant("Ok", Some(inner)),
                "Option" => Val::variant("Some", Some(inner)),
                _ => inner,
            }
        }
        Ty::Tuple(parts) => Val::tuple(parts.iter().map(fresh).collect()),
        Ty::Future(inner) | Ty::Callable(inner) => fresh(inner),
        _ => Val::Unknown,
    }
}

fn ty_mentions(ty: &Ty, wanted: &str) -> bool {
    match ty {
        Ty::Named { path, args, .. } => &**path == wanted || args.iter().any(|arg| ty_mentions(arg, wanted)),
        Ty::Tuple(parts) => parts.iter().any(|part| ty_mentions(part, wanted)),
        Ty::Future(inner) | Ty::Callable(inner) => ty_mentions(inner, wanted),
        _ => false,
    }
}
