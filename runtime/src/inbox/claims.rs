//! Who has taken which delivery, as guards: a claim that is dropped is released, and one that is finished stays.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// What an inbox has taken, across the openings of its watch. Clones share it.
#[must_use]
pub struct Claims<K> {
    marks: Arc<Mutex<HashMap<K, Mark>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// Claimed by this opening, its drain not finished. Left by [`Claim::finish`], or by dropping the claim.
    Held { opening: u64 },
    /// Drained, and perhaps still shown by a listing that is older than its end. Forgotten by the first one without it.
    Finished,
}

impl<K> Claims<K> {
    /// Nothing taken yet.
    pub fn new() -> Self {
        Self { marks: Arc::default() }
    }

    /// Where opening number `opening` makes its claims.
    pub fn of_opening(&self, opening: u64) -> ClaimsOfOpening<K> {
        ClaimsOfOpening { claims: self.clone(), opening }
    }

    fn marks(&self) -> MutexGuard<'_, HashMap<K, Mark>> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash> Claims<K> {
    /// The opening that holds `delivery`, if it is claimed and not finished.
    #[must_use]
    pub fn holder(&self, delivery: &K) -> Option<u64> {
        match self.marks().get(delivery) {
            Some(Mark::Held { opening }) => Some(*opening),
            Some(Mark::Finished) | None => None,
        }
    }

    /// How many deliveries are claimed and not finished.
    #[must_use]
    pub fn held(&self) -> usize {
        self.marks().values().filter(|mark| **mark != Mark::Finished).count()
    }
}

/// The claims of one opening of a watch.
#[derive(Debug)]
#[must_use]
pub struct ClaimsOfOpening<K> {
    claims: Claims<K>,
    opening: u64,
}

impl<K: Eq + Hash + Clone> ClaimsOfOpening<K> {
    /// Claims what of `listed` nobody has taken, in its order, and forgets finished deliveries that it no longer shows.
    #[must_use = "a claim that is dropped is released"]
    pub fn claim_new(&self, listed: Vec<K>) -> Vec<Claim<K>> {
        let mut marks = self.claims.marks();
        if marks.values().any(|mark| *mark == Mark::Finished) {
            let shown: HashSet<&K> = listed.iter().collect();
            marks.retain(|key, mark| *mark != Mark::Finished || shown.contains(key));
        }
        let mut claims = Vec::new();
        for key in listed {
            if !marks.contains_key(&key) {
                marks.insert(key.clone(), Mark::Held { opening: self.opening });
                claims.push(Claim { key, claims: self.claims.clone(), finished: false });
            }
        }
        claims
    }
}

/// A delivery that is taken. Dropping the claim releases it; [`finish`](Self::finish) keeps it taken.
///
/// # Cancel safety
///
/// Both are synchronous.
#[must_use = "a claim that is dropped is released"]
pub struct Claim<K: Eq + Hash> {
    key: K,
    claims: Claims<K>,
    finished: bool,
}

impl<K: Eq + Hash> Claim<K> {
    /// What is claimed.
    #[must_use]
    pub fn key(&self) -> &K {
        &self.key
    }

    /// The drain has run to its end: the delivery is done, and stays taken until a listing no longer shows it.
    pub fn finish(mut self) {
        self.finished = true;
        if let Some(mark) = self.claims.marks().get_mut(&self.key) {
            *mark = Mark::Finished;
        }
    }
}

impl<K: Eq + Hash> Drop for Claim<K> {
    fn drop(&mut self) {
        if !self.finished {
            // Nobody else can have claimed it since: the mark is this claim's own.
            self.claims.marks().remove(&self.key);
        }
    }
}

impl<K: Eq + Hash + fmt::Debug> fmt::Debug for Claim<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Claim").field(&self.key).finish()
    }
}

impl<K> Clone for Claims<K> {
    fn clone(&self) -> Self {
        Self { marks: Arc::clone(&self.marks) }
    }
}

impl<K> Default for Claims<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for Claims<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claims").field("marks", &self.marks().len()).finish()
    }
}
