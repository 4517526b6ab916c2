//! Standing watches that ride out a transient fault.
//!
//! A *standing watch* is one subscription to a long-lived stream, held for the life of a task or a process. It has no next
//! caller: when a transient fault ends it and nothing opens it again, the service looks healthy and sees nothing.
//!
//! This crate is where the recovery side of Rideout lives.

pub mod activation;
pub mod address;
pub mod failure;
#[cfg(feature = "tokio")]
pub mod mesh;
pub mod nack;
pub mod ride_out;
pub mod run_level;
pub mod shape;
