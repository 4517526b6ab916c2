//! A task that ends drops its sender: whoever receives from the channel is told.

use super::{state::State, walk::Walk};
use crate::flow::graph::{Callee, End, LocalId, Op, Pattern, Place, Value};

impl Walk<'_, '_, '_> {
    /// Whether the task that is spawned here owns the only sender of a channel that this function receives from.
    pub(super) fn tells_by_sender(&self, state: &State, task: &Place) -> bool {
        let frame = state.frame();
        let graph = self.graph(frame.function);
        let made_by = graph.blocks.iter().flat_map(|block| &block.ops).find(|op| op.to == *task);
        let uses = |op: &Op, local: LocalId| match &op.value {
            Value::Call { args, .. } | Value::Tuple(args) => args.iter().any(|place| place.local == local),
            Value::Use(place) => place.local == local,
            Value::Struct { fields, .. } => fields.iter().any(|(_, place)| place.local == local),
            _ => false,
        };
        graph.blocks.iter().any(|block| {
            let End::Test { value, pat: Pattern::Tuple(pats), .. } = &block.end else { return false };
            let [Pattern::Bind(sender, None), Pattern::Bind(receiver, None)] = pats.as_slice() else { return false };
            let is_channel = graph.blocks.iter().flat_map(|block| &block.ops).any(|op| {
                op.to == *value
                    && matches!(&op.value, Value::Call { callee: Callee::Path(path), .. } if makes_channel(path.last()))
            });
            let received = graph.blocks.iter().flat_map(|block| &block.ops).any(|op| {
                matches!(&op.value, Value::Call { callee: Callee::Method { name, .. }, args, .. }
                    if receives(name) && args.first().is_some_and(|place| place.local == *receiver))
            });
            let given = made_by.is_some_and(|op| match &op.value {
                Value::Call { .. } => uses(op, *sender),
                // A capture: the sender is used inside and nowhere else.
                Value::Body(_) => graph
                    .blocks
                    .iter()
                    .filter(|block| block.body != frame.body)
                    .any(|block| block.ops.iter().any(|op| uses(op, *sender))),
                _ => false,
            });
            let kept = graph.blocks.iter().filter(|block| block.body == frame.body).any(|block| {
                block.ops.iter().any(|op| uses(op, *sender) && made_by.is_none_or(|made| !std::ptr::eq(made, op)))
            });
            is_channel && received && given && !kept
        })
    }
}

fn makes_channel(name: &str) -> bool {
    matches!(name, "channel" | "unbounded_channel" | "unbounded" | "bounded" | "sync_channel" | "async_channel")
}

fn receives(name: &str) -> bool {
    matches!(name, "recv" | "changed" | "next" | "recv_async" | "wait_for" | "blocking_recv" | "recv_many")
}
