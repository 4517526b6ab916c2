//! What several of the test modules need.

use std::{
    io,
    sync::{Arc, Mutex},
};

use futures_util::FutureExt;
use rideout::{
    classify::Infrastructure,
    reopen::{Interruption, Opening, ReopenObserver, ReopenPolicy, Terminal},
    schedule::ManualSchedule,
};

/// The fault of the incident: 104 on Linux.
pub(crate) fn reset() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}

/// A transient fault that can be told from others.
pub(crate) fn reset_named(name: impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, name.to_string())
}

/// A defect: opening again repeats it.
pub(crate) fn defect() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

/// A policy on a hand-driven clock.
pub(crate) fn policy<T>(clock: &ManualSchedule) -> ReopenPolicy<T, io::Error> {
    ReopenPolicy::new(Infrastructure, clock.clone())
}

/// The next item if there is one now.
pub(crate) fn now<S: futures_util::Stream + Unpin>(stream: &mut S) -> Option<Option<S::Item>> {
    futures_util::StreamExt::next(stream).now_or_never()
}

/// Writes down what it is told.
#[derive(Clone, Default)]
pub(crate) struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn note(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }
}

impl ReopenObserver<io::Error> for Diary {
    fn opened(&mut self, opening: Opening) {
        self.note(format!("opened {}", opening.number));
    }

    fn reading(&mut self, after: u32) {
        self.note(format!("reading after {after}"));
    }

    fn interrupted(&mut self, fault: &io::Error, interruption: Interruption) {
        self.note(format!("{fault}: re-open {} in {:?}", interruption.attempt, interruption.delay));
    }

    fn terminal(&mut self, fault: &io::Error, why: Terminal) {
        self.note(format!("{fault}: over, {why:?}"));
    }

    fn ended(&mut self) {
        self.note(String::from("ended"));
    }
}

/// xorshift: the same events for the same seed.
pub(crate) struct Random(u64);

impl Random {
    /// `seed` is not 0.
    pub(crate) fn seeded(seed: u64) -> Self {
        // Spread, so that neighbouring seeds do not begin alike.
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}
