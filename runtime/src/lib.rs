//! Standing watches that ride out a transient fault.

pub mod health;
pub mod snapshot;
