//! A standing watch that re-opens after a transient fault, and only after one.
//!
//! [`reopen_on_transient_fault`] turns a factory of streams into one stream. A transient fault is not an item of it: the old
//! upstream is dropped, the observers are told, the pause of the cadence passes, and the factory is called again. The stream
//! ends with the last fault, unchanged and once, when a fault is terminal or the budget is spent.
//!
//! ```
//! use std::{io, time::Duration};
//! use futures_util::{StreamExt, stream};
//! use rideout::{classify::Infrastructure, reopen::{ReopenPolicy, reopen_on_transient_fault}, schedule::ManualSchedule};
//!
//! let clock = ManualSchedule::firing();
//! // A database that stays down: the first open and five re-opens, then the last fault.
//! let watch = reopen_on_transient_fault(
//!     |opening| stream::iter([Err::<(), _>(io::Error::new(io::ErrorKind::ConnectionReset, opening.number.to_string()))]),
//!     ReopenPolicy::new(Infrastructure, clock.clone()),
//! );
//! let faults: Vec<_> = futures_executor::block_on_stream(Box::pin(watch)).map(|item| item.unwrap_err().to_string()).collect();
//! assert_eq!(faults, ["6"]);
//! assert_eq!(clock.now(), Duration::from_secs(112));
//! ```
//!
//! It is one flat pipeline: an opening replaces the one before it, and nothing of a survived fault is kept. A watch that
//! re-opens from inside its own error path grows by one layer a fault.
//!
//! # Gaps
//!
//! What the source emitted between a fault and the next opening is lost to the watch. [`watch_events`] tells the consumer of
//! each [`Opened`](WatchEvent::Opened), so that it can fetch what it missed.

use std::{future::Future, num::NonZeroU32, time::Duration};

use futures_core::Stream;

mod engine;
mod events;
mod jitter;
mod observer;
mod open;
#[cfg(feature = "tracing")]
mod outage_log;
mod policy;
mod stalled;
mod stream;

pub use events::{WatchEvent, WatchEvents};
pub use jitter::Jitter;
pub use observer::ReopenObserver;
pub use open::{Open, OpenAsync, OpenStream};
#[cfg(feature = "tracing")]
pub use outage_log::OutageLog;
pub use policy::ReopenPolicy;
pub use stalled::Stalled;
pub use stream::Reopen;

/// Which opening of the source this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Opening {
    /// Counts the openings of this watch: 1 is the first.
    pub number: u64,
    /// How many faults came in a row before it, without an emission between them that proves life. 0 for the first opening.
    pub attempt: u32,
}

/// Why a watch ended on a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Terminal {
    /// The fault is not transient: opening the source again only repeats it.
    NotTransient,
    /// The fault is transient, and this many re-opens in a row did not help.
    BudgetSpent {
        /// The re-opens since the last emission that proved life.
        reopens: u32,
    },
}

/// What happened to an opening that a fault interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Interruption {
    /// The number of the re-open that follows, counted in a row: 1 after the first fault.
    pub attempt: NonZeroU32,
    /// The pause before it.
    pub delay: Duration,
    /// Whether the pause reaches the cap of the cadence with this re-open, for the first time in this outage: the outage is a
    /// sustained one, and this is the moment to say so once.
    pub sustained: bool,
}

/// Watches the stream that `open` makes, and opens it again after a transient fault as `policy` says.
///
/// `open` is called for every opening and must make a *fresh* upstream each time. One that hands back a stream it made before
/// replays the fault that is latched in it.
///
/// # Errors
///
/// The stream yields `Err` at most once, as its last item: the fault that is terminal, or the last one of a spent budget.
///
/// # Cancel safety
///
/// Dropping the stream drops the upstream, or the wait for the next one. A dropped `next()` future loses no item.
pub fn reopen_on_transient_fault<F, S, T, E>(
    open: F,
    policy: ReopenPolicy<T, E>,
) -> Reopen<OpenStream<F>, T, E>
where
    F: FnMut(Opening) -> S,
    S: Stream<Item = Result<T, E>>,
{
    Reopen::new(OpenStream(open), policy)
}

/// [`reopen_on_transient_fault`] for a source that is connected before it is read: an `open` that fails is a fault like any
/// other, and the stall bound of the policy holds for the opening too.
///
/// ```
/// use std::io;
/// use futures_util::stream;
/// use rideout::{classify::Infrastructure, reopen::{ReopenPolicy, reopen_on_transient_fault_async}, schedule::ManualSchedule};
///
/// let watch = reopen_on_transient_fault_async(
///     async |opening| match opening.number {
///         1 => Err(io::Error::from(io::ErrorKind::ConnectionRefused)),
///         _ => Ok(stream::iter([Ok("connected")])),
///     },
///     ReopenPolicy::new(Infrastructure, ManualSchedule::firing()),
/// );
/// let seen: Vec<_> = futures_executor::block_on_stream(Box::pin(watch)).map(Result::unwrap).collect();
/// assert_eq!(seen, ["connected"]);
/// ```
///
/// # Errors
///
/// As [`reopen_on_transient_fault`].
///
/// # Cancel safety
///
/// As [`reopen_on_transient_fault`]; dropping the stream while it connects drops the future of `open`.
pub fn reopen_on_transient_fault_async<F, Fut, S, T, E>(
    open: F,
    policy: ReopenPolicy<T, E>,
) -> Reopen<OpenAsync<F>, T, E>
where
    F: FnMut(Opening) -> Fut,
    Fut: Future<Output = Result<S, E>>,
    S: Stream<Item = Result<T, E>>,
{
    Reopen::new(OpenAsync(open), policy)
}

/// The same watch as a stream of what happens to it, for a consumer that must know its gaps.
///
/// ```
/// use std::io;
/// use futures_util::stream;
/// use rideout::{classify::Infrastructure, reopen::{ReopenPolicy, WatchEvent, watch_events}, schedule::ManualSchedule};
///
/// let events = watch_events(
///     async |opening| match opening.number {
///         1 => Ok(stream::iter(vec![Ok(1), Err(io::Error::from(io::ErrorKind::ConnectionReset))])),
///         _ => Ok(stream::iter(vec![Ok(2)])),
///     },
///     ReopenPolicy::new(Infrastructure, ManualSchedule::firing()),
/// );
/// let told: Vec<_> = futures_executor::block_on_stream(Box::pin(events))
///     .map(|event| match event {
///         WatchEvent::Opened(opening) => format!("opened {}", opening.number),
///         WatchEvent::Item(item) => format!("item {item}"),
///         WatchEvent::Interrupted { fault, attempt, delay } => format!("{fault}; re-open {attempt} in {delay:?}"),
///         WatchEvent::Terminal { fault, .. } => format!("over: {fault}"),
///         WatchEvent::Ended => String::from("ended"),
///     })
///     .collect();
/// assert_eq!(told, ["opened 1", "item 1", "connection reset; re-open 1 in 2s", "opened 2", "item 2", "ended"]);
/// ```
///
/// # Errors
///
/// [`WatchEvent::Terminal`] carries the last fault, and is the last event.
///
/// # Cancel safety
///
/// As [`reopen_on_transient_fault`].
pub fn watch_events<F, Fut, S, T, E>(open: F, policy: ReopenPolicy<T, E>) -> WatchEvents<OpenAsync<F>, T, E>
where
    F: FnMut(Opening) -> Fut,
    Fut: Future<Output = Result<S, E>>,
    S: Stream<Item = Result<T, E>>,
{
    WatchEvents::new(OpenAsync(open), policy)
}
