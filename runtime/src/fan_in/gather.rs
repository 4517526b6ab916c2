//! The stream itself: gather one Initial per provider under the budget, then pass items on.

use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_core::{FusedStream, Stream};

use super::{FanInFault, FanInPolicy, Frame, Part, QueryProviderStalled, Union};
use crate::schedule::Schedule;

/// How many rounds one poll makes over its providers before it lets the executor, and so the timer, have a turn.
const ROUNDS_PER_POLL: usize = 32;

/// The stream that [`fan_in`](super::fan_in) makes.
///
/// # Cancel safety
///
/// Polling is cancel safe; dropping it drops the providers and the timer.
#[must_use = "streams do nothing unless polled"]
pub struct FanIn<S, T, C: Schedule> {
    providers: Vec<Provider<S, T>>,
    stage: Stage<C>,
    /// Updates that came before the gate opened, and are delivered right after the Initial.
    queued: VecDeque<(usize, T)>,
    budget: Duration,
    /// Which provider is asked first, so that a busy one does not starve the others.
    turn: usize,
}

struct Provider<S, T> {
    name: Arc<str>,
    /// `None` once it completed.
    stream: Option<Pin<Box<S>>>,
    first: Option<T>,
    /// It gave its first item, or completed without one.
    answered: bool,
}

enum Stage<C: Schedule> {
    /// Not polled yet: the budget counts from the first poll. Left for `Gathering`.
    Unpolled(C),
    /// Some provider has not answered. Left for `Open` when the last one does, for `Over` on a fault or a stall.
    Gathering(Pin<Box<C::Wait>>),
    /// The Initial was delivered, and no timer runs any more. Left for `Over` on a fault or when all completed.
    Open,
    /// Nothing more comes.
    Over,
}

impl<S, T, C: Schedule> FanIn<S, T, C> {
    pub(super) fn new(providers: impl Iterator<Item = (Arc<str>, S)>, policy: FanInPolicy<C>) -> Self {
        let providers = providers.map(|(name, stream)| Provider {
            name,
            stream: Some(Box::pin(stream)),
            first: None,
            answered: false,
        });
        Self {
            providers: providers.collect(),
            stage: Stage::Unpolled(policy.schedule),
            queued: VecDeque::new(),
            budget: policy.budget,
            turn: 0,
        }
    }

    fn end(&mut self) {
        self.stage = Stage::Over;
        self.providers.clear();
        self.queued.clear();
    }

    /// The frame of the union, once every provider has answered.
    fn initial(&mut self) -> Option<Union<T>> {
        let complete = self.providers.iter().all(|provider| provider.answered);
        complete.then(|| {
            let parts = self.providers.iter_mut();
            let parts = parts.map(|p| Part { provider: Arc::clone(&p.name), answer: p.first.take() });
            Union { parts: parts.collect() }
        })
    }

    fn stalled(&self) -> QueryProviderStalled {
        let silent = self.providers.iter().filter(|provider| !provider.answered);
        QueryProviderStalled { providers: silent.map(|p| Arc::clone(&p.name)).collect(), budget: self.budget }
    }
}

