//! Where a stream comes from that only its type names: made by a call in view, or handed in from where nobody looks.

use super::infer::Infer;
use crate::{
    facts::FnId,
    flow::graph::{Place, Value},
};

/// Most callers gone up through.
const HIGHEST: usize = 6;

impl Infer<'_, '_> {
    /// Whether a stream is a field's, or a parameter's that no caller in view makes itself.
    pub(super) fn is_handed_in(&self, id: FnId, stream: &Place) -> bool {
        self.handed_in(id, stream, 0)
    }

    fn handed_in(&self, id: FnId, stream: &Place, depth: usize) -> bool {
        if depth > HIGHEST || !stream.fields.is_empty() {
            return true;
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
}
