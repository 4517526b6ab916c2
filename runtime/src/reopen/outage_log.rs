//! The log of an outage: a line for each re-open, one that is louder, and one when it is over.

use std::{borrow::Cow, fmt::Display};

use super::{Interruption, ReopenObserver, Terminal};

/// Logs with [`tracing`] what happens to a watch.
///
/// | what | level | how often |
/// |---|---|---|
/// | a re-open, with watch, attempt and delay | `WARN` | each, save the next |
/// | the re-open whose pause reaches the cap: a sustained outage | `ERROR` | once an outage |
/// | the first reading after that | `INFO` | once an outage |
/// | the watch is over on a fault | `ERROR` | once |
///
/// ```
/// # use rideout::{reopen::{OutageLog, ReopenPolicy}};
/// let policy = ReopenPolicy::<u8, std::io::Error>::standing_watch().observer(OutageLog::new("orders"));
/// # let _ = policy;
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct OutageLog {
    watch: Cow<'static, str>,
    sustained: bool,
}

impl OutageLog {
    /// The log of the watch of this name.
    pub fn new(watch: impl Into<Cow<'static, str>>) -> Self {
        Self { watch: watch.into(), sustained: false }
    }

    /// The name of the watch.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.watch
    }
}

impl<E: Display> ReopenObserver<E> for OutageLog {
    fn reading(&mut self, after: u32) {
        if std::mem::take(&mut self.sustained) {
            let watch = &*self.watch;
            tracing::info!(watch, reopens = after, "watch reads again after a sustained outage");
        }
    }

    fn interrupted(&mut self, fault: &E, interruption: Interruption) {
        let (watch, attempt) = (&*self.watch, interruption.attempt.get());
        let delay_ms = u64::try_from(interruption.delay.as_millis()).unwrap_or(u64::MAX);
        if interruption.sustained {
            self.sustained = true;
            tracing::error!(watch, attempt, delay_ms, %fault, "sustained outage: watch goes on at its slowest pace");
        } else {
            tracing::warn!(watch, attempt, delay_ms, %fault, "watch interrupted, opens again");
        }
    }

    fn terminal(&mut self, fault: &E, why: Terminal) {
        let watch = &*self.watch;
        match why {
            Terminal::NotTransient => {
                tracing::error!(watch, %fault, "watch is over: opening it again would repeat the fault");
            }
            Terminal::BudgetSpent { reopens } => {
                tracing::error!(watch, reopens, %fault, "watch gives up: its re-opens are spent");
            }
        }
    }
}
