//! What a watcher can be told.

use std::{fmt, sync::Arc, time::Duration};

use super::{Ending, WatcherFault};
use crate::{
    cadence::Cadence,
    classify::AnyFault,
    reopen::{Interruption, Jitter, ReopenObserver, ReopenPolicy},
    schedule::{Schedule, TokioSchedule},
};

pub(super) type Ends<E> = Arc<dyn Fn(&E) -> Option<Ending> + Send + Sync>;
pub(super) type OnFault<E> = Box<dyn FnMut(&WatcherFault<E>, Interruption) + Send>;
type OnEnd<E> = Box<dyn FnOnce(Ending, Option<&WatcherFault<E>>) + Send>;

/// How a watcher of items `T` and faults `E` is set up. Each method returns the changed options.
///
/// Without a change: 1, 2, 5, 15, 30, then every 60 s on tokio's clock, counted anew after every item; no fault ends it.
#[must_use]
pub struct HubWatcherOptions<T, E> {
    pub(super) policy: ReopenPolicy<T, WatcherFault<E>>,
    pub(super) ends: Ends<E>,
    pub(super) on_transient_fault: Option<OnFault<E>>,
    pub(super) on_end: Option<OnEnd<E>>,
}

impl<T, E: 'static> HubWatcherOptions<T, E> {
    /// The defaults.
    pub fn new() -> Self {
        let policy = ReopenPolicy::new(AnyFault, TokioSchedule)
            .max_consecutive(None)
            .cadence(Cadence::HUB_WATCHER)
            .end_is_fault(|| WatcherFault::SourceEnded);
        Self { policy, ends: Arc::new(|_| None), on_transient_fault: None, on_end: None }
    }

    /// Which faults end the watcher for good, and as what. The end of its host needs no mention.
    pub fn ends(mut self, ends: impl Fn(&E) -> Option<Ending> + Send + Sync + 'static) -> Self {
        self.ends = Arc::new(ends);
        self
    }

    /// Replaces the timer wholesale: the seam for a test, or for a host with a scheduler of its own.
    pub fn schedule(mut self, schedule: impl Schedule + 'static) -> Self {
        self.policy = self.policy.schedule(schedule);
        self
    }

    /// The pauses between re-opens. The outage is called sustained when they reach the last one.
    pub fn cadence(mut self, cadence: Cadence) -> Self {
        self.policy = self.policy.cadence(cadence);
        self
    }

    /// Spreads the pauses, inside the cap.
    pub fn jitter(mut self, jitter: Jitter) -> Self {
        self.policy = self.policy.jitter(jitter);
        self
    }

    /// Which items prove that the source reads again and restart the cadence. Every item does, unless said here.
    pub fn proves_life(mut self, proves_life: impl FnMut(&T) -> bool + Send + 'static) -> Self {
        self.policy = self.policy.proves_life(proves_life);
        self
    }

    /// Takes a source that is silent for longer than `bound` for a fault.
    pub fn stall_bound(mut self, bound: Duration) -> Self {
        self.policy = self.policy.stall_bound(bound, WatcherFault::Stalled);
        self
    }

    /// Runs after each fault that does not end the watcher, before the wait: the place to release what the faulted dispatch
    /// left taken.
    pub fn on_transient_fault(
        mut self,
        hook: impl FnMut(&WatcherFault<E>, Interruption) + Send + 'static,
    ) -> Self {
        self.on_transient_fault = Some(Box::new(hook));
        self
    }

    /// Runs once, when the watcher ends: with the fault that ended it, or without one if its host went away. The visible sink
    /// for poisoned content.
    pub fn on_end(mut self, sink: impl FnOnce(Ending, Option<&WatcherFault<E>>) + Send + 'static) -> Self {
        self.on_end = Some(Box::new(sink));
        self
    }

    /// Adds one who is told what happens to the watcher.
    pub fn observer(mut self, observer: impl ReopenObserver<WatcherFault<E>> + 'static) -> Self {
        self.policy = self.policy.observer(observer);
        self
    }
}

impl<T, E: 'static> Default for HubWatcherOptions<T, E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, E> fmt::Debug for HubWatcherOptions<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubWatcherOptions").field("policy", &self.policy).finish_non_exhaustive()
    }
}
