//! How far a hub's life has gone.
//!
//! ```
//! use rideout::run_level::RunLevel;
//!
//! assert!(RunLevel::Quiescing < RunLevel::DisposeHostedHubs);
//! assert!(RunLevel::DisposeHostedHubs.refuses());
//! assert!(!RunLevel::Quiescing.refuses());
//! ```

use std::fmt;

/// The levels of a hub's life, in order. A hub only ever goes up; compare with `>=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RunLevel {
    /// Its start action has not finished; deliveries wait.
    Starting,
    /// It works.
    Started,
    /// Teardown has begun: it waits for its own open requests, and still takes deliveries.
    Quiescing,
    /// Intake is closed: every request is refused from here on. The hub is *still registered*, so routing still finds it.
    DisposeHostedHubs,
    /// The hubs that it hosts are gone, or out of time.
    HostedHubsDisposed,
    /// It runs its dispose actions and takes itself out of its parent's registry.
    ShutDown,
    /// Over. The disposal signal follows this level, it does not precede it.
    Dead,
}

impl RunLevel {
    /// Whether a hub at this level refuses requests.
    #[must_use]
    pub fn refuses(self) -> bool {
        self >= Self::DisposeHostedHubs
    }

    /// The level with this number; what lies past the last level is `Dead`.
    #[must_use]
    pub fn from_u8(level: u8) -> Self {
        match level {
            0 => Self::Starting,
            1 => Self::Started,
            2 => Self::Quiescing,
            3 => Self::DisposeHostedHubs,
            4 => Self::HostedHubsDisposed,
            5 => Self::ShutDown,
            _ => Self::Dead,
        }
    }
}

impl fmt::Display for RunLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_survives_its_number() {
        for level in 0..=RunLevel::Dead as u8 {
            assert_eq!(RunLevel::from_u8(level) as u8, level);
        }
    }
}
