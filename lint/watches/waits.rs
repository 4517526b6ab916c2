//! Waiting on a path: `.await`.

use rideout_rules::model::Outcome;

use super::{
    polls::{self, AWAITED, PollFact},
    state::{State, Then},
    value::Val,
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::flow::graph::{BodyKind, Op, Place};

impl Walk<'_, '_, '_> {
    /// `.await`.
    pub(super) fn wait_for(&self, state: &mut State, op: &Op, place: &Place) -> Flow {
        let result = match state.get(place) {
            Val::Ours if let Some(fact) = self.awaited_poll(state) => {
                return self.poll(state, &fact, &op.to, fact.method);
            }
            Val::Future(function, args) => {
                return self.inline(state, function, args, Then::Into(op.to.clone()), op.span);
            }
            Val::Body(function, body, env) => match self.graph(function).bodies[body as usize].kind {
                BodyKind::Async => {
                    return self.run_body(state, function, body, env, &[], Then::Into(op.to.clone()));
                }
                _ => Val::Body(function, body, env),
            },
            Val::Done(inner) if *inner == Val::Panic => return self.panic(state),
            Val::Done(inner) => *inner,
            Val::Handle(inner) => {
                state.waited = true;
                state.pending_handle = false;
                if let Val::Again(call, _) = *inner {
                    return Flow::Done(Verdict::new(Outcome::Nests { call }, state));
                }
                Val::joined(*inner)
            }
            Val::Running(task) => return self.run_task(state, place, *task, true),
            Val::Sleep => {
                state.waited = true;
                Val::Unknown
            }
            Val::Pending => return self.stay(state),
            Val::Again(call, function) => return Flow::Done(self.called_again(state, function, call)),
            // `poll_fn(..)`.
            other if other.is_variant("Ready") => other.payload(),
            other => other,
        };
        state.set(&op.to, result);
        Flow::Next
    }

    /// The path stays where it is. A caller that selects on it may go on with another arm.
    fn stay(&self, state: &mut State) -> Flow {
        let frame = state.frame().clone();
        let function = &self.infer.program.functions[frame.function];
        let callers = self.infer.sites().get(&frame.function).is_some_and(|sites| !sites.is_empty());
        if frame.then == Then::Callers && frame.body == 0 && function.is_async && callers {
            return self.up(state, &frame, Val::Pending);
        }
        Flow::Done(self.dead(state))
    }

    /// The poll that awaiting the watch is, if it is a future.
    fn awaited_poll(&self, state: &State) -> Option<PollFact> {
        let known = self.infer.program.known(state.frame().function);
        polls::poll(known, &self.site.watch, AWAITED)
    }
}
