//! A census of the standing watches of a process, for its `/health`.
//!
//! A watch that is between two openings looks like a watch that has nothing to say. A [`HealthBook`] tells them apart:
//! an interruption is recorded *before* the re-open is waited for, the next reading clears it, and a terminal fault,
//! which no reading follows, stays until the process restarts or a new watch is begun under the name.
//!
//! ```
//! use rideout::health::{HealthBook, Status};
//! use std::{num::NonZeroU32, time::Duration};
//!
//! let book = HealthBook::new();
//! book.begin("live-records");
//!
//! book.record_fault("live-records", "connection reset by peer", NonZeroU32::MIN, Duration::from_secs(2));
//! let health = book.report();
//! assert_eq!(health.status(), Status::Degraded);
//! assert_eq!(
//!     health.to_string(),
//!     "degraded: live-records is interrupted (connection reset by peer), re-open 1 after 2s; \
//!      what it read before is frozen"
//! );
//!
//! book.record_reading("live-records");
//! assert_eq!(book.report().status(), Status::Healthy);
//! ```
//!
//! A watch is put into the book by an observer of its policy:
//!
//! ```
//! use futures_util::stream;
//! use rideout::{classify::Infrastructure, health::HealthBook, reopen::{ReopenPolicy, reopen_on_transient_fault}};
//! use rideout::schedule::ManualSchedule;
//! use std::io;
//!
//! let book = HealthBook::new();
//! let policy = ReopenPolicy::new(Infrastructure, ManualSchedule::firing()).observer(book.observer("feed"));
//! let watch = reopen_on_transient_fault(|_| stream::iter([Ok(1), Err(io::Error::other("a defect"))]), policy);
//! let items: Vec<_> = futures_executor::block_on_stream(watch).collect();
//! assert_eq!(items.len(), 2);
//! assert_eq!(
//!     book.report().to_string(),
//!     "degraded: feed is no longer being watched for until a restart: the fault is not transient (a defect)"
//! );
//! ```
//!
//! Health is *pulled*: [`HealthBook::report`] copies what was recorded and returns. It never subscribes, never awaits
//! and takes one short lock, so a probe that asks can neither hang nor become one more reader of a failing source.

mod bake;
mod observer;
mod report;

pub use bake::{BakeGate, BakePhase, BakeReport};
pub use observer::HealthObserver;
pub use report::{Health, Status, WatchHealth, WatchState};

