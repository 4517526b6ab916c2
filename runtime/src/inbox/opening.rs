//! One opening of an inbox: its listing, its queue, and the drain in flight.

use std::{
    collections::VecDeque,
    future::Future,
    hash::Hash,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;
use pin_project_lite::pin_project;

use super::{Claim, ClaimsOfOpening};

/// What happens to an inbox that is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InboxEvent<K, R> {
    /// The listing was read.
    Listed {
        /// How many of its deliveries were claimed: the ones that nobody had taken.
        claimed: usize,
    },
    /// A delivery is done.
    Drained {
        /// Which.
        delivery: K,
    },
    /// The drain of a delivery failed, and its claim is released.
    DrainFailed {
        /// Which.
        delivery: K,
        /// On what.
        failure: R,
    },
}

pin_project! {
    /// Listing and queue side by side. Dropped in the order of its fields: the drain in flight before the claims.
    pub(super) struct InboxOpening<K, L, D, Fut>
    where
        K: Eq,
        K: Hash,
        Fut: Future,
    {
        in_flight: Option<InFlight<K, Fut>>,
        queue: VecDeque<Claim<K>>,
        // What the queue did while a listing was told of. Told next.
        done: Option<Done<K, Fut>>,
        #[pin]
        listing: L,
        drain: D,
        claims: ClaimsOfOpening<K>,
    }
}

type Done<K, Fut> = (K, <Fut as Future>::Output);

/// Dropped in the order of its fields: the work before the claim on it.
struct InFlight<K: Eq + Hash, Fut> {
    drain: Pin<Box<Fut>>,
    claim: Claim<K>,
}

impl<K, L, D, Fut> InboxOpening<K, L, D, Fut>
where
    K: Eq + Hash,
    Fut: Future,
{
    pub(super) fn new(listing: L, drain: D, claims: ClaimsOfOpening<K>) -> Self {
        Self { in_flight: None, queue: VecDeque::new(), done: None, listing, drain, claims }
    }
}

impl<K, L, D, Fut, R, E> Stream for InboxOpening<K, L, D, Fut>
where
    K: Eq + Hash + Clone,
    L: Stream<Item = Result<Vec<K>, E>>,
    D: FnMut(K) -> Fut,
    Fut: Future<Output = Result<(), R>>,
{
    type Item = Result<InboxEvent<K, R>, E>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.project();
        if let Some((delivery, result)) = this.done.take() {
            return Poll::Ready(Some(Ok(told(delivery, result))));
        }
        // The listing first, and whatever the queue does: its fault must not wait for a drain.
        let listed = this.listing.poll_next(cx);
        if let Poll::Ready(None | Some(Err(_))) = &listed {
            *this.in_flight = None;
            this.queue.clear();
        }
        let claimed = match listed {
            Poll::Ready(Some(Ok(listed))) => {
                let claims = this.claims.claim_new(listed);
                let claimed = claims.len();
                this.queue.extend(claims);
                Some(claimed)
            }
            Poll::Ready(Some(Err(fault))) => return Poll::Ready(Some(Err(fault))),
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Pending => None,
        };
        // The queue too, even if the listing had news: a busy listing must not keep it from its work.
        let done = poll_queue(this.in_flight, this.queue, this.drain, cx);
        match (claimed, done) {
            (Some(claimed), done) => {
                *this.done = done;
                Poll::Ready(Some(Ok(InboxEvent::Listed { claimed })))
            }
            (None, Some((delivery, result))) => Poll::Ready(Some(Ok(told(delivery, result)))),
            (None, None) => Poll::Pending,
        }
    }
}

fn told<K, R>(delivery: K, result: Result<(), R>) -> InboxEvent<K, R> {
    match result {
        Ok(()) => InboxEvent::Drained { delivery },
        Err(failure) => InboxEvent::DrainFailed { delivery, failure },
    }
}

/// Works on one delivery. Its claim is finished or released when its drain has run.
fn poll_queue<K, D, Fut, R>(
    in_flight: &mut Option<InFlight<K, Fut>>,
    queue: &mut VecDeque<Claim<K>>,
    drain: &mut D,
    cx: &mut Context<'_>,
) -> Option<Done<K, Fut>>
where
    K: Eq + Hash + Clone,
    D: FnMut(K) -> Fut,
    Fut: Future<Output = Result<(), R>>,
{
    if in_flight.is_none() {
        let claim = queue.pop_front()?;
        *in_flight = Some(InFlight { drain: Box::pin(drain(claim.key().clone())), claim });
    }
    let Poll::Ready(result) = in_flight.as_mut()?.drain.as_mut().poll(cx) else { return None };
    let InFlight { drain, claim } = in_flight.take()?;
    drop(drain);
    let delivery = claim.key().clone();
    if result.is_ok() {
        claim.finish();
    } else {
        drop(claim);
    }
    Some((delivery, result))
}
