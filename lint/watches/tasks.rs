//! Tasks that are started on the path: which of them bring the watch back, and what joining one of them leads to.

use std::collections::HashSet;

use super::{
    state::{Frame, State, Then},
    value::Val,
    walk::{Flow, Walk},
};
use crate::{
    facts::{FnId, Ty},
    flow::graph::{BodyId, Callee, Op, Place, Value},
    syntax::tree::Span,
};

/// Most bodies in which an opening is looked for.
const MOST_REACHED: usize = 200;

impl Walk<'_, '_, '_> {
    /// Runs a task where it is waited for. What waits is then done again, with the handle of the ended task.
    pub(super) fn run_task(&self, state: &mut State, place: &Place, task: Val, is_op: bool) -> Flow {
        if is_op {
            state.frame_mut().op -= 1;
        }
        self.run(state, place, task, Then::Task(place.clone()))
    }

    /// Runs what is in a place; one that is too deep inside to be run leaves nothing known there.
    pub(super) fn run(&self, state: &mut State, place: &Place, task: Val, then: Then) -> Flow {
        let depth = state.frames.len();
        let flow = match task {
            Val::Future(function, args) => self.inline(state, function, args, then, Span::default()),
            Val::Body(function, body, env) => self.run_body(state, function, body, env, &[], then),
            _ => Flow::Next,
        };
        if state.frames.len() == depth {
            state.set(place, Val::Unknown);
        }
        flow
    }

    /// A value goes into a collection: a handle, a future that has completed, or one that brings the watch back.
    pub(super) fn collect(&self, state: &mut State, set: &Place, value: Val) {
        let held = match value {
            Val::Done(inner) => {
                state.pending_handle = true;
                Val::Set(inner)
            }
            started @ (Val::Future(..) | Val::Body(..)) => {
                if state.pending_handle || !self.brings_back(&started) {
                    return;
                }
                started
            }
            handle => handle,
        };
        self.keep(state, set, &held);
        state.set(set, held);
    }

    /// A function that was walked into returns: tasks that it put into what it was lent are there for the caller.
    pub(super) fn hand_back(&self, state: &mut State, frame: &Frame) {
        let Some(args) = self.arguments(state, frame) else { return };
        let params = &self.graph(frame.function).bodies[0].params;
        let changed: Vec<(Place, Val)> = state.envs[frame.env]
            .entries()
            .filter(|(_, value)| value.holds_task())
            .filter_map(|(place, value)| {
                let origin = self.param_of(frame.function, place.local);
                let at = params.iter().position(|param| *param == origin)?;
                let mut outer = args.get(at)?.clone();
                outer.fields.extend(place.fields.iter().cloned());
                Some((outer, value.clone()))
            })
            .collect();
        let env = state.frames[state.frames.len() - 2].env;
        for (place, value) in changed {
            state.envs[env].set(&place, value);
        }
    }

    /// What the caller of the innermost frame gave it, where the caller called or awaited a function of the workspace.
    fn arguments(&self, state: &State, frame: &Frame) -> Option<&[Place]> {
        let caller = state.frames.get(state.frames.len().checked_sub(2)?)?;
        if frame.body != 0 || frame.env == caller.env {
            return None;
        }
        let graph = self.graph(caller.function);
        let mut value = &graph.blocks[caller.block as usize].ops.get(caller.op.checked_sub(1)?)?.value;
        for _ in 0..4 {
            value = match value {
                Value::Call { args, .. } => return Some(args),
                Value::Await(from) | Value::Use(from) => {
                    &graph.blocks.iter().flat_map(|block| &block.ops).find(|op| op.to == *from)?.value
                }
                _ => return None,
            };
        }
        None
    }

    /// Whether a task that has not run yet opens the source, or asks it anew.
    pub(super) fn brings_back(&self, task: &Val) -> bool {
        let (function, body) = match task {
            Val::Future(function, _) => (*function, 0),
            Val::Body(function, body, _) => (*function, *body),
            _ => return false,
        };
        if let Some(known) = self.openings.borrow().get(&(function, body)) {
            return *known;
        }
        let brings = self.reaches(function, body, &mut HashSet::new());
        self.openings.borrow_mut().insert((function, body), brings);
        brings
    }

    /// Whether calling a function comes to the watch at hand or opens its source: one that calls itself for a reason of its own
    /// does neither.
    pub(super) fn reaches_watch(&self, state: &State, function: FnId) -> bool {
        let above = || state.chain.iter().any(|site| site.function == function);
        function == self.site.function || above() || self.brings_back(&Val::Future(function, Vec::new()))
    }

    fn reaches(&self, function: FnId, body: BodyId, seen: &mut HashSet<(FnId, BodyId)>) -> bool {
        if seen.len() > MOST_REACHED || !seen.insert((function, body)) {
            return false;
        }
        let graph = self.graph(function);
        let own = function == self.site.function;
        (0..).zip(&graph.blocks).filter(|(_, block)| block.body == body).any(|(id, block)| {
            (own && id == self.site.block) || block.ops.iter().any(|op| self.op_reaches(function, op, seen))
        })
    }

    fn op_reaches(&self, function: FnId, op: &Op, seen: &mut HashSet<(FnId, BodyId)>) -> bool {
        match &op.value {
            Value::Body(inner) => self.reaches(function, *inner, seen),
            Value::Call { callee, args, .. } => {
                let closure = match callee {
                    Callee::Place(place) => match self.infer.place(function, place) {
                        Ty::Body(owner, body) => Some((owner, body)),
                        _ => None,
                    },
                    _ => None,
                };
                let from_watch =
                    || args.iter().any(|place| self.infer.place(function, place).watch().is_some());
                (self.is_source(function, &self.infer.place(function, &op.to)) && !from_watch())
                    || closure.is_some_and(|(owner, body)| self.reaches(owner, body, seen))
                    || self
                        .infer
                        .callees(function, callee, args)
                        .into_iter()
                        .any(|callee| self.reaches(callee, 0, seen))
            }
            _ => false,
        }
    }
}
