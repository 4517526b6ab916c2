//! Calls on a path: methods, functions and closures, each sent to what knows about it.

use std::collections::HashSet;

use rideout_rules::model::{Outcome, ShowsAs};

use super::{
    adapters::adapts,
    call_types::exchanges,
    fill::shaped,
    polls::stream_method,
    state::{NOT_ASKED, Phase, State, Then},
    value::Val,
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::{
    facts::{FnId, Ty},
    flow::{
        graph::{BodyKind, Callee, Graph, Op, Place, Value},
        unpins,
    },
    syntax::tree::{Path, Span},
};

impl Walk<'_, '_, '_> {
    /// A call of any kind.
    pub(super) fn call(
        &self,
        state: &mut State,
        op: &Op,
        callee: &Callee,
        args: &[Place],
        name_span: Span,
    ) -> Flow {
        let values: Vec<Val> = args.iter().map(|place| state.get(place)).collect();
        match callee {
            Callee::Method { name, .. } => self.method(state, op, name, args, values, name_span),
            Callee::Path(path) => self.function(state, op, path, args, values),
            Callee::Place(place) => {
                let target = state.get(place);
                let ty = self.infer.place(state.frame().function, place);
                self.closure(state, op, target, &ty, values)
            }
        }
    }

    /// Puts what a call gives where it belongs.
    pub(super) fn finish_call(&self, state: &mut State, op: &Op, value: Val) -> Flow {
        state.set(&op.to, value);
        Flow::Next
    }

    /// Whether a type holds the source at hand.
    pub(super) fn is_source(&self, function: FnId, ty: &Ty) -> bool {
        ty.watch().is_some_and(|watch| {
            self.infer.program.known(function).sources[watch.source].facts.id == self.source
        })
    }

    fn method(
        &self,
        state: &mut State,
        op: &Op,
        name: &str,
        args: &[Place],
        values: Vec<Val>,
        name_span: Span,
    ) -> Flow {
        let function = state.frame().function;
        let Some(receiver) = values.first().cloned() else { return Flow::Next };
        if self.fact.restored_by.iter().any(|known| known == name) {
            state.restored = true;
            if matches!(state.phase, Phase::Polled(_)) && self.fact.shows_as == ShowsAs::Variant {
                state.waited = true;
            }
        }
        if self.fact.healed_by.iter().any(|known| known == name) && state.phase != Phase::Fresh {
            // The connection is back: only the subscription is at stake from here on.
            state.healed = true;
            state.arm = None;
        }
        if let Some(flow) = self.on_value(state, op, name, args, &values, name_span) {
            return flow;
        }
        let on_fault = self.ordinary.is_none() && state.phase != Phase::Fresh;
        let is_sender = || is_sender(&self.infer.place(function, &args[0]));
        if on_fault && name == "take" && is_sender() && self.is_dropped(function, &op.to) {
            // Whoever reads from the channel sees its end.
            return Flow::Done(Verdict::new(Outcome::Forwards, state));
        }
        if matches!(name, "poll" | "poll_unpin" | "try_poll" | "try_poll_unpin")
            && let Some(flow) = self.poll_future(state, op, &receiver)
        {
            return flow;
        }
        if let Some(flow) = self.combinator(state, op, name, &receiver, args, &values) {
            return flow;
        }
        let receiver_ty = self.infer.place(function, &args[0]);
        let known = self.infer.program.known(function);
        let paths = self.infer.paths(function, &receiver_ty);
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let callees = self.infer.callees_of(&receiver_ty.inner(), name, function);
        if let Some(reopen) = known.reopen_method(&paths, name).filter(|reopen| !reopen.on.is_empty())
            && let Some(Val::Returns(inner)) = values.get(reopen.closure)
        {
            return self.helper(state, op, reopen, (**inner).clone(), args);
        }
        if callees.is_empty()
            && let Some(means) = known.word_method(&paths, name)
            && let Some(flow) = self.word(state, op, (means, name), args, &values, true)
        {
            return flow;
        }
        let result_ty = self.infer.place(function, &op.to);
        let from_watch = self.is_source(function, &receiver_ty);
        let by_default =
            !callees.is_empty() && callees.iter().all(|id| self.infer.program.functions[*id].in_trait);
        let handed_over = by_default && values.iter().skip(1).any(Val::carries);
        if handed_over && on_fault {
            // The caller's own implementation gets it.
            return Flow::Done(Verdict::new(Outcome::Forwards, state));
        }
        if !callees.is_empty() {
            return self.call_workspace(state, op, &callees, values);
        }
        if self.is_source(function, &result_ty) {
            if !from_watch {
                return self.open(state, op, &result_ty);
            }
            if matches!(receiver, Val::Variant { .. }) {
                // A further step of a builder, opened or refused.
                return self.finish_call(state, op, receiver);
            }
        }
        let whole = matches!(receiver, Val::Variant { .. });
        if whole && (unpins(name) || (adapts(name) && self.infer.is_stream(&receiver_ty))) {
            return self.finish_call(state, op, receiver);
        }
        self.unknown(state, op, name, args, &values, true)
    }

    /// A method of something that the walk itself put there: the watch, its end, its task, what calls a closure.
    fn on_value(
        &self,
        state: &mut State,
        op: &Op,
        name: &str,
        args: &[Place],
        values: &[Val],
        name_span: Span,
    ) -> Option<Flow> {
        let function = state.frame().function;
        let receiver = values.first()?;
        let ty = self.infer.place(function, &args[0]);
        match receiver {
            Val::Ours | Val::Fresh => {
                if *receiver == Val::Fresh {
                    // The old handle is forgotten: this one is the watch now, for the callers that lent it as well.
                    let own = state.frame().env;
                    let envs = state.envs.iter_mut().enumerate().filter(|(env, _)| *env != own);
                    envs.for_each(|(_, env)| env.adopt());
                    state.set(&args[0], Val::Ours);
                    state.phase = Phase::Fresh;
                }
                Some(self.on_watch(state, op, name, args, values, &ty))
            }
            Val::Unknown
                if (state.ups > 0 || state.frames.len() > 1)
                    && matches!(ty, Ty::Watch(_))
                    && self.is_source(function, &ty)
                    && self.is_poll(function, &ty, name)
                    && self.is_own_local(function, &args[0]) =>
            {
                // The function that makes the stream runs anew, and so does the stream.
                Some(self.poll_anew(state, op, name, args, &ty))
            }
            Val::Ended if stream_method(name).is_some() => {
                let count = if let Phase::Polled(count) = state.phase { count } else { NOT_ASKED };
                state.phase = Phase::Polled(count.saturating_add(1));
                if count > NOT_ASKED {
                    return Some(Flow::Done(self.dead_by(state, Outcome::Spins)));
                }
                let method = stream_method(name).unwrap_or("next");
                let ended =
                    if method == "try_next" { Val::variant("Ok", Some(Val::end())) } else { Val::end() };
                state.step(self.location(function, op.span), "the stream ends here too");
                state.consumer = self.consumer(function, state.frame().block, name_span);
                state.consumer_item = function;
                Some(self.finish_call(state, op, ended))
            }
            Val::Body(owner, body, _)
                if stream_method(name).is_some()
                    && self.is_generator(receiver)
                    && self.opens(*owner, *body) =>
            {
                Some(self.generate_anew(state, op, name, args))
            }
            Val::Raises(item) if stream_method(name).is_some() => {
                let item = shaped(name, (**item).clone());
                state.set(&args[0], Val::Ended);
                state.step(self.location(function, op.span), "the stream gives the fault here");
                state.consumer = self.consumer(function, state.frame().block, name_span);
                state.consumer_item = function;
                Some(self.finish_call(state, op, item))
            }
            Val::Ended | Val::Raises(_) => Some(self.finish_call(state, op, receiver.clone())),
            Val::Handle(_) if name == "is_finished" => {
                state.pending_handle = false;
                state.asked = true;
                Some(self.finish_call(state, op, Val::Bool(true)))
            }
            Val::Set(inner) if name == "next" && is_list(&ty) => {
                Some(self.finish_call(state, op, Val::variant("Some", Some(Val::Done(inner.clone())))))
            }
            Val::Set(inner) if stream_method(name).is_some() => {
                state.pending_handle = false;
                let item = shaped(name, (**inner).clone());
                Some(self.finish_call(state, op, Val::Done(Box::new(item))))
            }
            Val::Future(..) | Val::Body(..)
                if stream_method(name).is_some()
                    && !self.is_generator(receiver)
                    && self.brings_back(receiver) =>
            {
                state.frame_mut().op -= 1;
                Some(self.run(state, &args[0], receiver.clone(), Then::Set(args[0].clone())))
            }
            Val::Handle(_) if name == "next" && is_list(&ty) => {
                Some(self.finish_call(state, op, Val::variant("Some", Some(receiver.clone()))))
            }
            Val::Handle(inner)
                if matches!(
                    name,
                    "join_next" | "try_join_next" | "next" | "try_next" | "join_next_with_id"
                ) =>
            {
                state.waited = true;
                state.pending_handle = false;
                let joined = Val::joined((**inner).clone());
                Some(self.finish_call(state, op, Val::variant("Some", Some(joined))))
            }
            Val::Handle(inner) if matches!(name, "join" | "wait" | "join_all") => {
                state.waited = true;
                state.pending_handle = false;
                let joined = Val::joined((**inner).clone());
                Some(self.finish_call(state, op, joined))
            }
            Val::Running(task) if looks_at_task(name) => {
                Some(self.run_task(state, &args[0], (**task).clone(), true))
            }
            Val::Returns(inner) => {
                let reopen = self.infer.program.known(function).reopen_method(&[], name)?;
                Some(self.helper(state, op, reopen, (**inner).clone(), args))
            }
            _ => None,
        }
    }

    fn is_generator(&self, value: &Val) -> bool {
        matches!(value, Val::Body(owner, body, _)
            if matches!(self.graph(*owner).bodies[*body as usize].kind, BodyKind::Generator { .. }))
    }

    fn function(&self, state: &mut State, op: &Op, path: &Path, args: &[Place], values: Vec<Val>) -> Flow {
        let function = state.frame().function;
        let last = path.last();
        let first = values.first().cloned().unwrap_or_default();
        if let Some("Ok" | "Err" | "Some") = path.single() {
            let inner = match (last, &first) {
                ("Err", value) if !value.carries() && self.is_told(state) => Val::Derived,
                _ => first,
            };
            return self.finish_call(state, op, Val::variant(last, Some(inner)));
        }
        let program = self.infer.program;
        let known = program.known(function);
        let resolved = program.resolve(function, &path.segments);
        let joined = resolved.join("::");
        let callee = program.function_at(function, &resolved);
        if exchanges(&joined)
            && let Some(slot) = args.first()
        {
            let left = match (values.get(1), &first) {
                (Some(next), _) => next.clone(),
                (None, was) if was.is_variant("Some") => Val::variant("None", None),
                _ => Val::Unknown,
            };
            state.set(slot, left);
            return self.finish_call(state, op, first);
        }
        if callee.is_none() {
            if let Some(means) = known.word_fn(&joined)
                && let Some(flow) = self.word(state, op, (means, last), args, &values, false)
            {
                return flow;
            }
            if let Some(reopen) = known.reopen_fn(&joined)
                && let Some(Val::Returns(inner)) = values.get(reopen.closure)
            {
                return self.helper(state, op, reopen, (**inner).clone(), args);
            }
        }
        if let Some(callee) = callee {
            return self.call_workspace(state, op, &[callee], values);
        }
        let result_ty = self.infer.place(function, &op.to);
        if makes_future_of_poll(&resolved) {
            match first {
                Val::Returns(inner) => return self.finish_call(state, op, *inner),
                Val::Body(owner, body, env) => {
                    return self.run_body(state, owner, body, env, &[], Then::Into(op.to.clone()));
                }
                _ => {}
            }
        }
        if self.is_source(function, &result_ty) {
            // A wrapper is as old as what it wraps.
            let wrapped = [Val::Ours, Val::Ended, Val::Fresh]
                .into_iter()
                .find(|known| values.iter().any(|value| value.holds(known)));
            match wrapped {
                Some(value) => return self.finish_call(state, op, value),
                None if self.wraps_only_new(function, args) => return self.open(state, op, &result_ty),
                None => {}
            }
        }
        if matches!(last, "select_all" | "join_all" | "try_join_all" | "try_select" | "select_ok")
            && let Some(flow) = self.join_call(state, op, last, args, &values)
        {
            return flow;
        }
        // A constructor keeps what it is given.
        if last.starts_with(char::is_uppercase) {
            if last == "Ready" && first.is_variant("None") {
                self.note_leaving(state);
            }
            if let Some(flow) = self.construct(state, op, args) {
                return flow;
            }
            let inner =
                if !first.carries() && self.fault_arm(state).is_some() { Val::Derived } else { first };
            for (at, value) in values.iter().enumerate() {
                self.keep_in(state, &result_ty, &at.to_string(), value);
            }
            let fields = values
                .iter()
                .enumerate()
                .map(|(at, value)| (at.to_string(), if at == 0 { inner.clone() } else { value.clone() }))
                .collect();
            return self.finish_call(state, op, Val::Variant { name: last.to_owned(), fields, fault: false });
        }
        let owner_is_type =
            path.segments.len() > 1 && path.segments[path.segments.len() - 2].starts_with(char::is_uppercase);
        self.unknown(state, op, last, args, &values, owner_is_type)
    }

    fn closure(&self, state: &mut State, op: &Op, target: Val, ty: &Ty, values: Vec<Val>) -> Flow {
        let function = state.frame().function;
        match target {
            Val::Returns(inner) => {
                // The first call is the one that the walk comes from.
                if state.consumed {
                    return self.again(state, op, (*inner).clone());
                }
                state.consumed = true;
                return self.finish_call(state, op, *inner);
            }
            Val::Body(owner, body, env) => {
                return self.run_body(state, owner, body, env, &values, Then::Into(op.to.clone()));
            }
            _ => {}
        }
        match ty {
            Ty::Body(owner, body) if *owner == function => {
                let env = state.frame().env;
                return self.run_body(state, *owner, *body, env, &values, Then::Into(op.to.clone()));
            }
            Ty::Function(callee) => return self.call_workspace(state, op, &[*callee], values),
            _ => {}
        }
        let result_ty = self.infer.place(function, &op.to);
        if self.is_source(function, &result_ty) {
            return self.open(state, op, &result_ty);
        }
        let graph = self.graph(function);
        let of_fault = || values.iter().any(Val::carries) || self.fault_arm(state).is_some();
        let tells =
            || told_by_flag(graph, op) || (!values.is_empty() && is_statement(graph, &op.to) && of_fault());
        if self.ordinary.is_none() && state.phase != Phase::Fresh && tells() {
            return Flow::Done(Verdict::new(Outcome::Forwards, state));
        }
        self.unknown(state, op, "", &[], &values, false)
    }
}

