//! The hub of a node: reads, writes, and the subscriptions that it feeds.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, Weak};

use super::MeshInner;
use super::feed::ChangeFeed;
use super::hub::Hub;
use super::inbox::{Frame, InboxSender, StreamId};
use super::mailbox::Start;
use super::message::Request;
use super::spec::{HandlerError, HubSpec};
use super::store::{Node, NodeStore};
use super::sync::lock;
use crate::activation::ActivationId;
use crate::address::Address;
use crate::failure::{DeliveryFailure, FailureKind};

/// Asks a node for what it holds.
#[derive(Clone, Copy, Debug)]
pub struct GetNode;

impl Request for GetNode {
    type Reply = Node;
    const NAME: &'static str = "GetNode";
}

/// Writes a node. Answers with the new version.
#[derive(Clone, Debug)]
pub struct WriteNode {
    /// The whole new content.
    pub content: Arc<str>,
}

impl Request for WriteNode {
    type Reply = u64;
    const NAME: &'static str = "WriteNode";
}

/// Opens or refreshes a subscription. The owner sends a whole frame first, and then answers.
#[derive(Clone, Debug)]
pub struct Subscribe {
    /// Which stream. The same one again is a refresh.
    pub stream: StreamId,
    /// Where its frames go: made before the request is posted, so that none can come too early.
    pub frames: InboxSender,
}

impl Request for Subscribe {
    type Reply = Ack;
    const NAME: &'static str = "SubscribeRequest";
}

/// The answer to a [`Subscribe`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The version of the frame that was sent.
    pub version: u64,
    /// Who answers.
    pub activation: ActivationId,
}

/// Pokes the owner of a stream. Never awaited, never refused, and never a subscription.
#[derive(Clone, Debug)]
pub(crate) struct Heartbeat(pub(crate) StreamId);

/// Ends a subscription.
#[derive(Clone, Debug)]
pub(crate) struct Unsubscribe(pub(crate) StreamId);

/// What one activation of a node holds.
#[derive(Debug)]
pub(super) struct NodeState {
    held: Mutex<Option<Node>>,
    subscribers: Mutex<HashMap<StreamId, InboxSender>>,
    store: Arc<dyn NodeStore>,
    feed: ChangeFeed,
}

impl NodeState {
    pub(super) fn new(store: Arc<dyn NodeStore>, feed: ChangeFeed) -> Self {
        Self { held: Mutex::new(None), subscribers: Mutex::new(HashMap::new()), store, feed }
    }

    /// Everybody who is subscribed, for the goodbye of a recycle.
    pub(super) fn take_subscribers(&self) -> Vec<InboxSender> {
        std::mem::take(&mut *lock(&self.subscribers)).into_values().collect()
    }

    pub(super) fn subscriber_count(&self) -> usize {
        lock(&self.subscribers).len()
    }

    fn frame(&self, by: ActivationId) -> Option<Frame> {
        lock(&self.held).as_ref().map(|node| Frame {
            version: node.version,
            content: node.content.clone(),
            activation: by,
        })
    }
}

/// Loads the node before the first delivery is taken. A node that is gone by then is a verdict.
pub(super) fn start(first: Option<OnActivate>) -> Start {
    Box::new(move |hub: Hub| {
        Box::pin(async move {
            if let Some(first) = first {
                first(hub.clone()).await?;
            }
            let node = hub.inner.node.as_ref().ok_or_else(no_node)?;
            let held = node.store.read(hub.address()).await?;
            if held.is_none() {
                return Err(DeliveryFailure::not_found(hub.address()));
            }
            *lock(&node.held) = held;
            Ok(())
        })
    })
}

/// Runs before a node is loaded, and may refuse the activation: where a lease is taken.
pub type OnActivate =
    Arc<dyn Fn(Hub) -> futures_util::future::BoxFuture<'static, Result<(), DeliveryFailure>> + Send + Sync>;

