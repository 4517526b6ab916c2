//! Tasks and threads: the watch's own task spawned, and others beside it.

use rideout_rules::model::Outcome;

use super::{
    channels::Told,
    jobs::used,
    state::{State, Then},
    value::Val,
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::{
    facts::FnId,
    flow::graph::{BodyId, Graph, Op, Place, Value},
};

/// Part of the steps left that may go into a task beside the path.
const BESIDE: u32 = 8;

impl Walk<'_, '_, '_> {
    /// A task is spawned: the one that the walk comes out of, its successor, or another.
    pub(super) fn spawn(
        &self,
        state: &mut State,
        op: &Op,
        args: &[Place],
        values: &[Val],
        method: bool,
    ) -> Flow {
        if state.pending_handle
            && let Some(flow) = self.run_waiting(state, args.iter().skip(usize::from(method)), true)
        {
            return flow;
        }
        if values.contains(&Val::Pending) {
            return Flow::Done(self.dead(state));
        }
        let function = state.frame().function;
        let task = values.iter().skip(usize::from(method)).find(|value| {
            matches!(value, Val::Done(_) | Val::Returns(_) | Val::Future(..) | Val::Body(..) | Val::Again(..))
        });
        let dropped = self.is_dropped(function, &op.to);
        match task.or_else(|| values.first().filter(|value| matches!(value, Val::Done(_) | Val::Returns(_))))
        {
            Some(Val::Done(inner) | Val::Returns(inner)) => {
                if self.in_accept_loop(function, state.frame().block) {
                    return Flow::Done(Verdict::new(Outcome::OneShot, state));
                }
                let inner = match &**inner {
                    Val::Done(inner) => (**inner).clone(),
                    other => other.clone(),
                };
                state.finite = false;
                let handle = Val::Handle(Box::new(inner.clone()));
                let kept = method && args.first().is_some_and(|place| self.is_kept(function, place));
                if dropped && self.ordinary.is_some() {
                    return Flow::Done(Verdict::none());
                }
                if dropped && !kept {
                    let told: Vec<Told> = args.iter().map(|task| self.told_by_sender(state, task)).collect();
                    if told.contains(&Told::InView) {
                        return Flow::Done(Verdict::new(Outcome::Forwards, state));
                    }
                    if told.contains(&Told::OutOfView) {
                        return Flow::Done(Verdict::new(Outcome::Unknown, state));
                    }
                    let frame = state.frame();
                    if self.infer.is_brief_main(frame.function, frame.block, frame.op) {
                        return Flow::Done(Verdict::new(Outcome::Unknown, state));
                    }
                    return Flow::Done(self.dead(state));
                }
                state.pending_handle = true;
                if kept && let Some(place) = args.first() {
                    self.keep(state, place, &handle);
                    state.set(place, handle.clone());
                }
                state.set(&op.to, handle);
                Flow::Next
            }
            Some(Val::Again(call, callee)) => {
                if dropped {
                    state.handed_over = Some((*call, state.waited));
                }
                self.finish_call(state, op, Val::Handle(Box::new(Val::Again(*call, *callee))))
            }
            Some(wrapped @ (Val::Future(..) | Val::Body(..))) if self.wraps_ended(state, wrapped) => {
                // What was given the ended future gives what the task does: it is run, and the spawn done again.
                let Some(at) = values.iter().position(|value| value == wrapped) else { return Flow::Next };
                state.frame_mut().op -= 1;
                self.run(state, &args[at], wrapped.clone(), Then::Ready(args[at].clone()))
            }
            Some(started @ (Val::Future(..) | Val::Body(..))) => {
                let held =
                    method.then(|| args.first()).flatten().filter(|place| self.is_kept(function, place));
                self.beside(state, op, held, started)
            }
            _ => self.finish_call(state, op, Val::Unknown),
        }
    }

    /// Whether a future was given the ended one, or captures it.
    fn wraps_ended(&self, state: &State, task: &Val) -> bool {
        match task {
            Val::Future(_, given) => given.iter().any(|value| matches!(value, Val::Done(_))),
            Val::Body(function, body, env) => {
                let graph = self.graph(*function);
                let inner = bodies_in(graph, *body);
                let own = || {
                    let blocks = graph.blocks.iter().filter(|block| inner.contains(&block.body));
                    blocks.flat_map(|block| &block.ops)
                };
                // The frame that made the body may be gone.
                let Some(env) = state.envs.get(*env) else { return false };
                let ended = |place: &&Place| matches!(env.get(place), Val::Done(_));
                let captured = |place: &Place| own().all(|op| op.to.local != place.local);
                own().any(|op| used(&op.value).into_iter().filter(ended).any(captured))
            }
            _ => false,
        }
    }

    /// Whether a value is never looked at: not read, or bound to a name that is not.
    pub(super) fn is_dropped(&self, function: FnId, place: &Place) -> bool {
        let graph = self.graph(function);
        let reads = graph.locals[place.local as usize].reads;
        let bound = graph
            .blocks
            .iter()
            .flat_map(|block| &block.ops)
            .find(|op| matches!(&op.value, Value::Use(from) if from == place) && op.to.fields.is_empty());
        // `let _: Handle = ..` binds it to a local of that type without a name.
        let declared = |place: &Place| {
            let local = &graph.locals[place.local as usize];
            local.name.is_some() || local.ty.is_some()
        };
        reads == 0
            || (reads == 1 && bound.is_some_and(|op| declared(&op.to) && self.is_dropped(function, &op.to)))
    }

    /// Whether a set of tasks has a name, under which its tasks can be joined.
    fn is_kept(&self, function: FnId, set: &Place) -> bool {
        self.graph(function).locals[set.local as usize].name.is_some()
    }

    /// A new task runs beside the path: either may bring the watch back, and the path may wait for the task.
    fn beside(&self, state: &State, op: &Op, set: Option<&Place>, started: &Val) -> Flow {
        let mut after = state.clone();
        after.set(&op.to, Val::Unknown);
        if self.ordinary.is_some() && state.pending_handle {
            // Another task beside the one that the item was given to.
            return Flow::Any(vec![after]);
        }
        // Before the ended task is looked at, the new one runs beside it and not in its place.
        if !state.pending_handle && self.brings_back(started) {
            let running = Val::Running(Box::new(started.clone()));
            if let Some(set) = set {
                after.set(set, running.clone());
            }
            after.set(&op.to, running);
        }
        let mut task = state.clone();
        // The bound is that of the loop that starts the task.
        task.bound = None;
        let _ = match started.clone() {
            Val::Future(callee, args) => self.inline(&mut task, callee, args, Then::Detached, op.span),
            Val::Body(owner, body, env) => self.run_body(&mut task, owner, body, env, &[], Then::Detached),
            _ => Flow::Next,
        };
        if task.frames.len() == state.frames.len() {
            return Flow::Any(vec![after]);
        }
        let beside = self.within(BESIDE, || self.explore(task));
        let dropped = self.ordinary.is_none() && self.is_dropped(state.frame().function, &op.to);
        if let (Some(call), true) = (beside.nests(), dropped) {
            // What comes to run there runs here already: it is handed over.
            after.handed_over = Some((call, state.waited));
            return Flow::Any(vec![after]);
        }
        if beside.says_nothing() {
            return Flow::Any(vec![after]);
        }
        Flow::Done(self.explore(after).any(beside))
    }
}

/// A body, and those that are made in it.
fn bodies_in(graph: &Graph, body: BodyId) -> Vec<BodyId> {
    let ops = graph.blocks.iter().filter(|block| block.body == body).flat_map(|block| &block.ops);
    let made = ops.filter_map(|op| match op.value {
        Value::Body(inner) if inner != body => Some(inner),
        _ => None,
    });
    std::iter::once(body).chain(made.flat_map(|inner| bodies_in(graph, inner))).collect()
}