/// Whether a type is the sending end of a channel, or may hold one.
fn is_sender(ty: &Ty) -> bool {
    matches!(ty.inner(), Ty::Named { path, .. } if path.ends_with("Sender"))
}

/// Whether a call is made for what it does: nothing comes of its result but that it is waited for.
fn is_statement(graph: &Graph, result: &Place) -> bool {
    let awaited = graph.blocks.iter().flat_map(|block| &block.ops).find_map(|op| match &op.value {
        Value::Await(future) if future == result => Some(&op.to),
        _ => None,
    });
    let reads = |place: &Place| graph.locals[place.local as usize].reads;
    match awaited {
        Some(done) => reads(result) == 1 && reads(done) == 0,
        None => reads(result) == 0,
    }
}

/// Whether an argument is a flag that says which way was taken.
fn told_by_flag(graph: &Graph, op: &Op) -> bool {
    let Value::Call { args, .. } = &op.value else { return false };
    args.iter().any(|arg| {
        let mut said = (false, false);
        let mut todo = vec![arg];
        let mut seen = HashSet::new();
        while let Some(place) = todo.pop().filter(|place| seen.insert(*place)) {
            for op in graph.blocks.iter().flat_map(|block| &block.ops).filter(|op| op.to == *place) {
                match &op.value {
                    Value::Use(from) => todo.push(from),
                    Value::Bool(true) => said.0 = true,
                    Value::Bool(false) => said.1 = true,
                    _ => {}
                }
            }
        }
        said == (true, true)
    })
}

/// Whether a type holds things that are taken out as they are; a set of tasks gives what they have ended with.
fn is_list(ty: &Ty) -> bool {
    let Ty::Named { path, .. } = ty else { return false };
    let last = path.rsplit("::").next().unwrap_or(path);
    matches!(last, "Vec" | "VecDeque" | "HashMap" | "BTreeMap" | "IndexMap" | "DashMap" | "SmallVec")
}

/// Whether a method of a task's handle, or of a set of tasks, tells of the task's end.
fn looks_at_task(name: &str) -> bool {
    matches!(
        name,
        "is_finished"
            | "join"
            | "join_all"
            | "join_next"
            | "join_next_with_id"
            | "next"
            | "try_join_next"
            | "try_join_next_with_id"
            | "try_next"
            | "wait"
    )
}

/// Whether a function makes a future of a closure that polls.
pub(super) fn makes_future_of_poll(path: &[String]) -> bool {
    matches!(path, [.., module, name] if module == "future" && name == "poll_fn")
}
