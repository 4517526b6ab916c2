//! Standing watches that ride out a transient fault.

pub mod cadence;
pub mod fan_in;
pub mod health;
pub mod query_cache;
pub mod schedule;
pub mod snapshot;
