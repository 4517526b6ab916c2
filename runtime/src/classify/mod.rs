//! Three questions about a fault, each with a type of its own.
//!
//! | question | type | asked by |
//! |---|---|---|
//! | is this answer a promise to come back? | [`Promise`] | riders, which keep their stream alive on it |
//! | is this fault transient infrastructure? | [`Infrastructure`] | standing watches, which re-open on it |
//! | did nobody answer in time? | [`NoAnswerInTime`] | whoever may ask again because asking twice is harmless |
//!
//! One predicate for two of them is how a watch re-opens on a verdict, or ends on a hiccup. Where a watch must ride out more
//! than one kind, say so with [`Compose::or`].
//!
//! ```
//! use std::io;
//! use rideout::classify::{Classify, Compose, Infrastructure, Promise, TypedFault, Verdict};
//!
//! let reset = io::Error::from(io::ErrorKind::ConnectionReset);
//! assert_eq!(Infrastructure.classify(&reset), Verdict::Transient);
//!
//! // A promise is no infrastructure fault; a watch in a mesh composes the two.
//! let going_away = TypedFault::promise("the hub is shutting down");
//! assert_eq!(Infrastructure.classify(&going_away), Verdict::Terminal);
//! assert_eq!(Infrastructure.or(Promise).classify(&going_away), Verdict::Transient);
//! ```

mod chain;
mod compose;
mod drivers;
mod erased;
mod infrastructure;
mod io;
mod no_answer;
mod promise;
mod sqlstate;
mod typed;

pub use chain::{Aggregate, MAX_NODES, any_in_chain};
pub use compose::{AnyFault, Compose, Or, Unless};
pub use erased::{Erased, ErrorObject};
pub use infrastructure::{Infrastructure, is_transient_infrastructure};
pub use io::is_transient_io;
pub use no_answer::{NO_ANSWER_PHRASES, NoAnswerInTime, is_no_answer_in_time, says_no_answer_in_time};
pub use promise::{Promise, is_promise};
pub use sqlstate::{TRANSIENT_SQLSTATES, is_transient_sqlstate};
pub use typed::{Nature, TypedFault};

/// Whether opening the source again can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum Verdict {
    /// The source may answer if it is opened again.
    Transient,
    /// Opening it again only repeats the fault.
    Terminal,
}

impl Verdict {
    /// Whether this is [`Transient`](Self::Transient).
    #[must_use]
    pub const fn is_transient(self) -> bool {
        matches!(self, Self::Transient)
    }
}

impl From<bool> for Verdict {
    /// `true` is [`Transient`](Self::Transient).
    fn from(transient: bool) -> Self {
        if transient { Self::Transient } else { Self::Terminal }
    }
}

/// Tells a transient fault from a terminal one.
///
/// A function `Fn(&E) -> Verdict` is one. Combine classifiers with [`Compose`].
pub trait Classify<E: ?Sized> {
    /// The verdict on `fault`.
    fn classify(&self, fault: &E) -> Verdict;
}

impl<E: ?Sized, F: Fn(&E) -> Verdict> Classify<E> for F {
    fn classify(&self, fault: &E) -> Verdict {
        self(fault)
    }
}
