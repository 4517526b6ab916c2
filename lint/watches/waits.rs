//! Waiting on a path: `.await`, and several futures joined.

use rideout_rules::model::Outcome;

use super::{
    state::{State, Then},
    value::Val,
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::{
    facts::FnId,
    flow::graph::{BodyKind, Op, Place, Value},
    syntax::tree::Span,
};

impl Walk<'_, '_, '_> {
    /// `.await`.
    pub(super) fn wait_for(&self, state: &mut State, op: &Op, value: Val) -> Flow {
        let result = match value {
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
                    let call = self.outer_call(state, call);
                    return Flow::Done(Verdict::new(Outcome::Nests { call }, state));
                }
                Val::joined(*inner)
            }
            Val::Sleep => {
                state.waited = true;
                Val::Unknown
            }
            Val::Pending => return Flow::Done(self.dead(state)),
            Val::Again(call, _) => {
                let call = self.outer_call(state, call);
                return Flow::Done(Verdict::new(Outcome::Nests { call }, state));
            }
            other => other,
        };
        state.set(&op.to, result);
        Flow::Next
    }

    /// `join!` and `try_join!`.
    pub(super) fn join(&self, state: &mut State, op: &Op, futures: &[Place], fallible: bool) -> Flow {
        if let Some(flow) = self.run_waiting(state, futures.iter()) {
            return flow;
        }
        let values: Vec<Val> = futures
            .iter()
            .map(|place| match state.get(place) {
                Val::Done(inner) => *inner,
                Val::Handle(inner) => {
                    state.pending_handle = false;
                    Val::joined(*inner)
                }
                other => other,
            })
            .collect();
        let failed = values.iter().find(|value| value.is_variant("Err")).cloned();
        if fallible
            && failed.is_none()
            && self.ordinary.is_some()
            && values.iter().any(|value| !value.is_variant("Ok"))
        {
            // Any of them may fail, however long the others go on.
            let mut fails = state.clone();
            fails.set(&op.to, Val::variant("Err", None));
            state.set(&op.to, Val::variant("Ok", Some(Val::tuple(values))));
            return Flow::Any(vec![state.clone(), fails]);
        }
        let result = match failed {
            Some(error) if fallible => error,
            _ if fallible => Val::variant("Ok", Some(Val::tuple(values))),
            _ => Val::tuple(values),
        };
        state.set(&op.to, result);
        Flow::Next
    }

    /// Runs the first call among these futures that was given the handle of the ended task. The operation at hand is then done again.
    pub(super) fn run_waiting<'a>(
        &self,
        state: &mut State,
        mut futures: impl Iterator<Item = &'a Place>,
    ) -> Option<Flow> {
        let (place, task) = futures.find_map(|place| match state.get(place) {
            Val::Future(function, args) if args.iter().any(|arg| arg.handle().is_some()) => {
                Some((place, Err((function, args))))
            }
            Val::Body(function, body, env) if self.awaits_ended(state, function, body, env) => {
                Some((place, Ok((function, body, env))))
            }
            _ => None,
        })?;
        let frame = state.frame_mut();
        let graph = self.infer.graph(frame.function);
        let is_op = frame.op <= graph.blocks[frame.block as usize].ops.len();
        if is_op
            && graph.blocks[frame.block as usize]
                .ops
                .get(frame.op.wrapping_sub(1))
                .is_some_and(|op| matches!(op.value, Value::Join { .. }))
        {
            frame.op -= 1;
        }
        let then = Then::Ready(place.clone());
        Some(match task {
            Ok((function, body, env)) => self.run_body(state, function, body, env, &[], then),
            Err((function, args)) => self.inline(state, function, args, then, Span::default()),
        })
    }

    /// Whether an `async` block awaits what has ended.
    fn awaits_ended(&self, state: &State, function: FnId, body: u32, env: usize) -> bool {
        let graph = self.graph(function);
        let Some(env) = state.envs.get(env) else { return false };
        graph.bodies[body as usize].kind == BodyKind::Async
            && graph.blocks.iter().filter(|block| block.body == body).flat_map(|block| &block.ops).any(|op| {
                matches!(&op.value, Value::Await(place) if matches!(env.get(place), Val::Done(_) | Val::Handle(_)))
            })
    }
}
