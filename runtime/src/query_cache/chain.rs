//! One shared chain: its newest reading, its end, and the readers that follow it.

use std::{
    error::Error,
    fmt::{self, Display},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::Stream;
use futures_util::{StreamExt, stream};
use tokio::sync::watch;

/// Why a [`CachedQuery`] ended. The same fault goes to every reader, so it is shared.
pub enum QueryFault<E> {
    /// The query faulted. The fault is also the `source`, so that a classifier finds it under its own type.
    Upstream(Arc<E>),
    /// The query's task is gone without an end: it panicked, its runtime shut down, or there was none.
    Lost,
}

impl<E> Clone for QueryFault<E> {
    fn clone(&self) -> Self {
        match self {
            Self::Upstream(fault) => Self::Upstream(Arc::clone(fault)),
            Self::Lost => Self::Lost,
        }
    }
}

impl<E: fmt::Debug> fmt::Debug for QueryFault<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Upstream(fault) => f.debug_tuple("Upstream").field(fault).finish(),
            Self::Lost => f.write_str("Lost"),
        }
    }
}

impl<E: Display> Display for QueryFault<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Upstream(fault) => fault.fmt(f),
            Self::Lost => f.write_str("the task that kept a cached query in step is gone"),
        }
    }
}

impl<E: Error + 'static> Error for QueryFault<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Upstream(fault) => Some(&**fault),
            Self::Lost => None,
        }
    }
}

struct State<T, E> {
    reading: Option<Arc<T>>,
    /// How many readings there were, so that a reader knows if it has seen the newest one.
    revision: u64,
    end: Option<End<E>>,
}

enum End<E> {
    Completed,
    Faulted(QueryFault<E>),
}

/// Shared by the cache's entry and the driver; the readers hold only the receiving side.
pub(super) struct Chain<T, E> {
    state: watch::Sender<State<T, E>>,
}

impl<T, E> Chain<T, E> {
    pub(super) fn new() -> Self {
        Self { state: watch::Sender::new(State { reading: None, revision: 0, end: None }) }
    }

    pub(super) fn is_read(&self) -> bool {
        self.state.receiver_count() > 0
    }

    /// Until no reader is left.
    pub(super) async fn unread(&self) {
        self.state.closed().await;
    }

    pub(super) fn read(&self, reading: T) {
        let reading = Arc::new(reading);
        let mut before = None;
        self.state.send_modify(|state| {
            before = state.reading.replace(reading);
            state.revision += 1;
        });
        // Dropped here and not under the lock: the reading is the caller's type.
        drop(before);
    }

    pub(super) fn complete(&self) {
        self.end(End::Completed);
    }

    pub(super) fn fault(&self, fault: QueryFault<E>) {
        self.end(End::Faulted(fault));
    }

    fn end(&self, end: End<E>) {
        self.state.send_modify(|state| state.end = Some(end));
    }
}

impl<T, E> Chain<T, E>
where
    T: Send + Sync + 'static,
    E: Send + Sync + 'static,
{
    pub(super) fn reader(&self) -> CachedQuery<T, E> {
        let reader = Reader { state: self.state.subscribe(), seen: 0, over: false };
        CachedQuery { items: Box::pin(stream::unfold(reader, Reader::next).fuse()) }
    }
}

struct Reader<T, E> {
    state: watch::Receiver<State<T, E>>,
    seen: u64,
    over: bool,
}

type Item<T, E> = Result<Arc<T>, QueryFault<E>>;

impl<T, E> Reader<T, E> {
    async fn next(mut self) -> Option<(Item<T, E>, Self)> {
        if self.over {
            return None;
        }
        loop {
            let news = self.news();
            if let Some(news) = news {
                return news.map(|item| (item, self));
            }
            if self.state.changed().await.is_err() {
                self.over = true;
                return Some((Err(QueryFault::Lost), self));
            }
        }
    }

    /// The newest reading if it is unseen, else the end if there is one: `Some(None)` when the stream is over.
    fn news(&mut self) -> Option<Option<Item<T, E>>> {
        let state = self.state.borrow_and_update();
        if state.revision > self.seen {
            self.seen = state.revision;
            return state.reading.as_ref().map(|reading| Some(Ok(Arc::clone(reading))));
        }
        let end = state.end.as_ref()?;
        self.over = true;
        Some(match end {
            End::Completed => None,
            End::Faulted(fault) => Some(Err(fault.clone())),
        })
    }
}

/// One reader of a chain of a [`QueryCache`](super::QueryCache): the newest reading, then each change.
///
/// Its last item is a fault, unless the query completed.
///
/// # Cancel safety
///
/// `next()` is cancel safe. Dropping the reader leaves the chain to its other readers.
#[must_use = "streams do nothing unless polled"]
pub struct CachedQuery<T, E> {
    items: Pin<Box<dyn Stream<Item = Item<T, E>> + Send>>,
}

impl<T, E> Stream for CachedQuery<T, E> {
    type Item = Result<Arc<T>, QueryFault<E>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.items.as_mut().poll_next(cx)
    }
}

impl<T, E> fmt::Debug for CachedQuery<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedQuery").finish_non_exhaustive()
    }
}
