//! The ask: one rule for the first one and for every one after it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use futures_util::future::BoxFuture;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::keep_alive;
use super::outbox::Outbox;
use super::{OnGiveUp, RideState, SyncStreamOptions};
use crate::address::Address;
use crate::failure::DeliveryFailure;
use crate::mesh::{Arrival, Frame, Inbox, InboxSender, StreamId, Subscribe};
use crate::ride_out::{Bound, ReArm};
use crate::rider::{Carrier, InFlight, Rejections, Transport, re_arm_carrier};
use crate::shape::recycling_shape;

/// The reason of an ask that the other side asked for.
const NUDGED: &str = "it was told to";

/// Everything that the parts of one stream share. They all run in one task, and end together.
pub(super) struct Rider {
    pub(super) id: StreamId,
    pub(super) owner: Address,
    pub(super) options: SyncStreamOptions,
    pub(super) transport: Arc<dyn Transport>,
    /// The highest version that has arrived.
    pub(super) received: AtomicU64,
    frames: InboxSender,
    arrivals: Option<(Inbox, Carrier)>,
    rejections: Rejections,
    in_flight: InFlight,
    /// An ask that must not be covered by one already under way was asked for while one was.
    once_more: AtomicBool,
    nudged: Notify,
    out: Arc<Outbox>,
    state: watch::Sender<RideState>,
    ended: CancellationToken,
}

impl Rider {
    pub(super) fn new(
        id: StreamId,
        transport: Arc<dyn Transport>,
        owner: Address,
        options: SyncStreamOptions,
        out: Arc<Outbox>,
        state: watch::Sender<RideState>,
    ) -> Self {
        let (frames, inbox) = Inbox::new();
        let (rejections, carrier) = re_arm_carrier(options.ride_out);
        Self {
            id,
            owner,
            options,
            transport,
            received: AtomicU64::new(0),
            frames,
            arrivals: Some((inbox, carrier)),
            rejections,
            in_flight: InFlight::new(),
            once_more: AtomicBool::new(false),
            nudged: Notify::new(),
            out,
            state,
            ended: CancellationToken::new(),
        }
    }

    /// Runs the stream until its reader is gone or a verdict ends it.
    pub(super) async fn drive(mut self, stop: CancellationToken) {
        let Some((inbox, carrier)) = self.arrivals.take() else { return };
        // The feed is watched from before the first ask: what changes in between is announced, not missed.
        let feed = self.transport.feed().watch(&self.owner);
        let this = &self;
        let first_ask: BoxFuture<'_, ()> = Box::pin(this.ask(None));
        let parts = async {
            tokio::join!(
                first_ask,
                this.take_arrivals(inbox),
                this.ask_when_nudged(),
                this.carry(carrier),
                keep_alive::heartbeat(this),
                keep_alive::latch(this, feed),
            )
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = this.ended.cancelled() => {}
            _ = parts => {}
        }
        self.transport.unsubscribe(&self.owner, &self.id);
    }

