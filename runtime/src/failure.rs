//! A negative answer, with its kind and the activation that gave it as data.
//!
//! Three questions about an answer are kept apart, because each has its own consequence: *is it a promise?*
//! ([`FailureKind::is_promise`], asked here), *is it transient infrastructure?* and *did nobody answer in time?*.
//!
//! ```
//! use rideout::failure::{DeliveryFailure, FailureKind};
//!
//! let gone = DeliveryFailure::not_found(&"Tenant/Inst".into());
//! assert!(!gone.kind.is_promise());
//! assert!(FailureKind::ShuttingDown.is_promise());
//! ```

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::activation::ActivationId;
use crate::address::Address;
use crate::classify::{Nature, says_no_answer_in_time};
use crate::nack::{ShutdownNack, extract_activation};

/// What a negative answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// A verdict: there is nothing at the address.
    NotFound,
    /// A verdict: it is not yours to ask for.
    Unauthorized,
    /// A verdict: the work broke.
    Failed,
    /// The only promise: the activation that answers is going away, and its address may come back.
    ShuttingDown,
    /// Nobody answered, or nobody could be asked. Says nothing about the target, and promises nothing.
    Unavailable,
    /// Anything else. Not a promise.
    Other,
}

impl FailureKind {
    /// Whether the answer promises that the address may come back, so that it is ridden out and not taken as the end.
    #[must_use]
    pub fn is_promise(self) -> bool {
        self == Self::ShuttingDown
    }

    /// The word that stands for the kind on a wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "NotFound",
            Self::Unauthorized => "Unauthorized",
            Self::Failed => "Failed",
            Self::ShuttingDown => "ShuttingDown",
            Self::Unavailable => "Unavailable",
            Self::Other => "Other",
        }
    }

    /// The kind behind a word from a wire. An unknown word is [`Other`](Self::Other): a newer peer's kind is no promise.
    #[must_use]
    pub fn from_word(word: &str) -> Self {
        match word {
            "NotFound" => Self::NotFound,
            "Unauthorized" => Self::Unauthorized,
            "Failed" => Self::Failed,
            "ShuttingDown" => Self::ShuttingDown,
            "Unavailable" => Self::Unavailable,
            _ => Self::Other,
        }
    }
}

/// A delivery that was answered in the negative.
///
/// `message` is for people. What programs decide by travels as fields, so that no boundary has to parse a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct DeliveryFailure {
    /// What the answer says.
    pub kind: FailureKind,
    /// The answer in words.
    pub message: Arc<str>,
    /// The activation that answered, where one did.
    pub activation: Option<ActivationId>,
}

impl DeliveryFailure {
    /// A failure that names no activation.
    pub fn new(kind: FailureKind, message: impl Into<Arc<str>>) -> Self {
        Self { kind, message: message.into(), activation: None }
    }

    /// Routing's verdict that no node is at the path.
    pub fn not_found(address: &Address) -> Self {
        Self::new(FailureKind::NotFound, format!("No node found at '{}'", address.path()))
    }

    /// The refusal of a request by a hub that is going away.
    pub fn rejecting(nack: &ShutdownNack<'_>) -> Self {
        Self::shutting_down(nack, nack.rejecting_now())
    }

    /// The answer to a request that a hub had accepted and did not finish before it went away.
    pub fn unfinished(nack: &ShutdownNack<'_>) -> Self {
        Self::shutting_down(nack, nack.unfinished())
    }

    /// The activation that answered: the field, or where a peer sent none, the tag in the text.
    #[must_use]
    pub fn token(&self) -> Option<ActivationId> {
        self.activation.or_else(|| extract_activation(&self.message))
    }

    /// What the three questions of [`classify`](crate::classify) are answered by.
    ///
    /// A kind that this crate does not know is [`Flattened`](Nature::Flattened): only its text may tell that nobody
    /// answered in time.
    #[must_use]
    pub fn nature(&self) -> Nature {
        match self.kind {
            FailureKind::ShuttingDown => Nature::Promise,
            FailureKind::NotFound | FailureKind::Unauthorized | FailureKind::Failed => Nature::Verdict,
            FailureKind::Unavailable if says_no_answer_in_time(&self.message) => Nature::NoAnswerInTime,
            FailureKind::Unavailable => Nature::Unavailable,
            FailureKind::Other => Nature::Flattened,
        }
    }

    fn shutting_down(nack: &ShutdownNack<'_>, message: String) -> Self {
        Self { kind: FailureKind::ShuttingDown, message: message.into(), activation: Some(nack.activation) }
    }
}

impl fmt::Display for DeliveryFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.message)
    }
}

impl Error for DeliveryFailure {}

/// Refused because the hub that would host the new hub is being torn down.
///
/// It may come up anywhere in the error chain of a handler: [`answer_for`] finds it and answers with a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct HubDisposing {
    /// The hub that hosts no more.
    pub host: Address,
    /// Its activation.
    pub activation: ActivationId,
}

