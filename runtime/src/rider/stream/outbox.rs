//! What a stream hands to its reader: the latest frame, and then its end.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use super::super::sync::lock;
use crate::failure::DeliveryFailure;
use crate::mesh::Frame;

/// One frame and one end, with the reader to wake.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    frame: Option<Frame>,
    fault: Option<DeliveryFailure>,
    ended: bool,
    reader: Option<Waker>,
}

impl Outbox {
    /// Puts a frame in, over one that was not read yet.
    pub(super) fn put(&self, frame: Frame) {
        self.change(|state| state.frame = Some(frame));
    }

    /// Ends the stream with a fault, once what was put in is read.
    pub(super) fn fault(&self, fault: DeliveryFailure) {
        self.change(|state| state.fault = Some(fault));
    }

    /// Ends the stream when dropped: however its driver ends, its reader does not wait for ever.
    pub(super) fn ends_with_driver(self: Arc<Self>) -> impl Send {
        EndsWithDriver(self)
    }

    pub(super) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame, DeliveryFailure>>> {
        let mut state = lock(&self.state);
        if let Some(frame) = state.frame.take() {
            return Poll::Ready(Some(Ok(frame)));
        }
        if let Some(fault) = state.fault.take() {
            state.ended = true;
            return Poll::Ready(Some(Err(fault)));
        }
        if state.ended {
            return Poll::Ready(None);
        }
        match &mut state.reader {
            Some(reader) => reader.clone_from(cx.waker()),
            None => state.reader = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let reader = {
            let mut state = lock(&self.state);
            change(&mut state);
            state.reader.take()
        };
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

struct EndsWithDriver(Arc<Outbox>);

impl Drop for EndsWithDriver {
    fn drop(&mut self) {
        self.0.change(|state| state.ended = true);
    }
}
