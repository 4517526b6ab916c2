//! From text to trees: the only room that names syn.
//!
//! A file is parsed once, its tree is copied into the small owned [`tree`] that the later stages read, and syn's own tree (with its
//! thread-bound spans) is dropped. Bodies of macros that hold code (`select!`, `stream!`, `join!`, ...) become ordinary nodes.

mod comments;
mod convert;
mod guard;
mod macros;
mod parse;
mod statements;
pub(crate) mod tree;

pub(crate) use comments::comments;
pub(crate) use parse::{Rejected, parse};
