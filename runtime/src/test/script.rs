//! The one script for every watch.
//!
//! ```
//! use rideout::test::script::{ScriptFailure, standing_watch_reopens};
//!
//! // A watch that ends on its first fault.
//! let watch = async |source: rideout::test::ScriptedSource<u8, &'static str>, _| source.open().map(drop);
//! let outcome = futures_executor::block_on(standing_watch_reopens("reset", 7, watch, || false));
//! assert_eq!(outcome, Err(ScriptFailure::Died));
//! assert_eq!(ScriptFailure::Died.to_string(), "the watch ended on its first transient fault");
//! ```

use std::{
    error::Error,
    fmt,
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
    time::Duration,
};

use super::ScriptedSource;
use crate::schedule::ManualSchedule;

/// What a watch did wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScriptFailure {
    /// It never opened its source.
    NeverOpened,
    /// The first fault was its last: it returned.
    Died,
    /// It is still there, but waits for nothing and opens nothing: it will never read again.
    Parked,
    /// It opened its source again without a wait on the test's clock.
    NotPaced,
    /// It waited and did not open its source again.
    NotReopened,
    /// It reads, but the later emission was not processed.
    NotProcessed,
}

impl fmt::Display for ScriptFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NeverOpened => "the watch never opened its source",
            Self::Died => "the watch ended on its first transient fault",
            Self::Parked => "the watch neither waits nor reads after its first transient fault",
            Self::NotPaced => "the watch opened its source again without a wait on the test's clock",
            Self::NotReopened => "the watch did not open its source again after its wait",
            Self::NotProcessed => "the watch did not process an emission after it re-opened",
        })
    }
}

impl Error for ScriptFailure {}

/// Turns that a watch, its tasks and its executor get to settle between two steps of the script.
const TURNS: usize = 256;

/// The longest wait that the script grants before the re-open, on the test's clock.
const PATIENCE: Duration = Duration::from_secs(120);

/// Puts a watch through the script: the first open fails with `fault`, the watch survives, it re-opens on the test's clock,
/// and a later emission of `item` is processed.
///
/// `watch` gets the source to open and the clock to wait on and returns the running watch: its future, or the `JoinHandle` of
/// the task that it spawned. `processed` says whether the item had its effect.
///
/// The script waits on no clock of its own and needs no particular executor.
///
/// # Errors
///
/// The first thing that went wrong.
///
/// # Cancel safety
///
/// Dropping the future drops the watch.
pub async fn standing_watch_reopens<T, E, W>(
    fault: E,
    item: T,
    watch: impl FnOnce(ScriptedSource<T, E>, ManualSchedule) -> W,
    mut processed: impl FnMut() -> bool,
) -> Result<(), ScriptFailure>
where
    W: Future,
{
    let (source, clock) = (ScriptedSource::new().refuses(fault), ManualSchedule::new());
    let mut run = pin!(watch(source.clone(), clock.clone()));

    // First open: it fails.
    let mut died = !settle(&mut run, || source.openings() > 0).await;
    if source.openings() == 0 {
        return Err(ScriptFailure::NeverOpened);
    }
    // The watch survives and waits on the test's clock.
    died = died || !settle(&mut run, || !clock.pending().is_empty()).await;
    if source.openings() > 1 {
        return Err(ScriptFailure::NotPaced);
    }
    if died {
        return Err(ScriptFailure::Died);
    }
    if clock.pending().is_empty() {
        return Err(ScriptFailure::Parked);
    }
    // The re-open runs on the test's clock.
    let until = clock.now().saturating_add(PATIENCE);
    while source.current().is_none() && clock.now() < until && clock.fire() {
        if !settle(&mut run, || source.current().is_some()).await {
            return Err(ScriptFailure::Died);
        }
    }
    // A later emission is processed.
    if !source.emit(item) {
        return Err(ScriptFailure::NotReopened);
    }
    settle(&mut run, &mut processed).await;
    if processed() { Ok(()) } else { Err(ScriptFailure::NotProcessed) }
}

/// Gives the watch turns until `done` holds or it has settled. `false` if the watch ended.
async fn settle<W: Future>(run: &mut std::pin::Pin<&mut W>, mut done: impl FnMut() -> bool) -> bool {
    let mut turns = TURNS;
    poll_fn(|cx| {
        if run.as_mut().poll(cx).is_ready() {
            return Poll::Ready(false);
        }
        if done() || turns == 0 {
            return Poll::Ready(true);
        }
        turns -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, io, num::NonZeroU32};

    use futures_util::{FutureExt, StreamExt};

    use super::*;
    use crate::schedule::Schedule;

    fn reset() -> io::Error {
        io::ErrorKind::ConnectionReset.into()
    }

    fn script<W: Future>(
        watch: impl FnOnce(ScriptedSource<u8, io::Error>, ManualSchedule) -> W,
        processed: impl FnMut() -> bool,
    ) -> Result<(), ScriptFailure> {
        standing_watch_reopens(reset(), 7, watch, processed).now_or_never_after_turns()
    }

    /// Polls to the end: the script always wakes itself.
    trait Turns: Future + Sized {
        fn now_or_never_after_turns(self) -> Self::Output {
            let mut this = pin!(self);
            loop {
                if let Some(output) = this.as_mut().now_or_never() {
                    return output;
                }
            }
        }
    }

    impl<F: Future> Turns for F {}

    #[test]
    fn each_way_to_fail_has_its_name() {
        assert_eq!(script(|_, _| async {}, || false), Err(ScriptFailure::NeverOpened));
        let died = script(|source, _| async move { source.open().map(drop) }, || false);
        assert_eq!(died, Err(ScriptFailure::Died));
        let parked = script(
            |source, _| async move {
                let _ = source.open();
                std::future::pending::<()>().await;
            },
            || false,
        );
        assert_eq!(parked, Err(ScriptFailure::Parked));
        let unpaced = script(
            |source, _| async move {
                while source.open().is_err() {}
                std::future::pending::<()>().await;
            },
            || false,
        );
        assert_eq!(unpaced, Err(ScriptFailure::NotPaced));
    }

    #[test]
    fn a_watch_that_reopens_and_does_nothing_with_the_item_fails_at_the_end() {
        let watch = |reopens: bool| {
            move |source: ScriptedSource<u8, io::Error>, mut clock: ManualSchedule| async move {
                let _ = source.open();
                clock.after(NonZeroU32::MIN, Duration::from_secs(1)).await;
                let mut items = reopens.then(|| source.open().unwrap());
                while let Some(items) = &mut items {
                    items.next().await;
                }
                std::future::pending::<()>().await;
            }
        };
        assert_eq!(script(watch(false), || false), Err(ScriptFailure::NotReopened));
        assert_eq!(script(watch(true), || false), Err(ScriptFailure::NotProcessed));
        let asked = Cell::new(0);
        let late = || {
            asked.set(asked.get() + 1);
            asked.get() > 3
        };
        assert_eq!(script(watch(true), late), Ok(()));
    }
}
