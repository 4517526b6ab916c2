//! The signal that a hub has been disposed of: fires once, and stays fired.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use super::sync::{Arc, Mutex, lock};

/// Level-triggered: whoever waits after it fired is let through at once.
#[derive(Debug, Default)]
pub(crate) struct DisposalSignal {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    fired: bool,
    tickets: u64,
    waiting: Vec<(u64, Waker)>,
}

impl DisposalSignal {
    /// A signal that has not fired.
    pub(crate) fn new() -> Self {
        Self { state: Mutex::new(State::default()) }
    }

    /// Fires. `true` exactly once, for the caller that did it.
    pub(crate) fn fire(&self) -> bool {
        let waiting = {
            let mut state = lock(&self.state);
            if std::mem::replace(&mut state.fired, true) {
                return false;
            }
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(|(_, waker)| waker.wake());
        true
    }

    /// Whether it has fired.
    pub(crate) fn has_fired(&self) -> bool {
        lock(&self.state).fired
    }

    /// Completes when it has fired. Does not keep the hub alive.
    pub(crate) fn wait(this: &Arc<Self>) -> DisposalCompleted {
        DisposalCompleted { signal: Arc::clone(this), ticket: None }
    }
}

/// Completes when the activation that it was taken from is [`Dead`](crate::run_level::RunLevel::Dead).
///
/// It says that this activation is over. It does *not* say that its address can answer again: routing may still resolve to
/// the corpse.
///
/// # Cancel safety
/// Dropping it forgets the wait and nothing else.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct DisposalCompleted {
    signal: Arc<DisposalSignal>,
    ticket: Option<u64>,
}

impl Future for DisposalCompleted {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let ticket = self.ticket;
        let mut state = lock(&self.signal.state);
        if state.fired {
            return Poll::Ready(());
        }
        if let Some((_, waker)) = state.waiting.iter_mut().find(|(of, _)| Some(*of) == ticket) {
            waker.clone_from(cx.waker());
            return Poll::Pending;
        }
        let ticket = state.tickets;
        state.tickets += 1;
        state.waiting.push((ticket, cx.waker().clone()));
        drop(state);
        self.ticket = Some(ticket);
        Poll::Pending
    }
}

impl Drop for DisposalCompleted {
    fn drop(&mut self) {
        if self.ticket.is_some() {
            lock(&self.signal.state).waiting.retain(|(of, _)| Some(*of) != self.ticket);
        }
    }
}
