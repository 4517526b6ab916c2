//! What travels to a hub: a request that somebody awaits, or a message that nobody does.

use std::any::{Any, TypeId};
use std::fmt;

use tokio::sync::oneshot;

use super::identity::Identity;
use super::sync::Arc;
use crate::failure::{DeliveryFailure, FailureKind};

/// A message that is answered.
pub trait Request: Send + 'static {
    /// The answer.
    type Reply: Send + 'static;
    /// The type's name in a refusal.
    const NAME: &'static str;
}

/// The right to answer one request, once.
///
/// Dropped without an answer, it answers by itself: with a promise if its hub is going away, with
/// [`Failed`](FailureKind::Failed) otherwise.
#[must_use = "dropping it answers the request in the negative"]
pub struct Responder<T> {
    to: Option<oneshot::Sender<Result<T, DeliveryFailure>>>,
    what: &'static str,
    accepted_by: Option<Arc<Identity>>,
}

impl<T> Responder<T> {
    /// Answers.
    pub fn answer(mut self, answer: Result<T, DeliveryFailure>) {
        self.send(answer);
    }

    fn send(&mut self, answer: Result<T, DeliveryFailure>) {
        // An asker that has stopped waiting needs no answer.
        if let Some(to) = self.to.take() {
            drop(to.send(answer));
        }
    }
}

impl<T> Drop for Responder<T> {
    fn drop(&mut self) {
        // Not accepted by any hub: silence, which the asker sees as a request that nobody is left to answer.
        let Some(hub) = self.accepted_by.take() else { return };
        let failure = if hub.is_going_away() {
            DeliveryFailure::unfinished(&hub.nack(self.what))
        } else {
            DeliveryFailure::new(FailureKind::Failed, format!("{} was dropped without an answer", self.what))
        };
        self.send(Err(failure));
    }
}

impl<T> fmt::Debug for Responder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responder").field("what", &self.what).finish_non_exhaustive()
    }
}

/// A message on its way, without its type.
pub(crate) trait Parcel: Send {
    /// The type's name.
    fn what(&self) -> &'static str;
    /// Which handler takes it.
    fn key(&self) -> TypeId;
    /// Whether somebody awaits an answer.
    fn awaited(&self) -> bool;
    /// A hub has taken it on: from here on it owes an answer.
    fn accept(&mut self, hub: &Arc<Identity>);
    /// Answers in the negative.
    fn refuse(self: Box<Self>, failure: DeliveryFailure);
    /// The message itself, for its handler.
    fn open(self: Box<Self>) -> Box<dyn Any + Send>;
}

/// A request and the right to answer it.
pub(crate) struct Ask<R: Request> {
    pub(crate) request: R,
    pub(crate) reply: Responder<R::Reply>,
}

impl<R: Request> Ask<R> {
    pub(crate) fn new(request: R) -> (Box<Self>, oneshot::Receiver<Result<R::Reply, DeliveryFailure>>) {
        let (to, answer) = oneshot::channel();
        let reply = Responder { to: Some(to), what: R::NAME, accepted_by: None };
        (Box::new(Self { request, reply }), answer)
    }
}

impl<R: Request> Parcel for Ask<R> {
    fn what(&self) -> &'static str {
        R::NAME
    }

    fn key(&self) -> TypeId {
        TypeId::of::<R>()
    }

    fn awaited(&self) -> bool {
        true
    }

    fn accept(&mut self, hub: &Arc<Identity>) {
        self.reply.accepted_by = Some(Arc::clone(hub));
    }

    fn refuse(self: Box<Self>, failure: DeliveryFailure) {
        self.reply.answer(Err(failure));
    }

    fn open(self: Box<Self>) -> Box<dyn Any + Send> {
        self
    }
}

/// A message that nobody awaits. It is never refused: where it cannot be taken, it is dropped in silence.
pub(crate) struct Tell<M> {
    pub(crate) message: M,
    pub(crate) what: &'static str,
}

impl<M: Send + 'static> Parcel for Tell<M> {
    fn what(&self) -> &'static str {
        self.what
    }

    fn key(&self) -> TypeId {
        TypeId::of::<M>()
    }

    fn awaited(&self) -> bool {
        false
    }

    fn accept(&mut self, _hub: &Arc<Identity>) {}

    fn refuse(self: Box<Self>, _failure: DeliveryFailure) {}

    fn open(self: Box<Self>) -> Box<dyn Any + Send> {
        self
    }
}
