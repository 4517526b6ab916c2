//! Wraps what is spawned, and what has the case's own types, in one more layer.

use syn::{
    Expr,
    visit::{self, Visit},
};

use super::{
    code,
    edits::{Edits, range},
};

/// The layer around what is spawned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    /// An `async` block that awaits it, a closure that calls it.
    Block,
    /// `tracing`'s `instrument` as a method.
    Method,
    /// The same as a function.
    Function,
    /// A local that holds it.
    Local,
}

pub(super) fn spawned(text: &str, layer: Layer) -> Option<String> {
    let file = code::open(text);
    let mut found = Spawned { text, layer, edits: Edits::default(), count: 0 };
    found.visit_file(&file);
    if layer == Layer::Method && !found.edits.is_empty() {
        found.edits.insert(range(&file.items[0]).start, "use tracing::Instrument as _;\n");
    }
    (!found.edits.is_empty()).then(|| found.edits.apply(text))
}

struct Spawned<'t> {
    text: &'t str,
    layer: Layer,
    edits: Edits,
    count: usize,
}

impl Spawned<'_> {
    fn around(&mut self, task: &Expr, before: &str, after: &str) {
        let range = range(task);
        self.edits.insert(range.start, before);
        self.edits.insert(range.end, after);
    }

    fn task(&mut self, task: &Expr) {
        self.count += 1;
        let local = format!("task_{}", self.count);
        match (self.layer, task) {
            (Layer::Block, Expr::Closure(_)) => {
                self.around(task, "move || { let body = ", "; body() }");
            }
            (Layer::Block, _) => self.around(task, "async move { ", ".await }"),
            (Layer::Method | Layer::Function, Expr::Closure(_)) => {}
            (Layer::Method, _) => self.around(task, "", ".instrument(tracing::info_span!(\"task\"))"),
            (Layer::Function, _) => {
                self.around(task, "tracing::Instrument::instrument(", ", tracing::info_span!(\"task\"))");
            }
            (Layer::Local, _) => self.around(task, &format!("{{ let {local} = "), &format!("; {local} }}")),
        }
    }
}

impl<'a> Visit<'a> for Spawned<'_> {
    fn visit_expr_call(&mut self, node: &'a syn::ExprCall) {
        if let Expr::Path(function) = &*node.func
            && function.path.segments.last().is_some_and(|segment| segment.ident == "spawn")
            && let Some(task) = node.args.first()
            && !self.text[range(task)].is_empty()
        {
            self.task(task);
        }
        visit::visit_expr_call(self, node);
    }
}
