//! Standing watches that ride out a transient fault.
//!
//! A *standing watch* is one subscription to a long-lived stream, held for the life of a task or a process. It has no next
//! caller: when a transient fault ends it and nothing opens it again, the service looks healthy and sees nothing.
//!
//! This crate is where the recovery side of Rideout lives. It exports nothing yet: the linter's rules explain each way out
//! with plain async Rust, and name items of this crate only once they exist.
