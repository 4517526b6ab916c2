//! A source that does what a script says.
//!
//! ```
//! use futures_util::{FutureExt, StreamExt};
//! use rideout::test::ScriptedSource;
//!
//! let source = ScriptedSource::<_, &str>::new();
//! let mut stream = source.open().unwrap();
//! assert!(stream.next().now_or_never().is_none(), "silent until it is driven");
//! source.emit(7);
//! assert_eq!(stream.next().now_or_never(), Some(Some(Ok(7))));
//! ```

use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use futures_core::Stream;

/// A source whose openings follow a script, and that can be driven by hand after it. Clones share one source.
///
/// Once the script is over, each further opening succeeds and is silent until [`emit`](Self::emit), [`fault`](Self::fault) or
/// [`end`](Self::end) is called.
///
/// ```
/// use futures_util::StreamExt;
/// use rideout::test::ScriptedSource;
///
/// let source = ScriptedSource::new().refuses("down").opens([Ok(1), Err("reset")]);
/// assert_eq!(source.open().err(), Some("down"));
/// let items: Vec<_> = futures_executor::block_on(source.open().unwrap().collect());
/// assert_eq!(items, [Ok(1), Err("reset")], "a fault is the last item of its opening");
/// assert_eq!(source.openings(), 2);
/// ```
#[must_use]
pub struct ScriptedSource<T, E>(Arc<Mutex<State<T, E>>>);

struct State<T, E> {
    plan: VecDeque<Plan<T, E>>,
    openings: u64,
    alive: usize,
    /// The newest opening that is alive.
    current: Option<u64>,
    queue: VecDeque<Step<T, E>>,
    waker: Option<Waker>,
}

enum Plan<T, E> {
    Refuse(E),
    Open(VecDeque<Step<T, E>>),
}

enum Step<T, E> {
    Item(T),
    Fault(E),
    End,
}

impl<T, E> ScriptedSource<T, E> {
    /// A source with an empty script.
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            plan: VecDeque::new(),
            openings: 0,
            alive: 0,
            current: None,
            queue: VecDeque::new(),
            waker: None,
        })))
    }

    /// The next opening in the script fails.
    pub fn refuses(self, fault: E) -> Self {
        self.state().plan.push_back(Plan::Refuse(fault));
        self
    }

    /// The next opening in the script succeeds and yields these; a fault ends it, and otherwise it is silent after them.
    pub fn opens(self, items: impl IntoIterator<Item = Result<T, E>>) -> Self {
        let steps = items.into_iter().map(|item| item.map_or_else(Step::Fault, Step::Item)).collect();
        self.state().plan.push_back(Plan::Open(steps));
        self
    }

    /// The next opening in the script succeeds, yields these and ends without a fault.
    pub fn opens_and_ends(self, items: impl IntoIterator<Item = T>) -> Self {
        let steps = items.into_iter().map(Step::Item).chain([Step::End]).collect();
        self.state().plan.push_back(Plan::Open(steps));
        self
    }

    /// Opens the source. The newest opening is the one that is driven by hand.
    ///
    /// # Errors
    ///
    /// The fault of the script, where it says that this opening fails.
    pub fn open(&self) -> Result<ScriptedStream<T, E>, E> {
        let mut state = self.state();
        state.openings += 1;
        let queue = match state.plan.pop_front() {
            Some(Plan::Refuse(fault)) => return Err(fault),
            Some(Plan::Open(steps)) => steps,
            None => VecDeque::new(),
        };
        state.queue = queue;
        state.alive += 1;
        state.current = Some(state.openings);
        Ok(ScriptedStream { id: state.openings, source: self.clone(), over: false })
    }

    /// How many times the source was opened, with success or without.
    #[must_use]
    pub fn openings(&self) -> u64 {
        self.state().openings
    }

    /// How many of its streams are alive.
    #[must_use]
    pub fn alive(&self) -> usize {
        self.state().alive
    }

    /// The number of the newest opening, if its stream is alive.
    #[must_use]
    pub fn current(&self) -> Option<u64> {
        self.state().current
    }

    /// The newest stream yields this item next. `false` if none is alive.
    pub fn emit(&self, item: T) -> bool {
        self.push(Step::Item(item))
    }

    /// The newest stream yields this fault next and is over. `false` if none is alive.
    pub fn fault(&self, fault: E) -> bool {
        self.push(Step::Fault(fault))
    }

    /// The newest stream ends next. `false` if none is alive.
    pub fn end(&self) -> bool {
        self.push(Step::End)
    }

    fn push(&self, step: Step<T, E>) -> bool {
        let mut state = self.state();
        if state.current.is_none() {
            return false;
        }
        state.queue.push_back(step);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    fn state(&self) -> MutexGuard<'_, State<T, E>> {
        // The lock guards plain data that no panic leaves half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T, E> Clone for ScriptedSource<T, E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T, E> Default for ScriptedSource<T, E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, E> fmt::Debug for ScriptedSource<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("ScriptedSource")
            .field("openings", &state.openings)
            .field("alive", &state.alive)
            .finish_non_exhaustive()
    }
}

/// One opening of a [`ScriptedSource`].
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct ScriptedStream<T, E> {
    id: u64,
    source: ScriptedSource<T, E>,
    over: bool,
}

impl<T, E> ScriptedStream<T, E> {
    /// The number of this opening: 1 is the first that was asked for.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }
}

impl<T, E> Stream for ScriptedStream<T, E> {
    type Item = Result<T, E>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let mut state = this.source.state();
        // An opening that a newer one replaced is as dead as a connection that nobody serves.
        if this.over || state.current != Some(this.id) {
            return if this.over { Poll::Ready(None) } else { Poll::Pending };
        }
        match state.queue.pop_front() {
            Some(Step::Item(item)) => Poll::Ready(Some(Ok(item))),
            Some(Step::Fault(fault)) => {
                this.over = true;
                Poll::Ready(Some(Err(fault)))
            }
            Some(Step::End) => {
                this.over = true;
                Poll::Ready(None)
            }
            None => {
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T, E> Drop for ScriptedStream<T, E> {
    fn drop(&mut self) {
        let mut state = self.source.state();
        state.alive -= 1;
        if state.current == Some(self.id) {
            state.current = None;
            state.waker = None;
        }
    }
}
