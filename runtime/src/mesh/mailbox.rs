//! The loop that is a hub's one logical thread.

use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::UnboundedReceiver;

use super::disposal::EndsDead;
use super::hub::Hub;
use super::message::Parcel;
use crate::failure::{DeliveryFailure, FailureKind};
use crate::run_level::RunLevel;

/// What waits in a mailbox.
pub(super) enum Item {
    Delivery(Box<dyn Parcel>),
    Phase(RunLevel),
}

/// What a hub does before it takes its first message; deliveries wait behind it. An error ends the activation, and is the
/// answer to everything that waited.
pub(super) type Start = Box<dyn FnOnce(Hub) -> BoxFuture<'static, Result<(), DeliveryFailure>> + Send>;

pub(super) async fn run(hub: Hub, mut intake: UnboundedReceiver<Item>, start: Option<Start>) {
    let ends = EndsDead(hub.clone());
    let life = AssertUnwindSafe(live(&hub, &mut intake, start)).catch_unwind();
    let lived = hub.inner.killed.run_until_cancelled(life).await;
    intake.close();
    // Waits for a delivery that a sender has begun to put in: one that was merely not there yet would never be answered.
    while let Some(item) = intake.recv().await {
        if let Item::Delivery(parcel) = item {
            answer_unfinished(&hub, parcel);
        }
    }
    match lived {
        Some(Ok(())) => hub.inner.finish(),
        Some(Err(_panic)) => tracing::error!(hub = %hub.address(), "the mailbox loop panicked"),
        None => {}
    }
    drop(ends);
}

async fn live(hub: &Hub, intake: &mut UnboundedReceiver<Item>, start: Option<Start>) {
    let started = match start {
        // A hub that is torn down while it starts answers what waited with a promise, in every phase: it has never lived.
        Some(start) => hub.inner.shutting_down.run_until_cancelled(start(hub.clone())).await,
        None => Some(Ok(())),
    };
    match &started {
        Some(Ok(())) => drop(hub.inner.identity.raise(RunLevel::Started)),
        Some(Err(failure)) => {
            if failure.kind.is_promise() {
                hub.inner.start_refused.get_or_init(|| failure.clone());
            }
            hub.dispose();
        }
        None => {}
    }
    while let Some(item) = intake.recv().await {
        match (item, &started) {
            (Item::Phase(phase), _) => {
                if hub.inner.enter(phase) {
                    return;
                }
            }
            (Item::Delivery(parcel), Some(Ok(()))) => take(hub, parcel).await,
            (Item::Delivery(parcel), Some(Err(failure))) => parcel.refuse(failure.clone()),
            (Item::Delivery(parcel), None) => answer_unfinished(hub, parcel),
        }
    }
}

async fn take(hub: &Hub, mut parcel: Box<dyn Parcel>) {
    if hub.run_level().refuses() {
        return hub.inner.refuse(parcel);
    }
    let what = parcel.what();
    let Some(handler) = hub.inner.spec.handler(parcel.key()) else {
        let text = format!("hub {} has no handler for {what}", hub.address());
        return parcel.refuse(DeliveryFailure::new(FailureKind::Failed, text));
    };
    parcel.accept(&hub.inner.identity);
    // A panic is the handler's, not the hub's: the request that met it is answered by its dropped responder.
    let handled = match catch_unwind(AssertUnwindSafe(|| handler(hub, parcel.open()))) {
        Ok(Some(work)) => AssertUnwindSafe(work).catch_unwind().await,
        Ok(None) => Ok(()),
        Err(panic) => Err(panic),
    };
    if handled.is_err() {
        tracing::error!(hub = %hub.address(), what, "a handler panicked");
    }
}

fn answer_unfinished(hub: &Hub, parcel: Box<dyn Parcel>) {
    if parcel.awaited() {
        let own = || DeliveryFailure::unfinished(&hub.nack(parcel.what()));
        let failure = hub.inner.start_refused.get().cloned().unwrap_or_else(own);
        parcel.refuse(failure);
    }
}
