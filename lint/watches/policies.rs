//! Retry policies: whether the bound that a helper stops at by default has been lifted from the policy that it is given.

use super::walk::Walk;
use crate::{
    facts::FnId,
    flow::graph::{Callee, End, Graph, Op, Place, Value},
};

/// Deepest nesting of functions and builders in which a policy is looked for.
const DEEPEST: usize = 8;

impl Walk<'_, '_, '_> {
    /// Whether one of these names stands on the way of a call's argument: as a method of its builder or as a field that is set. Where a
    /// policy comes from out of view, its whole file is asked.
    pub(super) fn is_lifted(&self, function: FnId, args: &[&Place], names: &[String]) -> bool {
        let found: Vec<Option<bool>> =
            args.iter().map(|place| self.lifts(function, place, names, 0)).collect();
        if found.contains(&Some(true)) {
            return true;
        }
        !found.contains(&Some(false)) && self.names_in_file(function, names)
    }

    /// Whether a value was made with one of the names; nothing if it comes from out of view.
    fn lifts(&self, function: FnId, place: &Place, names: &[String], depth: usize) -> Option<bool> {
        let graph = self.graph(function);
        if depth > DEEPEST {
            return None;
        }
        if ops(graph).any(|op| op.to.local == place.local && sets(op, names)) {
            return Some(true);
        }
        let op = ops(graph).find(|op| op.to == *place)?;
        match &op.value {
            Value::Use(from) => self.lifts(function, from, names, depth + 1),
            Value::Struct { fields, rest, .. } => {
                let own = fields.iter().any(|(name, _)| names.contains(name));
                let rest = rest.as_ref().and_then(|rest| self.lifts(function, rest, names, depth + 1));
                Some(own || rest == Some(true))
            }
            Value::Call { callee: Callee::Method { name, .. }, .. } if names.contains(name) => Some(true),
            Value::Call { callee, args, .. } => {
                let callees = self.infer.callees(function, callee, args);
                if let Some(callee) = callees.first() {
                    return self.returns(*callee, names, depth + 1);
                }
                match callee {
                    Callee::Method { .. } => self.lifts(function, args.first()?, names, depth + 1),
                    Callee::Path(_) => Some(false),
                    Callee::Place(_) => None,
                }
            }
            _ => None,
        }
    }

    /// The same for what a function of the workspace returns.
    fn returns(&self, function: FnId, names: &[String], depth: usize) -> Option<bool> {
        let blocks = self.graph(function).blocks.iter().filter(|block| block.body == 0);
        let places = blocks.filter_map(|block| match &block.end {
            End::Return(place) => Some(place),
            _ => None,
        });
        places
            .filter_map(|place| self.lifts(function, place, names, depth))
            .reduce(|left, right| left || right)
    }

    /// Whether a function of the file uses one of the names.
    fn names_in_file(&self, function: FnId, names: &[String]) -> bool {
        let functions = &self.infer.program.functions;
        let file = functions[function].file;
        (0..functions.len()).filter(|id| functions[*id].file == file).flat_map(|id| ops(self.graph(id))).any(
            |op| {
                sets(op, names)
                    || match &op.value {
                        Value::Struct { fields, .. } => fields.iter().any(|(name, _)| names.contains(name)),
                        Value::Call { callee: Callee::Method { name, .. }, .. } => names.contains(name),
                        _ => false,
                    }
            },
        )
    }
}

fn ops(graph: &Graph) -> impl Iterator<Item = &Op> {
    graph.blocks.iter().flat_map(|block| &block.ops)
}

/// Whether an operation sets a field of one of these names.
fn sets(op: &Op, names: &[String]) -> bool {
    op.to.fields.last().is_some_and(|field| names.contains(field))
}
