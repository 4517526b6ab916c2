//! A watch, seen as what happens to it.

use std::{
    fmt,
    num::NonZeroU32,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use futures_core::{FusedStream, Stream};
use pin_project_lite::pin_project;

use super::{Open, Opening, ReopenPolicy, Terminal, engine::Engine};

/// What happens to a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum WatchEvent<T, E> {
    /// The source is open. After an interruption this is the moment to fetch what was missed: from here on nothing is.
    Opened(Opening),
    /// An item of the source.
    Item(T),
    /// A transient fault: from here to the next [`Opened`](Self::Opened) the watch is blind.
    Interrupted {
        /// The fault, unchanged.
        fault: E,
        /// The number of the re-open that follows, counted in a row.
        attempt: NonZeroU32,
        /// The pause before it.
        delay: Duration,
    },
    /// The watch is over on a fault.
    Terminal {
        /// The last fault, unchanged.
        fault: E,
        /// Why it is the last.
        why: Terminal,
    },
    /// The source ended without a fault, and the watch with it.
    Ended,
}

pin_project! {
    /// The stream of [`watch_events`](super::watch_events).
    #[must_use = "streams do nothing unless polled"]
    pub struct WatchEvents<O, T, E>
    where
        O: Open<T, E>,
    {
        #[pin]
        engine: Engine<O, T, E>,
    }
}

impl<O, T, E> WatchEvents<O, T, E>
where
    O: Open<T, E>,
{
    pub(super) fn new(open: O, policy: ReopenPolicy<T, E>) -> Self {
        Self { engine: Engine::new(open, policy) }
    }
}

impl<O, T, E> Stream for WatchEvents<O, T, E>
where
    O: Open<T, E>,
{
    type Item = WatchEvent<T, E>;

    #[inline]
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.project().engine.poll_event(cx)
    }
}

impl<O, T, E> FusedStream for WatchEvents<O, T, E>
where
    O: Open<T, E>,
{
    fn is_terminated(&self) -> bool {
        self.engine.is_over()
    }
}

impl<O, T, E> fmt::Debug for WatchEvents<O, T, E>
where
    O: Open<T, E>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WatchEvents").field(&self.engine).finish()
    }
}
