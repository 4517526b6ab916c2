//! Probes: which instance an item came from, and what is still alive.
//!
//! ```
//! use futures_util::stream;
//! use rideout::test::InstanceProbe;
//!
//! let probe = InstanceProbe::new();
//! let upstream = probe.stamp(stream::empty::<()>());
//! assert_eq!((upstream.id(), probe.alive()), (1, 1));
//! drop(upstream);
//! assert_eq!(probe.alive(), 0);
//! ```

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use pin_project_lite::pin_project;

/// Stamps each upstream with a rising id, and each item with the id of the upstream that it came from.
///
/// The proof of a fresh upstream: an item that came after a fault must carry a higher id than any before it. A factory that
/// hands out one stream again and again stamps once.
///
/// ```
/// use futures_util::{StreamExt, stream};
/// use rideout::test::InstanceProbe;
///
/// let probe = InstanceProbe::new();
/// let (first, second) = (probe.stamp(stream::iter(["a"])), probe.stamp(stream::iter(["b"])));
/// let items = futures_executor::block_on(first.chain(second).collect::<Vec<_>>());
/// assert_eq!(items, [(1, "a"), (2, "b")]);
/// assert_eq!(probe.instances(), 2);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct InstanceProbe {
    stamped: Arc<AtomicU64>,
    alive: DropProbe,
}

impl InstanceProbe {
    /// A probe that has stamped nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stamps an upstream with the next id.
    pub fn stamp<S>(&self, upstream: S) -> Stamped<S> {
        let id = self.stamped.fetch_add(1, Ordering::Relaxed) + 1;
        Stamped { upstream, id, _alive: self.alive.hold() }
    }

    /// How many upstreams were stamped.
    #[must_use]
    pub fn instances(&self) -> u64 {
        self.stamped.load(Ordering::Relaxed)
    }

    /// How many stamped upstreams are alive.
    #[must_use]
    pub fn alive(&self) -> u64 {
        self.alive.alive()
    }
}

pin_project! {
    /// An upstream with its stamp. Its items are pairs of the stamp and the item.
    #[derive(Debug)]
    #[must_use = "streams do nothing unless polled"]
    pub struct Stamped<S> {
        #[pin]
        upstream: S,
        id: u64,
        _alive: Held,
    }
}

impl<S> Stamped<S> {
    /// The stamp.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }
}

impl<S: Stream> Stream for Stamped<S> {
    type Item = (u64, S::Item);

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        let item = ready!(this.upstream.poll_next(cx));
        Poll::Ready(item.map(|item| (*this.id, item)))
    }
}

/// Counts what is alive: put a [`Held`] into a stream, a future or a connection, and ask.
///
/// ```
/// use rideout::test::DropProbe;
///
/// let probe = DropProbe::new();
/// let connection = probe.hold();
/// assert_eq!((probe.alive(), probe.made()), (1, 1));
/// drop(connection);
/// assert_eq!((probe.alive(), probe.made()), (0, 1));
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct DropProbe(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    alive: AtomicU64,
    made: AtomicU64,
    most: AtomicU64,
}

impl DropProbe {
    /// A probe that holds nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Something that is alive until it is dropped.
    pub fn hold(&self) -> Held {
        self.0.made.fetch_add(1, Ordering::Relaxed);
        let alive = self.0.alive.fetch_add(1, Ordering::Relaxed) + 1;
        self.0.most.fetch_max(alive, Ordering::Relaxed);
        Held(Arc::clone(&self.0))
    }

    /// How many are alive.
    #[must_use]
    pub fn alive(&self) -> u64 {
        self.0.alive.load(Ordering::Relaxed)
    }

    /// How many were ever made.
    #[must_use]
    pub fn made(&self) -> u64 {
        self.0.made.load(Ordering::Relaxed)
    }

    /// The most that were ever alive together: 1 if each upstream was dropped before the next one was opened.
    #[must_use]
    pub fn most_alive(&self) -> u64 {
        self.0.most.load(Ordering::Relaxed)
    }
}

/// Alive until it is dropped. Made by [`DropProbe::hold`].
#[derive(Debug)]
#[must_use]
pub struct Held(Arc<Counts>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.alive.fetch_sub(1, Ordering::Relaxed);
    }
}
