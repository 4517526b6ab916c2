//! A clock that moves only when a test says so.

use std::{
    fmt,
    future::Future,
    num::NonZeroU32,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use super::Schedule;

/// A hand-driven clock. Clones share one clock: give one to the watch and keep one.
#[derive(Clone)]
#[must_use]
pub struct ManualSchedule(Arc<Mutex<Clock>>);

struct Clock {
    now: Duration,
    fires_at_once: bool,
    next_id: u64,
    waits: Vec<Entry>,
    asked: Vec<(NonZeroU32, Duration)>,
    keeps_history: bool,
}

struct Entry {
    id: u64,
    /// `None` for a slice of a stall bound.
    attempt: Option<NonZeroU32>,
    delay: Duration,
    due: Duration,
    waker: Option<Waker>,
}

impl ManualSchedule {
    /// A clock that stands still until [`advance`](Self::advance) or [`fire`](Self::fire).
    pub fn new() -> Self {
        Self::with(false, true)
    }

    /// A clock that jumps to the end of every wait: each wait is over at once, and [`now`](Self::now) tells the time that would
    /// have passed. It keeps no history, so that it allocates nothing itself.
    pub fn firing() -> Self {
        Self::with(true, false)
    }

    fn with(fires_at_once: bool, keeps_history: bool) -> Self {
        let (waits, asked) = (Vec::new(), Vec::new());
        Self(Arc::new(Mutex::new(Clock {
            now: Duration::ZERO,
            fires_at_once,
            next_id: 0,
            waits,
            asked,
            keeps_history,
        })))
    }

    /// The time on this clock since it was made.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.clock().now
    }

    /// The waits for a re-open that are not over, in the order in which they were asked for.
    #[must_use]
    pub fn pending(&self) -> Vec<(NonZeroU32, Duration)> {
        self.clock().waits.iter().filter_map(|wait| Some((wait.attempt?, wait.delay))).collect()
    }

    /// Every wait for a re-open that was ever asked for, over or not. Empty for a [`firing`](Self::firing) clock.
    #[must_use]
    pub fn asked(&self) -> Vec<(NonZeroU32, Duration)> {
        self.clock().asked.clone()
    }

    /// Moves the clock on and ends every wait that falls due.
    pub fn advance(&self, by: Duration) {
        let mut clock = self.clock();
        clock.now = clock.now.saturating_add(by);
        let now = clock.now;
        let due = take(&mut clock.waits, |wait| wait.due <= now);
        drop(clock);
        wake(due);
    }

    /// Moves the clock to the end of the wait that falls due first and ends it. `false` if nothing waits.
    pub fn fire(&self) -> bool {
        let mut clock = self.clock();
        let Some(due) = clock.waits.iter().map(|wait| wait.due).min() else { return false };
        clock.now = clock.now.max(due);
        let due = take(&mut clock.waits, |wait| wait.due <= due);
        drop(clock);
        wake(due);
        true
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        // A panic in a test's waker leaves the clock as it was: the lock guards plain data.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn take(waits: &mut Vec<Entry>, mut due: impl FnMut(&Entry) -> bool) -> Vec<Entry> {
    let (over, left) = std::mem::take(waits).into_iter().partition(|wait| due(wait));
    *waits = left;
    over
}

fn wake(over: Vec<Entry>) {
    for waker in over.into_iter().filter_map(|wait| wait.waker) {
        waker.wake();
    }
}

impl Default for ManualSchedule {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ManualSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clock = self.clock();
        f.debug_struct("ManualSchedule")
            .field("now", &clock.now)
            .field("waits", &clock.waits.len())
            .finish_non_exhaustive()
    }
}

impl Schedule for ManualSchedule {
    type Wait = ManualWait;

    fn after(&mut self, attempt: NonZeroU32, delay: Duration) -> ManualWait {
        self.wait(Some(attempt), delay)
    }

    /// A firing clock does not jump over a stall bound: silence is what the test is silent about.
    fn silence(&mut self, slice: Duration) -> ManualWait {
        self.wait(None, slice)
    }
}

impl ManualSchedule {
    fn wait(&self, attempt: Option<NonZeroU32>, delay: Duration) -> ManualWait {
        let mut clock = self.clock();
        clock.next_id += 1;
        let id = clock.next_id;
        let due = clock.now.saturating_add(delay);
        if let Some(attempt) = attempt.filter(|_| clock.keeps_history) {
            clock.asked.push((attempt, delay));
        }
        if clock.fires_at_once && attempt.is_some() {
            clock.now = due;
        } else {
            clock.waits.push(Entry { id, attempt, delay, due, waker: None });
        }
        drop(clock);
        ManualWait { clock: self.clone(), id }
    }
}

/// A wait on a [`ManualSchedule`]. Dropping it takes it off the clock.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct ManualWait {
    clock: ManualSchedule,
    id: u64,
}

impl Future for ManualWait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut clock = self.clock.clock();
        match clock.waits.iter_mut().find(|wait| wait.id == self.id) {
            Some(wait) => {
                wait.waker = Some(cx.waker().clone());
                Poll::Pending
            }
            None => Poll::Ready(()),
        }
    }
}

impl Drop for ManualWait {
    fn drop(&mut self) {
        self.clock.clock().waits.retain(|wait| wait.id != self.id);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const ONE: NonZeroU32 = NonZeroU32::MIN;

    #[test]
    fn a_wait_ends_when_its_time_has_come_and_not_before() {
        let clock = ManualSchedule::new();
        let mut wait = clock.clone().after(ONE, Duration::from_secs(2));
        clock.advance(Duration::from_millis(1999));
        assert_eq!((&mut wait).now_or_never(), None);
        clock.advance(Duration::from_millis(1));
        assert_eq!(wait.now_or_never(), Some(()));
        assert_eq!(clock.asked(), [(ONE, Duration::from_secs(2))]);
    }

    #[test]
    fn fire_ends_the_nearest_wait_only() {
        let clock = ManualSchedule::new();
        let (far, near) = (
            clock.clone().after(ONE, Duration::from_secs(9)),
            clock.clone().after(ONE, Duration::from_secs(3)),
        );
        assert!(clock.fire());
        assert_eq!(clock.now(), Duration::from_secs(3));
        assert_eq!((far.now_or_never(), near.now_or_never()), (None, Some(())));
        assert!(!clock.fire(), "the dropped wait is off the clock");
    }

    #[test]
    fn a_firing_clock_tells_the_time_that_would_have_passed() {
        let clock = ManualSchedule::firing();
        let wait = clock.clone().after(ONE, Duration::from_secs(5));
        assert_eq!(wait.now_or_never(), Some(()));
        assert_eq!(clock.now(), Duration::from_secs(5));
    }
}
