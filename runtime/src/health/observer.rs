//! Writes what happens to a watch into a health book.

use std::{error::Error, fmt, sync::Arc};

use super::{HealthBook, fault_line};
use crate::reopen::{Interruption, Opening, ReopenObserver, Terminal};

impl HealthBook {
    /// Begins a watch of this name and returns the observer that keeps its entry, for
    /// [`ReopenPolicy::observer`](crate::reopen::ReopenPolicy::observer).
    ///
    /// A fault is told with its causes. If the observer is dropped with its watch while nothing has ended that watch, the
    /// book says so, unless the watch [`stops_quietly`](HealthObserver::stops_quietly).
    pub fn observer<E: Error + 'static>(&self, watch: impl Into<Arc<str>>) -> HealthObserver<E> {
        self.observer_of(watch, |fault: &E| fault_line(fault))
    }

    /// [`observer`](Self::observer) for faults that are no [`Error`], told by `describe`.
    pub fn observer_of<E>(
        &self,
        watch: impl Into<Arc<str>>,
        describe: fn(&E) -> String,
    ) -> HealthObserver<E> {
        let watch = watch.into();
        self.begin(&watch);
        HealthObserver { book: self.clone(), watch, describe, opening_reads: false, stops_quietly: false }
    }
}

/// Keeps one watch's entry of a [`HealthBook`].
#[must_use = "give it to the policy of the watch"]
pub struct HealthObserver<E> {
    book: HealthBook,
    watch: Arc<str>,
    describe: fn(&E) -> String,
    opening_reads: bool,
    stops_quietly: bool,
}

impl<E> HealthObserver<E> {
    /// For a source that is open only if it reads, and that may then be quiet for long, such as one that acknowledges a
    /// subscription: the opening counts as a reading, and clears an interruption.
    pub fn opening_reads(mut self) -> Self {
        self.opening_reads = true;
        self
    }

    /// For a watch that ends with its host: dropping it takes it out of the book, unless a fault had ended it before.
    pub fn stops_quietly(mut self) -> Self {
        self.stops_quietly = true;
        self
    }
}

impl<E> ReopenObserver<E> for HealthObserver<E> {
    fn opened(&mut self, _: Opening) {
        if self.opening_reads {
            self.book.record_reading(&self.watch);
        }
    }

    fn reading(&mut self, _: u32) {
        self.book.record_reading(&self.watch);
    }

    fn interrupted(&mut self, fault: &E, interruption: Interruption) {
        let fault = (self.describe)(fault);
        self.book.record_fault(&self.watch, fault, interruption.attempt, interruption.delay);
    }

    fn terminal(&mut self, fault: &E, why: Terminal) {
        self.book.record_terminal(&self.watch, (self.describe)(fault), Why(why));
    }

    fn ended(&mut self) {
        self.book.record_ended(&self.watch);
    }
}

impl<E> Drop for HealthObserver<E> {
    fn drop(&mut self) {
        self.book.let_go(&self.watch, self.stops_quietly);
    }
}

impl<E> fmt::Debug for HealthObserver<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HealthObserver").field("watch", &self.watch).finish_non_exhaustive()
    }
}

struct Why(Terminal);

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Terminal::NotTransient => f.write_str("the fault is not transient"),
            Terminal::BudgetSpent { reopens } => write!(f, "{reopens} re-opens in a row did not help"),
        }
    }
}