use std::{
    collections::BTreeMap,
    error::Error,
    fmt::{self, Display, Write as _},
    num::NonZeroU32,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// What each watch of a process last said about itself. Clones share one book.
///
/// Names are the caller's; two watches that share a name share an entry, so give each its own.
///
/// # Cancel safety
///
/// Every method is synchronous and complete when it returns.
#[derive(Clone)]
#[must_use]
pub struct HealthBook {
    inner: Arc<Inner>,
}

struct Inner {
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
    entries: Mutex<BTreeMap<Arc<str>, Entry>>,
    bake: BakeGate,
}

struct Entry {
    state: WatchState,
    since: Instant,
    outages: u64,
}

impl HealthBook {
    /// An empty book on the system's monotonic clock.
    pub fn new() -> Self {
        Self::with_clock(Instant::now)
    }

    /// An empty book on another clock. It is read at each record and each report; tests hand in one that they move.
    pub fn with_clock(clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        Self {
            inner: Arc::new(Inner {
                clock: Box::new(clock),
                entries: Mutex::default(),
                bake: BakeGate::new(),
            }),
        }
    }

    /// A watch of this name begins: it is open and has not read yet. Clears whatever an earlier watch of the name left.
    pub fn begin(&self, watch: &str) {
        self.enter(watch, |_| Some(WatchState::Opening));
    }

    /// The watch was interrupted and will be re-opened, for the `attempt`th time in a row, after `delay`.
    ///
    /// Call it before the wait. [`ReopenObserver::interrupted`](crate::reopen::ReopenObserver::interrupted) is called
    /// there. The time of an outage counts from its first fault, however many re-opens it takes.
    pub fn record_fault(&self, watch: &str, fault: impl Display, attempt: NonZeroU32, delay: Duration) {
        let fault = fault.to_string();
        self.enter(watch, |_| Some(WatchState::Interrupted { fault, attempt, delay }));
    }

    /// The watch read an item. Clears an interruption; a terminal fault stays, because the watch it ended cannot read.
    pub fn record_reading(&self, watch: &str) {
        self.enter(watch, |now| (!now.is_over()).then_some(WatchState::Reading));
    }

    /// The watch is over, on a fault that it does not re-open after. `why` says which rule ended it.
    pub fn record_terminal(&self, watch: &str, fault: impl Display, why: impl Display) {
        let (fault, why) = (fault.to_string(), why.to_string());
        self.enter(watch, |_| Some(WatchState::Terminal { fault, why }));
    }

    /// The watch is over, and no fault said so: its source completed.
    pub fn record_ended(&self, watch: &str) {
        self.enter(watch, |now| (!now.is_over()).then_some(WatchState::Ended));
    }

    /// The watch is over because its holder let go of it: a task that panicked, was aborted, or left its loop.
    pub fn record_dropped(&self, watch: &str) {
        self.enter(watch, |now| (!now.is_over()).then_some(WatchState::Dropped));
    }

    /// What an observer does when it is dropped. An end that was recorded before stays.
    fn let_go(&self, watch: &str, quietly: bool) {
        if quietly {
            let mut entries = self.entries();
            if entries.get(watch).is_some_and(|entry| !entry.state.is_over()) {
                entries.remove(watch);
            }
        } else {
            self.record_dropped(watch);
        }
    }

    /// Takes a watch out of the book: it was stopped on purpose and is not to be watched any more.
    pub fn forget(&self, watch: &str) {
        self.entries().remove(watch);
    }

    /// The gate of the work that must be done before this process is ready. It starts out as not asked for.
    pub fn bake(&self) -> &BakeGate {
        &self.inner.bake
    }

    /// Everything recorded, as of now.
    pub fn report(&self) -> Health {
        let now = (self.inner.clock)();
        let watches = self
            .entries()
            .iter()
            .map(|(watch, entry)| WatchHealth {
                watch: Arc::clone(watch),
                state: entry.state.clone(),
                held: now.saturating_duration_since(entry.since),
                outages: entry.outages,
            })
            .collect();
        Health { watches, bake: self.inner.bake.report() }
    }

    fn enter(&self, watch: &str, next: impl FnOnce(&WatchState) -> Option<WatchState>) {
        let now = (self.inner.clock)();
        let mut entries = self.entries();
        if !entries.contains_key(watch) {
            entries.insert(Arc::from(watch), Entry { state: WatchState::Opening, since: now, outages: 0 });
        }
        let Some(entry) = entries.get_mut(watch) else { return };
        let Some(state) = next(&entry.state) else { return };
        let interrupts = matches!(state, WatchState::Interrupted { .. });
        let was_interrupted = matches!(entry.state, WatchState::Interrupted { .. });
        entry.outages += u64::from(interrupts && !was_interrupted);
        if std::mem::discriminant(&entry.state) != std::mem::discriminant(&state) {
            entry.since = now;
        }
        entry.state = state;
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Entry>> {
        self.inner.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for HealthBook {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for HealthBook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HealthBook").field(&self.report()).finish()
    }
}

/// A fault and what it wraps, outermost first, in one line: `query failed: i/o error: connection reset by peer`.
///
/// A cause that its wrapper already quotes is not said twice, and the walk stops after 32 causes.
#[must_use]
pub fn fault_line(fault: &(dyn Error + 'static)) -> String {
    let mut line = fault.to_string();
    let mut cause = fault.source();
    for _ in 0..32 {
        let Some(inner) = cause else { break };
        let said = inner.to_string();
        if !line.ends_with(&said) {
            // Writing to a `String` cannot fail.
            let _ = write!(line, ": {said}");
        }
        cause = inner.source();
    }
    line
}

#[cfg(test)]
mod tests;