impl<S, T, E, C> FanIn<S, T, C>
where
    S: Stream<Item = Result<T, E>>,
    C: Schedule,
{
    /// The next item of any provider, taking turns. A provider that completes is only marked.
    fn poll_providers(&mut self, cx: &mut Context<'_>) -> Poll<Option<(usize, Result<T, E>)>> {
        let count = self.providers.len();
        let mut open = false;
        for step in 0..count {
            let index = (self.turn + step) % count;
            let Some(provider) = self.providers.get_mut(index) else { continue };
            let Some(stream) = provider.stream.as_mut() else { continue };
            match stream.as_mut().poll_next(cx) {
                Poll::Pending => open = true,
                Poll::Ready(Some(item)) => {
                    self.turn = (index + 1) % count;
                    return Poll::Ready(Some((index, item)));
                }
                Poll::Ready(None) => {
                    provider.stream = None;
                    if !provider.answered {
                        provider.answered = true;
                        warn_counted_empty(&provider.name);
                    }
                }
            }
        }
        if open { Poll::Pending } else { Poll::Ready(None) }
    }

    fn fault(&mut self, index: usize, fault: E) -> FanInFault<E> {
        let provider = self.providers.get(index).map_or_else(|| Arc::from(""), |p| Arc::clone(&p.name));
        self.end();
        FanInFault::Provider { provider, fault }
    }

    /// Takes items in until every provider has answered.
    fn poll_gather(&mut self, cx: &mut Context<'_>) -> Poll<Result<Union<T>, FanInFault<E>>> {
        for _ in 0..ROUNDS_PER_POLL * self.providers.len().max(1) {
            let polled = self.poll_providers(cx);
            let pending = polled.is_pending();
            match polled {
                Poll::Ready(Some((index, Ok(item)))) => match self.providers.get_mut(index) {
                    Some(provider) if !provider.answered => {
                        provider.answered = true;
                        provider.first = Some(item);
                    }
                    _ => self.queued.push_back((index, item)),
                },
                Poll::Ready(Some((index, Err(fault)))) => return Poll::Ready(Err(self.fault(index, fault))),
                Poll::Ready(None) | Poll::Pending => {}
            }
            if let Some(initial) = self.initial() {
                return Poll::Ready(Ok(initial));
            }
            if pending {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<S, T, E, C> Stream for FanIn<S, T, C>
where
    S: Stream<Item = Result<T, E>>,
    C: Schedule,
{
    type Item = Result<Frame<T>, FanInFault<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if let Stage::Unpolled(schedule) = &mut this.stage {
            let wait = Box::pin(schedule.silence(this.budget));
            this.stage = Stage::Gathering(wait);
        }
        if matches!(this.stage, Stage::Gathering(_)) {
            match this.poll_gather(cx) {
                Poll::Ready(Ok(initial)) => {
                    // Drops the timer: the budget bounds the Initial and nothing after it.
                    this.stage = Stage::Open;
                    return Poll::Ready(Some(Ok(Frame::Initial(initial))));
                }
                Poll::Ready(Err(fault)) => return Poll::Ready(Some(Err(fault))),
                Poll::Pending => {}
            }
            if let Stage::Gathering(wait) = &mut this.stage {
                ready!(wait.as_mut().poll(cx));
                let stalled = this.stalled();
                this.end();
                return Poll::Ready(Some(Err(FanInFault::Stalled(stalled))));
            }
        }
        if matches!(this.stage, Stage::Over) {
            return Poll::Ready(None);
        }
        let next = match this.queued.pop_front() {
            Some((index, item)) => Some((index, Ok(item))),
            None => ready!(this.poll_providers(cx)),
        };
        Poll::Ready(match next {
            Some((index, Ok(item))) => {
                let provider = this.providers.get(index).map(|provider| Arc::clone(&provider.name));
                provider.map(|provider| Ok(Frame::Update { provider, item }))
            }
            Some((index, Err(fault))) => Some(Err(this.fault(index, fault))),
            None => {
                this.end();
                None
            }
        })
    }
}

impl<S, T, E, C> FusedStream for FanIn<S, T, C>
where
    S: Stream<Item = Result<T, E>>,
    C: Schedule,
{
    fn is_terminated(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }
}

/// Nothing in it is pinned in place: providers and timer are boxed.
impl<S, T, C: Schedule> Unpin for FanIn<S, T, C> {}

impl<S, T, C: Schedule> fmt::Debug for FanIn<S, T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting_for = self.providers.iter().filter(|p| !p.answered).map(|p| &p.name);
        f.debug_struct("FanIn")
            .field("providers", &self.providers.len())
            .field("waiting_for", &waiting_for.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

#[cfg(feature = "tracing")]
fn warn_counted_empty(provider: &str) {
    tracing::warn!(provider, "a query provider completed without a first answer and is counted as empty");
}

#[cfg(not(feature = "tracing"))]
fn warn_counted_empty(_: &str) {}
