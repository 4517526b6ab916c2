//! The two kinds of factory, as one.

use std::future::{Future, Ready, ready};

use futures_core::Stream;

use super::Opening;

/// Makes the upstream of an opening.
pub trait Open<T, E> {
    /// The upstream.
    type Stream: Stream<Item = Result<T, E>>;
    /// Becomes the upstream.
    type Future: Future<Output = Result<Self::Stream, E>>;

    /// Begins an opening. Each one needs a fresh upstream.
    fn open(&mut self, opening: Opening) -> Self::Future;
}

/// A factory that returns a stream.
#[derive(Clone, Debug)]
pub struct OpenStream<F>(pub(super) F);

impl<F, S, T, E> Open<T, E> for OpenStream<F>
where
    F: FnMut(Opening) -> S,
    S: Stream<Item = Result<T, E>>,
{
    type Stream = S;
    type Future = Ready<Result<S, E>>;

    fn open(&mut self, opening: Opening) -> Self::Future {
        ready(Ok((self.0)(opening)))
    }
}

/// A factory that connects first.
#[derive(Clone, Debug)]
pub struct OpenAsync<F>(pub(super) F);

impl<F, Fut, S, T, E> Open<T, E> for OpenAsync<F>
where
    F: FnMut(Opening) -> Fut,
    Fut: Future<Output = Result<S, E>>,
    S: Stream<Item = Result<T, E>>,
{
    type Stream = S;
    type Future = Fut;

    fn open(&mut self, opening: Opening) -> Self::Future {
        (self.0)(opening)
    }
}
