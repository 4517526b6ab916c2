//! Panics that end the process, in whatever task they happen.

use rideout_rules::catalog::Meaning;

use super::infer::Infer;
use crate::{
    facts::FnId,
    flow::graph::{Callee, Graph, Value},
};

impl Infer<'_, '_> {
    /// Whether a panic in a function ends the process: its profile aborts, or its program sets a hook that exits.
    pub(super) fn panic_ends_process(&self, id: FnId) -> bool {
        let program = self.program;
        if program.panic_aborts || self.exit_hooks().is_empty() {
            return program.panic_aborts;
        }
        let file = |id: FnId| program.functions[id].file;
        let package = |id: FnId| program.files[file(id)].package;
        let mains: Vec<FnId> = program.named("main").iter().copied().filter(|id| self.is_main(*id)).collect();
        let of_library = !mains.iter().any(|main| package(*main) == package(id));
        let covers = |hook: &FnId| {
            file(*hook) == file(id)
                || self.is_run_by_main(*hook, package(id), 0)
                // A library is run by all of them.
                || (of_library
                    && !mains.is_empty()
                    && mains.iter().all(|main| self.is_run_by_main(*hook, package(*main), 0)))
        };
        self.exit_hooks().iter().any(covers)
    }

    /// The functions that set a hook by which a panic ends the process.
    pub(super) fn exit_hooks(&self) -> &[FnId] {
        let program = self.program;
        let found = || program.live().filter(|id| self.sets_exit_hook(*id, self.graph(*id))).collect();
        self.hooks.get_or_init(found)
    }

    /// Whether the main program of a package comes to a function. Others of its programs may have hooks of their own.
    fn is_run_by_main(&self, id: FnId, package: usize, depth: usize) -> bool {
        let file = self.program.functions[id].file;
        let is_main = self.is_main(id) && self.program.files[file].package == package;
        let sites = self.sites();
        let mut callers = sites.get(&id).into_iter().flatten().filter(|site| site.function != id);
        is_main || (depth < 3 && callers.any(|site| self.is_run_by_main(site.function, package, depth + 1)))
    }

    fn is_main(&self, id: FnId) -> bool {
        let function = &self.program.functions[id];
        function.name == "main" && self.program.files[function.file].path.ends_with("main.rs")
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
