//! One opening of an inbox: its listing, its queue, and the drain in flight.

use std::{
    collections::VecDeque,
    future::Future,
    hash::Hash,
    panic::{AssertUnwindSafe, catch_unwind},
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
    /// The drain of a delivery panicked, and its claim is released. The watch goes on.
    DrainPanicked {
        /// Which.
        delivery: K,
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

/// What came of a drain: its output, or `None` if it panicked.
type Done<K, Fut> = (K, Option<<Fut as Future>::Output>);

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

fn told<K, R>(delivery: K, result: Option<Result<(), R>>) -> InboxEvent<K, R> {
    match result {
        Some(Ok(())) => InboxEvent::Drained { delivery },
        Some(Err(failure)) => InboxEvent::DrainFailed { delivery, failure },
        None => InboxEvent::DrainPanicked { delivery },
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
    let mut working = match in_flight.take() {
        Some(working) => working,
        None => {
            let claim = queue.pop_front()?;
            let delivery = claim.key().clone();
            // A panic of the caller's code is no fault of the source: it costs its delivery, and not the watch.
            match caught(|| Box::pin(drain(delivery))) {
                Some(drain) => InFlight { drain, claim },
                None => return Some((claim.key().clone(), None)),
            }
        }
    };
    let result = match caught(|| working.drain.as_mut().poll(cx)) {
        Some(Poll::Ready(result)) => Some(result),
        Some(Poll::Pending) => {
            *in_flight = Some(working);
            return None;
        }
        None => None,
    };
    let InFlight { drain, claim } = working;
    drop(drain);
    let delivery = claim.key().clone();
    match &result {
        Some(Ok(())) => claim.finish(),
        Some(Err(_)) | None => drop(claim),
    }
    Some((delivery, result))
}

/// What `code` returns, or `None` if it panics. The panic hook has told of it by then.
fn caught<T>(code: impl FnOnce() -> T) -> Option<T> {
    // Whatever it left half done is dropped right after and looked at by nobody.
    catch_unwind(AssertUnwindSafe(code)).ok()
}
