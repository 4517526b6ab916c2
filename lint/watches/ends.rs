//! Where paths end: values given back to callers, tasks that end, panics, and new openings.

use rideout_rules::{
    catalog::Meaning,
    model::{Location, Outcome, ShowsAs},
};

use super::{
    infer::Site,
    state::{Frame, Phase, State, Then},
    value::{Env, Val},
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::{
    facts::{FnId, Ty},
    flow::graph::{BodyId, BodyKind, Callee, Op, Place, Value},
    syntax::tree::{Receiver, Span},
};

/// Deepest nesting of functions that are walked into.
const DEEPEST: usize = 7;
/// Most callers gone up through.
const HIGHEST: usize = 10;

impl Walk<'_, '_, '_> {
    /// The watch is over on this path.
    pub(super) fn dead(&self, state: &State) -> Verdict {
        self.dead_by(state, Outcome::Ends)
    }

    pub(super) fn dead_by(&self, state: &State, outcome: Outcome) -> Verdict {
        let by = self.round(state);
        let outcome = match outcome {
            _ if self.serves_request(state.frames[0].function, 0) => Outcome::OneShot,
            _ if state.phase == Phase::Fresh => Outcome::Reopens { paced: true, by },
            Outcome::Ends if state.handed_over.is_some() => Outcome::Reopens { paced: true, by },
            Outcome::Ends if state.released => Outcome::Releases,
            Outcome::Ends if state.marked => Outcome::Forwards,
            Outcome::Ends | Outcome::Spins if state.designed || state.finite => Outcome::Unknown,
            Outcome::Ends => match state.bound {
                Some(_) if state.said => Outcome::Surfaces,
                Some(at) => Outcome::GivesUp { at },
                None => Outcome::Ends,
            },
            other => other,
        };
        Verdict::new(outcome, state)
    }

    /// A body returns a value.
    pub(super) fn give_back(&self, state: &mut State, value: Val) -> Flow {
        state.singles = None;
        let frame = state.frame().clone();
        let is_async =
            matches!(self.graph(frame.function).bodies[frame.body as usize].kind, BodyKind::Generator { .. });
        let value = if is_async { Val::Ended } else { value };
        if frame.then == Then::Callers {
            return self.up(state, &frame, value);
        }
        state.frames.pop();
        if !value.captures(frame.env) {
            state.forget(frame.env);
        }
        match frame.then {
            Then::Callers => {}
            Then::Callback => return self.called_back(state, value),
            Then::Into(place) => state.set(&place, value),
            Then::Keep(kept, place) => state.set(&place, *kept),
            Then::Ready(place) => state.set(&place, Val::Done(Box::new(value))),
            Then::Wrap(variant, place) => state.set(&place, Val::variant(variant, Some(value))),
            Then::Adapter { next, method, to } => return self.adapted(state, value, next, method, &to),
            Then::Detached => return Flow::Done(self.after_callback(state)),
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
            _ => Flow::Done(self.after_callback(state)),
        }
    }

    /// A task of its own, or a callback, has ended.
    fn after_callback(&self, state: &State) -> Verdict {
        if self.site.fact.callback && self.heals() {
            return Verdict::new(Outcome::Continues { paced: true, by: state.consumer }, state);
        }
        self.dead(state)
    }

    pub(super) fn panic(&self, state: &mut State) -> Flow {
        // Inlined frames unwind at once; what catches a panic is a task's boundary further out.
        let first = state.frames[0].clone();
        state.frames.truncate(1);
        if let Some(last) = state.frames.last_mut() {
            last.then = Then::Callers;
        }
        self.up(state, &first, Val::Panic)
    }

    /// The outermost body in view returns: the walk goes on where it was made or called.
    fn up(&self, state: &mut State, frame: &Frame, value: Val) -> Flow {
        let function = &self.infer.program.functions[frame.function];
        if let Some(seen) = &self.ordinary
            && value.carries()
            && value != Val::Panic
            && !state.pending_handle
            && !value.is_variant("Err")
        {
            seen.returned.set(true);
        }
        if self.is_request(frame.function) {
            return Flow::Done(Verdict::new(Outcome::OneShot, state));
        }
        if frame.body != 0 {
            return self.made(state, frame, value);
        }
        if function.receiver == Receiver::Value && self.drops_guard(frame.function) {
            return Flow::Done(Verdict::new(Outcome::Surfaces, state));
        }
        if function.name == "main" && function.owner.is_none() {
            let outcome = if state.pending_handle { Outcome::Ends } else { Outcome::Surfaces };
            return Flow::Done(Verdict::new(outcome, state));
        }
        let all = self.infer.sites();
        let sites: Vec<Site> = all.get(&frame.function).map_or_else(Vec::new, |sites| {
            sites.iter().copied().filter(|site| site.function != frame.function).collect()
        });
        if sites.is_empty() || state.chain.len() >= HIGHEST {
            return Flow::Done(self.leave(state, &value));
        }
        let mut states = Vec::new();
        for site in sites {
            if state.chain.contains(&site) {
                continue;
            }
            if let Some(next) = self.at_caller(state, frame, site, &value) {
                states.push(next);
            }
        }
        if states.is_empty() { Flow::Done(self.leave(state, &value)) } else { Flow::All(states) }
    }

    /// The state in which a caller gets the value.
    fn at_caller(&self, state: &State, frame: &Frame, site: Site, value: &Val) -> Option<State> {
        let graph = self.graph(site.function);
        let block = &graph.blocks[site.block as usize];
        let op = &block.ops[site.op];
        let is_async = self.infer.program.functions[frame.function].is_async;
        let mut env = Env::default();
        match &op.value {
            Value::Call { args, .. } => {
                // What was the stream through a parameter is the stream through the argument.
                let params = &self.graph(frame.function).bodies[0].params;
                let callee = &state.envs[frame.env];
                for (place, known) in callee.entries() {
                    if !known.holds(&Val::Ours) && !known.holds(&Val::Fresh) {
                        continue;
                    }
                    let origin = self.param_of(frame.function, place.local);
                    if let Some(at) = params.iter().position(|param| *param == origin)
                        && let Some(arg) = args.get(at)
                    {
                        let mut outer = arg.clone();
                        outer.fields.extend(place.fields.iter().cloned());
                        env.set(&outer, known.clone());
                    }
                }
            }
            Value::Path(_) => {}
            _ => return None,
        }
        let mut next = state.clone();
        next.ups += 1;
        next.chain.push(site);
        next.envs = vec![env];
        next.frames = vec![Frame {
            function: site.function,
            body: block.body,
            block: site.block,
            op: site.op + 1,
            env: 0,
            then: Then::Callers,
        }];
        let given = match (&op.value, is_async) {
            (Value::Path(_), _) => Val::Returns(Box::new(if is_async {
                Val::Done(Box::new(value.clone()))
            } else {
                value.clone()
            })),
            (_, true) => Val::Done(Box::new(value.clone())),
            (_, false) if *value == Val::Panic => {
                let _ = self.panic(&mut next);
                Val::Done(Box::new(Val::Panic))
            }
            (_, false) => value.clone(),
        };
        next.finite |=
            graph.blocks[site.block as usize].within.is_some_and(|id| graph.loops[id as usize].finite);
        if value.is_fault() {
            let location = self.location(site.function, op.span);
            next.step(location, "the fault comes back from this call");
            if graph.blocks[site.block as usize].within.is_some() {
                next.consumer = self.consumer(site.function, site.block, op.span);
                next.consumer_item = site.function;
            }
        }
        next.set(&op.to, given);
        Some(next)
    }

    /// The parameter that a local was bound from, or the local itself.
    pub(super) fn param_of(&self, function: FnId, local: u32) -> u32 {
        let graph = self.graph(function);
        graph
            .blocks
            .first()
            .and_then(|block| {
                block.ops.iter().find_map(|op| match &op.value {
                    Value::Use(from) if op.to == Place::local(local) && from.fields.is_empty() => {
                        Some(from.local)
                    }
                    _ => None,
                })
            })
            .unwrap_or(local)
    }

    /// A closure, `async` block or generator has ended: the walk goes on where it was made.
    fn made(&self, state: &mut State, frame: &Frame, value: Val) -> Flow {
        let graph = self.graph(frame.function);
        let mut found = None;
        for (block, facts) in graph.blocks.iter().enumerate() {
            for (op, facts) in facts.ops.iter().enumerate() {
                if matches!(facts.value, Value::Body(body) if body == frame.body) {
                    found = Some((block, op));
                }
            }
        }
        let Some((block, op)) = found else { return Flow::Done(self.leave(state, &value)) };
        let kind = graph.bodies[frame.body as usize].kind;
        if let BodyKind::Closure { is_async } = kind
            && let Some((block, op)) = self.called_inside(frame, &graph.blocks[block].ops[op].to)
        {
            // `unfold` and `for_each` call it from a body of their own.
            let facts = &graph.blocks[block as usize];
            let to = facts.ops[op].to.clone();
            let value = if is_async { Val::Done(Box::new(value)) } else { value };
            *state.frame_mut() =
                Frame { body: facts.body, block, op: op + 1, then: Then::Callers, ..frame.clone() };
            state.set(&to, value);
            return Flow::Next;
        }
        let given = match graph.bodies[frame.body as usize].kind {
            BodyKind::Generator { .. } => {
                state.phase = Phase::Polled(100);
                Val::Ended
            }
            BodyKind::Closure { is_async: true } => Val::Returns(Box::new(Val::Done(Box::new(value)))),
            BodyKind::Closure { is_async: false } => Val::Returns(Box::new(value)),
            BodyKind::Async | BodyKind::Function { .. } => Val::Done(Box::new(value)),
        };
        if matches!(graph.bodies[frame.body as usize].kind, BodyKind::Closure { .. }) {
            state.closure = Some((frame.function, frame.body));
        }
        let block_id = u32::try_from(block).unwrap_or(u32::MAX);
        let to = graph.blocks[block].ops[op].to.clone();
        let body = graph.blocks[block].body;
        state.ups += 1;
        *state.frame_mut() =
            Frame { body, block: block_id, op: op + 1, then: Then::Callers, ..frame.clone() };
        state.set(&to, given);
        Flow::Next
    }

    /// The call of a closure from another body than the one that makes it.
    fn called_inside(&self, frame: &Frame, closure: &Place) -> Option<(u32, usize)> {
        let graph = self.graph(frame.function);
        let made_in = graph
            .blocks
            .iter()
            .find(|block| {
                block.ops.iter().any(|op| matches!(op.value, Value::Body(body) if body == frame.body))
            })
            .map(|block| block.body);
        (0..).zip(&graph.blocks).find_map(|(id, block)| {
            let op = block.ops.iter().position(|op| {
                matches!(&op.value, Value::Call { callee: Callee::Place(place), .. } if place == closure)
            })?;
            (Some(block.body) != made_in).then_some((id, op))
        })
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
            Val::Ended => {
                if self.heals() {
                    self.dead(state)
                } else {
                    Verdict::new(Outcome::Unknown, state)
                }
            }
            Val::Variant { name, .. } if name == "Err" => Verdict::new(Outcome::Surfaces, state),
            Val::Variant { name, fields, .. } if name == "Ok" => match fields.get("0") {
                Some(inner) if !matches!(inner, Val::Unit | Val::Unknown) => {
                    self.leave(state, &inner.clone())
                }
                // What was read so far is handed back: the stream was read to its end.
                _ if self.gives_data(state) => Verdict::new(Outcome::Unknown, state),
                _ => self.dead(state),
            },
            value if value.carries() => Verdict::new(Outcome::Surfaces, state),
            Val::Bool(_) | Val::Path(_) if state.arm.is_some() => Verdict::new(Outcome::Surfaces, state),
            _ => self.dead(state),
        }
    }

    /// Whether the outermost function returns more than success or failure.
    fn gives_data(&self, state: &State) -> bool {
        let function = state.frames.first().map_or(self.site.function, |frame| frame.function);
        let nothing = |ty: &Ty| matches!(ty, Ty::Tuple(parts) if parts.is_empty());
        let program = self.infer.program;
        program.functions[function].output.as_ref().is_some_and(|ty| match program.ty_in(function, ty) {
            Ty::Named { path, args, .. } if &*path == "Result" => {
                args.first().is_some_and(|ok| !nothing(ok) && !ok.is_unknown())
            }
            _ => false,
        })
    }

    /// Whether a function serves one request or one client.
    pub(super) fn is_request(&self, id: FnId) -> bool {
        if let Some(known) = self.infer.requests.borrow().get(&id) {
            return *known;
        }
        let is = self.takes_request(id);
        self.infer.requests.borrow_mut().insert(id, is);
        is
    }

    fn takes_request(&self, id: FnId) -> bool {
        let function = &self.infer.program.functions[id];
        let known = self.infer.program.known(id);
        let program = self.infer.program;
        let plain =
            |ty: &Ty| matches!(ty, Ty::Named { path, .. } if known.word_type(path) == Some(Meaning::Request));
        let is = |ty: &Ty| match ty {
            // A struct that carries the client's own end.
            Ty::Local(at, _) => {
                program.types[*at].fields.keys().any(|field| plain(&program.field(*at, field, &[])))
            }
            ty => plain(ty),
        };
        function.params.iter().any(|param| {
            let ty = self.infer.program.ty_in(id, param);
            is(&ty) || matches!(&ty, Ty::Named { args, .. } | Ty::Tuple(args) if args.iter().any(is))
        }) || function.output.as_ref().is_some_and(|ty| is(&self.infer.program.ty_in(id, ty)))
    }

    /// Whether a function serves one request or client, itself or because one that calls it does.
    pub(super) fn serves_request(&self, id: FnId, depth: usize) -> bool {
        if depth > 4 {
            return false;
        }
        if self.is_request(id) {
            return true;
        }
        let sites = self.infer.sites();
        let mut callers = sites.get(&id).into_iter().flatten().filter(|site| site.function != id);
        callers.any(|site| {
            self.in_accept_loop(site.function, site.block) || self.serves_request(site.function, depth + 1)
        })
    }

    /// Whether dropping `self` tells somebody.
    fn drops_guard(&self, id: FnId) -> bool {
        let program = self.infer.program;
        let Some(own) = program.functions[id].outer.self_type.as_ref() else { return false };
        let Ty::Local(at, _) = program.ty_in(id, own) else { return false };
        let known = program.known(id);
        program.types[at].fields.keys().any(|field| match program.field(at, field, &[]) {
            Ty::Named { path, .. } => known.word_type(&path) == Some(Meaning::Guard),
            _ => false,
        })
    }

    /// The watch is opened again: a first attempt goes on in both its results, a second one tells whether anything waited.
    pub(super) fn open(&self, state: &mut State, op: &Op, ty: &Ty) -> Flow {
        let location = self.location(state.frame().function, op.span);
        if self.ordinary.is_some() {
            state.reopened = true;
            state.phase = Phase::Fresh;
            state.set(&op.to, ready(ty));
            return Flow::Next;
        }
        if state.pending_handle {
            // The task has ended, and this is its parent going on beside it.
            state.set(&op.to, Val::Unknown);
            return Flow::Next;
        }
        if state.phase == Phase::Fresh {
            // Another stream of the same source, opened along with the first.
            state.set(&op.to, ready(ty));
            return Flow::Next;
        }
        if state.reopened {
            let by = self.round(state);
            let outcome = Outcome::Reopens { paced: state.waited || self.paces_itself(), by };
            return Flow::Done(Verdict::new(outcome, state));
        }
        state.step(location, "opened again");
        state.bound = None;
        state.reopened = true;
        state.waited = false;
        state.round = None;
        let fails = ty_mentions(ty, "Result");
        let mut failed = fails.then(|| state.clone());
        state.phase = Phase::Fresh;
        state.set(&op.to, ready(ty));
        let Some(failed) = &mut failed else { return Flow::Next };
        // From here on the fault is that of the opening.
        failed.arm = None;
        failed.arm_item = None;
        failed.arms.clear();
        let block = failed.frame().block;
        let function = failed.frame().function;
        if self.graph(function).blocks[block as usize].within.is_some() {
            failed.consumer = self.consumer(function, block, op.span);
            failed.consumer_item = function;
        }
        let error = Val::variant("Err", Some(Val::Fault));
        let error = match ty {
            Ty::Future(_) => Val::Done(Box::new(error)),
            _ => error,
        };
        failed.set(&op.to, error);
        Flow::All(vec![state.clone(), failed.clone()])
    }

    /// Whether the next poll waits by itself: after a lag the receiver has items, and after them it waits.
    fn paces_itself(&self) -> bool {
        self.fact.shows_as == ShowsAs::Variant && self.heals()
    }

    /// A closure that was walked already is called again: the whole watch starts anew.
    pub(super) fn again(&self, state: &mut State, op: &Op, value: Val) -> Flow {
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
        state.set(&op.to, value);
        Flow::Next
    }

    /// Walks into a function of the workspace.
    pub(super) fn inline(
        &self,
        state: &mut State,
        function: FnId,
        args: Vec<Val>,
        then: Then,
        span: Span,
    ) -> Flow {
        let facts = &self.infer.program.functions[function];
        let to = match &then {
            Then::Into(place) => Some(place.clone()),
            _ => None,
        };
        if state.frames.iter().any(|frame| frame.function == function) {
            if let Some(place) = to {
                state.set(&place, Val::Again(span, function));
                let lazy = facts.is_async;
                if lazy {
                    let call = self.outer_call(state, span);
                    return Flow::Done(Verdict::new(Outcome::Nests { call }, state));
                }
            }
            return Flow::Next;
        }
        if !facts.has_body || state.frames.len() > DEEPEST {
            if let Some(place) = to {
                state.set(&place, Val::Unknown);
            }
            return Flow::Next;
        }
        let mut env = Env::default();
        for (param, arg) in self.graph(function).bodies[0].params.iter().zip(args) {
            env.set(&Place::local(*param), arg);
        }
        state.envs.push(env);
        let env = state.envs.len() - 1;
        let entry = self.graph(function).bodies[0].entry;
        state.frames.push(Frame { function, body: 0, block: entry, op: 0, env, then });
        Flow::Next
    }

    /// The place of a call in the outermost frame: there the path nests, however deep the call itself is.
    pub(super) fn outer_call(&self, state: &State, span: Span) -> Location {
        let first = &state.frames[0];
        let ops = &self.graph(first.function).blocks[first.block as usize].ops;
        match ops.get(first.op.wrapping_sub(1)) {
            Some(op) if state.frames.len() > 1 => self.location(first.function, op.span),
            _ => self.location(state.frame().function, span),
        }
    }

    /// Runs a closure or `async` block with its arguments.
    pub(super) fn run_body(
        &self,
        state: &mut State,
        function: FnId,
        body: BodyId,
        env: usize,
        args: &[Val],
        then: Then,
    ) -> Flow {
        let deep = state.frames.len() > DEEPEST + 3;
        let running = state.frames.iter().any(|frame| frame.function == function && frame.body == body);
        if deep || running {
            match then {
                Then::Into(place) | Then::Wrap(_, place) | Then::Ready(place) => {
                    state.set(&place, Val::Unknown)
                }
                Then::Keep(kept, place) => state.set(&place, *kept),
                Then::Adapter { method, to, next } => {
                    return self.adapt(state, Val::Unknown, next + 1, method, &to);
                }
                Then::Callers | Then::Detached | Then::Callback => {}
            }
            return Flow::Next;
        }
        let facts = &self.graph(function).bodies[body as usize];
        let env = env.min(state.envs.len() - 1);
        for (param, arg) in facts.params.iter().zip(args) {
            state.envs[env].set(&Place::local(*param), arg.clone());
        }
        let carries = args.iter().any(Val::carries);
        state.frames.push(Frame { function, body, block: facts.entry, op: 0, env, then });
        if carries && let Some(arm) = facts.arm {
            self.enter_arm(state, function, arm);
        }
        Flow::Next
    }
}

