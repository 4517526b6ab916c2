//! The riders as they were before each mend, over the same transports: the controls that show a script can fail.

use std::sync::Arc;

use rideout::address::Address;
use rideout::failure::DeliveryFailure;
use rideout::mesh::{Arrival, Frame, Inbox, StreamId, Subscribe};
use rideout::rider::Transport;
use tokio::sync::mpsc;

/// What an unfixed rider waits for before it re-asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// Nothing: the immediate re-ask.
    Nothing,
    /// The disposal of whoever refused, which a corpse has behind it already.
    TheJoin,
}

/// What an unfixed rider does with an answer to a re-ask that is no promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnVerdict {
    Fault,
    /// Logs it, and nothing more.
    LogOnly,
}

/// One count for everything, spent in silence.
const BUDGET: u32 = 3;

/// The items of an unfixed rider; silence is a channel on which nothing comes.
pub(crate) fn open(
    transport: Arc<dyn Transport>,
    owner: &Address,
    before: Before,
    on_verdict: OnVerdict,
) -> mpsc::UnboundedReceiver<Result<Frame, DeliveryFailure>> {
    let (items, out) = mpsc::unbounded_channel();
    let owner = owner.clone();
    tokio::spawn(async move {
        let (frames, mut inbox) = Inbox::new();
        let stream = StreamId::mint();
        let mut budget = BUDGET;
        let mut first = true;
        loop {
            let subscribe = Subscribe { stream: stream.clone(), frames: frames.clone() };
            match transport.subscribe(&owner, subscribe).await {
                Ok(_) => break,
                Err(refusal) if refusal.kind.is_promise() && budget > 0 => {
                    budget -= 1;
                    if before == Before::TheJoin {
                        transport.owner_ready(&owner, refusal.token()).await;
                    }
                }
                Err(refusal) if refusal.kind.is_promise() => break,
                Err(verdict) if first || on_verdict == OnVerdict::Fault => {
                    items.send(Err(verdict)).unwrap();
                    return;
                }
                Err(_logged) => break,
            }
            first = false;
        }
        loop {
            if let Some(Arrival::Frame(frame)) = inbox.next().await
                && items.send(Ok(frame)).is_err()
            {
                return;
            }
        }
    });
    out
}
