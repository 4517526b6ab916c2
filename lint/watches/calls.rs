//! Calls on a fault's way: polls, openings, words of the control flow, functions of the workspace, and everything else.

use rideout_rules::{catalog::Meaning, model::Outcome};

use super::{
    deliver::stream_method,
    infer::chain_of,
    polls,
    state::{Phase, State, Then},
    value::Val,
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::{
    facts::{FnId, Ty},
    flow::graph::{BlockId, BodyKind, Callee, Op, Place, Value},
    syntax::tree::{Path, Span},
};

impl Walk<'_, '_, '_> {
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
            if matches!(state.phase, Phase::Polled(_))
                && self.fact.shows_as == rideout_rules::model::ShowsAs::Variant
            {
                state.waited = true;
            }
        }
        let receiver_ty = self.infer.place(function, &args[0]);
        match &receiver {
            Val::Ours | Val::Fresh => {
                if receiver == Val::Fresh {
                    // The old handle is forgotten: this one is the watch now.
                    state.set(&args[0], Val::Ours);
                    state.phase = Phase::Fresh;
                }
                return self.on_watch(state, op, name, args, &values, &receiver_ty);
            }
            Val::Unknown
                if (state.ups > 0 || state.frames.len() > 1)
                    && matches!(&receiver_ty, Ty::Watch(_))
                    && self.is_source(function, &receiver_ty)
                    && self.is_poll(function, &receiver_ty, name)
                    && self.is_own_local(function, &args[0]) =>
            {
                // The function that makes the stream runs anew, and so does the stream.
                return self.poll_anew(state, op, name, args, &receiver_ty);
            }
            Val::Ended if stream_method(name).is_some() => {
                let count = if let Phase::Polled(count) = state.phase { count } else { 100 };
                state.phase = Phase::Polled(count.saturating_add(1));
                if count > 100 {
                    return Flow::Done(self.dead_by(state, Outcome::Spins));
                }
                let method = stream_method(name).unwrap_or("next");
                let ended =
                    if method == "try_next" { Val::variant("Ok", Some(Val::end())) } else { Val::end() };
                state.step(self.location(function, op.span), "the stream ends here too");
                state.consumer = self.consumer(function, state.frame().block, name_span);
                state.consumer_item = function;
                return self.finish_call(state, op, ended);
            }
            Val::Body(owner, body, _)
                if stream_method(name).is_some()
                    && matches!(
                        self.graph(*owner).bodies[*body as usize].kind,
                        BodyKind::Generator { .. }
                    )
                    && self.opens(*owner, *body, 0) =>
            {
                return self.generate_anew(state, op, name, args);
            }
            Val::Ended => return self.finish_call(state, op, Val::Ended),
            Val::Handle(inner) if name == "is_finished" => {
                let _ = inner;
                state.pending_handle = false;
                return self.finish_call(state, op, Val::Bool(true));
            }
            Val::Handle(inner)
                if matches!(
                    name,
                    "join_next" | "try_join_next" | "next" | "try_next" | "join_next_with_id"
                ) =>
            {
                state.waited = true;
                state.pending_handle = false;
                let joined = if **inner == Val::Panic {
                    Val::variant("Err", Some(Val::Fault))
                } else {
                    Val::variant("Ok", Some((**inner).clone()))
                };
                return self.finish_call(state, op, Val::variant("Some", Some(joined)));
            }
            Val::Handle(inner) if matches!(name, "join" | "wait" | "join_all") => {
                state.waited = true;
                state.pending_handle = false;
                let joined = if **inner == Val::Panic {
                    Val::variant("Err", Some(Val::Fault))
                } else {
                    Val::variant("Ok", Some((**inner).clone()))
                };
                return self.finish_call(state, op, joined);
            }
            Val::Returns(inner) => {
                let known = self.infer.program.known(function);
                if let Some(reopen) = known.reopen_method(name) {
                    let chain: Vec<_> = args[1..]
                        .iter()
                        .flat_map(|place| chain_of(&self.infer.place(function, place)))
                        .collect();
                    return self.helper(state, op, reopen, (**inner).clone(), &chain);
                }
            }
            _ => {}
        }
        if let Some(flow) = self.combinator(state, op, name, &receiver, args, &values) {
            return flow;
        }
        let known = self.infer.program.known(function);
        let paths = self.infer.paths(function, &receiver_ty);
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let callees = self.infer.callees_of(&receiver_ty.inner(), name, function);
        if callees.is_empty()
            && let Some(means) = known.word_method(&paths, name)
            && let Some(flow) = self.word(state, op, means, args, &values, true)
        {
            return flow;
        }
        let result_ty = self.infer.place(function, &op.to);
        let from_watch = self.is_source(function, &receiver_ty);
        if !callees.is_empty() {
            return self.into_workspace(state, op, &callees, values);
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
        self.unknown(state, op, name, args, &values, true)
    }

    /// A generator that opens the source has been made anew and is asked: it opens, and ends with the fault once more.
    fn generate_anew(&self, state: &mut State, op: &Op, name: &str, args: &[Place]) -> Flow {
        if let Some(seen) = &self.ordinary {
            seen.again_above.set(true);
            return Flow::Done(Verdict::none());
        }
        if state.reopened {
            let by = self.round(state);
            return Flow::Done(Verdict::new(Outcome::Reopens { paced: state.waited, by }, state));
        }
        state.reopened = true;
        state.waited = false;
        state.round = None;
        state.phase = Phase::Polled(101);
        state.set(&args[0], Val::Ended);
        let ended = if name == "try_next" { Val::variant("Ok", Some(Val::end())) } else { Val::end() };
        self.finish_call(state, op, ended)
    }

    fn is_poll(&self, function: FnId, ty: &Ty, name: &str) -> bool {
        let known = self.infer.program.known(function);
        ty.watch().is_some_and(|watch| polls::poll(known, watch.source, name).is_some())
    }

    /// Whether a place is a local of the function that is neither a parameter nor made from one.
    fn is_own_local(&self, function: FnId, place: &Place) -> bool {
        let graph = self.graph(function);
        let origin = self.param_of(function, place.local);
        place.fields.is_empty() && graph.bodies.iter().all(|body| !body.params.contains(&origin))
    }

    /// A poll of a stream whose opening was not recognised: its function has been entered again.
    fn poll_anew(&self, state: &mut State, op: &Op, name: &str, args: &[Place], ty: &Ty) -> Flow {
        if state.pending_handle {
            return self.finish_call(state, op, Val::Unknown);
        }
        if state.phase != Phase::Fresh {
            if let Some(seen) = &self.ordinary {
                seen.again_above.set(true);
                return Flow::Done(Verdict::none());
            }
            if state.reopened {
                let by = self.round(state);
                let paced = state.waited || !self.opens_in_view();
                return Flow::Done(Verdict::new(Outcome::Reopens { paced, by }, state));
            }
            state.reopened = true;
            state.waited = false;
            state.round = None;
        }
        state.set(&args[0], Val::Ours);
        state.phase = Phase::Fresh;
        self.on_watch(state, op, name, args, &[], ty)
    }

    /// Whether the opening of the watch at hand was recognised.
    fn opens_in_view(&self) -> bool {
        self.site.watch.opener.is_some()
    }

    /// A method of the watch itself.
    fn on_watch(
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
        let source = ty.watch().map(|watch| watch.source).filter(|_| self.is_source(function, ty));
        let own = source.and_then(|source| known.poll(source, name)).is_some();
        let source =
            source.or_else(|| (0..known.sources.len()).find(|id| known.sources[*id].facts.id == self.source));
        if let Some(fact) = source.and_then(|source| polls::poll(known, source, name)) {
            let method = if own { "" } else { stream_method(name).unwrap_or("") };
            if fact.callback {
                return self.callback(state, &fact, args, values);
            }
            return self.poll(state, &fact, &op.to, method);
        }
        match name {
            // What says how the stream is, and is no stream.
            "is_closed" | "is_terminated" => self.finish_call(state, op, Val::Derived),
            "take" | "replace" if matches!(ty, Ty::Named { path, .. } if &**path == "Option") => {
                state.released = args[0].fields.first().is_some();
                state.set(&args[0], Val::variant("None", None));
                self.finish_call(state, op, Val::variant("Some", Some(Val::Ours)))
            }
            _ => {
                let keeps = self.infer.place(function, &op.to).watch().is_some();
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
        let closure = values.iter().zip(args).skip(1).find_map(|(value, place)| match value {
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

    fn function(&self, state: &mut State, op: &Op, path: &Path, args: &[Place], values: Vec<Val>) -> Flow {
        let function = state.frame().function;
        let last = path.last();
        let first = values.first().cloned().unwrap_or_default();
        if let Some("Ok" | "Err" | "Some") = path.single() {
            // An error that is made in the arm of the fault tells of it.
            let inner = match (last, &first) {
                ("Err", value) if !value.carries() && self.fault_arm(state).is_some() => Val::Derived,
                _ => first,
            };
            return self.finish_call(state, op, Val::variant(last, Some(inner)));
        }
        let program = self.infer.program;
        let known = program.known(function);
        let resolved = program.resolve(function, &path.segments);
        let joined = resolved.join("::");
        let callee = program.function_at(function, &resolved);
        if callee.is_none() {
            if let Some(means) = known.word_fn(&joined)
                && let Some(flow) = self.word(state, op, means, args, &values, false)
            {
                return flow;
            }
            if let Some(reopen) = known.reopen_fn(&joined) {
                if let Some(Val::Returns(inner)) = values.get(reopen.closure) {
                    let chain: Vec<_> =
                        args.iter().flat_map(|place| chain_of(&self.infer.place(function, place))).collect();
                    return self.helper(state, op, reopen, (**inner).clone(), &chain);
                }
            }
        }
        if let Some(callee) = callee {
            return self.into_workspace(state, op, &[callee], values);
        }
        let result_ty = self.infer.place(function, &op.to);
        let from_watch = args.iter().any(|place| self.infer.place(function, place).watch().is_some());
        if self.is_source(function, &result_ty) && !from_watch {
            return self.open(state, op, &result_ty);
        }
        if self.is_source(function, &result_ty) && values.iter().any(|value| value.holds(&Val::Ours)) {
            return self.finish_call(state, op, Val::Ours);
        }
        if matches!(last, "select_all" | "join_all" | "try_join_all" | "try_select" | "select_ok")
            && let Some(handle) = values.iter().find_map(Val::handle)
        {
            state.pending_handle = false;
            let joined = Val::variant("Ok", Some(handle.clone()));
            let joined = if last == "select_all" {
                Val::tuple(vec![joined, Val::Unknown, Val::Unknown])
            } else {
                joined
            };
            return self.finish_call(state, op, Val::Done(Box::new(joined)));
        }
        // A constructor keeps what it is given.
        if last.starts_with(char::is_uppercase) {
            let inner =
                if !first.carries() && self.fault_arm(state).is_some() { Val::Derived } else { first };
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
            Ty::Function(callee) => return self.into_workspace(state, op, &[*callee], values),
            _ => {}
        }
        let result_ty = self.infer.place(function, &op.to);
        if self.is_source(function, &result_ty) {
            return self.open(state, op, &result_ty);
        }
        self.unknown(state, op, "", &[], &values, false)
    }

    fn into_workspace(&self, state: &mut State, op: &Op, callees: &[FnId], values: Vec<Val>) -> Flow {
        let result_ty = self.infer.place(state.frame().function, &op.to);
        let facts = |id: FnId| &self.infer.program.functions[id];
        let bodies: Vec<FnId> = callees.iter().copied().filter(|id| facts(*id).has_body).collect();
        if bodies.is_empty() || state.frames.len() > 6 {
            if self.is_source(state.frame().function, &result_ty) {
                return self.open(state, op, &result_ty);
            }
            return self.finish_call(state, op, Val::Unknown);
        }
        let running = |state: &State, id: FnId| state.frames.iter().any(|frame| frame.function == id);
        let enter = |mut state: State, id: FnId| {
            if running(&state, id) {
                state.set(&op.to, Val::Again(op.span, id));
            } else if facts(id).is_async {
                state.set(&op.to, Val::Future(id, values.clone()));
            } else {
                self.inline(&mut state, id, values.clone(), Then::Into(op.to.clone()), op.span);
            }
            state
        };
        // A sync function that calls itself has already nested.
        if let [id] = bodies.as_slice()
            && running(state, *id)
            && !facts(*id).is_async
            && !gives_future(&self.infer.output(*id))
        {
            let call = self.outer_call(state, op.span);
            if state.frames.iter().all(|frame| frame.function != *id || frame.body != 0) {
                // It made this task and has long returned: it makes the next one.
                state.handed_over = Some((call, state.waited));
                return self.finish_call(state, op, Val::Unknown);
            }
            if is_poll_output(facts(*id).output.as_ref()) {
                // A hand-written `poll_next` that polls on unwinds at the next item.
                return Flow::Done(Verdict::new(Outcome::Unknown, state));
            }
            return Flow::Done(Verdict::new(Outcome::Nests { call }, state));
        }
        match bodies.as_slice() {
            [id] => {
                *state = enter(state.clone(), *id);
                Flow::Next
            }
            several => Flow::Any(several.iter().take(4).map(|id| enter(state.clone(), *id)).collect()),
        }
    }

    fn word(
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
        let reads = self.graph(function).locals[op.to.local as usize].reads;
        match means {
            Meaning::Wait => {
                if reads == 0 {
                    state.waited = true;
                }
                Some(self.finish_call(state, op, Val::Sleep))
            }
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
            Meaning::Request | Meaning::Guard => None,
        }
    }

    pub(super) fn spawn(
        &self,
        state: &mut State,
        op: &Op,
        args: &[Place],
        values: &[Val],
        method: bool,
    ) -> Flow {
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
                let kept = method
                    && args.first().is_some_and(|place| {
                        self.graph(function).locals[place.local as usize].name.is_some()
                    });
                if dropped && self.ordinary.is_some() {
                    return Flow::Done(Verdict::none());
                }
                if dropped && !kept {
                    if args.iter().any(|task| self.tells_by_sender(state, task)) {
                        return Flow::Done(Verdict::new(Outcome::Forwards, state));
                    }
                    return Flow::Done(self.dead(state));
                }
                state.pending_handle = true;
                if kept && let Some(place) = args.first() {
                    state.set(place, handle.clone());
                }
                state.set(&op.to, handle);
                Flow::Next
            }
            Some(Val::Again(span, callee)) => {
                let call = self.outer_call(state, *span);
                if dropped {
                    state.handed_over = Some((call, state.waited));
                }
                self.finish_call(state, op, Val::Handle(Box::new(Val::Again(*span, *callee))))
            }
            Some(Val::Future(callee, inner)) => {
                let mut task = state.clone();
                let _ = self.inline(&mut task, *callee, inner.clone(), Then::Detached, op.span);
                self.beside(state, op, task)
            }
            Some(Val::Body(owner, body, env)) => {
                let mut task = state.clone();
                let _ = self.run_body(&mut task, *owner, *body, *env, &[], Then::Detached);
                self.beside(state, op, task)
            }
            _ => self.finish_call(state, op, Val::Unknown),
        }
    }

    /// Whether a value is never looked at: not read, or bound to a name that is not.
    fn is_dropped(&self, function: FnId, place: &Place) -> bool {
        let graph = self.graph(function);
        let reads = graph.locals[place.local as usize].reads;
        let bound = graph
            .blocks
            .iter()
            .flat_map(|block| &block.ops)
            .find(|op| matches!(&op.value, Value::Use(from) if from == place) && op.to.fields.is_empty());
        reads == 0
            || (reads == 1
                && bound.is_some_and(|op| {
                    graph.locals[op.to.local as usize].reads == 0
                        && graph.locals[op.to.local as usize].name.is_some()
                }))
    }

    /// A new task runs beside the path: either may bring the watch back.
    fn beside(&self, state: &State, op: &Op, task: State) -> Flow {
        let mut after = state.clone();
        after.set(&op.to, Val::Unknown);
        if task.frames.len() == state.frames.len() {
            return Flow::Any(vec![after]);
        }
        Flow::Any(vec![after, task])
    }

    /// Whether a block stands inside an accept loop: what is made there lives as long as its client.
    pub(super) fn in_accept_loop(&self, function: FnId, block: BlockId) -> bool {
        let graph = self.graph(function);
        let known = self.infer.program.known(function);
        let accepts = |op: &Op| match &op.value {
            Value::Call { callee: Callee::Method { name, .. }, args, .. } => {
                let ty = args.first().map_or(Ty::Unknown, |place| self.infer.place(function, place));
                ty.watch().is_some_and(|watch| {
                    known.sources[watch.source].facts.spins_pedantic
                        && polls::poll(known, watch.source, name).is_some()
                })
            }
            _ => false,
        };
        let mut within = graph.blocks[block as usize].within;
        while let Some(id) = within {
            let mut inside = graph.blocks.iter().filter(|block| in_loop(graph, block.within, id));
            if inside.any(|block| block.ops.iter().any(accepts)) {
                return true;
            }
            within = graph.loops[id as usize].parent;
        }
        false
    }

    /// A call that leads out of the workspace.
    fn unknown(
        &self,
        state: &mut State,
        op: &Op,
        name: &str,
        args: &[Place],
        values: &[Val],
        converts: bool,
    ) -> Flow {
        let function = state.frame().function;
        let known = self.infer.program.known(function);
        if known.hint(name) == Some(Meaning::Wait) {
            let reads = self.graph(function).locals[op.to.local as usize].reads;
            if reads == 0 {
                state.waited = true;
            }
            return self.finish_call(state, op, Val::Sleep);
        }
        match known.hint(name) {
            Some(Meaning::Exit) => return Flow::Done(Verdict::new(Outcome::Surfaces, state)),
            Some(Meaning::Send) if self.ordinary.is_some() => {}
            Some(Meaning::Send)
                if values.iter().skip(1).any(Val::carries) || self.fault_arm(state).is_some() =>
            {
                return Flow::Done(Verdict::new(Outcome::Forwards, state));
            }
            _ => {}
        }
        if matches!(name, "remove" | "evict" | "invalidate" | "deregister" | "unregister") && !state.forked {
            state.released = true;
        }
        if name == "store" && matches!(values.get(1), Some(Val::Bool(_))) && !state.forked {
            state.marked = true;
        }
        // The watch's task goes where it cannot be seen, or into a collection.
        let task = values
            .iter()
            .find(|value| matches!(value, Val::Done(_) | Val::Returns(_)) || value.handle().is_some());
        if let Some(task) = task {
            if matches!(name, "push" | "push_back" | "insert" | "extend" | "replace" | "add")
                && values.len() > 1
            {
                let task = task.clone();
                state.set(&args[0], task);
                return self.finish_call(state, op, Val::Unknown);
            }
            if let Val::Returns(inner) = task
                && inner.handle().is_some()
                && matches!(name, "map" | "flat_map" | "filter_map" | "for_each")
            {
                // The closure runs for each item: what it gives is what the collection holds.
                let held = (**inner).clone();
                return self.finish_call(state, op, held);
            }
            if name == "abort" || name == "detach" || name == "forget" {
                return self.finish_call(state, op, Val::Unknown);
            }
            if matches!(values.first(), Some(first) if first == task) && values.len() <= 2 {
                // A method of the task itself: an adapter of the future or the handle.
                let task = task.clone();
                return self.finish_call(state, op, task);
            }
            return Flow::Done(Verdict::new(Outcome::Unknown, state));
        }
        let given_away = values.iter().skip(usize::from(converts)).any(Val::is_fault);
        let plain = converts
            || matches!(
                name,
                "from"
                    | "into"
                    | "new"
                    | "format"
                    | "to_string"
                    | "drop"
                    | "boxed"
                    | "anyhow"
                    | "ready"
                    | "once"
                    | "type_name"
            );
        if given_away
            && !matches!(
                name,
                "drop" | "ready" | "once" | "from" | "new" | "format" | "eq" | "contains" | "matches"
            )
            && !(plain && !converts)
        {
            return Flow::Done(Verdict::new(Outcome::Forwards, state));
        }
        let carries = values.iter().any(Val::carries);
        let ready = matches!(name, "ready" | "ok" | "err" | "some") && values.len() == 1;
        let value = match values {
            [only] if ready => only.clone(),
            _ if carries => Val::Derived,
            _ => Val::Unknown,
        };
        self.finish_call(state, op, value)
    }
}

fn is_poll_output(output: Option<&crate::syntax::tree::Type>) -> bool {
    matches!(output, Some(crate::syntax::tree::Type::Path(path)) if path.last() == "Poll")
}

fn gives_future(ty: &Ty) -> bool {
    matches!(ty, Ty::Future(_) | Ty::Body(..))
}

fn in_loop(graph: &crate::flow::graph::Graph, within: Option<u32>, wanted: u32) -> bool {
    let mut within = within;
    while let Some(id) = within {
        if id == wanted {
            return true;
        }
        within = graph.loops[id as usize].parent;
    }
    false
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
