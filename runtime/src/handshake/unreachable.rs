//! The two ways in which a handshake fails.

use std::{
    error::Error,
    fmt::{self, Display},
    num::NonZeroU32,
    sync::Arc,
};

/// The coordination node gave no answer in any attempt.
///
/// Neither a pass nor a verdict: the process that gets this has verified nothing. What follows from that is for the next
/// door to say, so the text names the node and claims no outcome.
#[derive(Clone, Debug)]
pub struct BuildCoordinationUnreachable {
    /// The name of the node.
    pub node: Arc<str>,
    /// How often it was asked.
    pub attempts: NonZeroU32,
    /// What the last attempt ended on; also the `source`.
    pub last: Arc<dyn Error + Send + Sync>,
}

impl BuildCoordinationUnreachable {
    /// The first of this type in the source chain of `fault`, `fault` included.
    #[must_use]
    pub fn find<'a>(fault: &'a (dyn Error + 'static)) -> Option<&'a Self> {
        let mut node = Some(fault);
        for _ in 0..crate::classify::MAX_NODES {
            let fault = node?;
            if let Some(found) = fault.downcast_ref() {
                return Some(found);
            }
            node = fault.source();
        }
        None
    }
}

impl Display for BuildCoordinationUnreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = if self.attempts.get() == 1 { "attempt" } else { "attempts" };
        write!(
            f,
            "the coordination node `{}` gave no answer in {} {times}; nothing was verified",
            self.node, self.attempts
        )
    }
}

impl Error for BuildCoordinationUnreachable {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.last)
    }
}

/// Why there is no claim.
#[derive(Clone, Debug)]
pub enum HandshakeError<E> {
    /// Nobody answered; ask the witness.
    Unreachable(BuildCoordinationUnreachable),
    /// Somebody did: this fault, as it came, on its first occurrence.
    Answered(E),
}

impl<E: Display> Display for HandshakeError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(unreachable) => unreachable.fmt(f),
            Self::Answered(fault) => fault.fmt(f),
        }
    }
}

impl<E: Error + 'static> Error for HandshakeError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreachable(unreachable) => Some(unreachable),
            Self::Answered(fault) => Some(fault),
        }
    }
}
