//! Signals to stop: a watch whose item does nothing in its arm of a `select!` but lead out of the loop.

use std::collections::HashSet;

use super::{jobs::next, scope::in_loop, walk::Walk};
use crate::flow::graph::{BlockId, End, Graph, Place, SelectArm, Value};

impl Walk<'_, '_, '_> {
    /// Whether nothing happens in the arm that takes the items, but that some are told apart from others.
    pub(super) fn only_stops(&self) -> bool {
        let graph = self.graph(self.site.function);
        let asked = &graph.blocks[self.site.block as usize].ops[self.site.op].to;
        let Some((arm, others)) = arm_of(graph, asked) else { return false };
        let Some(id) = graph.blocks[arm.next as usize].within else { return false };
        let reached = |from: BlockId| {
            let mut found = HashSet::new();
            let mut todo = vec![from];
            while let Some(at) = todo.pop() {
                let block = &graph.blocks[at as usize];
                if in_loop(graph, block.within, id) && block.head_of.is_none() && found.insert(at) {
                    todo.extend(next(&block.end));
                }
            }
            found
        };
        let shared: HashSet<BlockId> = others.iter().flat_map(|other| reached(other.next)).collect();
        reached(arm.next).difference(&shared).all(|at| {
            graph.blocks[*at as usize].ops.iter().all(|op| {
                matches!(
                    op.value,
                    Value::Use(_)
                        | Value::Unit
                        | Value::Bool(_)
                        | Value::Int(_)
                        | Value::Str(_)
                        | Value::Path(_)
                        | Value::Not(_)
                        | Value::Compare(..)
                        | Value::Macro { .. }
                        | Value::Leave
                )
            })
        })
    }
}

/// The arm that waits for what a call gives, and the others beside it.
fn arm_of<'g>(graph: &'g Graph, asked: &Place) -> Option<(&'g SelectArm, Vec<&'g SelectArm>)> {
    graph.blocks.iter().find_map(|block| {
        let End::Select { arms, .. } = &block.end else { return None };
        let at = arms.iter().position(|arm| {
            arm.future == *asked || graph.made_by(&arm.future).is_some_and(|op| op.to == *asked)
        })?;
        let others = arms.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, arm)| arm);
        Some((&arms[at], others.collect()))
    })
}
