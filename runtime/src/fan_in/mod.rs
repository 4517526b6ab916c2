//! One answer out of many providers, with a bound on how long it waits for a silent one.
//!
//! A query that several providers answer has its *Initial* when every one of them has given its own. A provider that
//! never answers would hold the whole query for ever, and nobody would know which one it was. A [`FanIn`] waits for at
//! most a budget, and then ends on [`QueryProviderStalled`], which names the silent providers. That is a statement about
//! who could be reached, never about what exists: [`Infrastructure`](crate::classify::Infrastructure) calls it
//! transient, and a watch over the fan-in re-opens after it.
//!
//! ```
//! use futures_util::{StreamExt, stream};
//! use rideout::fan_in::{FanInPolicy, Frame, fan_in_with};
//! use rideout::schedule::ManualSchedule;
//! use std::io;
//!
//! # futures_executor::block_on(async {
//! let clock = ManualSchedule::new();
//! let files = stream::iter(vec![Ok::<_, io::Error>(vec!["a"]), Ok(vec!["a", "b"])]);
//! let tables = stream::iter(vec![Ok(vec!["t"])]);
//! let mut union = fan_in_with([("files", files), ("tables", tables)], FanInPolicy::new(clock));
//!
//! let Some(Ok(Frame::Initial(initial))) = union.next().await else { panic!("both providers answer") };
//! assert!(initial.is_complete());
//! assert_eq!(initial.into_answers().flatten().collect::<Vec<_>>(), ["a", "t"]);
//! assert!(matches!(union.next().await, Some(Ok(Frame::Update { provider, .. })) if &*provider == "files"));
//! # });
//! ```
//!
//! Where each item of a provider is its whole answer, [`latest`](FanIn::latest) makes every frame the whole answer of
//! the union, which is what a [query cache](crate::query_cache) keeps.
//!
//! | a provider | before the Initial | after it |
//! |---|---|---|
//! | emits | its first item is its part of the Initial; later ones follow the Initial | an update |
//! | completes | without an item it counts as empty and is named on the frame, with one warning | it is done |
//! | faults | the fan-in ends on that fault, at once | the same |
//! | does nothing | at the budget the fan-in ends on the stall | no bound: the gate is open |

mod fault;
mod frame;
mod gather;
mod latest;
#[cfg(test)]
mod tests;

pub use fault::{FanInFault, QueryProviderStalled};
pub use frame::{Frame, Part, Union};
pub use gather::FanIn;
pub use latest::Latest;

use std::{sync::Arc, time::Duration};

use futures_core::Stream;

use crate::schedule::Schedule;

/// How long a fan-in waits for its last Initial: 15 s.
///
/// It is the innermost of the bounds around a query, which must be ordered strictly (30 s for a request, 25 s and 20 s for
/// what a request calls, 15 s here), so that the bound that fires is the one that can name the provider. Two equal
/// bounds are no order.
pub const STALL_BUDGET: Duration = Duration::from_secs(15);

/// How long a fan-in waits, and on which clock.
#[derive(Clone, Debug)]
#[must_use]
pub struct FanInPolicy<C> {
    budget: Duration,
    schedule: C,
}

impl<C: Schedule> FanInPolicy<C> {
    /// The default budget, [`STALL_BUDGET`], on this clock.
    pub fn new(schedule: C) -> Self {
        Self { budget: STALL_BUDGET, schedule }
    }

    /// Another budget, counted from the first poll. Keep it strictly below every bound of the callers.
    pub fn budget(mut self, budget: Duration) -> Self {
        self.budget = budget;
        self
    }
}

/// Merges named providers into one stream of frames, on tokio's clock with the default budget.
///
/// See [`fan_in_with`].
#[cfg(feature = "tokio")]
pub fn fan_in<S, T, E, N>(
    providers: impl IntoIterator<Item = (N, S)>,
) -> FanIn<S, T, crate::schedule::TokioSchedule>
where
    S: Stream<Item = Result<T, E>>,
    N: Into<Arc<str>>,
{
    fan_in_with(providers, FanInPolicy::new(crate::schedule::TokioSchedule))
}

/// Merges named providers into one stream of frames.
///
/// The first item is the Initial, one part per provider; the others are updates. No provider at all is an empty Initial
/// and then the end. After a fault or a stall the stream is over, and every provider has been dropped.
///
/// Each poll asks every provider in turn, so this is meant for tens of them and not for thousands.
///
/// # Cancel safety
///
/// `next()` on the stream is cancel safe: an item that was not delivered stays queued. Dropping the stream drops the
/// providers and the timer.
pub fn fan_in_with<S, T, E, C, N>(
    providers: impl IntoIterator<Item = (N, S)>,
    policy: FanInPolicy<C>,
) -> FanIn<S, T, C>
where
    S: Stream<Item = Result<T, E>>,
    C: Schedule,
    N: Into<Arc<str>>,
{
    FanIn::new(providers.into_iter().map(|(name, stream)| (name.into(), stream)), policy)
}
