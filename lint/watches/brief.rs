//! Programs that do one job: `main` waits for something that has an end and returns, and every task beside it ends with it.

use std::collections::HashSet;

use super::{infer::Infer, jobs::next};
use crate::{
    facts::FnId,
    flow::graph::{BlockId, BodyId, BodyKind, Callee, End, Graph, Op, Value},
};

/// Most calls from `main` to the function that starts the task.
const DEEPEST: usize = 4;
/// Most callers of one function that are asked.
const MOST_CALLERS: usize = 4;

impl Infer<'_, '_> {
    /// Whether a task that is started at a block of `main`, or of what `main` calls, may be there for one job: nothing that is done
    /// afterwards goes on for ever, as far as names tell.
    pub(super) fn is_brief_main(&self, id: FnId, block: BlockId, op: usize) -> bool {
        self.ends_soon(id, block, op, 0)
    }

    fn ends_soon(&self, id: FnId, block: BlockId, op: usize, depth: usize) -> bool {
        let function = &self.program.functions[id];
        let is_main = function.name == "main" && function.owner.is_none();
        let sites = self.sites();
        let callers = sites.get(&id).map_or(&[][..], Vec::as_slice);
        let in_main = || {
            depth < DEEPEST
                && (1..=MOST_CALLERS).contains(&callers.len())
                && callers
                    .iter()
                    .all(|site| self.ends_soon(site.function, site.block, site.op + 1, depth + 1))
        };
        self.is_brief_from(id, block, op) && (is_main || in_main())
    }

    fn is_brief_from(&self, id: FnId, block: BlockId, op: usize) -> bool {
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

    /// Whether an `async` block does one job, as far as names tell.
    pub(super) fn is_brief_block(&self, id: FnId, body: BodyId) -> bool {
        let graph = self.graph(id);
        let mut own = graph.blocks.iter().filter(|block| block.body == body);
        graph.bodies[body as usize].kind == BodyKind::Async
            && !has_loop(graph, body)
            && !own.any(|block| {
                matches!(block.end, End::Select { .. }) || block.ops.iter().any(|op| lasts(graph, op))
            })
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
            !graph.made_by(future).is_some_and(|op| match op.value {
                Value::Call { .. } => true,
                Value::Body(body) => !has_loop(graph, body),
                _ => false,
            }) || graph.locals[future.local as usize].name.is_some()
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
    "listen", "loop", "monitor", "park", "pending", "poll", "process", "recv", "run", "serve", "shutdown",
    "signal", "sleep", "start", "stop", "stream", "terminat", "until", "wait", "watch", "work",
];
