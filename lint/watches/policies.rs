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
        if ops(graph).any(|op| op.to.local == place.local && sets(graph, op, names)) {
            return Some(true);
        }
        let op = ops(graph).find(|op| op.to == *place)?;
        match &op.value {
            Value::Use(from) => self.lifts(function, from, names, depth + 1),
            Value::Struct { rest, .. } => {
                let rest = rest.as_ref().and_then(|rest| self.lifts(function, rest, names, depth + 1));
                Some(uses(graph, op, names) || rest == Some(true))
            }
            Value::Call { .. } if uses(graph, op, names) => Some(true),
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
        (0..functions.len()).filter(|id| functions[*id].file == file).any(|id| {
            let graph = self.graph(id);
            ops(graph).any(|op| sets(graph, op, names) || uses(graph, op, names))
        })
    }
}

fn ops(graph: &Graph) -> impl Iterator<Item = &Op> {
    graph.blocks.iter().flat_map(|block| &block.ops)
}

/// Whether an operation sets a field as one of the names says.
fn sets(graph: &Graph, op: &Op, names: &[String]) -> bool {
    let Value::Use(from) = &op.value else { return false };
    op.to.fields.last().is_some_and(|field| is_named(graph, field, Some(from), names))
}

/// Whether an operation calls a method, or makes a struct with a field, as one of the names says.
fn uses(graph: &Graph, op: &Op, names: &[String]) -> bool {
    match &op.value {
        Value::Struct { fields, .. } => {
            fields.iter().any(|(name, place)| is_named(graph, name, Some(place), names))
        }
        Value::Call { callee: Callee::Method { name, .. }, args, .. } => {
            is_named(graph, name, args.get(1), names)
        }
        _ => false,
    }
}

/// Whether one of the names is this name, its value, or `name(value)`.
fn is_named(graph: &Graph, name: &str, value: Option<&Place>, names: &[String]) -> bool {
    let text = value.and_then(|value| constant(graph, value)).unwrap_or_default();
    let call = format!("{name}({text})");
    names.iter().any(|known| *known == name || *known == text || *known == call)
}

/// The path that a place was given, if it is one.
fn constant(graph: &Graph, place: &Place) -> Option<String> {
    let op = ops(graph).find(|op| op.to == *place)?;
    match &op.value {
        Value::Path(path) => Some(path.segments.join("::")),
        Value::Use(from) if from != place => match &ops(graph).find(|op| op.to == *from)?.value {
            Value::Path(path) => Some(path.segments.join("::")),
            _ => None,
        },
        _ => None,
    }
}
