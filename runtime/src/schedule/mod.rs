//! The seam for the timer: who waits, and on which clock.
//!
//! A re-open waits through a [`Schedule`], never on the wall clock directly. In production that is `TokioSchedule`; a test
//! uses [`ManualSchedule`] and moves the time itself.
//!
//! ```
//! use std::{num::NonZeroU32, time::Duration};
//! use rideout::schedule::{ManualSchedule, Schedule};
//!
//! let clock = ManualSchedule::new();
//! let wait = clock.clone().after(NonZeroU32::MIN, Duration::from_secs(2));
//! assert_eq!(clock.pending(), [(NonZeroU32::MIN, Duration::from_secs(2))]);
//! clock.advance(Duration::from_secs(2));
//! futures_executor::block_on(wait);
//! ```

use std::{future::Future, num::NonZeroU32, pin::Pin, time::Duration};

mod manual;
#[cfg(feature = "tokio")]
mod tokio;

pub use manual::{ManualSchedule, ManualWait};

#[cfg(feature = "tokio")]
pub use self::tokio::TokioSchedule;

/// Makes the wait before a re-open.
///
/// An implementation replaces the timer wholesale: it may wait for an event instead of a delay.
pub trait Schedule: Send {
    /// What is awaited before the re-open.
    ///
    /// # Cancel safety
    ///
    /// Dropping it before it is ready must give up the wait and nothing else: a watch that is dropped while it waits drops this.
    type Wait: Future<Output = ()> + Send + 'static;

    /// The wait before re-open number `attempt` of an outage. It begins now: it is made when the fault lands, and polled at once.
    fn after(&mut self, attempt: NonZeroU32, delay: Duration) -> Self::Wait;

    /// A slice of the stall bound of a watch. A schedule that waits for something else than time must override it.
    fn silence(&mut self, slice: Duration) -> Self::Wait {
        self.after(NonZeroU32::MIN, slice)
    }
}

/// A wait whose type is forgotten.
pub(crate) type BoxWait = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A schedule whose type is forgotten.
pub(crate) trait AnySchedule: Send {
    fn boxed_after(&mut self, attempt: NonZeroU32, delay: Duration) -> BoxWait;
    fn boxed_silence(&mut self, slice: Duration) -> BoxWait;
}

impl<S: Schedule> AnySchedule for S {
    fn boxed_after(&mut self, attempt: NonZeroU32, delay: Duration) -> BoxWait {
        Box::pin(self.after(attempt, delay))
    }

    fn boxed_silence(&mut self, slice: Duration) -> BoxWait {
        Box::pin(self.silence(slice))
    }
}
