//! What a hub does with its messages.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::hub::Hub;
use super::message::{Ask, Request, Responder, Tell};
use crate::failure::answer_for;

/// What a handler may fail with; [`answer_for`] makes the answer of it.
pub type HandlerError = Box<dyn Error + Send + Sync + 'static>;

type Handler = Arc<dyn Fn(&Hub, Box<dyn Any + Send>) -> Option<BoxFuture<'static, ()>> + Send + Sync>;

/// The handlers of a kind of hub, by message type. One specification serves every hub of its kind.
#[derive(Clone, Default)]
#[must_use]
pub struct HubSpec {
    handlers: HashMap<TypeId, Handler>,
}

impl HubSpec {
    /// A hub that answers nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers `R` at once.
    pub fn on<R: Request>(
        self,
        handle: impl Fn(&Hub, R) -> Result<R::Reply, HandlerError> + Send + Sync + 'static,
    ) -> Self {
        self.on_deferred::<R>(move |hub, request, reply| {
            let answer = handle(hub, request).map_err(|error| answer_for(error.as_ref(), &hub.nack(R::NAME)));
            reply.answer(answer);
        })
    }

    /// Takes `R` and the right to answer it, which may be kept for later.
    pub fn on_deferred<R: Request>(
        self,
        handle: impl Fn(&Hub, R, Responder<R::Reply>) + Send + Sync + 'static,
    ) -> Self {
        self.insert::<R, Ask<R>>(move |hub, ask| {
            handle(hub, ask.request, ask.reply);
            None
        })
    }

    /// Answers `R` when the future completes. Until then the hub takes no other message: it has one logical thread.
    pub fn on_async<R: Request, F>(self, handle: impl Fn(Hub, R) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<R::Reply, HandlerError>> + Send + 'static,
    {
        self.insert::<R, Ask<R>>(move |hub, ask| {
            let (work, hub) = (handle(hub.clone(), ask.request), hub.clone());
            Some(Box::pin(async move {
                let answer = work.await.map_err(|error| answer_for(error.as_ref(), &hub.nack(R::NAME)));
                ask.reply.answer(answer);
            }))
        })
    }

    /// Takes a message that nobody awaits.
    pub fn on_tell<M: Send + 'static>(self, handle: impl Fn(&Hub, M) + Send + Sync + 'static) -> Self {
        self.insert::<M, Tell<M>>(move |hub, tell| {
            handle(hub, tell.message);
            None
        })
    }

    pub(crate) fn handler(&self, key: TypeId) -> Option<&Handler> {
        self.handlers.get(&key)
    }

    fn insert<M: 'static, P: 'static>(
        mut self,
        handle: impl Fn(&Hub, P) -> Option<BoxFuture<'static, ()>> + Send + Sync + 'static,
    ) -> Self {
        let handler: Handler = Arc::new(move |hub, parcel| handle(hub, *parcel.downcast::<P>().ok()?));
        self.handlers.insert(TypeId::of::<M>(), handler);
        self
    }
}

impl fmt::Debug for HubSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubSpec").field("handlers", &self.handlers.len()).finish()
    }
}
