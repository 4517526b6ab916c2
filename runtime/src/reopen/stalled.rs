//! The fault of a source that says nothing at all.

use std::{error::Error, fmt, time::Duration};

/// The source was silent for longer than the stall bound of its watch. An availability failure, and no timeout of a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Stalled {
    /// The bound that was passed.
    pub bound: Duration,
}

impl fmt::Display for Stalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the source was silent for {:?}", self.bound)
    }
}

impl Error for Stalled {}
