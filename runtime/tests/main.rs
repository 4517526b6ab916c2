//! The tests of the runtime that need more than one module, in one binary.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests fail by panic, and a figure that nobody can read is none"
)]

mod build_coordination;
#[cfg(feature = "metrics")]
mod census_is_flat;
mod does_not_nest;
mod fan_in_model;
mod flow;
mod giving_up;
mod health_of_watches;
mod hub_watcher_paces;
mod hub_watcher_stops;
mod inbox_model;
mod inbox_watches;
mod live_record_census;
mod log;
mod mesh;
mod model;
mod outage;
mod postgres;
mod query_fan_in_stall;
mod silence;
mod sites;
mod standing_watches_reopen;
mod support;
mod traced;

// The examples, whose watches the tests put through the script.
#[expect(
    dead_code,
    unreachable_pub,
    reason = "an example is a program of its own, whose `main` is not called here"
)]
#[path = "../examples/outbox_mail.rs"]
mod outbox_mail;
#[expect(
    dead_code,
    unreachable_pub,
    reason = "an example is a program of its own, whose `main` is not called here"
)]
#[path = "../examples/plugin_catalog.rs"]
mod plugin_catalog;

#[global_allocator]
static ALLOCATOR: rideout::test::CountingAllocator = rideout::test::CountingAllocator;
