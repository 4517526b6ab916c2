//! One span per watch, and an event for each turn in its life.

use std::error::Error;
use std::fmt::Display;

use tracing::{Span, field::Empty};

use crate::health::fault_line;
use crate::reopen::{Interruption, Opening, ReopenObserver, Terminal};

/// An observer that traces a watch in a span of its own, named `rideout.watch`.
///
/// The span has the fields `watch`, `opening`, `attempt` and `delay_ms`, each the latest. Events: an opening at Debug, a
/// re-open at Warn with its fault, the first item after an outage at Info, the end at Error.
#[derive(Debug)]
#[must_use = "give it to the policy of the watch"]
pub struct Traced {
    span: Span,
}

impl Traced {
    /// Traces the watch of this name.
    pub fn new(watch: impl Display) -> Self {
        let span =
            tracing::info_span!("rideout.watch", %watch, opening = Empty, attempt = Empty, delay_ms = Empty);
        Self { span }
    }

    /// The span, to run the watch's consumer in: `traced.span().clone()` before the observer is given away.
    #[must_use]
    pub fn span(&self) -> &Span {
        &self.span
    }
}

impl<E: Error + 'static> ReopenObserver<E> for Traced {
    fn opened(&mut self, opening: Opening) {
        self.span.record("opening", opening.number);
        tracing::debug!(parent: &self.span, opening = opening.number, attempt = opening.attempt, "opened");
    }

    fn reading(&mut self, after: u32) {
        if after > 0 {
            self.span.record("attempt", 0);
            tracing::info!(parent: &self.span, after, "the watch reads again");
        }
    }

    fn interrupted(&mut self, fault: &E, Interruption { attempt, delay }: Interruption) {
        let (attempt, delay_ms) = (attempt.get(), u64::try_from(delay.as_millis()).unwrap_or(u64::MAX));
        self.span.record("attempt", attempt).record("delay_ms", delay_ms);
        let fault = fault_line(fault);
        tracing::warn!(parent: &self.span, attempt, delay_ms, fault, "the watch was interrupted and re-opens after the delay");
    }

    fn terminal(&mut self, fault: &E, why: Terminal) {
        let fault = fault_line(fault);
        tracing::error!(parent: &self.span, fault, ?why, "the watch is over");
    }

    fn ended(&mut self) {
        tracing::error!(parent: &self.span, "the watch is over: its source ended");
    }
}