/// What a successful opening gives.
fn ready(ty: &Ty) -> Val {
    match ty {
        Ty::Future(_) => Val::Done(Box::new(fresh(ty))),
        _ => fresh(ty),
    }
}

/// A value of this type with the watch opened anew in it.
fn fresh(ty: &Ty) -> Val {
    match ty {
        Ty::Watch(_) => Val::Fresh,
        Ty::Named { path, args, .. } => {
            let inner = args.iter().find(|arg| arg.watch().is_some()).map_or(Val::Unknown, fresh);
            match &**path {
                "Result" => Val::variant("Ok", Some(inner)),
                "Option" => Val::variant("Some", Some(inner)),
                _ => inner,
            }
        }
        Ty::Tuple(parts) => Val::tuple(parts.iter().map(fresh).collect()),
        Ty::Future(inner) | Ty::Callable(inner) => fresh(inner),
        _ => Val::Unknown,
    }
}

pub(super) fn ty_mentions(ty: &Ty, wanted: &str) -> bool {
    match ty {
        Ty::Named { path, args, .. } => &**path == wanted || args.iter().any(|arg| ty_mentions(arg, wanted)),
        Ty::Tuple(parts) => parts.iter().any(|part| ty_mentions(part, wanted)),
        Ty::Future(inner) | Ty::Callable(inner) => ty_mentions(inner, wanted),
        _ => false,
    }
}
