//! The one test binary: end-to-end tests of the command, and of the house itself.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on stops and says so"
)]

mod bad_input;
#[cfg(test)]
mod cases;
mod cli;
mod config;
mod docs;
mod dogfood;
mod editor;
mod formats;
mod own_sources;
mod own_sources_page;
mod packages;
mod pre_commit;
mod ratchet;
mod recipes;
mod report;
mod scope;
mod suggestions;
mod support;
mod suppress;
mod tidy;
#[cfg(test)]
mod variations;
mod with_cargo;
