//! Channels of the program whose sender a library is given: what the receiver gets is the library's.

use std::collections::HashSet;

use super::infer::Infer;
use crate::{
    facts::{FnId, Ty, ty::WatchTy},
    flow::graph::{BodyId, Callee, End, Graph, LocalId, Op, Pattern, Place, Value},
    syntax::tree::Span,
};

/// Most functions that a sender is followed through.
const DEEPEST: usize = 4;

/// Where a library is given the sender.
struct Feeding {
    source: usize,
    by: (FnId, Span),
}

impl Infer<'_, '_> {
    /// The receiver of a channel that is made into a place, if a library is given its sender. `types` tells those of the function,
    /// as far as they are known.
    pub(super) fn fed(
        &self,
        id: FnId,
        callee: &Callee,
        made: &Place,
        types: &dyn Fn(&Place) -> Ty,
    ) -> Option<WatchTy> {
        let Callee::Path(path) = callee else { return None };
        let joined = self.program.resolve(id, &path.segments).join("::");
        let channel = self.program.known(id).channel_fn(&joined)?;
        let sender = self.graph(id).blocks.iter().find_map(|block| match &block.end {
            End::Test { value, pat: Pattern::Tuple(pats), .. } if value == made => match pats.first() {
                Some(Pattern::Bind(sender, None)) => Some(*sender),
                _ => None,
            },
            _ => None,
        })?;
        let Feeding { source, by: (by, span) } = self.feeding(id, sender, types, 0)?;
        let opener = Some((by, span.start, span.end));
        Some(WatchTy { channel: Some(channel), opener, ..WatchTy::told(source) })
    }

    /// Who is given a sender, here or in a function that it is handed to.
    fn feeding(
        &self,
        id: FnId,
        sender: LocalId,
        types: &dyn Fn(&Place) -> Ty,
        depth: usize,
    ) -> Option<Feeding> {
        let program = self.program;
        let known = program.known(id);
        let graph = self.graph(id);
        let carriers = carriers(graph, sender);
        let calls = graph.blocks.iter().flat_map(|block| &block.ops);
        for op in calls {
            let Value::Call { callee, args, .. } = &op.value else { continue };
            let given: Vec<usize> = (0..args.len())
                .filter(|at| args[*at].fields.is_empty() && carriers.contains(&args[*at].local))
                .collect();
            let source = match callee {
                _ if given.is_empty() => continue,
                Callee::Path(path) => known.fed_fn(&program.resolve(id, &path.segments).join("::")),
                Callee::Method { name, .. } => {
                    let paths = self.paths(id, &types(&args[0]).inner());
                    known.fed_method(&paths.iter().map(String::as_str).collect::<Vec<_>>(), name)
                }
                Callee::Place(_) => None,
            };
            if let Some(source) = source.filter(|source| known.sources[*source].facts.channel) {
                return Some(Feeding { source, by: (id, op.span) });
            }
            let Callee::Path(path) = callee else { continue };
            let Some(next) = program.function_at(id, &program.resolve(id, &path.segments)) else { continue };
            if depth == DEEPEST || next == id {
                continue;
            }
            let params = self.graph(next).bodies.first().map_or(&[][..], |body| &body.params);
            let found = given
                .iter()
                .filter_map(|at| params.get(*at))
                .find_map(|param| self.feeding(next, *param, &|place| self.place(next, place), depth + 1));
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

/// The locals that hold a sender, a clone of it, or a closure that sends on what it is called with.
fn carriers(graph: &Graph, sender: LocalId) -> HashSet<LocalId> {
    let ops = || graph.blocks.iter().flat_map(|block| &block.ops);
    let mut found = HashSet::from([sender]);
    loop {
        let more: Vec<LocalId> = ops()
            .filter(|op| op.to.fields.is_empty() && !found.contains(&op.to.local))
            .filter(|op| match &op.value {
                Value::Use(from) => from.fields.is_empty() && found.contains(&from.local),
                Value::Call { callee: Callee::Method { name, .. }, args, .. } if name == "clone" => {
                    args.first().is_some_and(|from| from.fields.is_empty() && found.contains(&from.local))
                }
                Value::Call { callee: Callee::Path(path), args, .. } => {
                    matches!(path.segments.as_slice(), [.., owner, _] if owner == "Box" || owner == "Arc")
                        && args.iter().any(|from| found.contains(&from.local))
                }
                Value::Body(body) => sends_on(graph, *body, &found),
                _ => false,
            })
            .map(|op| op.to.local)
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// Whether a closure sends what it is called with, as it is.
fn sends_on(graph: &Graph, body: BodyId, senders: &HashSet<LocalId>) -> bool {
    let bodies = within(graph, body);
    let Some(param) = graph.bodies[body as usize].params.first() else { return false };
    let ops: Vec<&Op> = graph
        .blocks
        .iter()
        .filter(|block| bodies.contains(&block.body))
        .flat_map(|block| &block.ops)
        .collect();
    let mut items = HashSet::from([*param]);
    for op in &ops {
        if let Value::Use(from) = &op.value
            && from.fields.is_empty()
            && items.contains(&from.local)
        {
            items.insert(op.to.local);
        }
    }
    ops.iter().any(|op| match &op.value {
        Value::Call { callee: Callee::Method { name, .. }, args, .. } => {
            name.contains("send")
                && matches!(args.as_slice(), [to, item] if senders.contains(&to.local) && item.fields.is_empty() && items.contains(&item.local))
        }
        _ => false,
    })
}

/// A body and those made in it.
fn within(graph: &Graph, body: BodyId) -> HashSet<BodyId> {
    let mut found = HashSet::from([body]);
    loop {
        let inner: Vec<BodyId> = graph
            .blocks
            .iter()
            .filter(|block| found.contains(&block.body))
            .flat_map(|block| &block.ops)
            .filter_map(|op| match &op.value {
                Value::Body(inner) if !found.contains(inner) => Some(*inner),
                _ => None,
            })
            .collect();
        if inner.is_empty() {
            return found;
        }
        found.extend(inner);
    }
}
