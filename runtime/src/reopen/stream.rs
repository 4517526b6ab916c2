//! A watch, seen as the items of its source.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::{FusedStream, Stream};
use pin_project_lite::pin_project;

use super::{Open, ReopenPolicy, WatchEvent, engine::Engine};

pin_project! {
    /// The stream of [`reopen_on_transient_fault`](super::reopen_on_transient_fault).
    #[must_use = "streams do nothing unless polled"]
    pub struct Reopen<O, T, E>
    where
        O: Open<T, E>,
    {
        #[pin]
        engine: Engine<O, T, E>,
    }
}

impl<O, T, E> Reopen<O, T, E>
where
    O: Open<T, E>,
{
    pub(super) fn new(open: O, policy: ReopenPolicy<T, E>) -> Self {
        Self { engine: Engine::new(open, policy) }
    }
}

impl<O, T, E> Stream for Reopen<O, T, E>
where
    O: Open<T, E>,
{
    type Item = Result<T, E>;

    #[inline]
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut engine = self.project().engine;
        loop {
            match ready!(engine.as_mut().poll_event(cx)) {
                Some(WatchEvent::Item(item)) => return Poll::Ready(Some(Ok(item))),
                Some(WatchEvent::Terminal { fault, .. }) => return Poll::Ready(Some(Err(fault))),
                Some(WatchEvent::Ended) | None => return Poll::Ready(None),
                Some(WatchEvent::Opened(_) | WatchEvent::Interrupted { .. }) => {}
            }
        }
    }
}

impl<O, T, E> FusedStream for Reopen<O, T, E>
where
    O: Open<T, E>,
{
    fn is_terminated(&self) -> bool {
        self.engine.is_over()
    }
}

impl<O, T, E> fmt::Debug for Reopen<O, T, E>
where
    O: Open<T, E>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reopen").field(&self.engine).finish()
    }
}
