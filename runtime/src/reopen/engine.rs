//! The one loop that opens, reads, judges and waits. Flat: an opening replaces the one before it.

use std::{
    fmt,
    future::Future,
    num::NonZeroU32,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use pin_project_lite::pin_project;

use super::{Interruption, Open, Opening, ReopenObserver, ReopenPolicy, Stalled, Terminal, WatchEvent};
use crate::schedule::BoxWait;

pin_project! {
    /// A watch, before it is seen as items or as events.
    pub(super) struct Engine<O, T, E>
    where
        O: Open<T, E>,
    {
        open: O,
        policy: ReopenPolicy<T, E>,
        #[pin]
        state: State<O::Future, O::Stream>,
        openings: u64,
        // Faults in a row without an emission between them that proves life.
        faults: u32,
        // Whether this opening has emitted what proves life. State of the opening: each one starts without.
        alive: bool,
        silence: Silence,
    }
}

pin_project! {
    #[project = StateProj]
    enum State<F, S> {
        // Nothing is held. Leaves for `Opening` at once.
        Idle,
        // The factory connects. Leaves for `Reading`, or on a fault.
        Opening { #[pin] future: F, opening: Opening },
        // The upstream is read. Leaves on a fault or at its end.
        Reading { #[pin] upstream: S },
        // The pause before a re-open; the old upstream is gone. Leaves for `Idle`.
        Waiting { wait: BoxWait },
        // A terminal fault or the end was told. Stays.
        Over,
    }
}

/// Counts the slices of the stall bound in which nothing was heard.
#[derive(Default)]
struct Silence {
    slice: Option<BoxWait>,
    silent: u32,
}

/// A stall is found one slice late at the most, and no clock is read per item.
const SLICES: u32 = 4;

impl<O, T, E> Engine<O, T, E>
where
    O: Open<T, E>,
{
    pub(super) fn new(open: O, policy: ReopenPolicy<T, E>) -> Self {
        let silence = Silence::default();
        Self { open, policy, state: State::Idle, openings: 0, faults: 0, alive: false, silence }
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    /// What happens next, or `None` once the watch is over.
    #[inline]
    pub(super) fn poll_event(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<WatchEvent<T, E>>> {
        let mut this = self.project();
        let cause = loop {
            match this.state.as_mut().project() {
                StateProj::Reading { upstream } => match upstream.poll_next(cx) {
                    Poll::Ready(Some(Ok(item))) => {
                        this.silence.silent = 0;
                        if !*this.alive && this.policy.is_life(&item) {
                            *this.alive = true;
                            let after = std::mem::take(this.faults);
                            this.policy.tell(|observer| observer.reading(after));
                        }
                        return Poll::Ready(Some(WatchEvent::Item(item)));
                    }
                    Poll::Ready(Some(Err(fault))) => break Cause::Source(fault),
                    Poll::Ready(None) => match &mut this.policy.end_is_fault {
                        Some(fault) => break Cause::Own(fault()),
                        None => {
                            this.state.set(State::Over);
                            this.policy.tell(|observer| observer.ended());
                            return Poll::Ready(Some(WatchEvent::Ended));
                        }
                    },
                    Poll::Pending => break Cause::Own(ready!(this.silence.poll(this.policy, cx))),
                },
                StateProj::Idle => {
                    *this.openings += 1;
                    *this.alive = false;
                    let opening = Opening { number: *this.openings, attempt: *this.faults };
                    let future = this.open.open(opening);
                    this.state.set(State::Opening { future, opening });
                }
                StateProj::Opening { future, opening } => match future.poll(cx) {
                    Poll::Ready(Ok(upstream)) => {
                        let opening = *opening;
                        this.silence.silent = 0;
                        this.state.set(State::Reading { upstream });
                        this.policy.tell(|observer| observer.opened(opening));
                        return Poll::Ready(Some(WatchEvent::Opened(opening)));
                    }
                    Poll::Ready(Err(fault)) => break Cause::Source(fault),
                    Poll::Pending => break Cause::Own(ready!(this.silence.poll(this.policy, cx))),
                },
                StateProj::Waiting { wait } => {
                    ready!(wait.as_mut().poll(cx));
                    this.state.set(State::Idle);
                }
                StateProj::Over => return Poll::Ready(None),
            }
        };
        // The dead upstream goes before anybody is told and before the wait: it must not be held through the pause.
        this.state.set(State::Idle);
        *this.silence = Silence::default();
        Poll::Ready(Some(match this.policy.judge(&cause, *this.faults) {
            Ok(attempt) => {
                *this.faults = attempt.get();
                let fault = cause.fault();
                let delay = this.policy.delay(attempt);
                let sustained = attempt == this.policy.cadence.reaches_cap_at();
                let interruption = Interruption { attempt, delay, sustained };
                this.policy.tell(|observer| observer.interrupted(&fault, interruption));
                this.state.set(State::Waiting { wait: this.policy.schedule.boxed_after(attempt, delay) });
                WatchEvent::Interrupted { fault, attempt, delay }
            }
            Err(why) => {
                this.state.set(State::Over);
                let fault = cause.fault();
                this.policy.tell(|observer| observer.terminal(&fault, why));
                WatchEvent::Terminal { fault, why }
            }
        }))
    }
}

/// Where a fault comes from.
enum Cause<E> {
    /// The source, which may mean anything by it.
    Source(E),
    /// The policy: it took silence or an end for a transient fault, so nobody is asked.
    Own(E),
}

impl<E> Cause<E> {
    fn fault(self) -> E {
        match self {
            Self::Source(fault) | Self::Own(fault) => fault,
        }
    }
}

impl<T, E> ReopenPolicy<T, E> {
    fn is_life(&mut self, item: &T) -> bool {
        self.proves_life.as_mut().is_none_or(|proves_life| proves_life(item))
    }

    fn tell(&mut self, mut what: impl FnMut(&mut dyn ReopenObserver<E>)) {
        for observer in &mut self.observers {
            what(&mut **observer);
        }
    }

    /// The number of the re-open to make after `faults` others in a row, or why there is none.
    fn judge(&self, cause: &Cause<E>, faults: u32) -> Result<NonZeroU32, Terminal> {
        if let Cause::Source(fault) = cause
            && !self.classify.classify(fault).is_transient()
        {
            return Err(Terminal::NotTransient);
        }
        match self.max_consecutive {
            Some(most) if faults >= most => Err(Terminal::BudgetSpent { reopens: faults }),
            _ => Ok(NonZeroU32::MIN.saturating_add(faults)),
        }
    }
}

impl Silence {
    /// Ready with the fault once the bound has passed without a sign. Never ready without a bound.
    fn poll<T, E>(&mut self, policy: &mut ReopenPolicy<T, E>, cx: &mut Context<'_>) -> Poll<E> {
        let Some(stall) = &mut policy.stall else { return Poll::Pending };
        let bound = stall.bound;
        loop {
            let slice = self.slice.get_or_insert_with(|| policy.schedule.boxed_silence(bound / SLICES));
            ready!(slice.as_mut().poll(cx));
            self.slice = None;
            if self.silent == SLICES {
                return Poll::Ready((stall.fault)(Stalled { bound }));
            }
            self.silent += 1;
        }
    }
}

impl<O, T, E> fmt::Debug for Engine<O, T, E>
where
    O: Open<T, E>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Idle => "idle",
            State::Opening { .. } => "opening",
            State::Reading { .. } => "reading",
            State::Waiting { .. } => "waiting",
            State::Over => "over",
        };
        f.debug_struct("Watch")
            .field("state", &state)
            .field("openings", &self.openings)
            .field("faults", &self.faults)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
