//! Who is who without a compiler: use maps, modules, struct fields, signatures, aliases, return types, and what the catalog knows.

mod build;
mod functions;
pub(crate) mod known;
mod lowered;
mod modules;
mod narrow;
mod own;
pub(crate) mod program;
mod read;
mod resolve;
pub(crate) mod ty;

pub(crate) use known::{Known, KnownSource};
pub(crate) use program::{FileInput, FnId, Program};
pub(crate) use ty::Ty;
