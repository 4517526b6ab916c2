//! The reader's side of its streams: one subscription a stream, from before its first ask until it ends.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_nats::Subscriber;
use futures_util::StreamExt;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::link::Link;
use super::store::unavailable;
use super::wire::{Subjects, decode_answer, is_ask_again};
use crate::failure::DeliveryFailure;
use crate::mesh::sync::lock;
use crate::mesh::{Frame, InboxSender, StreamId};

/// The streams that are read here. A stream that is forgotten is no longer read.
#[derive(Debug)]
pub(super) struct FrameTable {
    link: Link,
    subjects: Subjects,
    streams: Arc<Mutex<HashMap<StreamId, DropGuard>>>,
}

impl FrameTable {
    pub(super) fn new(link: Link, subjects: Subjects) -> Self {
        Self { link, subjects, streams: Arc::default() }
    }

    /// Reads a stream, if it is not read yet. It is known to the server by the time this returns, so that no frame of the
    /// ask that follows can come too early.
    pub(super) async fn read(&self, stream: &StreamId, into: InboxSender) -> Result<(), DeliveryFailure> {
        if lock(&self.streams).contains_key(stream) {
            return Ok(());
        }
        let client = self.link.client();
        let arrivals = client.subscribe(self.subjects.frames(stream)).await.map_err(unavailable)?;
        client.flush().await.map_err(unavailable)?;
        let stop = CancellationToken::new();
        lock(&self.streams).insert(stream.clone(), stop.clone().drop_guard());
        tokio::spawn(stop.run_until_cancelled_owned(take(self.link.clone(), arrivals, into)));
        Ok(())
    }

    pub(super) fn forget(&self, stream: &StreamId) {
        lock(&self.streams).remove(stream);
    }
}

async fn take(link: Link, mut arrivals: Subscriber, into: InboxSender) {
    while let Some(message) = arrivals.next().await {
        if let Some(acknowledge) = message.reply.clone()
            && let Err(error) = link.client().publish(acknowledge, "".into()).await
        {
            tracing::debug!(%error, "a frame was not acknowledged");
        }
        let read = if is_ask_again(&message) {
            into.ask_again("the owner was recycled")
        } else if let Ok(frame) = decode_answer(&message) {
            into.push(Frame { version: frame.version, content: frame.content, activation: frame.activation })
        } else {
            true
        };
        if !read {
            return;
        }
    }
}
