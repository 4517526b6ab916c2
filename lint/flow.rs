//! Bodies lowered to a small control-flow graph.
//!
//! `while let`, `for`, `for_each`, `select!`, generators, closures and `async` blocks all become the same few nodes: set a place to a
//! value, branch, test a pattern, leave. The walk of `watches` needs no other form.

pub(crate) mod graph;
mod lower;

pub(crate) use lower::{lower, pins::unpins};
