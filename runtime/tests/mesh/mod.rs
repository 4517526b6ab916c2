//! The reference mesh and its riders.

mod disposal;
mod subscribe_during_recycle;
