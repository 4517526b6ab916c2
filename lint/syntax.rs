//! From text to trees: the only room that names syn.
//!
//! A file is parsed once, without the bodies of functions in which nothing of interest stands; a body that turns out to matter is
//! parsed by itself. The tree is copied into the small owned [`tree`] that the later stages read, and syn's own (with its
//! thread-bound spans) is dropped. Bodies of macros that hold code (`select!`, `stream!`, `join!`, ...) become ordinary nodes.

mod comments;
mod convert;
mod items;
mod macros;
mod outline;
mod parse;
mod scanner;
mod statements;
mod tokens;
pub(crate) mod tree;

pub(crate) use comments::comments;
pub(crate) use items::functions;
pub(crate) use parse::{Interest, Rejected, body, parse};
pub(crate) use tokens::tokens;
