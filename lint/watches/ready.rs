//! `Poll`: what hand-written `poll` functions give, and what its methods make of it.

use super::{
    fill::{ended, shaped},
    state::{State, Then},
    value::Val,
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::{
    facts::{FnId, Program, Ty},
    flow::graph::{BodyKind, Op, Place},
    syntax::tree::Type,
};

/// The type that a method of `Stream` makes of what `poll_next` gives.
pub(super) fn polled_ty(method: &str, poll: &Ty) -> Ty {
    let next = poll.inner();
    match method {
        "next" => next,
        "select_next_some" => next.inner(),
        "try_next" => Ty::result(Ty::option(next.inner().inner())),
        _ => poll.clone(),
    }
}

/// The value that a method of `Stream` makes of what `poll_next` gave.
pub(super) fn polled(method: &str, poll: Val) -> Val {
    if method.contains("poll") {
        return poll;
    }
    let next = if poll.is_variant("Ready") { poll.payload() } else { poll };
    match &next {
        Val::Variant { name, .. } if name == "Some" => shaped(method, next.payload()),
        Val::Variant { name, fault: true, .. } if name == "None" => ended(method),
        _ if method == "next" => next,
        _ if next.carries() => Val::Derived,
        _ => Val::Unknown,
    }
}

/// Whether a function is a `poll` written by hand.
pub(super) fn is_poll(program: &Program<'_>, id: FnId) -> bool {
    match &program.functions[id].output {
        Some(Type::Path(path)) => {
            program.resolve(id, &path.segments).last().is_some_and(|last| last == "Poll")
        }
        _ => false,
    }
}

/// Whether a value is `Poll::Pending`.
pub(super) fn is_pending(value: &Val) -> bool {
    matches!(value, Val::Path(path) if path.rsplit("::").next() == Some("Pending"))
}

impl Walk<'_, '_, '_> {
    /// Whether a function is a `poll` written by hand.
    pub(super) fn is_poll_function(&self, id: FnId) -> bool {
        is_poll(self.infer.program, id)
    }

    /// A future asked by hand: `future.poll(cx)`.
    pub(super) fn poll_future(&self, state: &mut State, op: &Op, receiver: &Val) -> Option<Flow> {
        let then = || Then::Wrap("Ready", op.to.clone());
        let ready = match receiver {
            Val::Future(function, args) => {
                return Some(self.inline(state, *function, args.clone(), then(), op.span));
            }
            Val::Body(function, body, env)
                if self.graph(*function).bodies[*body as usize].kind == BodyKind::Async =>
            {
                return Some(self.run_body(state, *function, *body, *env, &[], then()));
            }
            Val::Done(inner) if **inner == Val::Panic => return Some(self.panic(state)),
            Val::Done(inner) => (**inner).clone(),
            Val::Handle(inner) => {
                state.pending_handle = false;
                Val::joined((**inner).clone())
            }
            Val::Sleep => Val::Unit,
            Val::Pending => return Some(Flow::Done(self.dead(state))),
            _ => return None,
        };
        state.waited |= matches!(receiver, Val::Sleep | Val::Handle(_));
        Some(self.finish_call(state, op, Val::variant("Ready", Some(ready))))
    }

    /// `ready!`.
    pub(super) fn ready(&self, state: &mut State, op: &Op, value: Val) -> Flow {
        let value = match value {
            ready if ready.is_variant("Ready") => ready.payload(),
            Val::Sleep => {
                state.waited = true;
                Val::Unknown
            }
            Val::Pending => return Flow::Done(self.dead(state)),
            pending if is_pending(&pending) => return Flow::Done(Verdict::none()),
            other => other,
        };
        self.finish_call(state, op, value)
    }

    /// A method of a `Poll` that is ready.
    pub(super) fn on_ready(
        &self,
        state: &mut State,
        op: &Op,
        name: &str,
        receiver: &Val,
        args: &[Place],
        values: &[Val],
    ) -> Option<Flow> {
        let closure = self.callable(state, args.get(1), values.get(1));
        match (name, closure) {
            ("is_ready", _) => Some(self.finish_call(state, op, Val::Bool(true))),
            ("is_pending", _) => Some(self.finish_call(state, op, Val::Bool(false))),
            ("map", Some((function, body, env))) => {
                let then = Then::Wrap("Ready", op.to.clone());
                Some(self.run_body(state, function, body, env, &[receiver.payload()], then))
            }
            ("map", None) => {
                let inner = if receiver.carries() { Val::Derived } else { Val::Unknown };
                Some(self.finish_call(state, op, Val::variant("Ready", Some(inner))))
            }
            // The error is another one afterwards, and still the fault.
            ("map_err", Some((function, body, env))) if receiver.carries() => {
                let then = Then::Keep(Box::new(receiver.clone()), op.to.clone());
                Some(self.run_body(state, function, body, env, &[Val::Fault], then))
            }
            ("map_err" | "map_ok", _) => Some(self.finish_call(state, op, receiver.clone())),
            _ => None,
        }
    }

    /// `?` on a `Poll`: what goes on, or else what is returned.
    pub(super) fn ready_question(value: &Val) -> Result<Val, Val> {
        let inner = value.payload();
        let again = |inner| Val::variant("Ready", Some(inner));
        match &inner {
            Val::Variant { name, .. } if name == "Err" => Err(value.clone()),
            Val::Variant { name, .. } if name == "Ok" => Ok(again(inner.payload())),
            Val::Variant { name, .. } if name == "Some" => {
                let item = inner.payload();
                if item.is_variant("Err") {
                    Err(value.clone())
                } else {
                    Ok(again(Val::variant("Some", Some(item.payload()))))
                }
            }
            _ => Ok(value.clone()),
        }
    }
}
