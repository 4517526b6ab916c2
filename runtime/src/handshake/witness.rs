//! The door that is left when the coordination node cannot be reached: what a durable witness says.
//!
//! Three readings, kept apart: a go, no go, and *could not be determined*. The third is not the second. A witness that
//! times out like the node did proves nothing, and is followed by a measurement outside the broken transport.

use std::{
    error::Error,
    fmt::{self, Display},
    future::Future,
    time::SystemTime,
};

use super::BuildCoordinationUnreachable;

/// What a witness says about one fingerprint.
#[derive(Debug)]
pub enum WitnessReading {
    /// The work for this fingerprint was finished then.
    Go {
        /// When.
        ready_at: SystemTime,
    },
    /// The witness was read, and has no go for this fingerprint.
    NoGo,
    /// The witness could not be read.
    Undetermined(Box<dyn Error + Send + Sync>),
}

impl WitnessReading {
    /// Reads a record of fingerprints and when each was ready. Only an exact match is a go: another build's says nothing.
    pub fn of<N: AsRef<str>>(record: impl IntoIterator<Item = (N, SystemTime)>, fingerprint: &str) -> Self {
        let found = record.into_iter().find(|(name, _)| name.as_ref() == fingerprint);
        found.map_or(Self::NoGo, |(_, ready_at)| Self::Go { ready_at })
    }
}

/// Leave to proceed without the coordination node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// The durable witness had the go.
    Witnessed {
        /// Since when.
        ready_at: SystemTime,
    },
    /// The witness could not be read, and the measurement showed that the work is done.
    Measured {
        /// Since when.
        ready_at: SystemTime,
    },
}

/// The door stays shut. The original error is in it, and is its `source`.
#[derive(Debug)]
pub struct DoorShut {
    /// Why the door was tried at all.
    pub unreachable: BuildCoordinationUnreachable,
    /// What the witness could not be read for, if it could not.
    pub witness: Option<Box<dyn Error + Send + Sync>>,
    /// What the measurement could not be made for. With this one nothing is known: not evaluated, and no regression.
    pub measurement: Option<Box<dyn Error + Send + Sync>>,
}

impl DoorShut {
    /// Whether a record or a measurement said that there is no go, rather than nobody being able to tell.
    #[must_use]
    pub fn is_no_go(&self) -> bool {
        self.measurement.is_none()
    }
}

impl Display for DoorShut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unreachable = &self.unreachable;
        match (&self.witness, &self.measurement) {
            (None, _) => write!(f, "{unreachable}, and the witness has no go"),
            (Some(_), None) => {
                write!(
                    f,
                    "{unreachable}; the witness could not be read, and by measurement the work is not done"
                )
            }
            (Some(witness), Some(measurement)) => write!(
                f,
                "{unreachable}; the witness could not be read ({witness}), nor could the work be measured ({measurement})"
            ),
        }
    }
}

impl Error for DoorShut {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.unreachable)
    }
}

/// Asks the witness, after a handshake found its node unreachable.
///
/// `witness` reads the durable record for the fingerprint of *this* process. `measure` is asked only if the witness could
/// not be read: it looks at the work itself, by a way that does not share the transport that failed.
///
/// # Errors
///
/// [`DoorShut`], which holds the original error, if there is no go or nobody could tell.
///
/// # Cancel safety
///
/// Dropping the future drops the reading in flight. Nothing is written.
pub async fn witness_door<'a, W, WFut, M, MFut>(
    unreachable: BuildCoordinationUnreachable,
    fingerprint: &'a str,
    witness: W,
    measure: M,
) -> Result<Go, DoorShut>
where
    W: FnOnce(&'a str) -> WFut,
    WFut: Future<Output = WitnessReading>,
    M: FnOnce(&'a str) -> MFut,
    MFut: Future<Output = WitnessReading>,
{
    let (go, why) = match witness(fingerprint).await {
        WitnessReading::Go { ready_at } => (Go::Witnessed { ready_at }, None),
        WitnessReading::NoGo => return Err(DoorShut { unreachable, witness: None, measurement: None }),
        WitnessReading::Undetermined(witness) => match measure(fingerprint).await {
            WitnessReading::Go { ready_at } => (Go::Measured { ready_at }, Some(witness)),
            WitnessReading::NoGo => {
                return Err(DoorShut { unreachable, witness: Some(witness), measurement: None });
            }
            WitnessReading::Undetermined(measurement) => {
                return Err(DoorShut { unreachable, witness: Some(witness), measurement: Some(measurement) });
            }
        },
    };
    warn_proceeding(&unreachable, fingerprint, go, why.as_deref());
    Ok(go)
}

#[cfg(feature = "tracing")]
fn warn_proceeding(
    unreachable: &BuildCoordinationUnreachable,
    fingerprint: &str,
    go: Go,
    witness: Option<&(dyn Error + Send + Sync)>,
) {
    let witness = witness.map(tracing::field::display);
    tracing::warn!(node = %unreachable.node, fingerprint, ?go, witness, "proceeding without the coordination node");
}

#[cfg(not(feature = "tracing"))]
fn warn_proceeding(_: &BuildCoordinationUnreachable, _: &str, _: Go, _: Option<&(dyn Error + Send + Sync)>) {}
