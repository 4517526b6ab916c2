//! What a watch does about its faults.

use std::{fmt, num::NonZeroU32, time::Duration};

use super::{Jitter, ReopenObserver, Stalled};
use crate::{
    cadence::Cadence,
    classify::Classify,
    schedule::{AnySchedule, Schedule},
};

/// What a watch of items `T` and faults `E` does about its faults. Each method returns the changed policy.
///
/// Without a change: 5 re-opens in a row after 2, 5, 15, 30 and 60 s, counted anew after every item; the end of the source
/// is the end of the watch; no jitter; no stall bound.
#[must_use]
pub struct ReopenPolicy<T, E> {
    pub(super) max_consecutive: Option<u32>,
    pub(super) cadence: Cadence,
    pub(super) jitter: Option<Jitter>,
    pub(super) classify: Box<dyn Classify<E> + Send>,
    pub(super) proves_life: Option<Test<T>>,
    pub(super) end_is_fault: Option<Box<dyn FnMut() -> E + Send>>,
    pub(super) stall: Option<Stall<E>>,
    pub(super) observers: Vec<Box<dyn ReopenObserver<E>>>,
    pub(super) schedule: Box<dyn AnySchedule>,
}

type Test<T> = Box<dyn FnMut(&T) -> bool + Send>;

pub(super) struct Stall<E> {
    pub(super) bound: Duration,
    pub(super) fault: Box<dyn FnMut(Stalled) -> E + Send>,
}

impl<T, E> ReopenPolicy<T, E> {
    /// Re-opens on what `classify` calls transient, and waits on `schedule`.
    pub fn new(classify: impl Classify<E> + Send + 'static, schedule: impl Schedule + 'static) -> Self {
        Self {
            // Measured practice: with the cadence below, a database that stays down is reported after about two minutes.
            max_consecutive: Some(5),
            cadence: Cadence::STANDING_WATCH,
            jitter: None,
            classify: Box::new(classify),
            proves_life: None,
            end_is_fault: None,
            stall: None,
            observers: Vec::new(),
            schedule: Box::new(schedule),
        }
    }

    /// Re-opens on [`Infrastructure`](crate::classify::Infrastructure) faults, on tokio's clock.
    ///
    /// A watch whose faults are boxed (`Box<dyn Error + Send + Sync>`, `anyhow::Error`) starts from [`ReopenPolicy::new`] with
    /// `Infrastructure.erased()`, of [`Compose`](crate::classify::Compose).
    #[cfg(feature = "tokio")]
    pub fn standing_watch() -> Self
    where
        E: std::error::Error + 'static,
    {
        Self::new(crate::classify::Infrastructure, crate::schedule::TokioSchedule)
    }

    /// How many re-opens in a row may fail before the last fault surfaces; `None` never gives up.
    pub fn max_consecutive(mut self, reopens: impl Into<Option<u32>>) -> Self {
        self.max_consecutive = reopens.into();
        self
    }

    /// The pauses between re-opens.
    pub fn cadence(mut self, cadence: Cadence) -> Self {
        self.cadence = cadence;
        self
    }

    /// Spreads the pauses, inside the cap of the cadence.
    pub fn jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = Some(jitter);
        self
    }

    /// Which faults are transient.
    pub fn classify(mut self, classify: impl Classify<E> + Send + 'static) -> Self {
        self.classify = Box::new(classify);
        self
    }

    /// Which items prove that the watch reads again. Every item does, unless said here.
    ///
    /// A source that sends a greeting before each failure would otherwise reset the count of re-opens for ever.
    pub fn proves_life(mut self, proves_life: impl FnMut(&T) -> bool + Send + 'static) -> Self {
        self.proves_life = Some(Box::new(proves_life));
        self
    }

    /// Takes the end of the source for a transient fault: many a source tells a lost connection by ending.
    pub fn end_is_fault(mut self, fault: impl FnMut() -> E + Send + 'static) -> Self {
        self.end_is_fault = Some(Box::new(fault));
        self
    }

    /// Takes a source that is silent for longer than `bound`, while it opens or while it is read, for a transient fault.
    ///
    /// Any item counts as a sign, a heartbeat too. No clock is read per item: a stall is found within 1 to 1.25 times the bound.
    pub fn stall_bound(mut self, bound: Duration, fault: impl FnMut(Stalled) -> E + Send + 'static) -> Self {
        self.stall = Some(Stall { bound, fault: Box::new(fault) });
        self
    }

    /// Adds one who is told. Observers are told in the order in which they were added.
    pub fn observer(mut self, observer: impl ReopenObserver<E> + 'static) -> Self {
        self.observers.push(Box::new(observer));
        self
    }

    /// Waits on this schedule.
    pub fn schedule(mut self, schedule: impl Schedule + 'static) -> Self {
        self.schedule = Box::new(schedule);
        self
    }

    /// The pause before re-open `attempt`.
    pub(super) fn delay(&mut self, attempt: NonZeroU32) -> Duration {
        let (delay, cap) = (self.cadence.delay(attempt), self.cadence.cap());
        self.jitter.as_mut().map_or(delay, |jitter| jitter.spread(delay, cap))
    }
}

impl<T, E> fmt::Debug for ReopenPolicy<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReopenPolicy")
            .field("max_consecutive", &self.max_consecutive)
            .field("cadence", &self.cadence)
            .field("jitter", &self.jitter)
            .field("proves_life", &self.proves_life.is_some())
            .field("end_is_fault", &self.end_is_fault.is_some())
            .field("stall_bound", &self.stall.as_ref().map(|stall| stall.bound))
            .field("observers", &self.observers.len())
            .finish_non_exhaustive()
    }
}
