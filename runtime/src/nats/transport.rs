//! The riders' side: from an address to its activation, wherever that is.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

use super::link::Lost;
use super::wire::{Answer, Ask, Told, decode_answer};
use super::{Inner, NatsMesh};
use crate::activation::ActivationId;
use crate::address::Address;
use crate::failure::{DeliveryFailure, FailureKind};
use crate::mesh::{Ack, ChangeFeed, GetNode, Mesh, Node, NodeStore, StreamId, Subscribe, WriteNode};
use crate::rider::Transport;

impl NatsMesh {
    /// Writes a node, through its activation where it has one. Answers with the version.
    ///
    /// # Errors
    /// What the activation or the catalogue answers: a promise too, since a write is not repeated on its own.
    pub async fn put(&self, path: &Address, content: impl Into<Arc<str>>) -> Result<u64, DeliveryFailure> {
        let content = content.into();
        if self.inner.store.read(path).await?.is_none() {
            return self.inner.store.write(path, None, content).await;
        }
        if let Some(mesh) = self.inner.here(path) {
            return mesh.request(path, WriteNode { content }).await;
        }
        Ok(self.inner.ask(path, &Ask::Write(content)).await?.version)
    }

    /// Deletes a node. Its activation is torn down where it is.
    ///
    /// # Errors
    /// When the catalogue does not answer.
    pub async fn delete(&self, path: &Address) -> Result<bool, DeliveryFailure> {
        Ok(self.inner.store.delete(path).await?.is_some())
    }
}

impl Inner {
    /// This process's mesh, if the address is active in it.
    fn here(&self, address: &Address) -> Option<&Mesh> {
        self.mesh.activation_at(address).map(|_| &self.mesh)
    }

    /// Asks the activation at an address. Every ask may be repeated, so what an interruption may have swallowed is.
    ///
    /// While the way to the server is interrupted it waits. An ask that was not answered although the way was up may have
    /// gone to a process that was just killed, before the server had noticed: the second one then meets no responder. An
    /// owner that is there and mute leaves both without an answer.
    async fn ask(&self, address: &Address, ask: &Ask) -> Result<Answer, DeliveryFailure> {
        let mut unanswered = 0;
        loop {
            let gaps = self.link.up().await;
            let answer = self.ask_once(address, ask).await;
            let lost = matches!(&answer, Err(failure) if failure.kind == FailureKind::Unavailable);
            if !lost {
                return answer;
            }
            if self.link.gaps() == gaps {
                unanswered += 1;
            }
            if unanswered > 1 {
                return answer;
            }
        }
    }

    async fn ask_once(&self, address: &Address, ask: &Ask) -> Result<Answer, DeliveryFailure> {
        match self.link.request(self.subjects.asks(address), ask.encode(address), self.request_timeout).await
        {
            Ok(message) => return decode_answer(&message),
            Err(Lost::Failed(failure)) => return Err(failure),
            Err(Lost::NoResponders) => {}
        }
        // No activation is there right now. Whether the node is absent is for the catalogue to say.
        if self.store.read(address).await?.is_none() {
            return Err(DeliveryFailure::not_found(address));
        }
        match self.link.request(self.subjects.wakes(), ask.encode(address), self.request_timeout).await {
            Ok(message) => decode_answer(&message),
            Err(Lost::Failed(failure)) => Err(failure),
            Err(Lost::NoResponders) => Err(DeliveryFailure {
                kind: FailureKind::ShuttingDown,
                message: format!("No host is there to activate {address}; the address may reactivate.")
                    .into(),
                activation: Some(self.vacancy),
            }),
        }
    }
}

impl Transport for NatsMesh {
    fn subscribe(
        &self,
        owner: &Address,
        subscribe: Subscribe,
    ) -> BoxFuture<'static, Result<Ack, DeliveryFailure>> {
        let (inner, owner) = (Arc::clone(&self.inner), owner.clone());
        async move {
            if let Some(mesh) = inner.here(&owner) {
                return mesh.request(&owner, subscribe).await;
            }
            inner.link.up().await;
            inner.frames.read(&subscribe.stream, subscribe.frames).await?;
            let answer = inner.ask(&owner, &Ask::Subscribe(subscribe.stream)).await?;
            Ok(Ack { version: answer.version, activation: answer.activation })
        }
        .boxed()
    }

    fn read(&self, owner: &Address) -> BoxFuture<'static, Result<Node, DeliveryFailure>> {
        let (inner, owner) = (Arc::clone(&self.inner), owner.clone());
        async move {
            if let Some(mesh) = inner.here(&owner) {
                return mesh.request(&owner, GetNode).await;
            }
            let answer = inner.ask(&owner, &Ask::Get).await?;
            Ok(Node { version: answer.version, content: answer.content })
        }
        .boxed()
    }

    fn heartbeat(&self, owner: &Address, stream: &StreamId) {
        self.tell(owner, &Told::Heartbeat(stream.clone()), |mesh| mesh.heartbeat(owner, stream));
    }

    fn unsubscribe(&self, owner: &Address, stream: &StreamId) {
        self.inner.frames.forget(stream);
        self.tell(owner, &Told::Unsubscribe(stream.clone()), |mesh| mesh.unsubscribe(owner, stream));
    }

    fn owner_ready(&self, owner: &Address, refused_by: Option<ActivationId>) -> BoxFuture<'static, ()> {
        match self.inner.here(owner) {
            Some(mesh) => mesh.owner_ready(owner, refused_by),
            None => ready(()).boxed(),
        }
    }

    fn feed(&self) -> ChangeFeed {
        self.inner.mesh.change_feed()
    }
}

impl NatsMesh {
    fn tell(&self, owner: &Address, told: &Told, here: impl FnOnce(&Mesh)) {
        match self.inner.here(owner) {
            Some(mesh) => here(mesh),
            None => self.inner.link.tell(self.inner.subjects.tells(owner), told.encode(), "".into()),
        }
    }
}
