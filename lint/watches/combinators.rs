//! Methods of `Result`, `Option` and futures that the standard library and the futures crates define.

use rideout_rules::catalog::Meaning;

use super::{
    state::{State, Then},
    value::{PERMANENT, Val},
    walk::{Flow, Walk},
};
use crate::{
    facts::Ty,
    flow::graph::{Op, Place},
};

impl Walk<'_, '_, '_> {
    /// A method on a known variant (or on a future of one). Gives nothing for others.
    pub(super) fn combinator(
        &self,
        state: &mut State,
        op: &Op,
        name: &str,
        receiver: &Val,
        args: &[Place],
        values: &[Val],
    ) -> Option<Flow> {
        let done = |state: &mut State, value: Val| {
            state.set(&op.to, value);
            Some(Flow::Next)
        };
        if let Val::Done(inner) = receiver {
            // `future.map(f)`, `future.map_err(f)`, ...: what is true of the result is true of the future.
            return match name {
                "map_err" | "map_ok" | "map" | "then" | "and_then" | "or_else" | "unwrap_or_else"
                | "inspect_err" => self.combinator(state, op, name, &inner.clone(), args, values),
                _ => None,
            };
        }
        let (variant, payload) = match receiver {
            Val::Variant { name, .. } if matches!(name.as_str(), "Ok" | "Err" | "Some" | "None") => {
                (name.as_str(), receiver.payload())
            }
            Val::Variant { name: variant, .. } if variant == "Ready" => {
                return self.on_ready(state, op, name, receiver, args, values);
            }
            Val::Variant { .. } | Val::Fault | Val::Derived | Val::FaultItem(_) => {
                if receiver.carries() && self.fact.transient.iter().any(|known| known == name) {
                    return done(state, Val::Singles(name.to_owned(), false));
                }
                if receiver.carries() && self.fact.others.iter().any(|known| known == name) {
                    return done(state, Val::Bool(false));
                }
                if name == "contains" && values.get(1).is_some_and(Val::carries) {
                    return done(state, self.kind(&receiver.names(), false));
                }
                let asked = self.callable(state, args.last(), values.last());
                return match name {
                    "clone" | "as_ref" | "to_owned" | "into" | "borrow" | "as_deref" => {
                        done(state, receiver.clone())
                    }
                    "is_some_and" | "is_ok_and" | "is_none_or" | "map_or" if receiver.carries() => {
                        let (function, body, env) = asked?;
                        let then = Then::Into(op.to.clone());
                        Some(self.run_body(state, function, body, env, &[Val::Derived], then))
                    }
                    _ => None,
                };
            }
            Val::Future(..) | Val::Body(..) | Val::Sleep | Val::Pending | Val::Again(..) => {
                return match name {
                    "boxed" | "boxed_local" | "instrument" | "in_current_span" | "fuse" | "into_future"
                    | "as_mut" | "shared" => done(state, receiver.clone()),
                    _ => None,
                };
            }
            _ => return None,
        };
        let full = matches!(variant, "Ok" | "Some");
        let closure = || self.callable(state, args.get(1), values.get(1));
        match name {
            "is_ok" | "is_some" | "is_err" | "is_none"
                if receiver.is_fault() && self.only_asked(state, args) =>
            {
                // Nobody looks at the items: the end is what is waited for.
                state.designed = true;
                done(state, Val::Bool(full == matches!(name, "is_ok" | "is_some")))
            }
            "is_ok" | "is_some" => done(state, Val::Bool(full)),
            "is_err" | "is_none" => done(state, Val::Bool(!full)),
            "is_ok_and" | "is_some_and" if !full => done(state, Val::Bool(false)),
            "is_some_and" | "map_or" if full && payload.holds_task() => {
                let at = args.len() - 1;
                let (function, body, env) = self.callable(state, args.get(at), values.get(at))?;
                Some(self.run_body(state, function, body, env, &[payload], Then::Into(op.to.clone())))
            }
            "ok" => done(state, if full { Val::variant("Some", Some(payload)) } else { Val::end() }),
            "err" => done(
                state,
                if full { Val::variant("None", None) } else { Val::variant("Some", Some(payload)) },
            ),
            "unwrap" | "expect" if full => done(state, payload),
            "unwrap" | "expect" => Some(self.panic(state)),
            "unwrap_err" | "expect_err" if !full => done(state, payload),
            "unwrap_or" | "unwrap_or_default" => done(state, if full { payload } else { Val::Unknown }),
            "unwrap_or_else" | "or_else" if !full => match closure() {
                Some((function, body, env)) => {
                    let carried = if variant == "Err" { vec![payload] } else { Vec::new() };
                    let flow = self.run_body(state, function, body, env, &carried, Then::Into(op.to.clone()));
                    if carried.is_empty() {
                        self.enter_closure_arm(state, function, body);
                    }
                    Some(flow)
                }
                None => done(state, Val::Unknown),
            },
            "unwrap_or_else" => done(state, payload),
            "or_else" | "or" if full => done(state, receiver.clone()),
            "ok_or" | "ok_or_else" => {
                let value = if full {
                    Val::variant("Ok", Some(payload))
                } else {
                    Val::variant("Err", Some(Val::Fault))
                };
                done(state, value)
            }
            "map_err" | "inspect_err" if variant == "Err" => match closure() {
                Some((function, body, env)) => {
                    let then = match name {
                        "map_err" => Then::Wrap("Err", op.to.clone()),
                        "inspect_err" => Then::Keep(Box::new(receiver.clone()), op.to.clone()),
                        _ => Then::Into(op.to.clone()),
                    };
                    Some(self.run_body(state, function, body, env, &[payload], then))
                }
                None if name == "map_err" && self.is_permanent(state, values.get(1)) => {
                    done(state, Val::variant("Err", Some(Val::variant(PERMANENT, Some(payload)))))
                }
                None => done(state, Val::variant("Err", Some(payload))),
            },
            // A combinator given by its path: `.and_then(Result::ok)`.
            "map" | "and_then"
                if full
                    && matches!(values.get(1), Some(Val::Path(path)) if combinator_at(path).is_some()) =>
            {
                let Some(Val::Path(path)) = values.get(1) else { return None };
                let flow = self.combinator(state, op, combinator_at(path)?, &payload, &[], &[])?;
                if name == "map" {
                    let inner = state.get(&op.to);
                    state.set(&op.to, Val::variant(variant, Some(inner)));
                }
                Some(flow)
            }
            "map" | "and_then" if full => match closure() {
                Some((function, body, env)) => {
                    let then = match (name, variant) {
                        ("map", "Ok") => Then::Wrap("Ok", op.to.clone()),
                        ("map", _) => Then::Wrap("Some", op.to.clone()),
                        _ => Then::Into(op.to.clone()),
                    };
                    Some(self.run_body(state, function, body, env, &[payload], then))
                }
                None if let Some(Val::Path(path)) = values.get(1)
                    && let Some(("Result" | "Option", method)) = path.rsplit_once("::") =>
                {
                    // A method by its path: `.and_then(Result::ok)`.
                    let flow = self.combinator(state, op, method, &payload, &args[..1], &values[..1])?;
                    if name == "map" {
                        let given = state.get(&op.to);
                        state.set(&op.to, Val::variant(variant, Some(given)));
                    }
                    Some(flow)
                }
                None if name == "map" => {
                    let inner = if payload.carries() { Val::Derived } else { payload };
                    done(state, Val::variant(variant, Some(inner)))
                }
                // `and_then(Result::ok)`
                None if is_path(values.get(1), "ok") => {
                    let given = match &payload {
                        error if error.is_variant("Err") => Val::end(),
                        fine if fine.is_variant("Ok") => Val::variant("Some", Some(fine.payload())),
                        other if other.carries() => Val::Derived,
                        _ => Val::Unknown,
                    };
                    done(state, given)
                }
                None => done(state, if payload.carries() { Val::Derived } else { Val::Unknown }),
            },
            "map_or" | "map_or_else" => {
                done(state, if payload.carries() || receiver.carries() { Val::Derived } else { Val::Unknown })
            }
            "transpose" => done(state, transposed(variant, payload, receiver)),
            "flatten" => done(state, if full { payload } else { receiver.clone() }),
            "take" if args.len() == 1 => {
                if receiver.holds(&Val::Ours) && !args[0].fields.is_empty() {
                    state.released |= self.fault_arm(state).is_some();
                }
                state.set(&args[0], Val::variant("None", None));
                done(state, receiver.clone())
            }
            "map" | "and_then" | "map_err" | "context" | "with_context" | "wrap_err" | "wrap_err_with"
            | "as_ref" | "as_mut" | "clone" | "cloned" | "copied" | "inspect" | "inspect_err"
            | "as_deref" | "as_deref_mut" | "iter" | "into_iter" | "filter" | "change_context"
            | "attach_printable" | "map_ok" | "err_into" | "boxed" | "into" | "to_owned" => {
                done(state, receiver.clone())
            }
            _ => None,
        }
    }

    /// Whether a poll's result is only asked whether it failed.
    fn only_asked(&self, state: &State, args: &[Place]) -> bool {
        let frame = state.frame();
        let graph = self.graph(frame.function);
        let asked = args.first().is_some_and(|place| {
            place.fields.is_empty()
                && graph.locals[place.local as usize].reads == 1
                && graph.locals[place.local as usize].name.is_none()
        });
        asked && frame.function == self.site.function
    }

    /// Whether a function given by its path makes errors that are not tried again.
    fn is_permanent(&self, state: &State, given: Option<&Val>) -> bool {
        let Some(Val::Path(path)) = given else { return false };
        let segments: Vec<String> = path.split("::").map(str::to_owned).collect();
        let function = state.frame().function;
        let resolved = self.infer.program.resolve(function, &segments).join("::");
        self.infer.program.known(function).word_fn(&resolved) == Some(Meaning::Permanent)
    }

    fn enter_closure_arm(&self, state: &mut State, function: usize, body: u32) {
        if let Some(arm) = self.graph(function).bodies[body as usize].arm {
            self.enter_arm(state, function, arm);
        }
    }

    /// The closure that an argument is.
    pub(super) fn callable(
        &self,
        state: &State,
        place: Option<&Place>,
        value: Option<&Val>,
    ) -> Option<(usize, u32, usize)> {
        if let Some(Val::Body(function, body, env)) = value {
            return Some((*function, *body, *env));
        }
        let frame = state.frame();
        match self.infer.place(frame.function, place?) {
            Ty::Body(function, body) if function == frame.function => Some((function, body, frame.env)),
            _ => None,
        }
    }
}

