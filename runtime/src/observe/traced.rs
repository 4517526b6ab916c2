//! One span per watch, and the log of its outages inside it.

use std::error::Error;

use tracing::{Span, field::Empty};

use crate::{
    health::fault_line,
    reopen::{Interruption, Opening, OutageLog, ReopenObserver, Terminal},
};

/// An observer that traces a watch in a span of its own, named `rideout.watch`, and logs its outages there.
///
/// The span has the fields `watch`, and once they are known `opening`, `attempt` and `delay_ms`, each the latest. The
/// events are those of [`OutageLog`], with each fault told with its causes, and one at `DEBUG` for each opening.
#[derive(Debug)]
#[must_use = "give it to the policy of the watch"]
pub struct Traced {
    span: Span,
    log: OutageLog,
}

impl Traced {
    /// Traces the watch of this name.
    pub fn new(watch: &'static str) -> Self {
        let (opening, attempt, delay_ms) = (Empty, Empty, Empty);
        let span = tracing::info_span!("rideout.watch", watch, opening, attempt, delay_ms);
        Self { span, log: OutageLog::new(watch) }
    }

    /// The span. Clone it before the observer is given away, to run the watch's consumer in it.
    #[must_use]
    pub fn span(&self) -> &Span {
        &self.span
    }
}

impl<E: Error + 'static> ReopenObserver<E> for Traced {
    fn opened(&mut self, opening: Opening) {
        self.span.record("opening", opening.number);
        tracing::debug!(parent: &self.span, opening = opening.number, attempt = opening.attempt, "watch opened");
    }

    fn reading(&mut self, after: u32) {
        if after > 0 {
            self.span.record("attempt", 0);
        }
        self.span.in_scope(|| ReopenObserver::<E>::reading(&mut self.log, after));
    }

    fn interrupted(&mut self, fault: &E, interruption: Interruption) {
        let delay_ms = u64::try_from(interruption.delay.as_millis()).unwrap_or(u64::MAX);
        self.span.record("attempt", interruption.attempt.get()).record("delay_ms", delay_ms);
        let fault = fault_line(fault);
        self.span.in_scope(|| self.log.interrupted(&fault, interruption));
    }

    fn terminal(&mut self, fault: &E, why: Terminal) {
        let fault = fault_line(fault);
        self.span.in_scope(|| self.log.terminal(&fault, why));
    }

    fn ended(&mut self) {
        tracing::warn!(parent: &self.span, "watch is over: its source ended");
    }
}
