//! The tests that are longer than a unit.

#[cfg(feature = "tokio")]
mod mesh;
