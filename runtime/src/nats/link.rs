//! The way to the server: whether it is up, and how often it was not.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_nats::client::RequestErrorKind;
use async_nats::{Client, ConnectOptions, Event, HeaderMap, Message, Request};
use tokio::sync::watch;

use super::NatsError;
use crate::failure::{DeliveryFailure, FailureKind};
use crate::mesh::{ChangeFeed, NO_ANSWER_IN_TIME};

/// How long the client waits before it tries the server again.
const RECONNECT: Duration = Duration::from_millis(200);

/// A client, and what its events have said.
#[derive(Clone)]
pub(super) struct Link {
    client: Client,
    state: watch::Receiver<State>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    down: bool,
    gaps: u64,
}

/// A request that came back without an answer.
pub(super) enum Lost {
    /// Nobody listens on the subject right now.
    NoResponders,
    /// Anything else.
    Failed(DeliveryFailure),
}

impl Link {
    pub(super) async fn connect(address: &str) -> Result<Self, NatsError> {
        let (events, state) = watch::channel(State::default());
        let events = Arc::new(events);
        let on_event = move |event| {
            let events = Arc::clone(&events);
            async move { note(&events, &event) }
        };
        let options = ConnectOptions::new().event_callback(on_event).reconnect_delay_callback(|_| RECONNECT);
        let client = options.connect(address).await.map_err(NatsError::new)?;
        Ok(Self { client, state })
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn gaps(&self) -> u64 {
        self.state.borrow().gaps
    }

    /// Completes once the way is up, with how often it was not.
    pub(super) async fn up(&self) -> u64 {
        let mut state = self.state.clone();
        match state.wait_for(|state| !state.down).await {
            Ok(state) => state.gaps,
            // The client is gone: the request that follows says so.
            Err(_) => 0,
        }
    }

    /// One request. Whoever repeats it after a gap must know that it may have been taken on.
    pub(super) async fn request(
        &self,
        subject: String,
        (headers, body): (HeaderMap, Arc<str>),
        bound: Duration,
    ) -> Result<Message, Lost> {
        let payload = body.as_bytes().to_vec().into();
        let request = Request::new().headers(headers).payload(payload).timeout(Some(bound));
        self.client.send_request(subject.clone(), request).await.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => Lost::NoResponders,
            RequestErrorKind::TimedOut => Lost::Failed(DeliveryFailure::new(
                FailureKind::Unavailable,
                format!("{NO_ANSWER_IN_TIME}: {subject}"),
            )),
            _ => Lost::Failed(DeliveryFailure::new(FailureKind::Unavailable, error.to_string())),
        })
    }

    /// Sends what nobody awaits.
    pub(super) fn tell(&self, subject: String, headers: HeaderMap, body: Arc<str>) {
        let client = self.client.clone();
        tokio::spawn(async move {
            let payload = body.as_bytes().to_vec().into();
            if let Err(error) = client.publish_with_headers(subject, headers, payload).await {
                tracing::debug!(%error, "a message that nobody awaits was not sent");
            }
        });
    }
}

fn note(state: &watch::Sender<State>, event: &Event) {
    match event {
        Event::Connected => {
            state.send_modify(|state| state.down = false);
        }
        Event::Disconnected => {
            tracing::warn!("the way to the NATS server is interrupted");
            state.send_modify(|state| *state = State { down: true, gaps: state.gaps + 1 });
        }
        _ => {}
    }
}

/// Announces each gap on the feed, once the way is up again: what happened meanwhile is not known.
pub(super) async fn mark_gaps(link: Link, feed: ChangeFeed) {
    let mut state = link.state.clone();
    let mut marked = state.borrow().gaps;
    while let Ok(now) = state.wait_for(|state| !state.down && state.gaps != marked).await.map(|state| *state)
    {
        marked = now.gaps;
        tracing::info!(gaps = marked, "the way to the NATS server is up again, and a gap is announced");
        feed.announce_gap();
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("state", &*self.state.borrow()).finish_non_exhaustive()
    }
}
