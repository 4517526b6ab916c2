//! The primitives that the modelled parts stand on. A model checker compiles those parts over its own.

pub(crate) use std::sync::atomic;
pub(crate) use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Locks, also after a panic elsewhere: every critical section here leaves its data whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
