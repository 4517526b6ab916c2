//! Waits on tokio's clock, which a test may pause.

use std::{num::NonZeroU32, time::Duration};

use super::Schedule;

/// Waits with [`tokio::time::sleep`]. Needs a tokio runtime with its timer enabled once a wait begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct TokioSchedule;

impl Schedule for TokioSchedule {
    type Wait = tokio::time::Sleep;

    fn after(&mut self, _: NonZeroU32, delay: Duration) -> Self::Wait {
        tokio::time::sleep(delay)
    }
}
