//! Rider two: one read, within a budget, through an address that recycles.

use std::collections::HashSet;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};

use super::Transport;
use crate::activation::ActivationId;
use crate::address::Address;
use crate::failure::{DeliveryFailure, FailureKind};
use crate::mesh::{NO_ANSWER_IN_TIME, Node};
use crate::shape::recycling_shape;

/// What a read found out. "Could not read" is never "absent".
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum NodeRead {
    /// The node.
    Present(Node),
    /// Routing's verdict: no node is there.
    Absent,
    /// It could not be read, and nothing is known of whether it is there.
    Unavailable(DeliveryFailure),
}

/// How long a read may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct ReadOptions {
    /// The whole budget. Nothing outlives it.
    pub budget: Duration,
    /// The rest before each probe after the second.
    pub pace: Duration,
}

impl Default for ReadOptions {
    /// 10 s, and the 500 ms of the other rider.
    fn default() -> Self {
        Self { budget: Duration::from_secs(10), pace: Duration::from_millis(500) }
    }
}

/// The budget ran out while the address kept answering that it is shutting down.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct AddressRecycling {
    /// The address.
    pub path: Address,
    /// How often it was asked.
    pub probes: u32,
    /// How long that took.
    pub elapsed: Duration,
    /// How long it might have taken.
    pub budget: Duration,
    /// How many activations refused; those that did not name themselves are not counted.
    pub distinct_owners: usize,
    /// The last refusal.
    pub last: DeliveryFailure,
}

impl fmt::Display for AddressRecycling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, probes, elapsed, budget, distinct_owners, last } = self;
        write!(
            f,
            "'{path}' is recycling, and is not absent: {probes} probes in {elapsed:.1?} of a budget of {budget:.1?} were \
             refused. "
        )?;
        match recycling_shape(*distinct_owners) {
            shape if shape.is_empty() => write!(f, "Last: {last}"),
            shape => write!(f, "{shape} Last: {last}"),
        }
    }
}

impl Error for AddressRecycling {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.last)
    }
}

/// Reads the node at `path`, riding out its recycles until the budget ends.
///
/// The first refusal costs one re-probe as soon as the owner is disposed of, where that can be seen from here: a healthy
/// recycle is over in less than a second. Every later probe follows a rest. No count bounds them, the budget does.
///
/// # Errors
/// [`AddressRecycling`] when the budget ran out on refusals.
///
/// # Cancel safety
/// Dropping the future drops the probe under way. Reading changes nothing.
pub async fn read_node(
    transport: &dyn Transport,
    path: &Address,
    options: ReadOptions,
) -> Result<NodeRead, AddressRecycling> {
    let begun = Instant::now();
    let deadline = begun + options.budget;
    let mut owners: HashSet<ActivationId> = HashSet::new();
    let mut last: Option<DeliveryFailure> = None;
    let mut probes = 0;
    let recycling = |probes, owners: &HashSet<_>, last| AddressRecycling {
        path: path.clone(),
        probes,
        elapsed: begun.elapsed(),
        budget: options.budget,
        distinct_owners: owners.len(),
        last,
    };
    loop {
        probes += 1;
        let refusal = match timeout_at(deadline, transport.read(path)).await {
            Ok(Ok(node)) => return Ok(NodeRead::Present(node)),
            Ok(Err(failure)) if failure.kind.is_promise() => failure,
            Ok(Err(failure)) if failure.kind == FailureKind::NotFound => return Ok(NodeRead::Absent),
            Ok(Err(failure)) => return Ok(NodeRead::Unavailable(failure)),
            Err(_elapsed) => {
                return match last {
                    Some(last) => Err(recycling(probes, &owners, last)),
                    None => Ok(NodeRead::Unavailable(no_answer(path, options.budget))),
                };
            }
        };
        let refused_by = refusal.token();
        owners.extend(refused_by);
        let first = last.replace(refusal.clone()).is_none();
        let waited = async {
            if first { transport.owner_ready(path, refused_by).await } else { sleep(options.pace).await }
        };
        if timeout_at(deadline, waited).await.is_err() || Instant::now() >= deadline {
            return Err(recycling(probes, &owners, refusal));
        }
    }
}

fn no_answer(path: &Address, budget: Duration) -> DeliveryFailure {
    let text =
        format!("{NO_ANSWER_IN_TIME}: no answer from '{path}' within {budget:?}; this is NOT not-found");
    DeliveryFailure::new(FailureKind::Unavailable, text)
}
