//! Methods of the watch itself, and of one that its function has made anew.

use rideout_rules::{
    catalog::Meaning,
    model::{Outcome, ShowsAs},
};

use super::{
    polls,
    scope::{in_loop, loop_around},
    state::{NOT_ASKED, Phase, State, Then},
    value::Val,
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::{
    facts::{FnId, Ty},
    flow::graph::{BlockId, Callee, Op, Place, Value},
};

impl Walk<'_, '_, '_> {
    /// A method of the watch itself.
    pub(super) fn on_watch(
        &self,
        state: &mut State,
        op: &Op,
        name: &str,
        args: &[Place],
        values: &[Val],
        ty: &Ty,
    ) -> Flow {
        let function = state.frame().function;
        let known = self.infer.program.known(function);
        let watch = ty.watch().filter(|_| self.is_source(function, ty)).unwrap_or(&self.site.watch);
        if let Some(fact) = polls::poll(known, watch, name) {
            if fact.callback {
                return self.callback(state, &fact, args, values);
            }
            return self.poll(state, &fact, &op.to, fact.method);
        }
        match name {
            // What says how the stream is, and is no stream.
            "is_closed" | "is_terminated" => self.finish_call(state, op, Val::Derived),
            "take" | "replace" if matches!(ty, Ty::Named { path, .. } if &**path == "Option") => {
                state.released = !args[0].fields.is_empty();
                state.set(&args[0], Val::variant("None", None));
                self.finish_call(state, op, Val::variant("Some", Some(Val::Ours)))
            }
            _ => {
                let keeps = self.infer.place(function, &op.to).watch().is_some() || {
                    let paths = self.infer.paths(function, ty);
                    known.borrows(&paths.iter().map(String::as_str).collect::<Vec<_>>(), name)
                };
                self.finish_call(
                    state,
                    op,
                    if keeps { wrap_like(&self.infer.place(function, &op.to)) } else { Val::Unknown },
                )
            }
        }
    }

    /// The library calls a closure with each item.
    fn callback(&self, state: &mut State, fact: &polls::PollFact, args: &[Place], values: &[Val]) -> Flow {
        let function = state.frame().function;
        if self.fact.shows_as == ShowsAs::Silent && self.ordinary.is_none() {
            // It is never called, whatever it would do. A loop that hands it over again after a time does not need it.
            let again = self.waits_around(function, state.frame().block);
            return Flow::Done(if again { Verdict::new(Outcome::Unknown, state) } else { self.dead(state) });
        }
        let wanted = |at: usize| fact.closure.is_none_or(|closure| at == closure + 1);
        let given = (0..).zip(values.iter().zip(args)).skip(1).filter(|(at, _)| wanted(*at));
        let closure = given.map(|(_, given)| given).find_map(|(value, place)| match value {
            Val::Body(function, body, env) => Some((*function, *body, *env)),
            _ => match self.infer.place(function, place) {
                Ty::Body(function, body) => Some((function, body, state.frame().env)),
                _ => None,
            },
        });
        let Some((owner, body, env)) = closure else {
            return Flow::Done(Verdict::new(Outcome::Unknown, state));
        };
        let param = self.graph(owner).bodies[body as usize].params.first().copied();
        let Some(param) = param else { return Flow::Done(Verdict::new(Outcome::Unknown, state)) };
        // The answer is put where the closure finds its argument, then the closure runs.
        let place = Place::local(param);
        match self.poll(state, fact, &place, "") {
            Flow::Next => {}
            other => return other,
        }
        let value = state.get(&place);
        self.run_body(state, owner, body, env, &[value], Then::Callback)
    }

    /// Whether a loop around a block waits for some time.
    fn waits_around(&self, function: FnId, block: BlockId) -> bool {
        let graph = self.graph(function);
        let known = self.infer.program.known(function);
        let waits = |op: &Op| match &op.value {
            Value::Call { callee: Callee::Path(path), .. } => {
                let resolved = self.infer.program.resolve(function, &path.segments).join("::");
                known.word_fn(&resolved) == Some(Meaning::Wait)
                    || known.hint(path.last()) == Some(Meaning::Wait)
            }
            Value::Call { callee: Callee::Method { name, .. }, args, .. } => {
                let ty = args.first().map_or(Ty::Unknown, |place| self.infer.place(function, place));
                let paths = self.infer.paths(function, &ty);
                let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
                known.word_method(&paths, name) == Some(Meaning::Wait)
            }
            _ => false,
        };
        let mut within = loop_around(graph, &graph.blocks[block as usize]);
        while let Some(id) = within {
            let mut inside = graph.blocks.iter().filter(|block| in_loop(graph, block.within, id));
            if inside.any(|block| block.ops.iter().any(waits)) {
                return true;
            }
            within = graph.loops[id as usize].parent;
        }
        false
    }

    /// Whether a method polls the watch that a type holds.
    pub(super) fn is_poll(&self, function: FnId, ty: &Ty, name: &str) -> bool {
        let known = self.infer.program.known(function);
        ty.watch().is_some_and(|watch| polls::poll(known, watch, name).is_some())
    }

    /// Whether a place is a local of the function that is neither a parameter nor made from one.
    pub(super) fn is_own_local(&self, function: FnId, place: &Place) -> bool {
        let graph = self.graph(function);
        let origin = self.param_of(function, place.local);
        place.fields.is_empty() && graph.bodies.iter().all(|body| !body.params.contains(&origin))
    }

    /// A poll of a stream whose opening was not recognised: its function has been entered again.
    pub(super) fn poll_anew(&self, state: &mut State, op: &Op, name: &str, args: &[Place], ty: &Ty) -> Flow {
        if state.pending_handle {
            return self.finish_call(state, op, Val::Unknown);
        }
        if self.ordinary.is_some() && !state.in_round() {
            // Another wait further on, in no loop.
            return Flow::Done(Verdict::none());
        }
        if state.phase != Phase::Fresh {
            // Where the opening is not in view, neither is what it waits for.
            let paced = state.waited || self.site.watch.opener.is_none();
            if let Some(flow) = self.starts_anew(state, paced) {
                return flow;
            }
        }
        state.set(&args[0], Val::Ours);
        state.phase = Phase::Fresh;
        self.on_watch(state, op, name, args, &[], ty)
    }

    /// A generator that opens the source has been made anew and is asked: it opens, and ends with the fault once more.
    pub(super) fn generate_anew(&self, state: &mut State, op: &Op, name: &str, args: &[Place]) -> Flow {
        if let Some(flow) = self.starts_anew(state, state.waited) {
            return flow;
        }
        state.phase = Phase::Polled(NOT_ASKED + 1);
        state.set(&args[0], Val::Ended);
        let ended = if name == "try_next" { Val::variant("Ok", Some(Val::end())) } else { Val::end() };
        self.finish_call(state, op, ended)
    }
}

/// A value of the type's outer shape with the watch in it.
fn wrap_like(ty: &Ty) -> Val {
    match ty {
        Ty::Named { path, args, .. } if args.iter().any(|arg| arg.watch().is_some()) => match &**path {
            "Result" => Val::variant("Ok", Some(wrap_like(&ty.inner()))),
            "Option" => Val::variant("Some", Some(wrap_like(&ty.inner()))),
            _ => Val::Ours,
        },
        Ty::Tuple(parts) => Val::tuple(
            parts
                .iter()
                .map(|part| if part.watch().is_some() { wrap_like(part) } else { Val::Unknown })
                .collect(),
        ),
        _ => Val::Ours,
    }
}
