//! Who is hosted under an address, and the freeze that ends new hosting.
//!
//! A creation is single-flight per key and runs outside the registry's lock. One that was under way when the freeze came
//! is counted, so that a teardown waits for it and finds what it made, instead of racing it.

use std::collections::HashMap;
use std::hash::Hash;
use std::task::{Context, Poll, Waker};

use super::sync::{Arc, Mutex, lock};

/// Refused: nothing new is hosted any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frozen;

/// Keys and what is hosted under them.
#[derive(Debug)]
pub(crate) struct Registry<K, T> {
    state: Mutex<State<K, T>>,
}

#[derive(Debug)]
struct State<K, T> {
    frozen: bool,
    live: HashMap<K, T>,
    creating: HashMap<K, Arc<Mutex<Option<T>>>>,
    settled: Vec<Waker>,
}

impl<K: Clone + Eq + Hash, T: Clone> Registry<K, T> {
    /// An empty registry that takes entries.
    pub(crate) fn new() -> Self {
        let state =
            State { frozen: false, live: HashMap::new(), creating: HashMap::new(), settled: Vec::new() };
        Self { state: Mutex::new(state) }
    }

    /// What is under `key`. Creates nothing.
    pub(crate) fn get(&self, key: &K) -> Option<T> {
        lock(&self.state).live.get(key).cloned()
    }

    /// What is under `key`, made by `build` if nothing is.
    ///
    /// `late` is told of an entry that was being built when the freeze came.
    pub(crate) fn get_or_create(
        &self,
        key: &K,
        build: impl FnOnce() -> T,
        late: impl FnOnce(&T),
    ) -> Result<T, Frozen> {
        let flight = {
            let mut state = lock(&self.state);
            if let Some(live) = state.live.get(key) {
                return Ok(live.clone());
            }
            if state.frozen {
                return Err(Frozen);
            }
            Arc::clone(state.creating.entry(key.clone()).or_insert_with(|| Arc::new(Mutex::new(None))))
        };
        let mut slot = lock(&flight);
        if let Some(built) = slot.as_ref() {
            return Ok(built.clone());
        }
        let landing = Landing { registry: self, key };
        let built = build();
        *slot = Some(built.clone());
        if landing.land(built.clone()) {
            late(&built);
        }
        Ok(built)
    }

    /// Hosts nothing new from here on. Answers with what is hosted now; a creation under way is waited for apart, by
    /// [`poll_settled`](Self::poll_settled).
    pub(crate) fn freeze(&self) -> Vec<T> {
        let mut state = lock(&self.state);
        state.frozen = true;
        state.live.values().cloned().collect()
    }

    /// Everything that is hosted now.
    pub(crate) fn snapshot(&self) -> Vec<T> {
        lock(&self.state).live.values().cloned().collect()
    }

    /// How many are hosted now.
    pub(crate) fn len(&self) -> usize {
        lock(&self.state).live.len()
    }

    /// Ready when no creation is under way.
    pub(crate) fn poll_settled(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = lock(&self.state);
        if state.creating.is_empty() {
            return Poll::Ready(());
        }
        if !state.settled.iter().any(|waker| waker.will_wake(cx.waker())) {
            state.settled.push(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Removes what is under `key` if `same` says that it is the one meant: a successor is left alone.
    pub(crate) fn remove_exact(&self, key: &K, same: impl FnOnce(&T) -> bool) -> bool {
        let mut state = lock(&self.state);
        let found = state.live.get(key).is_some_and(same);
        if found {
            state.live.remove(key);
        }
        found
    }

    fn end_flight(&self, key: &K, built: Option<T>) -> bool {
        let (frozen, settled) = {
            let mut state = lock(&self.state);
            state.creating.remove(key);
            if let Some(built) = built {
                state.live.insert(key.clone(), built);
            }
            let settled =
                if state.creating.is_empty() { std::mem::take(&mut state.settled) } else { Vec::new() };
            (state.frozen, settled)
        };
        settled.into_iter().for_each(Waker::wake);
        frozen
    }
}

/// Ends a creation also when building it panics: a flight that never lands would hold every teardown up.
struct Landing<'a, K: Clone + Eq + Hash, T: Clone> {
    registry: &'a Registry<K, T>,
    key: &'a K,
}

impl<K: Clone + Eq + Hash, T: Clone> Landing<'_, K, T> {
    fn land(self, built: T) -> bool {
        let frozen = self.registry.end_flight(self.key, Some(built));
        std::mem::forget(self);
        frozen
    }
}

impl<K: Clone + Eq + Hash, T: Clone> Drop for Landing<'_, K, T> {
    fn drop(&mut self) {
        self.registry.end_flight(self.key, None);
    }
}
