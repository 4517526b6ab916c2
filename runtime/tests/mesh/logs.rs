//! Looks for a text in what was logged at a level.

use tracing::Level;
use tracing::subscriber::DefaultGuard;

use crate::log::Log;

/// The log of this thread.
pub(crate) struct Logs(Log);

impl Logs {
    pub(crate) fn capture() -> (Self, DefaultGuard) {
        let (log, guard) = Log::start();
        (Self(log), guard)
    }

    /// The lines at one level that contain `part`.
    pub(crate) fn at(&self, level: Level, part: &str) -> Vec<String> {
        self.0.lines(level).into_iter().filter(|line| line.contains(part)).collect()
    }
}
