//! Rider one: a subscription that lives through its owner's recycles.

mod ask;
mod keep_alive;
mod outbox;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use self::ask::Rider;
use self::outbox::Outbox;
use super::Transport;
use crate::activation::ActivationId;
use crate::address::Address;
use crate::failure::DeliveryFailure;
use crate::mesh::{Frame, StreamId};
use crate::ride_out::{Bound, RideOutPolicy};

/// What happens to a stream whose ride-out has spent a bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnGiveUp {
    /// It stays, un-faulted and visibly [`Parked`](RideState::Parked), with its change-feed latch armed.
    #[default]
    Park,
    /// It ends with the refusal that spent the bound.
    Fault,
}

/// What a stream is opened with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct SyncStreamOptions {
    /// How its owner's recycles are ridden out.
    pub ride_out: RideOutPolicy,
    /// What happens when that gives up.
    pub on_give_up: OnGiveUp,
    /// How often the owner is poked; the first time after 5 s at the latest. An owner that answered and then went quiet
    /// delivers when it is poked.
    pub heartbeat: Duration,
    /// How long change-feed pulses are collected into one, from the first of them.
    pub debounce: Duration,
    /// How long the announced version is then given to arrive by itself.
    pub grace: Duration,
}

impl Default for SyncStreamOptions {
    /// 45 s, 1 s and 1 s, from the mesh that this rider was modelled on.
    fn default() -> Self {
        Self {
            ride_out: RideOutPolicy::default(),
            on_give_up: OnGiveUp::default(),
            heartbeat: Duration::from_secs(45),
            debounce: Duration::from_secs(1),
            grace: Duration::from_secs(1),
        }
    }
}

/// Where a stream stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RideState {
    /// The first ask has not been answered.
    Opening,
    /// The last ask was answered.
    Reading,
    /// The last ask was refused, and another one is on its way.
    Riding {
        /// The axis that the refusal was charged to.
        axis: Bound,
        /// Which attempt on that axis comes next, counted from 1.
        attempt: u32,
        /// Who refused.
        activation: Option<ActivationId>,
    },
    /// A bound is spent. Nothing asks any more, save a change that is announced.
    Parked {
        /// The bound.
        bound: Bound,
        /// The owner.
        owner: Address,
        /// Who refused last.
        activation: Option<ActivationId>,
    },
    /// It ended with this.
    Faulted(DeliveryFailure),
}

/// The states of one node, as frames: the latest one, and a newer one when there is one.
///
/// Ends with `Some(Err(..))` once, and then `None`, when its owner answers with a verdict. Dropping it unsubscribes.
///
/// # Recovery
/// [`ShuttingDown`](crate::failure::FailureKind::ShuttingDown) never ends it. It is ridden out within the bounds of
/// [`RideOutPolicy`], and a spent bound is logged once as a warning and shows as [`RideState::Parked`].
///
/// # Cancel safety
/// A frame that was not read is kept until a newer one replaces it.
#[must_use = "streams do nothing unless polled, and dropping this one unsubscribes"]
pub struct SyncStream {
    id: StreamId,
    frames: Arc<Outbox>,
    state: watch::Receiver<RideState>,
    _stop: DropGuard,
}

impl SyncStream {
    /// Subscribes to the node at `owner`. Call it inside a tokio runtime.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn open(transport: Arc<dyn Transport>, owner: &Address, options: SyncStreamOptions) -> Self {
        let stop = CancellationToken::new();
        let frames = Arc::new(Outbox::default());
        let (state, seen) = watch::channel(RideState::Opening);
        let id = StreamId::mint();
        let rider = Rider::new(id.clone(), transport, owner.clone(), options, Arc::clone(&frames), state);
        let stopped = stop.clone();
        let ends = frames.clone().ends_with_driver();
        tokio::spawn(async move {
            let _ends = ends;
            rider.drive(stopped).await;
        });
        Self { id, frames, state: seen, _stop: stop.drop_guard() }
    }

    /// The name that the stream has at its owner, and in the log.
    #[must_use]
    pub fn id(&self) -> &StreamId {
        &self.id
    }

    /// Where the stream stands, now and at each change.
    #[must_use]
    pub fn state(&self) -> watch::Receiver<RideState> {
        self.state.clone()
    }
}

impl Stream for SyncStream {
    type Item = Result<Frame, DeliveryFailure>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.frames.poll_next(cx)
    }
}

impl fmt::Debug for SyncStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncStream")
            .field("id", &self.id)
            .field("state", &*self.state.borrow())
            .finish_non_exhaustive()
    }
}
