//! Helpers that call a closure again: what they retry, how often, and whether what they call opens a new stream.

use rideout_rules::{catalog::Reopen, model::Outcome};

use super::{
    state::State,
    value::Val,
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::{
    facts::{
        FnId,
        ty::{Call, WatchTy},
    },
    flow::graph::{BodyId, Op, Value},
    syntax::tree::Span,
};

impl Walk<'_, '_, '_> {
    /// A retry helper got a result from the closure it drives.
    pub(super) fn helper(
        &self,
        state: &mut State,
        op: &Op,
        reopen: &Reopen,
        result: Val,
        chain: &[Call],
    ) -> Flow {
        let result = match result {
            Val::Done(inner) => *inner,
            other => other,
        };
        let location = self.location(state.frame().function, op.span);
        let called = |names: &[String]| {
            chain.iter().any(|call| {
                names.contains(&call.name) || call.argument.as_ref().is_some_and(|text| names.contains(text))
            })
        };
        let in_file = |names: &[String]| {
            let text =
                &self.infer.program.files[self.infer.program.functions[state.frame().function].file].text;
            names.iter().any(|name| text.contains(name.as_str()))
        };
        let lifted = called(&reopen.unbounded_by) || (reopen.bounded && in_file(&reopen.unbounded_by));
        let bounded = (reopen.bounded && !lifted) || called(&reopen.bounded_by);
        if let Some(seen) = &self.ordinary {
            // The helper holds the watch for as long as it is retried.
            seen.again_above.set(true);
        }
        let retried = result.is_variant("Err") || reopen.on_ok;
        state.step(location, "a helper calls it again on an error");
        if !retried {
            let given = Val::Done(Box::new(result));
            return self.finish_call(state, op, given);
        }
        if let Some((function, body)) = state.closure
            && !self.opens(function, body, 0)
        {
            let span = self.graph(function).bodies[body as usize].span;
            let factory = self.location(function, Span { start: span.start, end: span.end });
            return Flow::Done(Verdict::new(Outcome::Stale { factory }, state));
        }
        if !reopen.paced {
            let by = self.location(state.frame().function, op.span);
            return Flow::Done(Verdict::new(Outcome::Reopens { paced: false, by }, state));
        }
        if !bounded {
            let outcome = Outcome::Reopens { paced: true, by: location };
            return Flow::Done(Verdict::new(outcome, state));
        }
        state.bound.get_or_insert(location);
        state.reopened = true;
        self.finish_call(state, op, Val::Done(Box::new(result)))
    }

    /// Whether running a body opens the source, itself or through functions of the workspace.
    pub(super) fn opens(&self, function: FnId, body: BodyId, depth: usize) -> bool {
        if depth > 5 {
            // Too deep to tell: it is taken for an opening.
            return true;
        }
        let graph = self.graph(function);
        graph.blocks.iter().filter(|block| block.body == body).flat_map(|block| &block.ops).any(
            |op| match &op.value {
                Value::Body(inner) => self.opens(function, *inner, depth + 1),
                Value::Call { callee, args, .. } => {
                    let span = graph.bodies[body as usize].span;
                    let here = |watch: &WatchTy| {
                        watch.opener.is_some_and(|(by, start, _)| {
                            by == function && (body == 0 || (span.start..span.end).contains(&start))
                        })
                    };
                    let wraps = args
                        .iter()
                        .any(|place| self.infer.place(function, place).watch().is_some_and(|watch| !here(watch)));
                    let gives = self.is_source(function, &self.infer.place(function, &op.to));
                    let callees = self.infer.callees(function, callee, args);
                    (gives && !wraps) || callees.iter().any(|callee| self.opens(*callee, 0, depth + 1))
                }
                _ => false,
            },
        )
    }
}
