//! Several futures waited for together: `join!`, `try_join!`, and the functions of the same names.

use rideout_rules::model::Outcome;

use super::{
    state::{State, Then},
    value::Val,
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::{
    facts::FnId,
    flow::graph::{BodyKind, Callee, End, Op, Place, Value},
};

impl Walk<'_, '_, '_> {
    /// `join!` and `try_join!`.
    pub(super) fn join(&self, state: &mut State, op: &Op, futures: &[Place], fallible: bool) -> Flow {
        let panics = |place: &Place| matches!(state.get(place), Val::Done(inner) if *inner == Val::Panic);
        if futures.iter().any(panics) {
            return self.panic(state);
        }
        if self.is_beside_one_job(state, futures) {
            return Flow::Done(Verdict::new(Outcome::Unknown, state));
        }
        if let Some(flow) = self.run_joined(state, futures) {
            return flow;
        }
        let values: Vec<Val> = futures.iter().map(|place| state.get(place)).collect();
        let runs = |value: &Val| matches!(value, Val::Unknown | Val::Body(..) | Val::Future(..));
        let may_fail = fallible && self.ordinary.is_some() && values.iter().any(runs);
        let result = self.joined(state, values, fallible);
        if may_fail && result.is_variant("Ok") {
            // Any of them may fail, however long the others go on.
            let mut fails = state.clone();
            fails.set(&op.to, Val::variant("Err", None));
            state.set(&op.to, result);
            return Flow::Any(vec![state.clone(), fails]);
        }
        self.finish_call(state, op, result)
    }

    /// Whether the watch has ended beside blocks that do one job: they and the watch are over together.
    fn is_beside_one_job(&self, state: &State, futures: &[Place]) -> bool {
        let function = state.frame().function;
        let ended = |place: &Place| matches!(state.get(place), Val::Done(inner) if !inner.carries());
        let brief = |place: &Place| match self.graph(function).made_by(place).map(|op| &op.value) {
            Some(Value::Body(body)) => self.infer.is_brief_block(function, *body),
            _ => false,
        };
        self.ordinary.is_none()
            && futures.len() > 1
            && futures.iter().any(ended)
            && futures.iter().all(|place| ended(place) || brief(place))
    }

    /// A function that waits for several futures, by its name. Gives nothing where none of them is the watch's own.
    pub(super) fn join_call(
        &self,
        state: &mut State,
        op: &Op,
        name: &str,
        futures: &[Place],
        values: &[Val],
    ) -> Option<Flow> {
        let fallible = name.starts_with("try_");
        if name.contains("join") && !name.ends_with("_all") || name.ends_with("zip") {
            if let Some(flow) = self.run_joined(state, futures) {
                return Some(flow);
            }
            let result = self.joined(state, values.to_vec(), fallible);
            return Some(self.finish_call(state, op, Val::Done(Box::new(result))));
        }
        if let Some((place, Val::Running(task))) =
            futures.iter().zip(values).find(|(_, value)| matches!(value, Val::Running(_)))
        {
            return Some(self.run_task(state, place, (**task).clone(), true));
        }
        let handle = values.iter().find_map(Val::handle).cloned();
        if name == "join_all" {
            state.outlived |= handle.is_some() || values.iter().any(Val::carries);
        }
        let handle = handle?;
        state.waited = true;
        state.pending_handle = false;
        let joined = match name {
            // What comes out of a collection is looked at one by one.
            "join_all" if values.iter().any(|value| matches!(value, Val::Set(_))) => {
                Val::Set(Box::new(handle))
            }
            "join_all" => Val::Handle(Box::new(handle)),
            "select_all" => Val::tuple(vec![Val::joined(handle), Val::Unknown, Val::Unknown]),
            _ => Val::joined(handle),
        };
        Some(self.finish_call(state, op, Val::Done(Box::new(joined))))
    }

    /// A method that waits for a task.
    pub(super) fn join_task(&self, state: &mut State, op: &Op, values: &[Val]) -> Option<Flow> {
        let ended = values.iter().find_map(Val::handle)?.clone();
        state.waited = true;
        state.pending_handle = false;
        Some(self.finish_call(state, op, Val::Done(Box::new(Val::joined(ended)))))
    }

    /// What joining gives. Unless one of them has failed, and that ends it, the others have run to their ends.
    fn joined(&self, state: &mut State, values: Vec<Val>, fallible: bool) -> Val {
        let mut others = false;
        let mut parts = Vec::new();
        for value in values {
            parts.push(match value {
                Val::Done(inner) => *inner,
                Val::Handle(inner) => {
                    state.waited = true;
                    state.pending_handle = false;
                    Val::joined(*inner)
                }
                other => {
                    others = true;
                    other
                }
            });
        }
        let failed = parts.iter().find(|value| value.is_variant("Err")).cloned();
        if fallible && let Some(error) = failed {
            return error;
        }
        // One that can fail may be made to, for the end of the watch.
        state.outlived |= others && !fallible;
        let whole = Val::tuple(parts);
        if fallible { Val::variant("Ok", Some(whole)) } else { whole }
    }

    /// Runs the first of these futures that leads on: one that was given the handle of the ended task, or that brings the watch back.
    fn run_joined(&self, state: &mut State, futures: &[Place]) -> Option<Flow> {
        if let Some(flow) = self.run_waiting(state, futures.iter(), true) {
            return Some(flow);
        }
        futures.iter().find_map(|place| match state.get(place) {
            Val::Running(task) => Some(self.run_task(state, place, *task, true)),
            task if self.brings_back(&task) => {
                state.frame_mut().op -= 1;
                Some(self.run(state, place, task, Then::Ready(place.clone())))
            }
            _ => None,
        })
    }

    /// Runs the first call among these futures that was given the handle of the ended task. What is at hand is then done again.
    pub(super) fn run_waiting<'a>(
        &self,
        state: &mut State,
        mut futures: impl Iterator<Item = &'a Place>,
        is_op: bool,
    ) -> Option<Flow> {
        let (place, task) = futures.find_map(|place| match state.get(place) {
            task @ Val::Future(..) if awaits_handle(&task) => Some((place, task)),
            Val::Body(function, body, env) if self.awaits_ended(state, function, body, env) => {
                Some((place, Val::Body(function, body, env)))
            }
            _ => None,
        })?;
        if is_op {
            state.frame_mut().op -= 1;
        }
        Some(self.run(state, place, task, Then::Ready(place.clone())))
    }

    /// Whether an `async` block waits for what has ended.
    fn awaits_ended(&self, state: &State, function: FnId, body: u32, env: usize) -> bool {
        let graph = self.graph(function);
        let Some(known) = state.envs.get(env) else { return false };
        let ended = |place: &Place| matches!(known.get(place), Val::Done(_) | Val::Handle(_));
        graph.bodies[body as usize].kind == BodyKind::Async
            && graph.blocks.iter().filter(|block| block.body == body).any(|block| {
                let selects =
                    matches!(&block.end, End::Select { arms, .. } if arms.iter().any(|arm| ended(&arm.future)));
                selects
                    || block.ops.iter().any(|op| match &op.value {
                        Value::Await(place) => ended(place),
                        Value::Join { futures, .. } => futures.iter().any(ended),
                        Value::Call { callee: Callee::Path(_), args, .. } => {
                            args.iter().any(|place| matches!(known.get(place), Val::Handle(_)))
                        }
                        Value::Body(inner) => self.awaits_ended(state, function, *inner, env),
                        _ => false,
                    })
            })
    }
}

fn awaits_handle(task: &Val) -> bool {
    matches!(task, Val::Future(_, args) if args.iter().any(|arg| arg.handle().is_some()))
}
