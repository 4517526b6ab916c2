//! The whole answer of the union, after every frame.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::{FusedStream, Stream};

use super::{FanIn, FanInFault, Frame, Union};
use crate::schedule::Schedule;

impl<S, T, C: Schedule> FanIn<S, T, C> {
    /// For providers each item of which is their whole answer: a stream of the union's whole answer, with the newest one
    /// of each. It clones the answers of the others at each update, so let `T` be cheap to clone.
    pub fn latest(self) -> Latest<S, T, C> {
        Latest { frames: self, union: Union { parts: Vec::new() } }
    }
}

/// The stream that [`FanIn::latest`] makes.
///
/// # Cancel safety
///
/// As [`FanIn`].
#[must_use = "streams do nothing unless polled"]
pub struct Latest<S, T, C: Schedule> {
    frames: FanIn<S, T, C>,
    union: Union<T>,
}

impl<S, T, E, C> Stream for Latest<S, T, C>
where
    S: Stream<Item = Result<T, E>>,
    T: Clone,
    C: Schedule,
{
    type Item = Result<Union<T>, FanInFault<E>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match ready!(Pin::new(&mut self.frames).poll_next(cx)) {
            Some(Ok(Frame::Initial(union))) => self.union = union,
            Some(Ok(Frame::Update { provider, item })) => {
                if let Some(part) = self.union.parts.iter_mut().find(|part| part.provider == provider) {
                    part.answer = Some(item);
                }
            }
            Some(Err(fault)) => return Poll::Ready(Some(Err(fault))),
            None => return Poll::Ready(None),
        }
        Poll::Ready(Some(Ok(self.union.clone())))
    }
}

impl<S, T, E, C> FusedStream for Latest<S, T, C>
where
    S: Stream<Item = Result<T, E>>,
    T: Clone,
    C: Schedule,
{
    fn is_terminated(&self) -> bool {
        self.frames.is_terminated()
    }
}

/// As [`FanIn`].
impl<S, T, C: Schedule> Unpin for Latest<S, T, C> {}

impl<S, T, C: Schedule> fmt::Debug for Latest<S, T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Latest").field(&self.frames).finish()
    }
}
