//! Where the frames of one stream arrive: the latest one, never a queue of them.
//!
//! A frame carries the whole state at a version, so a reader that is slow needs only the last. Memory per stream is
//! therefore one frame, whatever the owner sends.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use super::sync::lock;
use crate::activation::ActivationId;

/// Names one stream of frames. A re-subscription carries the same one: it is a refresh, not a second subscription.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(Arc<str>);

impl StreamId {
    /// A name that no other stream of this process has.
    #[must_use]
    pub fn mint() -> Self {
        Self(ActivationId::mint().to_string().into())
    }

    /// The stream with this name, as a peer wrote it.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self(name.into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for StreamId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The state of a node at a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The version of the state.
    pub version: u64,
    /// The whole state.
    pub content: Arc<str>,
    /// The activation that sent it.
    pub activation: ActivationId,
}

/// What an inbox hands out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A frame.
    Frame(Frame),
    /// The owner was recycled, or the way to it was interrupted: ask again.
    AskAgain(&'static str),
}

/// The receiving end of one stream. Dropping it closes the way for its owner's frames.
#[derive(Debug)]
#[must_use]
pub struct Inbox {
    shared: Arc<Shared>,
}

/// The sending end; a clone sends to the same inbox.
#[derive(Clone, Debug)]
#[must_use]
pub struct InboxSender {
    shared: Arc<Sending>,
}

/// Tells the reader when the last sender is gone.
#[derive(Debug)]
struct Sending(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    frame: Option<Frame>,
    ask_again: Option<&'static str>,
    closed: bool,
    abandoned: bool,
    reader: Option<Waker>,
}

impl Inbox {
    /// An empty inbox and the way into it.
    pub fn new() -> (InboxSender, Self) {
        let shared = Arc::new(Shared::default());
        (InboxSender { shared: Arc::new(Sending(Arc::clone(&shared))) }, Self { shared })
    }

    /// Takes what has arrived; `None` once nothing can arrive any more.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Arrival>> {
        let mut state = lock(&self.shared.state);
        if let Some(frame) = state.frame.take() {
            return Poll::Ready(Some(Arrival::Frame(frame)));
        }
        if let Some(why) = state.ask_again.take() {
            return Poll::Ready(Some(Arrival::AskAgain(why)));
        }
        if state.abandoned {
            return Poll::Ready(None);
        }
        match &mut state.reader {
            Some(reader) => reader.clone_from(cx.waker()),
            None => state.reader = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// Completes with the next arrival; `None` once every sender is gone.
    ///
    /// # Cancel safety
    /// Nothing that has arrived is lost.
    pub async fn next(&mut self) -> Option<Arrival> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        lock(&self.shared.state).closed = true;
    }
}

impl InboxSender {
    /// Puts a frame in, over an older one that was not read yet. `false` when nobody reads any more.
    pub fn push(&self, frame: Frame) -> bool {
        self.put(|state| {
            if state.frame.as_ref().is_none_or(|held| held.version <= frame.version) {
                state.frame = Some(frame);
            }
        })
    }

    /// Tells the reader to ask its owner again. `false` when nobody reads any more.
    pub fn ask_again(&self, why: &'static str) -> bool {
        self.put(|state| state.ask_again = Some(why))
    }

    /// Whether nobody reads any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        lock(&self.shared.0.state).closed
    }

    fn put(&self, change: impl FnOnce(&mut State)) -> bool {
        self.shared.0.change(change)
    }
}

impl Shared {
    /// Changes the state and wakes the reader. `false` when nobody reads any more.
    fn change(&self, change: impl FnOnce(&mut State)) -> bool {
        let reader = {
            let mut state = lock(&self.state);
            if state.closed {
                return false;
            }
            change(&mut state);
            state.reader.take()
        };
        if let Some(reader) = reader {
            reader.wake();
        }
        true
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.change(|state| state.abandoned = true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn frame(version: u64) -> Frame {
        Frame { version, content: "".into(), activation: ActivationId::mint() }
    }

    #[test]
    fn the_latest_frame_is_kept_and_an_older_one_is_not() {
        let (sender, mut inbox) = Inbox::new();
        for version in [1, 3, 2] {
            assert!(sender.push(frame(version)));
        }
        assert!(matches!(inbox.next().now_or_never(), Some(Some(Arrival::Frame(f))) if f.version == 3));
        assert_eq!(inbox.next().now_or_never(), None);
    }

    #[test]
    fn each_end_sees_that_the_other_is_gone() {
        let (sender, mut inbox) = Inbox::new();
        let clone = sender.clone();
        drop(sender);
        assert_eq!(inbox.next().now_or_never(), None);
        drop(clone);
        assert_eq!(inbox.next().now_or_never(), Some(None));

        let (sender, inbox) = Inbox::new();
        drop(inbox);
        assert!(!sender.push(frame(1)) && sender.is_closed());
    }
}
