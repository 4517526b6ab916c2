//! Where paths end: values given back, tasks that end, panics, and what leaves the view.

use rideout_rules::model::Outcome;

use super::{
    ready::{is_pending, polled},
    sites::Site,
    state::{Frame, Phase, State, Then},
    value::Val,
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::{
    facts::{FnId, Ty},
    flow::graph::{BodyKind, Op, Value},
    syntax::tree::Span,
};

impl Walk<'_, '_, '_> {
    /// The watch is over on this path.
    pub(super) fn dead(&self, state: &State) -> Verdict {
        self.dead_by(state, Outcome::Ends)
    }

    /// The watch is over on this path, in this way; what the path did before may say better.
    pub(super) fn dead_by(&self, state: &State, outcome: Outcome) -> Verdict {
        let by = self.round(state);
        let outcome = match outcome {
            _ if self.serves_request(state.frames[0].function, 0) => Outcome::OneShot,
            _ if state.phase == Phase::Fresh => Outcome::Reopens { paced: true, by },
            Outcome::Ends if state.handed_over.is_some() => Outcome::Reopens { paced: true, by },
            Outcome::Ends if state.released => Outcome::Releases,
            Outcome::Ends if state.marked => Outcome::Forwards,
            Outcome::Ends | Outcome::Spins if state.designed || state.finite => Outcome::Unknown,
            Outcome::Ends | Outcome::Spins if state.chain.iter().any(|site| self.is_of_several(*site)) => {
                Outcome::Unknown
            }
            Outcome::Ends => match state.bound {
                Some(_) if state.said => Outcome::Surfaces,
                // A loop that starts a number of tasks gives nothing up when all of them are started.
                Some(at) if !state.pending_handle => Outcome::GivesUp { at },
                _ => Outcome::Ends,
            },
            other => other,
        };
        Verdict::new(outcome, state)
    }

    /// Whether a call may be of another function too: of a trait with several implementations.
    fn is_of_several(&self, site: Site) -> bool {
        let op = &self.graph(site.function).blocks[site.block as usize].ops[site.op];
        let Value::Call { callee, args, .. } = &op.value else { return false };
        let callees = self.infer.callees(site.function, callee, args);
        callees.into_iter().filter(|id| self.infer.program.functions[*id].has_body).count() > 1
    }

    /// The process is ended, or somebody is told to end it: for another reason, if nobody has looked at the ended task yet.
    pub(super) fn exit(&self, state: &mut State, op: &Op, is_told: bool) -> Flow {
        self.note_leaving_by_item(state, &Val::Unit);
        match (state.pending_handle, is_told) {
            (false, _) => Flow::Done(Verdict::new(Outcome::Surfaces, state)),
            (true, false) => Flow::Done(self.dead(state)),
            (true, true) => self.finish_call(state, op, Val::Unknown),
        }
    }

    /// A body returns a value.
    pub(super) fn give_back(&self, state: &mut State, value: Val) -> Flow {
        state.singles = None;
        let frame = state.frame().clone();
        let generates =
            matches!(self.graph(frame.function).bodies[frame.body as usize].kind, BodyKind::Generator { .. });
        let value = match value {
            error if generates && error.is_variant("Err") && error.carries() => Val::Raises(Box::new(error)),
            _ if generates => Val::Ended,
            value => value,
        };
        if frame.then == Then::Callers {
            return self.up(state, &frame, value);
        }
        self.hand_back(state, &frame);
        state.frames.pop();
        if !value.captures(frame.env) {
            state.forget(frame.env);
        }
        match frame.then {
            Then::Callers => {}
            Then::Callback => return self.called_back(state, value),
            Then::Into(place) => state.set(&place, value),
            Then::Keep(kept, place) => state.set(&place, *kept),
            Then::Task(place) => state.set(&place, Val::Handle(Box::new(value))),
            Then::Set(place) => state.set(&place, Val::Set(Box::new(value))),
            Then::Ready(place) => state.set(&place, Val::Done(Box::new(value))),
            Then::Polled(_, _) if is_pending(&value) => return Flow::Done(Verdict::none()),
            Then::Polled(method, place) => {
                state.set(&place, Val::Done(Box::new(polled(method, value))));
            }
            Then::Wrap(variant, place) => state.set(&place, Val::variant(variant, Some(value))),
            Then::Adapter { next, method, to } => return self.adapted(state, value, next, method, &to),
            Then::Detached => return self.after_callback(state, &value),
        }
        Flow::Next
    }

    /// A library's callback has returned: what it gave may be a future that the library runs.
    fn called_back(&self, state: &mut State, value: Val) -> Flow {
        match value {
            Val::Body(function, body, env)
                if self.graph(function).bodies[body as usize].kind == BodyKind::Async =>
            {
                self.run_body(state, function, body, env, &[], Then::Detached)
            }
            Val::Future(function, args) => {
                self.inline(state, function, args, Then::Detached, Span::default())
            }
            value => self.after_callback(state, &value),
        }
    }

    /// A task of its own, or a callback, has ended.
    fn after_callback(&self, state: &mut State, value: &Val) -> Flow {
        let stops = value.says(&self.site.fact.stops);
        if self.site.fact.callback && self.heals() && !stops {
            let by = state.consumer;
            return Flow::Done(Verdict::new(Outcome::Continues { paced: true, by }, state));
        }
        if self.site.fact.callback && stops && value.is_variant("Err") {
            // The call that runs the callback gives its error.
            let op = &self.graph(self.site.function).blocks[self.site.block as usize].ops[self.site.op];
            state.set(&op.to, Val::Done(Box::new(value.clone())));
            return Flow::Next;
        }
        Flow::Done(self.dead(state))
    }

    /// A panic, which unwinds to the boundary of its task.
    pub(super) fn panic(&self, state: &mut State) -> Flow {
        if self.infer.panic_ends_process(state.frame().function) {
            return Flow::Done(Verdict::new(Outcome::Surfaces, state));
        }
        // Inlined frames unwind at once, up to the boundary of the innermost task.
        let task = |frame: &Frame| matches!(frame.then, Then::Detached | Then::Task(_));
        if let Some(at) = state.frames.iter().rposition(task) {
            while state.frames.len() > at + 1 {
                let env = state.frame().env;
                state.frames.pop();
                state.forget(env);
            }
            return self.give_back(state, Val::Panic);
        }
        let first = state.frames[0].clone();
        state.frames.truncate(1);
        if let Some(last) = state.frames.last_mut() {
            last.then = Then::Callers;
        }
        self.up(state, &first, Val::Panic)
    }

    /// The value leaves what can be seen.
    pub(super) fn leave(&self, state: &State, value: &Val) -> Verdict {
        if state.phase == Phase::Fresh {
            return self.dead(state);
        }
        match value {
            Val::Handle(inner) => {
                let mut seen = state.clone();
                seen.pending_handle = false;
                self.leave(&seen, inner)
            }
            _ if state.pending_handle => match value.handle() {
                Some(inner) => {
                    let inner = inner.clone();
                    let mut seen = state.clone();
                    seen.pending_handle = false;
                    self.leave(&seen, &inner)
                }
                None => self.dead(state),
            },
            Val::Done(inner) | Val::Returns(inner) => self.leave(state, inner),
            // Nobody is in view who gets the error; the stream is over all the same.
            Val::Raises(_) if self.heals() => self.dead(state),
            Val::Raises(_) => Verdict::new(Outcome::Forwards, state),
            Val::Ended => {
                if self.heals() {
                    self.dead(state)
                } else {
                    Verdict::new(Outcome::Unknown, state)
                }
            }
            Val::Variant { name, .. } if name == "Err" => Verdict::new(Outcome::Surfaces, state),
            Val::Variant { name, fields, .. } if name == "Ok" => match fields.get("0") {
                Some(inner) if !matches!(inner, Val::Unit | Val::Unknown) && !is_plain(inner) => {
                    self.leave(state, &inner.clone())
                }
                // What was read so far is handed back: the stream was read to its end.
                _ if self
                    .gives_data(state.frames.first().map_or(self.site.function, |frame| frame.function)) =>
                {
                    Verdict::new(Outcome::Unknown, state)
                }
                _ => self.dead(state),
            },
            // A stream made out of this one: whoever reads it is told of its end.
            value if value.holds(&Val::Ended) && !self.heals() => Verdict::new(Outcome::Unknown, state),
            value if value.carries() => Verdict::new(Outcome::Surfaces, state),
            Val::Bool(_) | Val::Path(_) if state.arm.is_some() || state.asked => {
                Verdict::new(Outcome::Surfaces, state)
            }
            _ => self.dead(state),
        }
    }

    /// Whether a function returns more than success or failure.
    pub(super) fn gives_data(&self, function: FnId) -> bool {
        let nothing = |ty: &Ty| matches!(ty, Ty::Tuple(parts) if parts.is_empty());
        let program = self.infer.program;
        program.functions[function].output.as_ref().is_some_and(|ty| match program.ty_in(function, ty) {
            Ty::Named { path, args, .. } if &*path == "Result" => {
                args.first().is_some_and(|ok| !nothing(ok) && !ok.is_unknown())
            }
            _ => false,
        })
    }
}

/// Whether a value is a struct that has nothing to do with the watch.
fn is_plain(value: &Val) -> bool {
    let told = value.carries() || value.holds_task() || value.holds(&Val::Ended) || value.holds(&Val::Ours);
    matches!(value, Val::Variant { name, .. } if !matches!(name.as_str(), "" | "Ok" | "Err" | "Some" | "None"))
        && !told
}
