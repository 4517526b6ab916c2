//! Walking into functions, closures and `async` blocks of the workspace.

use rideout_rules::model::{Location, Outcome};

use super::{
    polls::stream_method,
    scope::loop_around,
    state::{Frame, NOT_ASKED, Phase, State, Then},
    value::{Env, Val},
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::{
    facts::{FnId, Ty},
    flow::graph::{BlockId, BodyId, Callee, Op, Place, Value},
    syntax::tree::Span,
};

/// Deepest nesting of functions that are walked into.
const DEEPEST: usize = 9;

impl Walk<'_, '_, '_> {
    /// Calls a function of the workspace, or each of several that it may be.
    pub(super) fn call_workspace(
        &self,
        state: &mut State,
        op: &Op,
        callees: &[FnId],
        values: Vec<Val>,
    ) -> Flow {
        let result_ty = self.infer.place(state.frame().function, &op.to);
        let facts = |id: FnId| &self.infer.program.functions[id];
        let bodies: Vec<FnId> = callees.iter().copied().filter(|id| facts(*id).has_body).collect();
        if bodies.is_empty() || state.frames.len() > DEEPEST - 1 {
            if self.is_source(state.frame().function, &result_ty) {
                return self.open(state, op, &result_ty);
            }
            return self.finish_call(state, op, Val::Unknown);
        }
        let running = |state: &State, id: FnId| state.frames.iter().any(|frame| frame.function == id);
        let enter = |mut state: State, id: FnId| {
            if running(&state, id) {
                let again = self.reaches_watch(&state, id);
                let call = self.outer_call(&state, op.span);
                state.set(&op.to, if again { Val::Again(call, id) } else { Val::Unknown });
            } else if facts(id).is_async {
                state.set(&op.to, Val::Future(id, values.clone()));
            } else {
                let then = match self.asks_by(id, op) {
                    Some(method) => Then::Polled(method, op.to.clone()),
                    None => Then::Into(op.to.clone()),
                };
                self.inline(&mut state, id, values.clone(), then, op.span);
            }
            state
        };
        // A sync function that calls itself has already nested.
        if let [id] = bodies.as_slice()
            && running(state, *id)
            && !facts(*id).is_async
            && !gives_future(&self.infer.output(*id))
            && self.reaches_watch(state, *id)
        {
            let call = self.outer_call(state, op.span);
            if state.frames.iter().all(|frame| frame.function != *id || frame.body != 0) {
                // It made this task and has long returned: it makes the next one.
                state.handed_over = Some((call, state.waited));
                return self.finish_call(state, op, Val::Unknown);
            }
            if self.is_poll_function(*id) {
                // A hand-written `poll_next` that polls on unwinds at the next item.
                return Flow::Done(Verdict::new(Outcome::Unknown, state));
            }
            if state.frames[0].function != *id && !self.opens(*id, 0) {
                // A helper on the fault's way that has nothing to do with the watch.
                let value = if values.iter().any(Val::carries) { Val::Derived } else { Val::Unknown };
                return self.finish_call(state, op, value);
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

    /// The path waits for a function that is running already: another opening inside the old one, unless it only polls the same
    /// healthy watch once more and all of them return at its next item.
    pub(super) fn called_again(&self, state: &State, function: FnId, call: Location) -> Verdict {
        if state.phase == Phase::Polled(NOT_ASKED) {
            // The way to where the generator is asked, and not yet the way of its end.
            return Verdict::new(Outcome::Unknown, state);
        }
        let looped = |at: FnId, block: BlockId| {
            let graph = self.graph(at);
            loop_around(graph, &graph.blocks[block as usize]).is_some()
        };
        let above = state.chain.iter().position(|site| site.function == function);
        let way = match above {
            Some(last) => &state.chain[..=last],
            None => &[],
        };
        let inside = above.is_some() || function == self.site.function;
        let once = inside
            && !looped(self.site.function, self.site.block)
            && !way.iter().any(|site| looped(site.function, site.block));
        let outcome = if once && self.heals() && !self.opens(function, 0) {
            Outcome::Continues { paced: true, by: call }
        } else {
            Outcome::Nests { call }
        };
        Verdict::new(outcome, state)
    }

    /// The method of `Stream` by which an operation asks a `poll_next` of the workspace.
    pub(super) fn asks_by(&self, callee: FnId, op: &Op) -> Option<&'static str> {
        match &op.value {
            Value::Call { callee: Callee::Method { name, .. }, .. }
                if self.infer.program.functions[callee].name == "poll_next" =>
            {
                stream_method(name).filter(|name| !name.contains("poll"))
            }
            _ => None,
        }
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
            Then::Into(place) | Then::Polled(_, place) => Some(place.clone()),
            _ => None,
        };
        if state.frames.iter().any(|frame| frame.function == function) {
            if let Some(place) = to {
                let again = self.reaches_watch(state, function);
                let call = self.outer_call(state, span);
                state.set(&place, if again { Val::Again(call, function) } else { Val::Unknown });
                if again && facts.is_async {
                    return Flow::Done(self.called_again(state, function, call));
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
                Then::Into(place)
                | Then::Wrap(_, place)
                | Then::Ready(place)
                | Then::Polled(_, place)
                | Then::Set(place)
                | Then::Task(place) => state.set(&place, Val::Unknown),
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

    /// The place of a call in the outermost frame: there the path nests, however deep the call itself is.
    pub(super) fn outer_call(&self, state: &State, span: Span) -> Location {
        let first = &state.frames[0];
        let ops = &self.graph(first.function).blocks[first.block as usize].ops;
        match ops.get(first.op.wrapping_sub(1)) {
            Some(op) if state.frames.len() > 1 => self.location(first.function, op.span),
            _ => self.location(state.frame().function, span),
        }
    }
}

fn gives_future(ty: &Ty) -> bool {
    matches!(ty, Ty::Future(_) | Ty::Body(..))
}
