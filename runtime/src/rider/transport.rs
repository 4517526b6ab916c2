//! What a rider needs of a mesh, in this process or across several.

use std::fmt;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};

use crate::activation::ActivationId;
use crate::address::Address;
use crate::failure::DeliveryFailure;
use crate::mesh::{Ack, ChangeFeed, GetNode, Heartbeat, Mesh, Node, StreamId, Subscribe, Unsubscribe};

/// The way from a rider to the owners of addresses.
///
/// An implementation answers with [`ShuttingDown`](crate::failure::FailureKind::ShuttingDown) only what an activation, or
/// whoever speaks for it, has answered so. It never turns "nobody is there right now" into
/// [`NotFound`](crate::failure::FailureKind::NotFound): that verdict is the catalogue's.
pub trait Transport: fmt::Debug + Send + Sync + 'static {
    /// Opens or refreshes a subscription.
    fn subscribe(
        &self,
        owner: &Address,
        subscribe: Subscribe,
    ) -> BoxFuture<'static, Result<Ack, DeliveryFailure>>;

    /// Reads a node once.
    fn read(&self, owner: &Address) -> BoxFuture<'static, Result<Node, DeliveryFailure>>;

    /// Pokes the owner of a stream. Wakes nobody, and is never answered.
    fn heartbeat(&self, owner: &Address, stream: &StreamId);

    /// Ends a subscription. Wakes nobody, and is never answered.
    fn unsubscribe(&self, owner: &Address, stream: &StreamId);

    /// The join: completes once the activation that refused is no longer being torn down, as far as can be seen from here.
    ///
    /// It reads the world when it is *called*, so call it when the attempt is about to run. An owner that cannot be seen
    /// from here is ready at once; if it is not, its next refusal is paid for in rests.
    fn owner_ready(&self, owner: &Address, refused_by: Option<ActivationId>) -> BoxFuture<'static, ()>;

    /// The feed of changes. A transport that lost sight of it for a while announces a gap on it.
    fn feed(&self) -> ChangeFeed;
}

impl Transport for Mesh {
    fn subscribe(
        &self,
        owner: &Address,
        subscribe: Subscribe,
    ) -> BoxFuture<'static, Result<Ack, DeliveryFailure>> {
        let (mesh, owner) = (self.clone(), owner.clone());
        async move { mesh.request(&owner, subscribe).await }.boxed()
    }

    fn read(&self, owner: &Address) -> BoxFuture<'static, Result<Node, DeliveryFailure>> {
        let (mesh, owner) = (self.clone(), owner.clone());
        async move { mesh.request(&owner, GetNode).await }.boxed()
    }

    fn heartbeat(&self, owner: &Address, stream: &StreamId) {
        self.tell(owner, "Heartbeat", Heartbeat(stream.clone()));
    }

    fn unsubscribe(&self, owner: &Address, stream: &StreamId) {
        self.tell(owner, "Unsubscribe", Unsubscribe(stream.clone()));
    }

    fn owner_ready(&self, owner: &Address, _refused_by: Option<ActivationId>) -> BoxFuture<'static, ()> {
        match self.activation_at(owner) {
            Some(hub) if hub.is_disposing() => hub.disposal_completed().boxed(),
            _ => ready(()).boxed(),
        }
    }

    fn feed(&self) -> ChangeFeed {
        self.change_feed()
    }
}
