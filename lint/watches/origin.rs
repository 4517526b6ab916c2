//! Where a stream comes from that either side of a connection may have: made by a call in view, or handed in from where nobody looks.

use super::{infer::Infer, polls::PollSite};
use crate::{
    facts::{FnId, Ty},
    flow::graph::{Callee, End, Graph, LocalId, Place, Value},
};

/// How far back a value is followed.
#[derive(Clone, Copy)]
struct Reach {
    /// Most steps, through callers, fields and what a value was made of.
    left: usize,
    /// Whether the callers of a function that is given the value are asked. What a type is made around, it is told from outside.
    callers: bool,
}

const FURTHEST: Reach = Reach { left: 24, callers: true };

impl Infer<'_, '_> {
    /// Whether a stream is a field's or a parameter's that nobody in view makes, or is made around such a connection.
    pub(super) fn is_handed_in(&self, site: &PollSite) -> bool {
        let Some((id, start, end)) = site.watch.opener else {
            return self.handed_in(site.function, &site.stream, FURTHEST);
        };
        let mut ops = self.graph(id).blocks.iter().flat_map(|block| &block.ops);
        ops.any(|op| match &op.value {
            Value::Call { callee: Callee::Path(_), args, .. }
                if (op.span.start, op.span.end) == (start, end) =>
            {
                args.iter().any(|given| self.handed_in(id, given, FURTHEST))
            }
            _ => false,
        })
    }

    fn handed_in(&self, id: FnId, stream: &Place, reach: Reach) -> bool {
        let Some(left) = reach.left.checked_sub(1) else { return true };
        let reach = Reach { left, ..reach };
        let graph = self.graph(id);
        if let Some((field, rest)) = stream.fields.split_last() {
            let base = Place { local: stream.local, fields: rest.to_vec() };
            return match self.place(id, &base) {
                Ty::Local(at, _) => self.is_put_as_handed_in(at, field, reach),
                _ => true,
            };
        }
        let local = graph.bound_from(stream.local);
        if let Some(at) = graph.bodies[0].params.iter().position(|param| *param == local) {
            return !reach.callers || self.is_given_as_handed_in(id, at, reach);
        }
        if graph.bodies.iter().any(|body| body.params.contains(&local)) {
            // What calls a closure is out of view.
            return true;
        }
        match came_from(graph, stream) {
            Some(from) => self.handed_in(id, from, reach),
            None => false,
        }
    }

    /// Whether no caller in view gives a function a stream that was made in view.
    fn is_given_as_handed_in(&self, id: FnId, param: usize, reach: Reach) -> bool {
        let sites = self.sites();
        let mut callers = sites.get(&id).into_iter().flatten();
        !callers.any(|site| {
            let op = &self.graph(site.function).blocks[site.block as usize].ops[site.op];
            match &op.value {
                Value::Call { args, .. } => {
                    args.get(param).is_some_and(|given| !self.handed_in(site.function, given, reach))
                }
                _ => false,
            }
        })
    }

    /// Whether nobody in view puts a stream into a field that was made in view.
    fn is_put_as_handed_in(&self, id: usize, field: &str, reach: Reach) -> bool {
        !self.puts_into(id, field).iter().any(|(function, value)| {
            let ty = self.place(*function, value);
            let may_be_stream = ty.watch().is_some() || ty.is_unknown();
            may_be_stream && !self.handed_in(*function, value, Reach { callers: false, ..reach })
        })
    }
}

/// What a value was made of, if it only wraps that, names it or takes it out of something. None if a call made it.
fn came_from<'g>(graph: &'g Graph, made: &Place) -> Option<&'g Place> {
    let op = graph.blocks.iter().flat_map(|block| &block.ops).find(|op| op.to == *made);
    let Some(op) = op else { return bound_by(graph, made.local) };
    match &op.value {
        Value::Use(from) | Value::Ready(from) => Some(from),
        Value::Call { callee: Callee::Path(_) | Callee::Method { .. }, args, .. } => args.first(),
        Value::Await(future) => {
            let called = graph.made_by(future).is_some_and(|op| matches!(op.value, Value::Call { .. }));
            (!called).then_some(future)
        }
        _ => None,
    }
}

/// What a pattern or a `?` takes a local out of.
fn bound_by(graph: &Graph, local: LocalId) -> Option<&Place> {
    graph.blocks.iter().find_map(|block| match &block.end {
        End::Test { value, pat, .. } => pat.binds(local).then_some(value),
        End::Try { value, to, .. } => (*to == Place::local(local)).then_some(value),
        End::Select { arms, .. } => arms.iter().find(|arm| arm.pat.binds(local)).map(|arm| &arm.future),
        _ => None,
    })
}
