//! Where a stream comes from that either side of a connection may have: made by a call in view, or handed in from where nobody looks.

use super::{infer::Infer, polls::PollSite};
use crate::{
    facts::{FnId, Ty},
    flow::graph::{Callee, Place, Value},
};

/// Most callers gone up through.
const HIGHEST: usize = 6;

impl Infer<'_, '_> {
    /// Whether a stream is a field's or a parameter's that nobody in view makes, or is made around such a connection.
    pub(super) fn is_handed_in(&self, site: &PollSite) -> bool {
        let Some((id, start, end)) = site.watch.opener else {
            return self.handed_in(site.function, &site.stream, 0);
        };
        let mut ops = self.graph(id).blocks.iter().flat_map(|block| &block.ops);
        ops.any(|op| match &op.value {
            Value::Call { callee: Callee::Path(_), args, .. }
                if (op.span.start, op.span.end) == (start, end) =>
            {
                args.iter().any(|given| self.is_param_handed_in(id, given))
            }
            _ => false,
        })
    }

    fn handed_in(&self, id: FnId, stream: &Place, depth: usize) -> bool {
        if depth > HIGHEST {
            return true;
        }
        if let Some((field, rest)) = stream.fields.split_last() {
            let base = Place { local: stream.local, fields: rest.to_vec() };
            return match self.place(id, &base) {
                Ty::Local(at, _) => !self.is_put_by_its_maker(at, field),
                _ => true,
            };
        }
        let graph = self.graph(id);
        let local = graph.bound_from(stream.local);
        let Some(at) = graph.bodies[0].params.iter().position(|param| *param == local) else { return false };
        let sites = self.sites();
        let made = sites.get(&id).into_iter().flatten().any(|site| {
            let op = &self.graph(site.function).blocks[site.block as usize].ops[site.op];
            match &op.value {
                Value::Call { args, .. } => {
                    args.get(at).is_some_and(|given| !self.handed_in(site.function, given, depth + 1))
                }
                _ => false,
            }
        });
        !made
    }

    fn is_param_handed_in(&self, id: FnId, given: &Place) -> bool {
        let graph = self.graph(id);
        let is_param = graph.bodies[0].params.contains(&graph.bound_from(given.local));
        is_param && self.handed_in(id, given, 0)
    }
}
