//! The task that polls one chain's upstream, and takes the chain out of the cache when it must not be handed out again.

use std::{
    hash::Hash,
    pin::pin,
    sync::{Arc, Weak},
    time::Duration,
};

use futures_core::Stream;
use futures_util::StreamExt;
use tokio::runtime::Handle;

use super::{
    Shared,
    chain::{Chain, QueryFault},
};

/// What drives one chain. The cache goes before the driver does if nobody holds it any more.
pub(super) struct Driver<K: Eq + Hash, T, E> {
    pub(super) cache: Weak<Shared<K, T, E>>,
    /// How long the chain stays open while nobody reads it.
    pub(super) linger: Duration,
    pub(super) key: K,
    pub(super) chain: Arc<Chain<T, E>>,
}

pub(super) fn spawn<K, T, E, S, F>(driver: Driver<K, T, E>, open: F)
where
    K: Eq + Hash + Send + Sync + 'static,
    T: Send + Sync + 'static,
    E: Send + Sync + 'static,
    F: FnOnce() -> S + Send + 'static,
    S: Stream<Item = Result<T, E>> + Send + 'static,
{
    // Nobody awaits the task: its end reaches the readers through the chain, a panic because the chain goes with the driver.
    // So it does where there is no runtime to run it.
    if let Ok(runtime) = Handle::try_current() {
        drop(runtime.spawn(async move { driver.run(open).await }));
    }
}

impl<K: Eq + Hash, T, E> Driver<K, T, E> {
    async fn run<S: Stream<Item = Result<T, E>>>(self, open: impl FnOnce() -> S) {
        let mut upstream = pin!(open());
        let mut cached = true;
        let mut idle = pin!(self.idle(cached));
        loop {
            let next = tokio::select! {
                biased;
                next = upstream.next() => next,
                () = &mut idle => {
                    if self.close_if_unread() {
                        return;
                    }
                    idle.set(self.idle(cached));
                    continue;
                }
            };
            match next {
                Some(Ok(reading)) => {
                    if cached && !self.keeps(&reading) {
                        self.evict();
                        cached = false;
                        // From here on nobody can join, so there is nothing to linger for.
                        idle.set(self.idle(cached));
                    }
                    self.chain.read(reading);
                }
                Some(Err(fault)) => {
                    // Out of the cache first: a reader that asks again on hearing of the fault must not get this chain.
                    self.evict();
                    return self.chain.fault(QueryFault::Upstream(Arc::new(fault)));
                }
                None => {
                    self.evict();
                    return self.chain.complete();
                }
            }
        }
    }

    /// Until nobody has read the chain for a while. A chain that is out of the cache, or whose cache is gone, is closed
    /// without that while.
    async fn idle(&self, cached: bool) {
        self.chain.unread().await;
        if cached && self.cache.strong_count() > 0 {
            tokio::time::sleep(self.linger).await;
        }
    }

    fn keeps(&self, reading: &T) -> bool {
        self.cache.upgrade().is_none_or(|cache| (cache.keep)(reading))
    }

    fn evict(&self) {
        if let Some(cache) = self.cache.upgrade() {
            cache.evict(&self.key, &self.chain);
        }
    }

    fn close_if_unread(&self) -> bool {
        match self.cache.upgrade() {
            Some(cache) => cache.evict_unread(&self.key, &self.chain),
            None => !self.chain.is_read(),
        }
    }
}

impl<K: Eq + Hash, T, E> Drop for Driver<K, T, E> {
    fn drop(&mut self) {
        // The cache's hold on the chain goes here and the driver's after it: readers of a chain without an end learn from
        // that that it is lost.
        self.evict();
    }
}