/// The handlers of every node, added to what the mesh was built with.
pub(super) fn handlers(spec: HubSpec) -> HubSpec {
    let stream_spec = Arc::new(HubSpec::new());
    spec.on::<GetNode>(|hub, GetNode| Ok(state(hub)?.held().ok_or_else(no_node)?))
        .on::<Subscribe>(move |hub, subscribe| subscribe_to(hub, subscribe, &stream_spec))
        .on_async::<WriteNode, _>(|hub, write| async move { state(&hub)?.write(&hub, write.content).await })
        .on_tell::<Heartbeat>(|hub, Heartbeat(stream)| poke(hub, &stream))
        .on_tell::<Unsubscribe>(|hub, Unsubscribe(stream)| end_subscription(hub, &stream))
}

impl NodeState {
    fn held(&self) -> Option<Node> {
        lock(&self.held).clone()
    }

    async fn write(&self, hub: &Hub, content: Arc<str>) -> Result<u64, HandlerError> {
        let expected = self.held().map(|node| node.version);
        let version = match self.store.write(hub.address(), expected, content.clone()).await {
            Ok(version) => version,
            // Another version is there: what this activation holds is not the node any more. A successor reads it anew.
            Err(conflict) if conflict.kind == FailureKind::Failed => {
                tracing::debug!(hub = %hub.address(), error = %conflict, "the activation was written past, and ends");
                hub.dispose();
                return Err(hub.disposing_error().into());
            }
            Err(failure) => return Err(failure.into()),
        };
        *lock(&self.held) = Some(Node { version, content });
        if let Some(frame) = self.frame(hub.activation()) {
            lock(&self.subscribers).retain(|stream, frames| {
                let read = frames.push(frame.clone());
                if !read {
                    drop_stream_hub(hub, stream);
                }
                read
            });
        }
        self.feed.announce(hub.address(), Some(version));
        Ok(version)
    }
}

/// A subscription lives in a hub that the owner hosts for it: an owner that hosts nothing any more takes none.
fn subscribe_to(hub: &Hub, subscribe: Subscribe, spec: &Arc<HubSpec>) -> Result<Ack, HandlerError> {
    let node = state(hub)?;
    let frame = node.frame(hub.activation()).ok_or_else(no_node)?;
    let _hosted = hub.host(&stream_name(&subscribe.stream), Arc::clone(spec))?;
    let ack = Ack { version: frame.version, activation: hub.activation() };
    subscribe.frames.push(frame);
    lock(&node.subscribers).insert(subscribe.stream, subscribe.frames);
    Ok(ack)
}

fn poke(hub: &Hub, stream: &StreamId) {
    let Ok(node) = state(hub) else { return };
    let frames = lock(&node.subscribers).get(stream).cloned();
    let (Some(frames), Some(frame)) = (frames, node.frame(hub.activation())) else { return };
    if !frames.push(frame) {
        end_subscription(hub, stream);
    }
}

fn end_subscription(hub: &Hub, stream: &StreamId) {
    if let Ok(node) = state(hub) {
        lock(&node.subscribers).remove(stream);
    }
    drop_stream_hub(hub, stream);
}

fn drop_stream_hub(hub: &Hub, stream: &StreamId) {
    if let Some(stream_hub) = hub.hosted(&stream_name(stream)) {
        stream_hub.dispose();
    }
}

fn stream_name(stream: &StreamId) -> String {
    format!("sync/{stream}")
}

fn state(hub: &Hub) -> Result<&NodeState, HandlerError> {
    Ok(hub.inner.node.as_ref().ok_or_else(no_node)?)
}

fn no_node() -> DeliveryFailure {
    DeliveryFailure::new(FailureKind::Failed, "this hub holds no node")
}

/// The parts of a mesh that every node's hub is made with.
pub(super) fn bring_up(mesh: &MeshInner, address: &Address) -> Result<Hub, DeliveryFailure> {
    let state = NodeState::new(Arc::clone(&mesh.store), mesh.feed.clone());
    let start = start(mesh.on_activate.clone());
    mesh.root
        .host_with(address.clone(), Arc::clone(&mesh.spec), Some(state), Some(start))
        .map_err(|_disposing| super::router::mesh_going_away(address))
}

impl fmt::Debug for MeshInner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mesh")
            .field("root", &self.root)
            .field("hubs", &self.root.hosted_count())
            .finish_non_exhaustive()
    }
}

/// Keeps the compiler honest about what a weak mesh is for: hubs never keep their mesh alive.
pub(super) type WeakMesh = Weak<MeshInner>;