    /// Asks again, unless an ask is under way.
    ///
    /// Boxed, so that a stream which is not asking holds no room for it in each of the places that may.
    pub(super) fn resubscribe<'a>(&'a self, reason: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(self.ask(Some(reason)))
    }

    /// The first ask has no reason; every later one has.
    async fn ask(&self, mut reason: Option<&str>) {
        loop {
            let Some(under_way) = self.in_flight.try_acquire() else { return };
            self.once_more.store(false, Ordering::Release);
            if let Some(reason) = reason {
                tracing::info!(stream = %self.id, owner = %self.owner, reason, "Stream {}: asking {} again: {reason}", self.id, self.owner);
            }
            let subscribe = Subscribe { stream: self.id.clone(), frames: self.frames.clone() };
            let answer = self.transport.subscribe(&self.owner, subscribe).await;
            drop(under_way);
            match answer {
                Ok(_ack) => self.answered(),
                Err(refusal) if refusal.kind.is_promise() => return self.refused(reason, refusal),
                Err(verdict) => return self.fault(verdict),
            }
            if !self.once_more.load(Ordering::Acquire) {
                return;
            }
            reason = Some(NUDGED);
        }
    }

    fn answered(&self) {
        self.rejections.answered();
        self.state
            .send_if_modified(|state| std::mem::replace(state, RideState::Reading) != RideState::Reading);
    }

    /// The promise: the stream, its keep-alive and its latch stay, and the refusal goes to the carrier.
    fn refused(&self, reason: Option<&str>, refusal: DeliveryFailure) {
        let Self { id, owner, .. } = self;
        match reason {
            Some(_) => tracing::warn!(stream = %id, error = %refusal, "Stream {id}: resubscribe failed."),
            None => tracing::debug!(stream = %id, error = %refusal, "Stream {id}: subscribe refused."),
        }
        let activation = refusal.token();
        match self.rejections.reject(refusal.clone()) {
            ReArm::Join { attempt, .. } => self.riding(Bound::Activation, attempt, &refusal),
            ReArm::Rest { attempt, .. } => self.riding(Bound::Time, attempt, &refusal),
            ReArm::Spent(_) => {}
            ReArm::GiveUp(bound) => {
                let owners = self.rejections.distinct_owners();
                let named =
                    activation.map_or_else(|| "unnamed".to_owned(), |activation| format!("#{activation}"));
                tracing::warn!(
                    stream = %id, %owner, activation = %named, bound = %bound,
                    "Stream {id}: gave up on {owner}, refused last by activation {named}: the bound on {bound} is spent. {}",
                    recycling_shape(owners)
                );
                #[cfg(feature = "metrics")]
                crate::observe::count_give_up(owner.to_string(), bound.as_str());
                if self.options.on_give_up == OnGiveUp::Fault {
                    return self.fault(refusal);
                }
                self.state.send_replace(RideState::Parked { bound, owner: owner.clone(), activation });
            }
        }
    }

    fn riding(&self, axis: Bound, attempt: u32, refusal: &DeliveryFailure) {
        self.state.send_replace(RideState::Riding { axis, attempt, activation: refusal.token() });
    }

    /// A verdict, on whichever arm it came: the reader is told, and nothing keeps alive a stream that is over.
    fn fault(&self, verdict: DeliveryFailure) {
        self.state.send_replace(RideState::Faulted(verdict.clone()));
        self.out.fault(verdict);
        self.ended.cancel();
    }

    async fn take_arrivals(&self, mut inbox: Inbox) {
        while let Some(arrival) = inbox.next().await {
            match arrival {
                Arrival::Frame(frame) => self.take_frame(frame),
                Arrival::AskAgain(why) => {
                    tracing::debug!(stream = %self.id, why, "Stream {}: told to ask again", self.id);
                    self.once_more.store(true, Ordering::Release);
                    self.nudged.notify_one();
                }
            }
        }
    }

    /// A frame that is no newer than what has arrived is a repetition.
    fn take_frame(&self, frame: Frame) {
        if self.received.fetch_max(frame.version, Ordering::AcqRel) < frame.version {
            self.out.put(frame);
        }
    }

    async fn ask_when_nudged(&self) {
        loop {
            self.nudged.notified().await;
            self.resubscribe(NUDGED).await;
        }
    }

    async fn carry(&self, carrier: Carrier) {
        let owner_ready = |decision: &crate::rider::ReArmDecision| {
            self.transport.owner_ready(&self.owner, decision.rejection.token())
        };
        let re_ask = |decision: crate::rider::ReArmDecision| async move {
            let reason = match decision.re_arm {
                ReArm::Rest { .. } => "it is still shutting down",
                _ => "it was shutting down",
            };
            self.resubscribe(reason).await;
        };
        carrier.run(owner_ready, re_ask).await;
    }
}
