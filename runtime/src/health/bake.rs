//! The gate of the work that a process must finish before it is ready, as health sees it.
//!
//! A process that was never asked to bake is healthy. One that is baking is not ready yet. A regression is a verdict and
//! stays; an item that could not be evaluated, because nobody answered in time, is none and does not shut the gate.

use std::{
    collections::BTreeMap,
    fmt::{self, Display},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::report::{list, quoted};

/// Where the bake stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BakePhase {
    /// No bake was asked for. Ready. Left by [`BakeGate::start`].
    #[default]
    NotStarted,
    /// The bake runs. Not ready. Left by [`BakeGate::complete`] or a regression.
    Running,
    /// The bake ran to its end without a regression. Ready. Left by a regression that is found later.
    Complete,
    /// Something that worked before does not work now. Not ready, and never left.
    Regressed,
}

/// The bake of one process. Written by the bake, read by health; both synchronously.
#[derive(Debug, Default)]
#[must_use]
pub struct BakeGate {
    state: Mutex<BakeReport>,
}

/// What a [`BakeGate`] says when it is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct BakeReport {
    /// Where the bake stands.
    pub phase: BakePhase,
    /// What regressed, with the reason.
    pub regressed: BTreeMap<String, String>,
    /// What could not be evaluated, with the reason. Says that nothing is known about it, neither good nor bad.
    pub not_evaluated: BTreeMap<String, String>,
}

impl BakeGate {
    /// A gate of a process that was not asked to bake.
    pub fn new() -> Self {
        Self::default()
    }

    /// The bake begins. A regression of an earlier run stays.
    pub fn start(&self) {
        self.advance(BakePhase::Running);
    }

    /// The bake ran to its end. A regression stays one.
    pub fn complete(&self) {
        self.advance(BakePhase::Complete);
    }

    /// `item` worked before and does not now: the gate shuts for good.
    pub fn regressed(&self, item: impl Into<String>, why: impl Display) {
        let mut state = self.state();
        state.phase = BakePhase::Regressed;
        state.regressed.insert(item.into(), why.to_string());
    }

    /// Nobody answered for `item` in time. Recorded and shown, but no regression: the gate does not move.
    pub fn not_evaluated(&self, item: impl Into<String>, why: impl Display) {
        self.state().not_evaluated.insert(item.into(), why.to_string());
    }

    /// Where the bake stands, with its reasons.
    pub fn report(&self) -> BakeReport {
        self.state().clone()
    }

    fn advance(&self, phase: BakePhase) {
        let mut state = self.state();
        if state.phase != BakePhase::Regressed {
            state.phase = phase;
        }
    }

    fn state(&self) -> MutexGuard<'_, BakeReport> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BakePhase {
    fn name(self) -> &'static str {
        match self {
            Self::NotStarted => "not-started",
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Regressed => "regressed",
        }
    }
}

impl BakeReport {
    /// Whether the process may serve: the bake was not asked for, or is complete.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        matches!(self.phase, BakePhase::NotStarted | BakePhase::Complete)
    }

    pub(super) fn to_json(&self) -> String {
        let mut json = format!("{{\"phase\":\"{}\"", self.phase.name());
        for (name, reasons) in [("regressed", &self.regressed), ("not_evaluated", &self.not_evaluated)] {
            if !reasons.is_empty() {
                let reasons = list(reasons, |(item, why)| format!("{}:{}", quoted(item), quoted(why)));
                json.push_str(&format!(",\"{name}\":{{{reasons}}}"));
            }
        }
        json.push('}');
        json
    }
}

/// One clause: the phase, then each regression and each item that was not evaluated.
impl Display for BakeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.phase.name())?;
        for (item, why) in &self.regressed {
            write!(f, ", {item} regressed ({why})")?;
        }
        for (item, why) in &self.not_evaluated {
            write!(f, ", {item} was not evaluated ({why})")?;
        }
        Ok(())
    }
}
