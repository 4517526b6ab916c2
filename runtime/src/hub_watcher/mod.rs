//! The watcher that never gives up, and ends with its host.
//!
//! A control-plane watcher that stopped leaves its host half-alive, so this one re-opens after *any* fault, an end and a panic
//! of its source among them, at the pace of [`Cadence::HUB_WATCHER`](crate::cadence::Cadence::HUB_WATCHER). Only an
//! [`Ending`] stops it: its host goes away, its own content is poisoned, its own node is gone.
//!
//! ```
//! use std::{io, sync::{Arc, Mutex}};
//! use futures_util::stream;
//! use rideout::{hub_watcher::{HubWatcherOptions, subscribe_hub_watcher}, schedule::ManualSchedule};
//! use tokio_util::sync::CancellationToken;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let (host, seen) = (CancellationToken::new(), Arc::new(Mutex::new(Vec::new())));
//! let (into, last) = (Arc::clone(&seen), host.clone());
//! let watcher = subscribe_hub_watcher(
//!     &host,
//!     "settings",
//!     async |opening| match opening.number {
//!         1 => Err(io::Error::from(io::ErrorKind::ConnectionRefused)),
//!         _ => Ok(stream::iter([Ok("light"), Ok("dark")])),
//!     },
//!     move |item| {
//!         into.lock().unwrap().push(item);
//!         if item == "dark" {
//!             last.cancel();
//!         }
//!     },
//!     HubWatcherOptions::new().schedule(ManualSchedule::firing()),
//! );
//! watcher.ended().await;
//! assert_eq!(*seen.lock().unwrap(), ["light", "dark"]);
//! # }
//! ```

mod fault;
mod handle;
mod host;
mod options;
mod watcher;

pub use fault::{Ending, WatcherFault};
pub use handle::WatcherHandle;
pub use host::WatchHost;
pub use options::HubWatcherOptions;
pub use watcher::subscribe_hub_watcher;