/// The combinator of `Result` or `Option` that a path names, of those that need no argument.
pub(super) fn combinator_at(path: &str) -> Option<&str> {
    let (owner, name) = path.rsplit_once("::")?;
    let known = matches!(name, "ok" | "err" | "transpose" | "flatten");
    (known && matches!(owner.rsplit("::").next(), Some("Result" | "Option"))).then_some(name)
}

/// Whether a value is a function of this name, handed over by its path.
fn is_path(value: Option<&Val>, name: &str) -> bool {
    matches!(value, Some(Val::Path(path)) if path.rsplit("::").next() == Some(name))
}

fn transposed(variant: &str, payload: Val, receiver: &Val) -> Val {
    match (variant, &payload) {
        ("Some", Val::Variant { name, .. }) if name == "Err" => payload,
        ("Some", Val::Variant { name, .. }) if name == "Ok" => {
            Val::variant("Ok", Some(Val::variant("Some", Some(payload.payload()))))
        }
        ("None", _) => Val::variant("Ok", Some(receiver.clone())),
        ("Ok", Val::Variant { name, .. }) if name == "None" => payload,
        ("Ok", Val::Variant { name, .. }) if name == "Some" => {
            Val::variant("Some", Some(Val::variant("Ok", Some(payload.payload()))))
        }
        ("Err", _) => Val::variant("Some", Some(receiver.clone())),
        _ => Val::Derived,
    }
}