impl fmt::Display for HubDisposing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hub {} (activation #{}) is disposing and hosts no new hub", self.host, self.activation)
    }
}

impl Error for HubDisposing {}

/// How far [`answer_for`] follows the causes of an error. Bounded, because a hand-written `source` may run in a circle.
const MAX_CAUSES: usize = 256;

/// The answer that a hub gives when a handler fails with `error`.
///
/// Two causes, at any depth, answer for themselves: [`HubDisposing`] becomes the promise that `nack` words, and a
/// [`DeliveryFailure`] is passed on with its kind. Everything else is a bug in the handler and stays a verdict.
pub fn answer_for(error: &(dyn Error + 'static), nack: &ShutdownNack<'_>) -> DeliveryFailure {
    let mut cause = Some(error);
    for _ in 0..MAX_CAUSES {
        let Some(current) = cause else { break };
        if current.is::<HubDisposing>() {
            return DeliveryFailure::rejecting(nack);
        }
        if let Some(failure) = current.downcast_ref::<DeliveryFailure>() {
            return failure.clone();
        }
        cause = current.source();
    }
    DeliveryFailure::new(FailureKind::Failed, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_survives_its_word() {
        use FailureKind::{Failed, NotFound, Other, ShuttingDown, Unauthorized, Unavailable};
        for kind in [NotFound, Unauthorized, Failed, ShuttingDown, Unavailable, Other] {
            assert_eq!(FailureKind::from_word(kind.as_str()), kind);
            assert_eq!(kind.is_promise(), kind == ShuttingDown);
        }
        assert_eq!(FailureKind::from_word("RoutingLoop"), Other);
    }

    #[test]
    fn the_three_questions_are_asked_of_the_kind_and_not_of_the_text() {
        use crate::classify::{is_no_answer_in_time, is_promise};
        let late = "Response did not arrive on time";
        for (kind, promise, no_answer) in [
            (FailureKind::ShuttingDown, true, false),
            (FailureKind::NotFound, false, false),
            (FailureKind::Failed, false, false),
            (FailureKind::Unavailable, false, true),
            (FailureKind::Other, false, true),
        ] {
            let failure = DeliveryFailure::new(kind, late);
            assert_eq!(
                (is_promise(&failure), is_no_answer_in_time(&failure)),
                (promise, no_answer),
                "{kind:?}"
            );
        }
    }

    #[test]
    fn the_field_is_preferred_to_the_text() {
        let text = "Hub a is shutting down (RunLevel=Dead, activation #000000AA) — cannot process Get";
        let mut failure = DeliveryFailure::new(FailureKind::ShuttingDown, text);
        assert_eq!(failure.token(), ActivationId::from_bits(0xAA));
        failure.activation = ActivationId::from_bits(0xBB);
        assert_eq!(failure.token(), ActivationId::from_bits(0xBB));
    }

    #[derive(Debug)]
    struct Wrapped(Box<dyn Error + 'static>);

    impl fmt::Display for Wrapped {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("while handling the request")
        }
    }

    impl Error for Wrapped {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(self.0.as_ref())
        }
    }

    /// The check of the outermost error alone, which misses a wrapped cause.
    fn outermost_only(error: &(dyn Error + 'static)) -> FailureKind {
        if error.is::<HubDisposing>() { FailureKind::ShuttingDown } else { FailureKind::Failed }
    }

    /// `HubDisposalFailureClassification`: a disposing hub is a promise at any depth; an ordinary bug stays a verdict.
    #[test]
    fn hub_disposal_failure_classification() {
        let address = Address::new("a/b");
        let activation = ActivationId::mint();
        let nack = ShutdownNack {
            address: &address,
            run_level: crate::run_level::RunLevel::Quiescing,
            activation,
            what: "Subscribe",
        };
        let disposing = HubDisposing { host: address.clone(), activation };
        let once = Wrapped(Box::new(disposing.clone()));
        let twice = Wrapped(Box::new(Wrapped(Box::new(disposing.clone()))));
        for error in [&disposing as &(dyn Error + 'static), &once, &twice] {
            let answer = answer_for(error, &nack);
            assert_eq!(answer.kind, FailureKind::ShuttingDown);
            assert_eq!(answer.token(), Some(activation));
        }
        assert_eq!(outermost_only(&disposing), FailureKind::ShuttingDown);
        assert_eq!(outermost_only(&once), FailureKind::Failed, "the unfixed check takes a recycle for a bug");

        let bug = Wrapped(Box::new(fmt::Error));
        assert_eq!(answer_for(&bug, &nack).kind, FailureKind::Failed);
        let passed_on = Wrapped(Box::new(DeliveryFailure::new(FailureKind::Unauthorized, "no")));
        assert_eq!(answer_for(&passed_on, &nack).kind, FailureKind::Unauthorized);
    }
}
