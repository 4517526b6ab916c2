//! Standing watches that ride out a transient fault.
//!
//! A *standing watch* is one subscription to a long-lived stream, held for the life of a task or a process. It has no next
//! caller: when a transient fault ends it and nothing opens it again, the service looks healthy and sees nothing.
//!
//! ```
//! use std::io;
//!
//! use futures_util::{StreamExt, stream};
//! use rideout::{classify::Infrastructure, reopen::{ReopenPolicy, reopen_on_transient_fault}, schedule::ManualSchedule};
//!
//! let clock = ManualSchedule::firing();
//! let policy = ReopenPolicy::new(Infrastructure, clock.clone());
//! // Each opening is a fresh upstream: the first one is reset after an item, the second one reads on.
//! let watch = reopen_on_transient_fault(
//!     |opening| match opening.number {
//!         1 => stream::iter([Ok("one"), Err(io::Error::from(io::ErrorKind::ConnectionReset))]).left_stream(),
//!         _ => stream::iter([Ok("two")]).right_stream(),
//!     },
//!     policy,
//! );
//! let seen: Vec<_> = futures_executor::block_on_stream(Box::pin(watch)).map(Result::unwrap).collect();
//! assert_eq!(seen, ["one", "two"]);
//! ```
//!
//! | what you hold | what to use |
//! |---|---|
//! | a stream that a fault ends, and a caller who wants to hear of a lasting outage | [`reopen::reopen_on_transient_fault`] |
//! | the same, and a consumer that must refetch what it missed | [`reopen::watch_events`] |
//! | a watcher that must live as long as its host, and never gives up | `hub_watcher::subscribe_hub_watcher` |
//! | one part of a larger read, that may be retried until its first item | [`before_first`] |
//! | an error of which you must know if re-opening can help | [`classify`] |
//! | a clock of your own, or a test's | [`schedule`] |
//! | several providers of one answer, one of which may be silent | [`fan_in`] |
//! | a query that many callers share | [`query_cache`] |
//! | a `/health` that must say what is not watched right now | [`health`] |
//! | a claim to ask for, while nobody may answer | [`handshake`] |
//! | an inbox to drain, delivery by delivery | [`inbox`] |
//! | a value that must be known as untrusted while its feed is down | [`snapshot`] |
//! | traces and metrics of all this | [`observe`] |
//! | an address that answers that it is shutting down | [`ride_out`], [`nack`], and the reference `mesh` |

pub mod activation;
pub mod address;
pub mod before_first;
pub mod cadence;
pub mod classify;
pub mod failure;
pub mod fan_in;
pub mod handshake;
pub mod health;
#[cfg(feature = "tokio")]
pub mod hub_watcher;
pub mod inbox;
#[cfg(feature = "tokio")]
pub mod mesh;
pub mod nack;
#[cfg(feature = "nats")]
pub mod nats;
pub mod observe;
#[cfg(feature = "tokio")]
pub mod query_cache;
pub mod reopen;
pub mod ride_out;
#[cfg(feature = "tokio")]
pub mod rider;
pub mod run_level;
pub mod schedule;
pub mod shape;
pub mod snapshot;
#[cfg(feature = "test")]
pub mod test;

/// The examples of the page about this crate, so that they compile and run.
#[cfg(all(doctest, feature = "test", feature = "tokio"))]
#[doc = include_str!("../../docs/runtime.md")]
mod page {}

/// The same for the page about addresses that shut down.
#[cfg(all(doctest, feature = "tokio"))]
#[doc = include_str!("../../docs/mesh.md")]
mod mesh_page {}
