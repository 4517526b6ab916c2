//! Selects: which arm the fault completes, and what the other arms do.

use super::{
    patterns::{Match, matches},
    state::{State, Then},
    value::Val,
    walk::{Flow, Walk},
};
use crate::{
    flow::graph::{BlockId, BodyKind, Pattern, Place, SelectArm},
    syntax::tree::Span,
};

impl Walk<'_, '_, '_> {
    /// Several futures at once: the first that is ready decides.
    pub(super) fn select(&self, state: &mut State, arms: &[SelectArm], otherwise: Option<BlockId>) -> Flow {
        if let Some(flow) = self.run_waiting(state, arms.iter().map(|arm| &arm.future), false) {
            return flow;
        }
        let live: Vec<&SelectArm> = arms.iter().collect();
        let ready = live.iter().position(|arm| {
            let value = state.get(&arm.future);
            value.carries() || value.handle().is_some() || matches!(value, Val::Done(_))
        });
        let Some(ready) = ready else {
            let states: Vec<State> = live.iter().filter_map(|arm| self.other_arm(state, arm)).collect();
            return self.alternatives(state, states, otherwise);
        };
        let arm = live[ready];
        let value = match state.get(&arm.future) {
            Val::Done(inner) if *inner == Val::Panic => return self.panic(state),
            Val::Done(inner) => *inner,
            Val::Handle(inner) => {
                state.pending_handle = false;
                state.waited = true;
                Val::joined(*inner)
            }
            other => other,
        };
        let take = |mut next: State, locals: Vec<_>, singles| {
            for (local, value) in locals {
                next.set(&Place::local(local), value);
            }
            next.set(&arm.got, value.clone());
            next.tested = value.carries();
            next.singles = singles;
            self.enter(&mut next, arm.next);
            next
        };
        match matches(&arm.pat, &value, &self.names()) {
            Match::Yes(bound) => {
                *state = take(state.clone(), bound.locals, bound.singles);
                Flow::Next
            }
            Match::Maybe(bound) => {
                let matched = take(state.clone(), bound.locals, bound.singles);
                let mut states = vec![matched];
                states.extend(
                    live.iter()
                        .filter(|other| other.next != arm.next)
                        .filter_map(|arm| self.other_arm(state, arm)),
                );
                Flow::Any(states)
            }
            // The arm is off for this call; another one has to wake the loop.
            Match::No => {
                let others = live.iter().filter(|other| other.next != arm.next);
                let states: Vec<State> = others.filter_map(|arm| self.other_arm(state, arm)).collect();
                self.alternatives(state, states, otherwise)
            }
        }
    }

    fn alternatives(&self, state: &mut State, states: Vec<State>, otherwise: Option<BlockId>) -> Flow {
        if !states.is_empty() {
            return Flow::Any(states);
        }
        match otherwise {
            Some(block) => {
                state.tested = true;
                self.enter(state, block);
                Flow::Next
            }
            // All arms are off.
            None => self.panic(state),
        }
    }

    /// The state in which another arm than the watch's completes.
    fn other_arm(&self, state: &State, arm: &SelectArm) -> Option<State> {
        let mut next = state.clone();
        next.forked = true;
        let value = state.get(&arm.future);
        let got = match value {
            Val::Pending => return None,
            Val::Sleep => {
                next.waited = true;
                Val::Unknown
            }
            Val::Future(function, args) => {
                // What the call does may matter; its result is tested against the pattern afterwards.
                self.enter(&mut next, arm.next);
                bind_unknown(&mut next, &arm.pat);
                if let Flow::Next =
                    self.inline(&mut next, function, args, Then::Into(arm.got.clone()), Span::default())
                {
                    self.bind_result(&mut next, arm);
                    return Some(next);
                }
                return None;
            }
            Val::Running(task) => {
                self.run_task(&mut next, &arm.future, *task, false);
                return Some(next);
            }
            Val::Body(function, body, env)
                if self.graph(function).bodies[body as usize].kind == BodyKind::Async =>
            {
                self.enter(&mut next, arm.next);
                bind_unknown(&mut next, &arm.pat);
                if let Flow::Next =
                    self.run_body(&mut next, function, body, env, &[], Then::Into(arm.got.clone()))
                {
                    self.bind_result(&mut next, arm);
                    return Some(next);
                }
                return None;
            }
            Val::Body(..) | Val::Unknown => Val::Unknown,
            other => other,
        };
        match matches(&arm.pat, &got, &self.names()) {
            Match::No => return None,
            Match::Yes(bound) | Match::Maybe(bound) => {
                for (local, value) in bound.locals {
                    next.set(&Place::local(local), value);
                }
            }
        }
        next.set(&arm.got, got);
        next.tested = false;
        self.enter(&mut next, arm.next);
        Some(next)
    }

    /// For an arm with a plain name the result of an inlined call is that name's value.
    fn bind_result(&self, state: &mut State, arm: &SelectArm) {
        if let Pattern::Bind(local, None) = arm.pat {
            let last = state.frames.len() - 1;
            if let Then::Into(place) = &mut state.frames[last].then {
                *place = Place::local(local);
            }
        }
    }
}

fn bind_unknown(state: &mut State, pat: &Pattern) {
    pat.walk(&mut |pat| {
        if let Pattern::Bind(local, _) = pat {
            state.set(&Place::local(*local), Val::Unknown);
        }
    });
}
