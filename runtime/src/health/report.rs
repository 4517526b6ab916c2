//! What a health book says when it is asked: the states, one line of text, and JSON.

use std::{
    fmt::{self, Display, Write as _},
    num::NonZeroU32,
    sync::Arc,
    time::Duration,
};

use super::{BakePhase, BakeReport};

/// The whole of a [`HealthBook`](super::HealthBook) at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Health {
    /// Every watch in the book, sorted by name.
    pub watches: Vec<WatchHealth>,
    /// The gate of the work before readiness.
    pub bake: BakeReport,
}

/// The one word a probe acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Every watch reads or has just been opened, and the bake gate is open.
    Healthy,
    /// Something is not watched right now, or the bake gate is shut. The report says what.
    Degraded,
}

/// One watch in the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchHealth {
    /// Its name.
    pub watch: Arc<str>,
    /// What it last said.
    pub state: WatchState,
    /// How long it has been in that state. An outage counts from its first fault.
    pub held: Duration,
    /// How many outages it had since it is in the book, the present one included.
    pub outages: u64,
}

/// What a watch last said about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WatchState {
    /// Open, nothing read yet. Left by the first reading or fault. Healthy: not having emitted is no fault.
    Opening,
    /// It reads. Left by a fault or an end.
    Reading,
    /// A fault ended an opening, and the next one is being waited for. Left by a reading or an end.
    Interrupted {
        /// The fault, with its causes.
        fault: String,
        /// Which re-open in a row this one is.
        attempt: NonZeroU32,
        /// How long it waits first.
        delay: Duration,
    },
    /// A fault ended the watch. Never left: nothing re-opens it.
    Terminal {
        /// The fault, with its causes.
        fault: String,
        /// Which rule ended it: a spent budget, or a fault that is not transient.
        why: String,
    },
    /// The source completed without a fault. Never left.
    Ended,
    /// The holder let go of the watch. Never left.
    Dropped,
}

impl WatchState {
    /// Whether the watch is over, so that no reading can follow.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Terminal { .. } | Self::Ended | Self::Dropped)
    }

    /// Whether the watch is watching: open or reading.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        matches!(self, Self::Opening | Self::Reading)
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Reading => "reading",
            Self::Interrupted { .. } => "interrupted",
            Self::Terminal { .. } => "terminal",
            Self::Ended => "ended",
            Self::Dropped => "dropped",
        }
    }
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Degraded => "degraded",
        }
    }
}

impl Health {
    /// Whether everything is watched and the bake gate is open.
    #[must_use]
    pub fn status(&self) -> Status {
        let watched = self.watches.iter().all(|watch| watch.state.is_healthy());
        if watched && self.bake.is_ready() { Status::Healthy } else { Status::Degraded }
    }

    /// The report as one JSON object, without a line break.
    ///
    /// `status` is `healthy` or `degraded`; each of `watches` has `watch`, `state`, `for_ms`, `outages`, and with a
    /// fault `fault` and `attempt`, `delay_ms` or `why`; `bake` has `phase` and, where there are any, `regressed` and
    /// `not_evaluated`, objects of reasons by name. Times are whole milliseconds. Fields may be added, not changed.
    #[must_use]
    pub fn to_json(&self) -> String {
        let watches = list(&self.watches, WatchHealth::to_json);
        let bake = self.bake.to_json();
        format!("{{\"status\":\"{}\",\"watches\":[{watches}],\"bake\":{bake}}}", self.status().name())
    }
}

/// One line: the status, then what is wrong, each watch that is not watching by name.
impl Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut wrong: Vec<String> = self
            .watches
            .iter()
            .filter(|watch| !watch.state.is_healthy())
            .map(WatchHealth::to_string)
            .collect();
        if self.bake.phase != BakePhase::NotStarted {
            wrong.push(format!("bake {}", self.bake));
        }
        if wrong.is_empty() {
            let watches = if self.watches.len() == 1 { "watch" } else { "watches" };
            wrong.push(format!("{} {watches}", self.watches.len()));
        }
        // A fault's text comes from outside and may hold line breaks; the report stays one line.
        let line = wrong.join("; ").replace(['\r', '\n'], " ");
        write!(f, "{}: {line}", self.status().name())
    }
}

/// One clause that names the watch and says what it does not see.
impl Display for WatchHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let watch = &self.watch;
        match &self.state {
            WatchState::Opening => write!(f, "{watch} is open and has not read yet"),
            WatchState::Reading => write!(f, "{watch} reads"),
            WatchState::Interrupted { fault, attempt, delay } => write!(
                f,
                "{watch} is interrupted ({fault}), re-open {attempt} after {delay:?}; what it read before is frozen"
            ),
            WatchState::Terminal { fault, why } => {
                write!(f, "{watch} is no longer being watched for until a restart: {why} ({fault})")
            }
            WatchState::Ended => write!(f, "{watch} is no longer being watched for: its source ended"),
            WatchState::Dropped => {
                write!(f, "{watch} is no longer being watched for: its holder let go of it")
            }
        }
    }
}

impl WatchHealth {
    fn to_json(&self) -> String {
        let mut json = format!(
            "{{\"watch\":{},\"state\":\"{}\",\"for_ms\":{},\"outages\":{}",
            quoted(&self.watch),
            self.state.name(),
            self.held.as_millis(),
            self.outages
        );
        let rest = match &self.state {
            WatchState::Interrupted { fault, attempt, delay } => {
                format!(
                    ",\"fault\":{},\"attempt\":{attempt},\"delay_ms\":{}",
                    quoted(fault),
                    delay.as_millis()
                )
            }
            WatchState::Terminal { fault, why } => {
                format!(",\"fault\":{},\"why\":{}", quoted(fault), quoted(why))
            }
            WatchState::Opening | WatchState::Reading | WatchState::Ended | WatchState::Dropped => {
                String::new()
            }
        };
        json.push_str(&rest);
        json.push('}');
        json
    }
}

/// The items' JSON with commas between.
pub(super) fn list<T>(items: impl IntoIterator<Item = T>, json: impl Fn(T) -> String) -> String {
    items.into_iter().map(json).collect::<Vec<_>>().join(",")
}

/// A JSON string: quotes, backslashes and control characters escaped, the rest as it is.
pub(super) fn quoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for letter in text.chars() {
        match letter {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            control if control < ' ' => {
                // Writing to a `String` cannot fail.
                let _ = write!(json, "\\u{:04x}", u32::from(control));
            }
            other => json.push(other),
        }
    }
    json.push('"');
    json
}
