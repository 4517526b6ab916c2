//! A test kit for watches: sources that follow a script, a clock that stands still, and probes for what must not leak.
//!
//! [`script::standing_watch_reopens`] puts any watch of yours through the one script that matters: the first open fails, the
//! watch survives, it re-opens on the test's clock, and a later emission is processed.
//!
//! ```
//! use std::{cell::RefCell, io};
//! use futures_util::StreamExt;
//! use rideout::{
//!     classify::Infrastructure,
//!     reopen::{ReopenPolicy, reopen_on_transient_fault_async},
//!     test::script::{ScriptFailure, standing_watch_reopens},
//! };
//!
//! let reset = || io::Error::from(io::ErrorKind::ConnectionReset);
//! let seen = RefCell::new(Vec::new());
//!
//! let outcome = futures_executor::block_on(standing_watch_reopens(
//!     reset(),
//!     7,
//!     async |source, clock| {
//!         let policy = ReopenPolicy::new(Infrastructure, clock);
//!         let mut watch = std::pin::pin!(reopen_on_transient_fault_async(async |_| source.open(), policy));
//!         while let Some(item) = watch.next().await {
//!             seen.borrow_mut().extend(item);
//!         }
//!     },
//!     || seen.borrow().contains(&7),
//! ));
//! assert_eq!(outcome, Ok(()));
//!
//! // The shape that the script is for: it opens once, and its first fault is its last.
//! let outcome = futures_executor::block_on(standing_watch_reopens(
//!     reset(),
//!     7,
//!     async |source, _| {
//!         let Ok(mut items) = source.open() else { return };
//!         while let Some(Ok(item)) = items.next().await {
//!             seen.borrow_mut().push(item);
//!         }
//!     },
//!     || false,
//! ));
//! assert_eq!(outcome, Err(ScriptFailure::Died));
//! ```
//!
//! The manual clock is [`ManualSchedule`](crate::schedule::ManualSchedule).

pub mod allocator;
pub mod probe;
pub mod script;
pub mod source;

pub use allocator::CountingAllocator;
pub use probe::{DropProbe, InstanceProbe};
pub use script::{ScriptFailure, standing_watch_reopens};
pub use source::{ScriptedSource, ScriptedStream};
