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
        (means, name): (Meaning, &str),
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
            Meaning::Exit => Some(self.exit(state, op, method)),
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
                    Val::Running(task) => {
                        return Some(self.run_task(state, &args[usize::from(!method)], *task, true));
                    }
                    Val::Handle(inner) => {
                        state.waited = true;
                        state.pending_handle = false;
                        Val::variant("Ok", Some(Val::joined(*inner)))
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
                let told =
                    carries || self.fault_arm(state).is_some() || !(state.forked || state.pending_handle);
                if told && state.phase != Phase::Fresh && self.ordinary.is_none() {
                    return Some(Flow::Done(Verdict::new(Outcome::Forwards, state)));
                }
                Some(self.finish_call(state, op, Val::Unknown))
            }
            Meaning::Spawn => Some(self.spawn(state, op, args, values, method)),
            Meaning::Join if method => self.join_task(state, op, values),
            Meaning::Join => self.join_call(state, op, name, args, values),
            Meaning::Catch => self.catch(state, op, args.first()?, first, method),
            Meaning::Permanent => Some(self.finish_call(state, op, Val::variant(PERMANENT, Some(first)))),
            Meaning::Request | Meaning::Guard | Meaning::Reply => None,
        }
    }

    /// A panic is caught: the result is what joining a task would give.
    fn catch(&self, state: &mut State, op: &Op, place: &Place, task: Val, is_async: bool) -> Option<Flow> {
        let mut ended = match task {
            Val::Done(inner) | Val::Returns(inner) | Val::Handle(inner) => *inner,
            Val::Future(..) | Val::Body(..) if self.brings_back(&task) => {
                return Some(self.run_task(state, place, task, true));
            }
            _ => return None,
        };
        while let Val::Done(inner) = ended {
            ended = *inner;
        }
        let caught = Val::joined(ended);
        Some(self.finish_call(state, op, if is_async { Val::Done(Box::new(caught)) } else { caught }))
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
