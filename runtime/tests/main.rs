//! The tests of the runtime that need more than one module, in one binary.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests fail by panic, and a figure that nobody can read is none"
)]

mod does_not_nest;
mod flow;
mod giving_up;
mod hub_watcher_paces;
mod hub_watcher_stops;
mod log;
mod mesh;
mod model;
mod outage;
mod postgres;
mod silence;
mod standing_watches_reopen;
mod support;

#[global_allocator]
static ALLOCATOR: rideout::test::CountingAllocator = rideout::test::CountingAllocator;
