//! Going up: where the outermost body in view was called or made.

use rideout_rules::model::{Outcome, ShowsAs};

use super::{
    ready::{is_pending, polled},
    scope::loop_around,
    sites::Site,
    state::{Frame, NOT_ASKED, Phase, State, Then},
    value::{Env, Val},
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::{
    facts::FnId,
    flow::{
        graph::{BodyKind, Callee, Graph, Place, Value},
        unpins,
    },
};

/// Most callers gone up through.
const HIGHEST: usize = 10;

impl Walk<'_, '_, '_> {
    /// The outermost body in view returns: the walk goes on where it was made or called.
    pub(super) fn up(&self, state: &mut State, frame: &Frame, value: Val) -> Flow {
        let function = &self.infer.program.functions[frame.function];
        if value != Val::Panic {
            self.note_leaving_by_item(state, &value);
        }
        if let Some(seen) = &self.ordinary
            && value.carries()
            && value != Val::Panic
            && !state.pending_handle
            && !value.completed().is_variant("Err")
        {
            seen.returned.set(true);
        }
        if self.is_request(frame.function) {
            return Flow::Done(Verdict::new(Outcome::OneShot, state));
        }
        if frame.body == 0 && is_pending(&value) && self.is_poll_function(frame.function) {
            // It is asked again when something wakes it: this path says nothing.
            return Flow::Done(Verdict::none());
        }
        if self.drops_guard(frame.function, frame.body) {
            return Flow::Done(Verdict::new(Outcome::Surfaces, state));
        }
        if frame.body != 0 {
            return self.made(state, frame, value);
        }
        if function.name == "main" && function.owner.is_none() {
            // The process does not end for the fault if others ran on beside the watch.
            let lost = state.pending_handle || (state.outlived && !value.is_variant("Err"));
            let verdict = if lost { self.dead(state) } else { Verdict::new(Outcome::Surfaces, state) };
            return Flow::Done(verdict);
        }
        let all = self.infer.sites();
        let sites: Vec<Site> = all.get(&frame.function).map_or_else(Vec::new, |sites| {
            sites.iter().copied().filter(|site| site.function != frame.function).collect()
        });
        let out = || self.left_in_field(state).unwrap_or_else(|| Flow::Done(self.leave(state, &value)));
        if sites.is_empty() || state.chain.len() >= HIGHEST {
            return out();
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
        if states.is_empty() { out() } else { Flow::All(states) }
    }

    /// The state in which a caller gets the value.
    fn at_caller(&self, state: &State, frame: &Frame, site: Site, value: &Val) -> Option<State> {
        let graph = self.graph(site.function);
        let block = &graph.blocks[site.block as usize];
        let op = &block.ops[site.op];
        let is_async = self.infer.program.functions[frame.function].is_async;
        let is_poll = self.is_poll_function(frame.function);
        let mut env = Env::default();
        match &op.value {
            Value::Call { args, .. } => {
                // What was the stream through a parameter is the stream through the argument.
                let params = &self.graph(frame.function).bodies[0].params;
                let callee = &state.envs[frame.env];
                for (place, known) in callee.entries() {
                    let origin = self.param_of(frame.function, place.local);
                    // What a `poll` left in its `self` is what it finds there when it is asked again.
                    let left = is_poll && params.first() == Some(&origin) && !known.captures(frame.env);
                    let matters = known.holds(&Val::Ours) || known.holds(&Val::Fresh) || known.holds_task();
                    if !left && !matters {
                        continue;
                    }
                    if let Some(at) = params.iter().position(|param| *param == origin)
                        && let Some(arg) = args.get(at)
                    {
                        let mut outer = if is_poll { unpinned(graph, arg) } else { arg }.clone();
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
        let asked_by = self.asks_by(frame.function, op);
        let given = match (&op.value, is_async) {
            (Value::Path(_), _) => Val::Returns(Box::new(if is_async {
                Val::Done(Box::new(value.clone()))
            } else {
                value.clone()
            })),
            // What waits for it waits for ever.
            (_, true) if *value == Val::Pending => Val::Pending,
            _ if asked_by.is_some() => Val::Done(Box::new(polled(asked_by.unwrap_or("next"), value.clone()))),
            (_, true) => Val::Done(Box::new(value.clone())),
            (_, false) if *value == Val::Panic => {
                let _ = self.panic(&mut next);
                Val::Done(Box::new(Val::Panic))
            }
            (_, false) => value.clone(),
        };
        next.finite |=
            graph.blocks[site.block as usize].within.is_some_and(|id| graph.loops[id as usize].finite);
        let passed_on = if is_poll {
            // An error that it turned into an end is lost right there.
            let ended = value.payload().is_variant("None");
            value.carries() && (self.fact.shows_as == ShowsAs::Ends || !ended)
        } else {
            // A function that only asks once gives back what it got, whatever it makes of it.
            let poll = &self.graph(self.site.function).blocks[self.site.block as usize];
            let asks_once = || loop_around(self.graph(self.site.function), poll).is_none();
            value.is_fault() || (value.carries() && *value != Val::Panic && asks_once())
        };
        if passed_on {
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
        self.graph(function).bound_from(local)
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
                state.phase = Phase::Polled(NOT_ASKED);
                value
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
}

/// What a pin is taken of: `stream` in `stream.as_mut().poll_next(cx)`.
fn unpinned<'g>(graph: &'g Graph, mut place: &'g Place) -> &'g Place {
    for _ in 0..4 {
        match graph.made_by(place).map(|op| &op.value) {
            Some(Value::Call { callee: Callee::Method { name, .. }, args, .. }) if unpins(name) => {
                let Some(inner) = args.first() else { break };
                place = inner;
            }
            _ => break,
        }
    }
    place
}
