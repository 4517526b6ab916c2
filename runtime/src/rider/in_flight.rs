//! At most one of a thing at a time, released however its holder ends.

use super::sync::Arc;
use super::sync::atomic::{AtomicBool, Ordering};

/// A flag that is up while one operation is under way.
#[derive(Clone, Debug, Default)]
pub struct InFlight {
    up: Arc<AtomicBool>,
}

impl InFlight {
    /// A flag that is down.
    #[must_use]
    pub fn new() -> Self {
        Self { up: Arc::new(AtomicBool::new(false)) }
    }

    /// Puts the flag up, if it is down. It goes down when the guard is dropped: also when the operation is cancelled,
    /// which a flag cleared by hand on each path of the operation would survive.
    #[must_use]
    pub fn try_acquire(&self) -> Option<InFlightGuard> {
        self.up
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
            .then(|| InFlightGuard { up: Arc::clone(&self.up) })
    }
}

/// Holds an [`InFlight`] up.
#[derive(Debug)]
#[must_use = "the flag goes down as soon as this is dropped"]
pub struct InFlightGuard {
    up: Arc<AtomicBool>,
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.up.store(false, Ordering::Release);
    }
}
