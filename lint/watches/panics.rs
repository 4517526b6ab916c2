//! Panics that end the process, in whatever task they happen.

use std::collections::HashSet;

use rideout_rules::catalog::Meaning;

use super::infer::Infer;
use crate::{
    facts::FnId,
    flow::graph::{Callee, Graph, Value},
};

impl Infer<'_, '_> {
    /// Whether a panic in a function ends the process: its profile aborts, or its package sets a hook that exits.
    pub(super) fn panic_ends_process(&self, id: FnId) -> bool {
        let program = self.program;
        let package = |id: FnId| program.files[program.functions[id].file].package;
        let hooked = || -> HashSet<usize> {
            program.live().filter(|id| self.sets_exit_hook(*id, self.graph(*id))).map(package).collect()
        };
        program.panic_aborts || self.hooked.get_or_init(hooked).contains(&package(id))
    }

    fn sets_exit_hook(&self, id: FnId, graph: &Graph) -> bool {
        let calls = |wanted: &dyn Fn(&str) -> bool| {
            graph.blocks.iter().flat_map(|block| &block.ops).any(|op| match &op.value {
                Value::Call { callee: Callee::Path(path), .. } => {
                    wanted(&self.program.resolve(id, &path.segments).join("::"))
                }
                _ => false,
            })
        };
        let known = self.program.known(id);
        calls(&|path| path.ends_with("panic::set_hook"))
            && calls(&|path| known.word_fn(path) == Some(Meaning::Exit))
    }
}
