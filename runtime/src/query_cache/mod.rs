//! Queries that are kept in step, one shared chain per key, and dropped from the cache when they fault.
//!
//! The first caller of a key opens the query; later callers share it and get its newest reading at once. When the chain
//! faults it is taken out of the cache *before* its readers hear of it, and nothing is retried: whether to ask again is
//! the next caller's decision. So a standing watch whose factory asks the cache gets a fresh upstream at each re-open,
//! and never the latched fault of the one before.
//!
//! ```
//! use futures_util::{StreamExt, stream};
//! use rideout::query_cache::QueryCache;
//! use std::io;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let cache = QueryCache::new();
//! let live = || stream::iter([Ok::<_, io::Error>(vec!["a", "b"])]).chain(stream::pending());
//!
//! let mut first = cache.get("types", live);
//! assert_eq!(*first.next().await.unwrap().unwrap(), ["a", "b"]);
//! let mut second = cache.get("types", || stream::pending());
//! assert_eq!(*second.next().await.unwrap().unwrap(), ["a", "b"], "the chain is shared, its reading replayed");
//! # });
//! ```
//!
//! Each item of a query must be a complete reading. A slow reader gets the newest one and not a queue of old ones, so a
//! chain holds one reading however many readers it has.
//!
//! What must not be kept can be shown to who is reading now and still not be handed to the next caller: with
//! [`keep_if`](QueryCache::keep_if) a reading in which a provider was silent takes its chain out of the cache.

mod chain;
mod driver;
#[cfg(test)]
mod tests;

pub use chain::{CachedQuery, QueryFault};

use std::{
    collections::HashMap,
    fmt,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chain::Chain;
use driver::Driver;
use futures_core::Stream;

/// How long a chain that nobody reads stays open: 60 s. A choice of this crate; see [`QueryCache::linger`].
pub const LINGER: Duration = Duration::from_secs(60);

/// A cache of live queries. Clones share it; dropping the last one ends the chains that nobody reads.
#[must_use]
pub struct QueryCache<K, T, E> {
    shared: Arc<Shared<K, T, E>>,
    linger: Duration,
}

/// The test that a reading must pass to be handed to later callers.
type Keep<T> = Box<dyn Fn(&T) -> bool + Send + Sync>;

struct Shared<K, T, E> {
    chains: Mutex<HashMap<K, Arc<Chain<T, E>>>>,
    keep: Keep<T>,
}

impl<K, T, E> QueryCache<K, T, E> {
    /// An empty cache that keeps every reading, and a chain that nobody reads for [`LINGER`].
    pub fn new() -> Self {
        Self::keep_if(|_| true)
    }

    /// An empty cache that keeps only readings that pass `keep`.
    ///
    /// A reading that does not pass is delivered to the chain's readers, and the chain leaves the cache with it: they go
    /// on reading, and the next caller opens anew.
    pub fn keep_if(keep: impl Fn(&T) -> bool + Send + Sync + 'static) -> Self {
        Self { shared: Arc::new(Shared { chains: Mutex::default(), keep: Box::new(keep) }), linger: LINGER }
    }

    /// The same cache, whose chains that are opened through this handle stay open for so long while nobody reads them.
    pub fn linger(mut self, linger: Duration) -> Self {
        self.linger = linger;
        self
    }

    /// How many chains are in the cache.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.chains().len()
    }

    /// Whether no chain is in the cache.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K, T, E> QueryCache<K, T, E>
where
    K: Eq + Hash + Clone + Send + Sync + 'static,
    T: Send + Sync + 'static,
    E: Send + Sync + 'static,
{
    /// A reader of the chain of `key`, which `open` opens if there is none.
    ///
    /// `open` is called on the chain's own task, so that it may ask this cache itself. A panic in it is
    /// [`QueryFault::Lost`] for the readers, and so is a call from outside a tokio runtime. The reader gets the newest reading, if there is one, and then every change.
    ///
    /// # Cancel safety
    ///
    /// Synchronous. Dropping the reader leaves the chain; the last one starts its [`linger`](Self::linger).
    #[must_use = "a query that nobody reads is closed again"]
    pub fn get<S, F>(&self, key: K, open: F) -> CachedQuery<T, E>
    where
        F: FnOnce() -> S + Send + 'static,
        S: Stream<Item = Result<T, E>> + Send + 'static,
    {
        let mut chains = self.shared.chains();
        if let Some(chain) = chains.get(&key) {
            return chain.reader();
        }
        let chain = Arc::new(Chain::new());
        let reader = chain.reader();
        chains.insert(key.clone(), Arc::clone(&chain));
        drop(chains);
        driver::spawn(Driver { cache: Arc::downgrade(&self.shared), linger: self.linger, key, chain }, open);
        reader
    }
}

impl<K, T, E> Shared<K, T, E> {
    fn chains(&self) -> MutexGuard<'_, HashMap<K, Arc<Chain<T, E>>>> {
        self.chains.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash, T, E> Shared<K, T, E> {
    /// Takes exactly this chain out: an entry of the key that is another chain by now stays.
    fn evict(&self, key: &K, chain: &Arc<Chain<T, E>>) {
        let mut chains = self.chains();
        if chains.get(key).is_some_and(|entry| Arc::ptr_eq(entry, chain)) {
            chains.remove(key);
        }
    }

    /// The same, unless somebody reads it. Readers join under the same lock, so none joins in between.
    fn evict_unread(&self, key: &K, chain: &Arc<Chain<T, E>>) -> bool {
        let mut chains = self.chains();
        let unread = !chain.is_read();
        if unread && chains.get(key).is_some_and(|entry| Arc::ptr_eq(entry, chain)) {
            chains.remove(key);
        }
        unread
    }
}

impl<K, T, E> Clone for QueryCache<K, T, E> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), linger: self.linger }
    }
}

impl<K, T, E> Default for QueryCache<K, T, E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: fmt::Debug, T, E> fmt::Debug for QueryCache<K, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.shared.chains().keys()).finish()
    }
}
