//! Standing watches that ride out a transient fault.

pub mod snapshot;
