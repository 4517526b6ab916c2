//! Draining an inbox: a listing that is watched, and a queue of deliveries that are worked on, each on its own.
//!
//! A listing that is mapped to its drains and run one after the other ties the two together: while a drain hangs, nobody
//! polls the listing, its fault is not seen, and the watch is not re-opened at all. Here the listing is polled whatever
//! the queue does, and its fault ends the *opening* at once.
//!
//! A delivery that is taken is *claimed*, so that the next listing, which still shows it, does not take it twice. The
//! claim belongs to the opening that made it and is released with it, unless its drain has run to its end: the re-opened
//! watch drains it again, and does not skip it as taken. So a drain may run twice, and must be idempotent: let the target
//! compare and set a status.
//!
//! ```
//! use futures_util::{FutureExt, StreamExt, stream};
//! use rideout::{classify::Infrastructure, inbox::{Claims, inbox_drain}, reopen::ReopenPolicy, schedule::ManualSchedule};
//! use std::{cell::RefCell, io};
//!
//! let done = RefCell::new(Vec::new());
//! let draining = inbox_drain(
//!     Claims::new(),
//!     // Two readings of the inbox, the second of which still shows `a`; then it is quiet.
//!     async |_| Ok(stream::iter([Ok::<_, io::Error>(vec!["a"]), Ok(vec!["a", "b"])]).chain(stream::pending())),
//!     |letter| {
//!         done.borrow_mut().push(letter);
//!         async { Ok::<_, io::Error>(()) }
//!     },
//!     ReopenPolicy::new(Infrastructure, ManualSchedule::firing()),
//! );
//! assert!(draining.now_or_never().is_none(), "a standing watch goes on");
//! assert_eq!(*done.borrow(), ["a", "b"]);
//! ```

mod claims;
mod opening;
#[cfg(test)]
mod tests;

pub use claims::{Claim, Claims, ClaimsOfOpening};
pub use opening::InboxEvent;

use std::{future::Future, hash::Hash, pin::pin};

use futures_core::{FusedStream, Stream};
use futures_util::StreamExt;
use opening::InboxOpening;

use crate::reopen::{Opening, ReopenPolicy, reopen_on_transient_fault_async};

/// Watches an inbox and drains it, one delivery at a time, as a stream of what happens.
///
/// `list` connects to the listing: each of its items is the whole of what waits, by key. `drain` works on one delivery. A drain that
/// fails or panics is told and releases its claim, so that the next listing takes it again; it is no fault of the watch. A fault or
/// an end of the listing ends the opening at once and drops the drain in flight, then releases the claims.
///
/// Hand the same `claims` to nothing else: they are what this inbox has taken.
///
/// # Errors
///
/// As [`reopen_on_transient_fault_async`]: the last fault of the listing, at most once, as the last item.
///
/// # Cancel safety
///
/// Dropping the stream ends the opening: the drain in flight is dropped, then every claim released.
pub fn inbox_watch<K, F, C, L, D, Fut, R, E>(
    claims: Claims<K>,
    mut list: F,
    drain: D,
    policy: ReopenPolicy<InboxEvent<K, R>, E>,
) -> impl FusedStream<Item = Result<InboxEvent<K, R>, E>>
where
    K: Eq + Hash + Clone,
    F: FnMut(Opening) -> C,
    C: Future<Output = Result<L, E>>,
    L: Stream<Item = Result<Vec<K>, E>>,
    D: FnMut(K) -> Fut + Clone,
    Fut: Future<Output = Result<(), R>>,
{
    let open = move |opening: Opening| {
        let (listing, drain, claims) = (list(opening), drain.clone(), claims.of_opening(opening.number));
        async move { Ok(InboxOpening::new(listing.await?, drain, claims)) }
    };
    reopen_on_transient_fault_async(open, policy)
}

/// Watches an inbox and drains it, until the watch is over.
///
/// [`inbox_watch`] without its events: a drain that fails or panics is reported to tracing, with the feature.
///
/// # Errors
///
/// The last fault of the listing. `Ok` only if the listing ended without one.
///
/// # Cancel safety
///
/// As [`inbox_watch`]; dropping the future is dropping the stream.
pub async fn inbox_drain<K, F, C, L, D, Fut, R, E>(
    claims: Claims<K>,
    list: F,
    drain: D,
    policy: ReopenPolicy<InboxEvent<K, R>, E>,
) -> Result<(), E>
where
    K: Eq + Hash + Clone,
    F: FnMut(Opening) -> C,
    C: Future<Output = Result<L, E>>,
    L: Stream<Item = Result<Vec<K>, E>>,
    D: FnMut(K) -> Fut + Clone,
    Fut: Future<Output = Result<(), R>>,
    R: std::fmt::Display,
{
    let mut watch = pin!(inbox_watch(claims, list, drain, policy));
    while let Some(event) = watch.next().await {
        match event? {
            InboxEvent::DrainFailed { failure, .. } => warn_drain_failed(&failure),
            InboxEvent::DrainPanicked { .. } => warn_drain_failed(&"it panicked"),
            InboxEvent::Listed { .. } | InboxEvent::Drained { .. } => {}
        }
    }
    Ok(())
}

#[cfg(feature = "tracing")]
fn warn_drain_failed(failure: &dyn std::fmt::Display) {
    tracing::warn!(%failure, "a delivery could not be drained; its claim is released, and the next listing takes it again");
}

#[cfg(not(feature = "tracing"))]
fn warn_drain_failed(_: &dyn std::fmt::Display) {}
