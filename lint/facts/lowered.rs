//! A function's graph, made when it is first asked for.

use std::cell::{Cell, OnceCell};

use crate::{
    flow::{self, graph::Graph},
    syntax::{self, tree::Function},
};

/// A graph, or what it is made of.
pub(crate) struct Lowered {
    graph: OnceCell<Graph>,
    /// A function whose body was left out when its file was parsed.
    from: Option<Box<Function>>,
    live: Cell<bool>,
}

impl Lowered {
    pub(super) fn new(function: Function) -> Self {
        if function.deferred {
            return Self { graph: OnceCell::new(), from: Some(Box::new(function)), live: Cell::new(false) };
        }
        Self { graph: OnceCell::from(flow::lower(&function)), from: None, live: Cell::new(true) }
    }

    /// The graph. `text` is that of the file.
    pub(super) fn get(&self, text: &str) -> &Graph {
        self.graph.get_or_init(|| {
            let Some(from) = &self.from else { return Graph::default() };
            let body = from.body.as_ref().and_then(|body| syntax::body(text, body.span));
            // A body that the parser rejects is as good as an empty one.
            flow::lower(&Function { body: body.or_else(|| from.body.clone()), ..(**from).clone() })
        })
    }

    /// Whether something of interest stands in the body.
    pub(super) fn is_live(&self) -> bool {
        self.live.get()
    }

    /// Makes a function live in whose body something of interest stands, and tells whether it was not.
    pub(super) fn wake(&self, text: &str, wanted: &dyn Fn(&str) -> bool) -> bool {
        let span = self.from.as_ref().and_then(|from| from.body.as_ref()).map(|body| body.span);
        let Some(span) = span.filter(|_| !self.live.get()) else { return false };
        self.live.set(text.get(span.start as usize..span.end as usize).is_some_and(wanted));
        self.live.get()
    }
}
