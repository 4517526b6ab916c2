//! Helpers that read the stream which their closure gives, and call the closure again after a fault.

use std::sync::Arc;

use super::{
    infer::Infer,
    polls::{PollFact, PollSite},
};
use crate::{
    facts::{FnId, Ty, ty::WatchTy},
    flow::graph::{BodyId, Callee, Graph, Op, Value},
};

/// The closure that makes the stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factory {
    pub(super) function: FnId,
    pub(super) body: BodyId,
    /// Whether the helper waits before it calls it again.
    pub(super) paced: bool,
}

/// Every call of such a helper in a function: there the watch is read.
pub(super) fn find(infer: &Infer<'_, '_>, id: FnId, graph: &Graph) -> Vec<PollSite> {
    let known = infer.program.known(id);
    let mut sites = Vec::new();
    for (block, facts) in (0..).zip(&graph.blocks) {
        for (op, Op { value, .. }) in facts.ops.iter().enumerate() {
            let Value::Call { callee: Callee::Path(path), args, name_span } = value else { continue };
            let joined = infer.program.resolve(id, &path.segments).join("::");
            let Some(reopen) = known.reopen_fn(&joined).filter(|reopen| reopen.factory) else { continue };
            let Some(closure) = args.get(reopen.closure) else { continue };
            let Ty::Body(function, body) = infer.place(id, closure) else { continue };
            let Some(watch) = stream(infer, infer.called(function, body)) else { continue };
            sites.push(PollSite {
                function: id,
                block,
                op,
                stream: closure.clone(),
                watch,
                fact: PollFact::of_helper(),
                name_span: *name_span,
                future: None,
                factory: Some(Factory { function, body, paced: reopen.paced }),
            });
        }
    }
    sites
}

/// The watch that running a closure gives: at once, or when it is awaited.
fn stream(infer: &Infer<'_, '_>, given: Ty) -> Option<Arc<WatchTy>> {
    let mut ty = given;
    for _ in 0..4 {
        ty = match ty {
            Ty::Body(function, body) => infer.called(function, body),
            Ty::Future(inner) => *inner,
            other => return other.watch().cloned(),
        };
    }
    None
}
