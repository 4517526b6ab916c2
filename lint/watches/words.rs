//! Calls that the catalog gives a meaning: waits, logs, sends, timeouts.

use rideout_rules::{catalog::Meaning, model::Outcome};

use super::{
    state::{Phase, State, Then},
    value::{PERMANENT, Val},
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::flow::graph::{Op, Place};

impl Walk<'_, '_, '_> {
    /// A call with a meaning. Gives nothing where the meaning does not fit the values.
    pub(super) fn word(
        &self,
        state: &mut State,
        op: &Op,
        means: Meaning,
        args: &[Place],
        values: &[Val],
        method: bool,
    ) -> Option<Flow> {
        let function = state.frame().function;
        let first = values.first().cloned().unwrap_or_default();
        match means {
            Meaning::Wait => Some(self.sleep(state, op)),
            Meaning::Log => {
                self.log(state);
                Some(self.finish_call(state, op, Val::Unit))
            }
            Meaning::Exit => Some(Flow::Done(Verdict::new(Outcome::Surfaces, state))),
            Meaning::Pending => Some(self.finish_call(state, op, Val::Pending)),
            Meaning::Same => {
                let kept = if method {
                    first
                } else {
                    values.iter().find(|value| **value != Val::Unknown).cloned().unwrap_or_default()
                };
                Some(self.finish_call(state, op, kept))
            }
            Meaning::Timeout => {
                let inner = if method { first } else { values.get(1).cloned().unwrap_or_default() };
                let value = match inner {
                    Val::Pending => Val::variant("Err", Some(Val::Fault)),
                    Val::Unknown | Val::Sleep => Val::Sleep,
                    Val::Future(callee, args) => {
                        // Its result comes wrapped in `Ok`.
                        let flow = self.inline(state, callee, args, Then::Wrap("Ok", op.to.clone()), op.span);
                        return Some(flow);
                    }
                    Val::Done(inner) => {
                        let graph = self.graph(function);
                        if graph.blocks[state.frame().block as usize].within.is_none() {
                            // A bounded wait for something, and no loop around it.
                            return Some(Flow::Done(Verdict::new(Outcome::OneShot, state)));
                        }
                        Val::variant("Ok", Some(*inner))
                    }
                    other => Val::variant("Ok", Some(other)),
                };
                Some(self.finish_call(state, op, value))
            }
            Meaning::Send => {
                let carries = values.iter().skip(usize::from(method)).any(Val::carries);
                let told = carries || self.fault_arm(state).is_some() || !state.forked;
                if told && state.phase != Phase::Fresh && self.ordinary.is_none() {
                    return Some(Flow::Done(Verdict::new(Outcome::Forwards, state)));
                }
                Some(self.finish_call(state, op, Val::Unknown))
            }
            Meaning::Spawn => Some(self.spawn(state, op, args, values, method)),
            Meaning::Join => {
                let handle = values.iter().find_map(Val::handle)?.clone();
                state.waited = true;
                state.pending_handle = false;
                Some(self.finish_call(state, op, Val::Done(Box::new(Val::variant("Ok", Some(handle))))))
            }
            Meaning::Permanent => Some(self.finish_call(state, op, Val::variant(PERMANENT, Some(first)))),
            Meaning::Request | Meaning::Guard => None,
        }
    }
    /// A call that waits: at once if nobody looks at what it gives, else where that is awaited.
    pub(super) fn sleep(&self, state: &mut State, op: &Op) -> Flow {
        let function = state.frame().function;
        if self.graph(function).locals[op.to.local as usize].reads == 0 {
            state.waited = true;
        }
        self.finish_call(state, op, Val::Sleep)
    }
}
