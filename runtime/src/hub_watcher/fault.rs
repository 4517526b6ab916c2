//! What interrupts a watcher, and what ends it.

use std::{any::Any, error::Error, fmt};

use crate::reopen::Stalled;

/// The only three ends of a watcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// Its host is going away. Nothing is logged above `DEBUG`: this is how a watcher should end.
    HostDisposing,
    /// Its own content cannot be read: the same emission would be replayed for ever. One `ERROR` line.
    PoisonedContent,
    /// Its own node is gone. One `WARN` line.
    OwnNodeGone,
}

/// What interrupted a watcher.
#[derive(Debug)]
#[non_exhaustive]
pub enum WatcherFault<E> {
    /// A fault of the source, while it was opened or read.
    Source(E),
    /// The source ended without a fault.
    SourceEnded,
    /// The source was silent for longer than the stall bound.
    Stalled(Stalled),
    /// The factory or the source panicked, with this message.
    Panicked(String),
}

impl<E> WatcherFault<E> {
    pub(super) fn panicked(payload: &(dyn Any + Send)) -> Self {
        Self::Panicked(panic_message(payload).to_owned())
    }
}

/// The message of a panic, as far as it has one.
pub(super) fn panic_message(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&'static str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message")
}

impl<E: fmt::Display> fmt::Display for WatcherFault<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source(fault) => fault.fmt(f),
            Self::SourceEnded => f.write_str("the source ended"),
            Self::Stalled(stalled) => stalled.fmt(f),
            Self::Panicked(message) => write!(f, "the source panicked: {message}"),
        }
    }
}

impl<E: Error + 'static> Error for WatcherFault<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // Displayed as the fault itself, so the chain goes on below it.
            Self::Source(fault) => fault.source(),
            Self::Stalled(stalled) => Some(stalled),
            Self::SourceEnded | Self::Panicked(_) => None,
        }
    }
}
