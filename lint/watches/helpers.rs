//! Helpers that call a closure again: what they retry, how often, and whether what they call opens a new stream.

use rideout_rules::{catalog::Reopen, model::Outcome};

use super::{
    made::Found,
    state::State,
    value::{PERMANENT, Val},
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::{
    facts::{FnId, ty::WatchTy},
    flow::graph::{BodyId, Op, Place, Value},
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
        args: &[Place],
    ) -> Flow {
        let result = match result {
            Val::Done(inner) => *inner,
            other => other,
        };
        let location = self.location(state.frame().function, op.span);
        let bounded = self.is_policy_bounded(state.frame().function, reopen, args);
        if let Some(seen) = &self.ordinary {
            // The helper holds the watch for as long as it is retried.
            seen.again_above.set(true);
        }
        let permanent = result.payload().is_variant(PERMANENT);
        let retried = (result.is_variant("Err") && !permanent) || reopen.on_ok;
        state.step(location, "a helper calls it again on an error");
        if !retried {
            let result =
                if permanent { Val::variant("Err", Some(result.payload().payload())) } else { result };
            let given = Val::Done(Box::new(result));
            return self.finish_call(state, op, given);
        }
        if let Some((function, body)) = state.closure
            && !self.opens(function, body)
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

    /// Whether a helper stops by itself, by its default or by the policy that it is given. Where that cannot be told, it goes on.
    fn is_policy_bounded(&self, function: FnId, reopen: &Reopen, args: &[Place]) -> bool {
        if !reopen.bounded && reopen.bounded_by.is_empty() {
            return false;
        }
        let infer = self.infer;
        let policy = (0..).zip(args).filter(|(at, _)| *at != reopen.closure);
        let made = infer.made(policy.map(|(_, place)| (function, place.clone())), false);
        if made.mentions(&reopen.bounded_by) == Found::Yes {
            return true;
        }
        reopen.bounded && made.mentions(&reopen.unbounded_by) == Found::No
    }

    /// Whether running a body opens the source, itself or through functions of the workspace.
    pub(super) fn opens(&self, function: FnId, body: BodyId) -> bool {
        self.opens_within(function, body, &mut Vec::new())
    }

    /// `running` are the bodies around: one that runs itself again opens nothing more by that.
    fn opens_within(&self, function: FnId, body: BodyId, running: &mut Vec<(FnId, BodyId)>) -> bool {
        if running.contains(&(function, body)) {
            return false;
        }
        if running.len() > 5 {
            // Too deep to tell: it is taken for an opening.
            return true;
        }
        running.push((function, body));
        let opens = self.an_op_opens(function, body, running);
        running.pop();
        opens
    }

    fn an_op_opens(&self, function: FnId, body: BodyId, running: &mut Vec<(FnId, BodyId)>) -> bool {
        let graph = self.graph(function);
        graph.blocks.iter().filter(|block| block.body == body).flat_map(|block| &block.ops).any(
            |op| match &op.value {
                Value::Body(inner) => self.opens_within(function, *inner, running),
                Value::Call { callee, args, .. } => {
                    let span = graph.bodies[body as usize].span;
                    let here = |watch: &WatchTy| {
                        watch.opener.is_some_and(|(by, start, _)| {
                            by == function && (body == 0 || (span.start..span.end).contains(&start))
                        })
                    };
                    let wraps = args.iter().any(|place| {
                        self.infer.place(function, place).watch().is_some_and(|watch| !here(watch))
                    });
                    let gives = self.is_source(function, &self.infer.place(function, &op.to));
                    let callees = self.infer.callees(function, callee, args);
                    (gives && !wraps) || callees.iter().any(|callee| self.opens_within(*callee, 0, running))
                }
                _ => false,
            },
        )
    }
}
