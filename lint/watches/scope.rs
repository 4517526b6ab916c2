//! What a function lives for: one request, one client, or as long as the program.

use rideout_rules::catalog::Meaning;

use super::{infer::Infer, polls, walk::Walk};
use crate::{
    facts::{FnId, Ty},
    flow::graph::{Block, BlockId, BodyId, BodyKind, Callee, Graph, LoopId, Op, Place, Value},
};

impl Infer<'_, '_> {
    /// Whether a function is a `drop`, or one that nothing but `drop`s call: what is dropped is over, and nobody watches in there.
    pub(super) fn only_drops(&self, id: FnId, depth: usize) -> bool {
        if self.program.functions[id].of_trait.as_deref() == Some("Drop") {
            return true;
        }
        let sites = self.sites();
        let callers = sites.get(&id).map_or(&[][..], Vec::as_slice);
        depth < 3
            && !callers.is_empty()
            && callers.iter().all(|site| self.only_drops(site.function, depth + 1))
    }
}

impl Walk<'_, '_, '_> {
    /// Whether a function serves one request or one client.
    pub(super) fn is_request(&self, id: FnId) -> bool {
        if let Some(known) = self.infer.requests.borrow().get(&id) {
            return *known;
        }
        let is = self.takes_request(id);
        self.infer.requests.borrow_mut().insert(id, is);
        is
    }

    fn takes_request(&self, id: FnId) -> bool {
        let function = &self.infer.program.functions[id];
        let known = self.infer.program.known(id);
        let program = self.infer.program;
        let plain =
            |ty: &Ty| matches!(ty, Ty::Named { path, .. } if known.word_type(path) == Some(Meaning::Request));
        let is = |ty: &Ty| match ty {
            // A struct that carries the client's own end.
            Ty::Local(at, _) => {
                program.types[*at].fields.keys().any(|field| plain(&program.field(*at, field, &[])))
            }
            ty => plain(ty),
        };
        function.params.iter().any(|param| {
            let ty = self.infer.program.ty_in(id, param);
            is(&ty) || matches!(&ty, Ty::Named { args, .. } | Ty::Tuple(args) if args.iter().any(is))
        }) || function.output.as_ref().is_some_and(|ty| is(&self.infer.program.ty_in(id, ty)))
    }

    /// Whether a function serves one request or client, itself or because one that calls it does.
    pub(super) fn serves_request(&self, id: FnId, depth: usize) -> bool {
        if depth > 4 {
            return false;
        }
        if let Some(known) = self.infer.serving.borrow().get(&(id, depth)) {
            return *known;
        }
        let sites = self.infer.sites();
        let mut callers = sites.get(&id).into_iter().flatten().filter(|site| site.function != id);
        let serves = self.is_request(id)
            || callers.any(|site| {
                self.in_accept_loop(site.function, site.block)
                    || self.serves_request(site.function, depth + 1)
            });
        self.infer.serving.borrow_mut().insert((id, depth), serves);
        serves
    }

    /// Whether a block stands inside an accept loop: what is made there lives as long as its client.
    pub(super) fn in_accept_loop(&self, function: FnId, block: BlockId) -> bool {
        let graph = self.graph(function);
        let known = self.infer.program.known(function);
        let accepts = |op: &Op| match &op.value {
            Value::Call { callee: Callee::Method { name, .. }, args, .. } => {
                let ty = args.first().map_or(Ty::Unknown, |place| self.infer.place(function, place));
                // A listener behind a trait, or of a crate that the catalog does not know.
                (name == "accept" && ty.watch().is_none())
                    || ty.watch().is_some_and(|watch| {
                        known.sources[watch.source].facts.spins_pedantic
                            && polls::poll(known, watch, name).is_some()
                    })
            }
            // `Server::accept(&listener)`
            Value::Call { callee: Callee::Path(path), .. } => {
                path.segments.len() > 1 && path.last() == "accept"
            }
            _ => false,
        };
        let mut within = loop_around(graph, &graph.blocks[block as usize]);
        while let Some(id) = within {
            let mut inside = graph.blocks.iter().filter(|block| runs_in(graph, block, id));
            if inside.any(|block| block.ops.iter().any(accepts)) {
                return true;
            }
            within = graph.loops[id as usize].parent;
        }
        false
    }
}

/// Whether the loop `within` is the wanted one, or inside it.
pub(super) fn in_loop(graph: &Graph, within: Option<u32>, wanted: u32) -> bool {
    let mut within = within;
    while let Some(id) = within {
        if id == wanted {
            return true;
        }
        within = graph.loops[id as usize].parent;
    }
    false
}

/// The innermost loop around a block, or around the closure or `async` block that it stands in.
pub(super) fn loop_around(graph: &Graph, block: &Block) -> Option<LoopId> {
    let makes = |op: &Op| matches!(op.value, Value::Body(body) if body == block.body);
    let outer = || {
        let made = graph.blocks.iter().filter(|outer| outer.ops.iter().any(makes));
        let mut others = made.chain(runs_here(graph, block.body)).filter(|outer| outer.body < block.body);
        others.find_map(|outer| loop_around(graph, outer))
    };
    block.within.or_else(outer)
}

/// Whether a block stands in a loop, or in an `async` block that is awaited there.
fn runs_in(graph: &Graph, block: &Block, wanted: LoopId) -> bool {
    in_loop(graph, block.within, wanted)
        || runs_here(graph, block.body).any(|by| by.body < block.body && runs_in(graph, by, wanted))
}

/// The blocks that await an `async` block, or call a closure.
fn runs_here(graph: &Graph, body: BodyId) -> impl Iterator<Item = &Block> {
    let ops = || graph.blocks.iter().flat_map(|block| &block.ops);
    let made = ops().find(|op| matches!(op.value, Value::Body(own) if own == body)).map(|op| &op.to);
    let kept = made.and_then(|made| {
        ops().find(|op| matches!(&op.value, Value::Use(from) if from == made)).map(|op| &op.to)
    });
    let runs = move |op: &Op| match &op.value {
        Value::Await(place) | Value::Call { callee: Callee::Place(place), .. } => {
            Some(place) == made || Some(place) == kept
        }
        _ => false,
    };
    graph.blocks.iter().filter(move |block| block.ops.iter().any(runs))
}

/// Whether a block runs at most once in a run of its function: no loop is around it, and no closure that may be called again.
pub(super) fn runs_once(graph: &Graph, block: &Block) -> bool {
    let Some(made) = graph
        .blocks
        .iter()
        .flat_map(|outer| outer.ops.iter().map(move |op| (outer, op)))
        .find(|(_, op)| matches!(op.value, Value::Body(body) if body == block.body))
    else {
        return block.within.is_none() && block.body == 0;
    };
    let (outer, op) = made;
    let once = match graph.bodies[block.body as usize].kind {
        BodyKind::Function { .. } | BodyKind::Async => true,
        BodyKind::Closure { .. } => is_spawned(graph, &op.to),
        BodyKind::Generator { .. } => false,
    };
    once && block.within.is_none() && runs_once(graph, outer)
}

/// Whether a closure is handed to something that spawns it.
fn is_spawned(graph: &Graph, closure: &Place) -> bool {
    graph.blocks.iter().flat_map(|block| &block.ops).any(|op| match &op.value {
        Value::Use(from) => from == closure && op.to != *closure && is_spawned(graph, &op.to),
        Value::Call { callee, args, .. } => {
            let name = match callee {
                Callee::Path(path) => path.last(),
                Callee::Method { name, .. } => name,
                Callee::Place(_) => return false,
            };
            name.contains("spawn") && args.contains(closure)
        }
        _ => false,
    })
}
