//! Retrying a connect, and nothing after it.
//!
//! A provider of a merge may be retried as long as it has emitted nothing. After its first emission it must not be: a second
//! beginning would enter a merge that has closed its accounts. So this is a retry for one part of a larger read, and no
//! standing watch.
//!
//! ```
//! use std::io;
//! use futures_util::stream;
//! use rideout::{before_first::{ConnectRetry, retry_before_first}, classify::Infrastructure, schedule::ManualSchedule};
//!
//! let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
//! let mut opened = 0;
//! let rows = retry_before_first(
//!     |_| {
//!         opened += 1;
//!         stream::iter(if opened < 3 { vec![Err(refused())] } else { vec![Ok("row"), Err(refused())] })
//!     },
//!     ConnectRetry::new(Infrastructure, ManualSchedule::firing()),
//! );
//! let told: Vec<_> = futures_executor::block_on_stream(Box::pin(rows)).map(|row| row.ok()).collect();
//! assert_eq!(told, [Some("row"), None], "after the first row the fault is the caller's");
//! assert_eq!(opened, 3);
//! ```

use std::{
    fmt,
    future::Future,
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_core::Stream;

use crate::{
    cadence::Cadence,
    classify::{Classify, Verdict},
    reopen::{
        OpenAsync, OpenStream, Opening, Reopen, ReopenPolicy, reopen_on_transient_fault,
        reopen_on_transient_fault_async,
    },
    schedule::{AnySchedule, BoxWait, Schedule},
};

/// How often a connect is tried again, and on which faults.
///
/// Without a change: 3 retries, after 250, 500 and 1,000 ms: short enough to stay inside the bound of whoever waits for the read.
#[must_use]
pub struct ConnectRetry<E> {
    retries: u32,
    cadence: Cadence,
    classify: Box<dyn Classify<E> + Send>,
    schedule: Box<dyn AnySchedule>,
}

impl<E> ConnectRetry<E> {
    /// Retries what `classify` calls transient, and waits on `schedule`.
    pub fn new(classify: impl Classify<E> + Send + 'static, schedule: impl Schedule + 'static) -> Self {
        const CADENCE: Cadence = Cadence::steps(
            Duration::from_millis(250),
            &[Duration::from_millis(500), Duration::from_millis(1000)],
        );
        Self { retries: 3, cadence: CADENCE, classify: Box::new(classify), schedule: Box::new(schedule) }
    }

    /// How many retries there are.
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// The pauses before them.
    pub fn cadence(mut self, cadence: Cadence) -> Self {
        self.cadence = cadence;
        self
    }

    fn policy<T>(self) -> ReopenPolicy<T, E>
    where
        E: 'static,
    {
        // Of the whole subscription, not of an attempt: once it has emitted, nothing is retried.
        let emitted = Arc::new(AtomicBool::new(false));
        let (first, classify) = (Arc::clone(&emitted), self.classify);
        let before_first = move |fault: &E| match emitted.load(Ordering::Relaxed) {
            true => Verdict::Terminal,
            false => classify.classify(fault),
        };
        ReopenPolicy::new(before_first, Boxed(self.schedule))
            .max_consecutive(self.retries)
            .cadence(self.cadence)
            .proves_life(move |_| {
                first.store(true, Ordering::Relaxed);
                true
            })
    }
}

impl<E> fmt::Debug for ConnectRetry<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectRetry")
            .field("retries", &self.retries)
            .field("cadence", &self.cadence)
            .finish_non_exhaustive()
    }
}

struct Boxed(Box<dyn AnySchedule>);

impl Schedule for Boxed {
    type Wait = BoxWait;

    fn after(&mut self, attempt: NonZeroU32, delay: Duration) -> BoxWait {
        self.0.boxed_after(attempt, delay)
    }
}

/// The stream that `open` makes, opened again after a transient fault that comes before its first item.
///
/// # Errors
///
/// The first fault after an item, a terminal one, or the last one of spent retries; unchanged, once, and as the last item.
///
/// # Cancel safety
///
/// Dropping the stream drops the upstream, or the wait for the next one.
pub fn retry_before_first<F, S, T, E>(open: F, retry: ConnectRetry<E>) -> Reopen<OpenStream<F>, T, E>
where
    F: FnMut(Opening) -> S,
    S: Stream<Item = Result<T, E>>,
    E: 'static,
{
    reopen_on_transient_fault(open, retry.policy())
}

/// [`retry_before_first`] for a source that is connected before it is read.
///
/// # Errors
///
/// As [`retry_before_first`].
///
/// # Cancel safety
///
/// As [`retry_before_first`].
pub fn retry_before_first_async<F, Fut, S, T, E>(
    open: F,
    retry: ConnectRetry<E>,
) -> Reopen<OpenAsync<F>, T, E>
where
    F: FnMut(Opening) -> Fut,
    Fut: Future<Output = Result<S, E>>,
    S: Stream<Item = Result<T, E>>,
    E: 'static,
{
    reopen_on_transient_fault_async(open, retry.policy())
}

#[cfg(all(test, feature = "test"))]
mod tests {
    use std::io;

    use futures_util::StreamExt;

    use super::*;
    use crate::{classify::Infrastructure, schedule::ManualSchedule, test::ScriptedSource};

    fn reset() -> io::Error {
        io::ErrorKind::ConnectionReset.into()
    }

    fn read(source: &ScriptedSource<u8, io::Error>) -> (Vec<Option<u8>>, Vec<u128>) {
        let clock = ManualSchedule::new();
        let retry = ConnectRetry::new(Infrastructure, clock.clone());
        let mut stream = Box::pin(retry_before_first_async(async |_| source.open(), retry));
        let mut told = Vec::new();
        loop {
            match futures_util::FutureExt::now_or_never(stream.next()) {
                Some(Some(item)) => told.push(item.ok()),
                Some(None) => break,
                None if clock.fire() => {}
                None => break,
            }
        }
        (told, clock.asked().iter().map(|(_, delay)| delay.as_millis()).collect())
    }

    #[test]
    fn three_retries_then_the_fault() {
        let source = (0..9).fold(ScriptedSource::new(), |source, _| source.refuses(reset()));
        assert_eq!(read(&source), (vec![None], vec![250, 500, 1000]));
        assert_eq!(source.openings(), 4);
    }

    #[test]
    fn never_after_the_first_emission() {
        let source = ScriptedSource::new().refuses(reset()).opens([Ok(1), Err(reset())]).opens([Ok(2)]);
        assert_eq!(read(&source), (vec![Some(1), None], vec![250]));
        assert_eq!(source.openings(), 2);
    }

    #[test]
    fn a_terminal_fault_is_not_retried() {
        let source = ScriptedSource::new().refuses(io::ErrorKind::InvalidData.into());
        assert_eq!(read(&source), (vec![None], vec![]));
    }
}
