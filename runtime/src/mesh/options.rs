//! The bounds of a teardown, and what else a mesh can be told.

use std::error::Error;
use std::fmt;
use std::time::Duration;

/// How long each part of a teardown may take.
///
/// Bounds nest, and equal bounds are no order: the phases together must end before the watchdog does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct DisposalBounds {
    pub(crate) quiescing: Duration,
    pub(crate) quiescing_poll: Duration,
    pub(crate) hosted: Duration,
    pub(crate) watchdog: Duration,
}

impl DisposalBounds {
    /// Bounds of your own: for the hub's open requests, for the hubs that it hosts, and for the teardown as a whole.
    ///
    /// # Errors
    /// When the first two together do not end before the third.
    pub fn try_new(
        quiescing: Duration,
        hosted: Duration,
        watchdog: Duration,
    ) -> Result<Self, BadDisposalBounds> {
        if quiescing.saturating_add(hosted) >= watchdog {
            return Err(BadDisposalBounds { quiescing, hosted, watchdog });
        }
        Ok(Self { quiescing, hosted, watchdog, ..Self::default() })
    }

    /// When a teardown that has not ended is ended by force.
    #[must_use]
    pub fn watchdog(&self) -> Duration {
        self.watchdog
    }
}

impl Default for DisposalBounds {
    /// 2 s, polled each 50 ms, 5 s and 8 s: the bounds of the disposal model that the riders' defaults are sized to.
    fn default() -> Self {
        Self {
            quiescing: Duration::from_secs(2),
            quiescing_poll: Duration::from_millis(50),
            hosted: Duration::from_secs(5),
            watchdog: Duration::from_secs(8),
        }
    }
}

/// Bounds in the wrong order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadDisposalBounds {
    quiescing: Duration,
    hosted: Duration,
    watchdog: Duration,
}

impl fmt::Display for BadDisposalBounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { quiescing, hosted, watchdog } = self;
        write!(
            f,
            "a teardown's phases ({quiescing:?} and {hosted:?}) must end before its watchdog does ({watchdog:?})"
        )
    }
}

impl Error for BadDisposalBounds {}

/// What a mesh is built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct MeshOptions {
    /// The bounds of every teardown.
    pub disposal: DisposalBounds,
    /// How long a request may stay unanswered. 30 s, the transport's bound in the disposal model.
    pub request_timeout: Duration,
    /// Whether established subscribers of a recycled hub are told to ask again once it is disposed of.
    ///
    /// An established subscription has no request under way that could be refused, and a pure recycle writes nothing that
    /// the change feed could announce.
    pub recycle_goodbye: bool,
}

impl Default for MeshOptions {
    fn default() -> Self {
        Self {
            disposal: DisposalBounds::default(),
            request_timeout: Duration::from_secs(30),
            recycle_goodbye: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phases_end_before_the_watchdog() {
        let seconds = Duration::from_secs;
        assert_eq!(
            DisposalBounds::try_new(seconds(2), seconds(5), seconds(8)),
            Ok(DisposalBounds::default())
        );
        let equal = DisposalBounds::try_new(seconds(3), seconds(5), seconds(8));
        assert!(equal.unwrap_err().to_string().contains("before its watchdog"));
    }
}
