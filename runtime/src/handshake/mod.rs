//! Asking a coordination node for a claim, again while nobody answers, and only then.
//!
//! A claim is asked for once per process, before its work begins. Two things must not be confused on the way: *nobody
//! answered in time*, which asking again may cure, and *an answer*, which asking again only repeats. And when the
//! attempts are spent, that is neither a yes nor a no: [`BuildCoordinationUnreachable`] says that nothing was verified,
//! and sends the decision to a witness that does not depend on the node ([`witness_door`]).
//!
//! ```
//! use rideout::classify::TypedFault;
//! use rideout::handshake::{HandshakePolicy, claim_handshake};
//! use rideout::schedule::ManualSchedule;
//!
//! # futures_executor::block_on(async {
//! // The transport's bound ran out twice; all that came back is its text.
//! let slow = || TypedFault::flattened("Delivery to 'Admin/Build' failed: Response did not arrive on time in 00:00:30");
//! let policy = HandshakePolicy::new("Admin/Build", ManualSchedule::firing());
//! let claim = claim_handshake(
//!     |attempt| async move { if attempt.get() < 3 { Err(slow()) } else { Ok("granted") } },
//!     policy,
//! );
//! assert_eq!(claim.await.unwrap(), "granted");
//! # });
//! ```
//!
//! Asking again is safe only where the registration is idempotent per holder: the request that timed out may have
//! landed. The handshake covers the asking and nothing else: a timeout inside the work that follows is the work's own.

mod unreachable;
mod witness;

pub use unreachable::{BuildCoordinationUnreachable, HandshakeError};
pub use witness::{DoorShut, Go, WitnessReading, witness_door};

use std::{error::Error, future::Future, num::NonZeroU32, sync::Arc, time::Duration};

use crate::{cadence::Cadence, classify::is_no_answer_in_time, schedule::Schedule};

/// How often a claim is asked for in all: 3 times. With the pauses between them that is small enough for a start-up probe.
pub const ATTEMPTS: u32 = 3;

/// 5 s, then 15 s: the pauses between the attempts.
///
/// Each failed attempt has already cost the transport's own bound, so the pause has to outlast an activation of the node
/// and no deployment.
pub const PAUSES: Cadence = Cadence::steps(Duration::from_secs(5), &[Duration::from_secs(15)]);

/// The longest pause of any policy: just below the 30 s that a transport waits for an answer.
pub const MAX_PAUSE: Duration = Duration::from_millis(29_999);

/// Whom a handshake asks, how often, and on which clock it pauses.
#[derive(Clone, Debug)]
#[must_use]
pub struct HandshakePolicy<C> {
    node: Arc<str>,
    attempts: u32,
    pauses: Cadence,
    schedule: C,
}

impl<C: Schedule> HandshakePolicy<C> {
    /// [`ATTEMPTS`] and [`PAUSES`] for the node of this name, which is used in messages only.
    pub fn new(node: impl Into<Arc<str>>, schedule: C) -> Self {
        Self { node: node.into(), attempts: ATTEMPTS, pauses: PAUSES, schedule }
    }

    /// Asks this often in all. 0 asks once all the same: a handshake that never asked would have nothing to report.
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Pauses like this between the attempts. A pause over [`MAX_PAUSE`] is cut to it.
    pub fn pauses(mut self, pauses: Cadence) -> Self {
        self.pauses = pauses;
        self
    }
}

/// Asks until there is an answer, and again only after [no answer in time](crate::classify::is_no_answer_in_time).
///
/// `ask` gets the number of the attempt, from 1.
///
/// # Errors
///
/// [`HandshakeError::Answered`] with the first fault that is an answer, unchanged. [`HandshakeError::Unreachable`] when
/// every attempt went without one.
///
/// # Cancel safety
///
/// Dropping the future drops the request in flight or the pause. The request may have landed; asking again later is as
/// safe as asking again here.
pub async fn claim_handshake<F, Fut, T, E, C>(
    mut ask: F,
    mut policy: HandshakePolicy<C>,
) -> Result<T, HandshakeError<E>>
where
    F: FnMut(NonZeroU32) -> Fut,
    Fut: Future<Output = Result<T, E>>,
    E: Error + Send + Sync + 'static,
    C: Schedule,
{
    let mut attempt = NonZeroU32::MIN;
    loop {
        let answer = ask(attempt).await;
        let fault = match answer {
            Ok(claim) => return Ok(claim),
            Err(fault) if !is_no_answer_in_time(&fault) => return Err(HandshakeError::Answered(fault)),
            Err(fault) => fault,
        };
        if attempt.get() >= policy.attempts {
            return Err(HandshakeError::Unreachable(BuildCoordinationUnreachable {
                node: policy.node,
                attempts: attempt,
                last: Arc::new(fault),
            }));
        }
        let pause = policy.pauses.delay(attempt).min(MAX_PAUSE);
        warn_asking_again(&policy.node, attempt, pause, &fault);
        policy.schedule.after(attempt, pause).await;
        attempt = attempt.saturating_add(1);
    }
}

#[cfg(feature = "tracing")]
fn warn_asking_again(node: &str, attempt: NonZeroU32, pause: Duration, fault: &dyn Error) {
    tracing::warn!(node, attempt, pause_ms = pause.as_millis(), %fault, "no answer in time, asking again after the pause");
}

#[cfg(not(feature = "tracing"))]
fn warn_asking_again(_: &str, _: NonZeroU32, _: Duration, _: &dyn Error) {}
