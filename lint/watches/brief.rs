//! Programs that do one job: `main` waits for something that has an end and returns, and every task beside it ends with it.

use std::collections::HashSet;

use super::{infer::Infer, jobs::next};
use crate::{
    facts::FnId,
    flow::graph::{BlockId, BodyId, Callee, End, Graph, Op, Value},
};

impl Infer<'_, '_> {
    /// Whether a task that `main` starts at a block may be there for one job: nothing that `main` does afterwards goes on for ever,
    /// as far as names tell.
    pub(super) fn is_brief_main(&self, id: FnId, block: BlockId, op: usize) -> bool {
        let function = &self.program.functions[id];
        if function.name != "main" || function.owner.is_some() {
            return false;
        }
        let graph = self.graph(id);
        let after = reached(graph, block);
        let rest = &graph.blocks[block as usize].ops[op..];
        let ops = || rest.iter().chain(after.iter().flat_map(|at| &graph.blocks[*at as usize].ops));
        let goes_round = |at: &BlockId| {
            let block = &graph.blocks[*at as usize];
            let endless = |id: u32| !graph.loops[id as usize].bounded && !graph.loops[id as usize].finite;
            block.head_of.is_some_and(endless) || matches!(block.end, End::Select { .. })
        };
        let waits = ops().any(|op| matches!(op.value, Value::Await(_) | Value::Join { .. }));
        waits
            && !after.iter().any(goes_round)
            && !ops().any(|op| lasts(graph, op))
            && !ops().any(|op| matches!(op.value, Value::Body(body) if has_loop(graph, body)))
    }
}

/// The blocks that a block leads to.
fn reached(graph: &Graph, from: BlockId) -> HashSet<BlockId> {
    let mut found = HashSet::new();
    let mut todo = next(&graph.blocks[from as usize].end);
    while let Some(at) = todo.pop() {
        if found.insert(at) {
            todo.extend(next(&graph.blocks[at as usize].end));
        }
    }
    found
}

/// Whether a body, or one in it, has a loop without a bound: another task that goes on.
fn has_loop(graph: &Graph, body: BodyId) -> bool {
    let own = || graph.blocks.iter().filter(|block| block.body == body);
    let endless = |id: u32| !graph.loops[id as usize].bounded && !graph.loops[id as usize].finite;
    own().any(|block| block.head_of.is_some_and(endless))
        || own()
            .flat_map(|block| &block.ops)
            .any(|op| matches!(op.value, Value::Body(inner) if inner != body && has_loop(graph, inner)))
}

/// Whether an operation may go on for as long as the process lives.
fn lasts(graph: &Graph, op: &Op) -> bool {
    match &op.value {
        Value::Call { callee: Callee::Path(path), .. } => says_lasting(path.last()),
        Value::Call { callee: Callee::Method { name, .. }, .. } => says_lasting(name),
        // A task, or another future that has a name.
        Value::Await(future) => {
            !graph.made_by(future).is_some_and(|op| matches!(op.value, Value::Call { .. }))
                || graph.locals[future.local as usize].name.is_some()
        }
        Value::Join { .. } => true,
        _ => false,
    }
}

fn says_lasting(name: &str) -> bool {
    LASTING.iter().any(|word| name.contains(word))
}

/// Words in the names of what runs, waits or serves.
const LASTING: &[&str] = &[
    "accept", "block", "closed", "consume", "ctrl_c", "event", "exec", "follow", "forever", "join", "launch",
    "listen", "loop", "main", "monitor", "park", "pending", "poll", "process", "recv", "run", "serve",
    "shutdown", "signal", "sleep", "start", "stop", "stream", "subscri", "terminat", "until", "wait",
    "watch", "work",
];
