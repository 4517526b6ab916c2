//! A reference mesh: hubs that recycle, and the refusal that says so.
//!
//! A *hub* is an actor at an [address](crate::address). One life of it is an *activation*. A recycle ends an activation; the
//! next request makes another at the same address. Between the two lies a window in which routing still finds the one that
//! is going away, and it answers every request with [`ShuttingDown`](crate::failure::FailureKind::ShuttingDown).
//!
//! ```
//! use rideout::failure::FailureKind;
//! use rideout::mesh::{GetNode, Mesh, WriteNode};
//! # use rideout::run_level::RunLevel;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mesh = Mesh::builder().build()?;
//! let inst = "Tenant/Inst".into();
//! mesh.put(&inst, "first").await?;
//! mesh.request(&inst, WriteNode { content: "second".into() }).await?;
//!
//! let corpse = mesh.recycle(&inst).expect("the write has activated it");
//! corpse.disposal_completed().await;
//! assert_eq!(corpse.run_level(), RunLevel::Dead);
//! let held = mesh.hold_route(&inst, corpse);
//! let refused = mesh.request(&inst, GetNode).await.unwrap_err();
//! assert_eq!(refused.kind, FailureKind::ShuttingDown);
//!
//! drop(held);
//! assert_eq!(mesh.request(&inst, GetNode).await?.content.as_ref(), "second");
//! # Ok(())
//! # }
//! ```

mod birth;
mod disposal;
mod feed;
mod hub;
mod identity;
mod inbox;
mod mailbox;
mod message;
mod node;
mod options;
mod registry;
mod router;
mod signal;
mod spec;
mod store;
pub(crate) mod sync;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use tokio::runtime::Handle;

use self::birth::Birth;
use self::node::WeakMesh;
use self::router::Holds;
use crate::address::Address;
use crate::failure::{DeliveryFailure, FailureKind};

pub use self::feed::{Announced, ChangeFeed, FeedWatch};
pub use self::hub::Hub;
pub use self::inbox::{Arrival, Frame, Inbox, InboxSender, StreamId};
pub use self::message::{Request, Responder};
pub use self::node::{Ack, GetNode, OnActivate, Subscribe, WriteNode};
pub(crate) use self::node::{Heartbeat, Unsubscribe};
pub use self::options::{BadDisposalBounds, DisposalBounds, MeshOptions};
pub use self::router::RouteHold;
pub use self::signal::DisposalCompleted;
pub use self::spec::{HandlerError, HubSpec};
pub use self::store::{MemoryStore, Node, NodeStore};

/// The address of the hub that hosts all others.
const ROOT: &str = "Mesh";

/// What the transport says when the bound on a request ran out.
pub const NO_ANSWER_IN_TIME: &str = "Response did not arrive on time";

/// A mesh in this process. Clones are handles to the same one; the last one dropped begins its teardown.
#[derive(Clone, Debug)]
pub struct Mesh {
    inner: Arc<MeshInner>,
}

struct MeshInner {
    root: Hub,
    spec: Arc<HubSpec>,
    store: Arc<dyn NodeStore>,
    feed: ChangeFeed,
    holds: Holds,
    options: MeshOptions,
    on_activate: Option<OnActivate>,
}

impl Mesh {
    /// A mesh with defaults, to be changed.
    pub fn builder() -> MeshBuilder {
        MeshBuilder::default()
    }

    /// Asks the hub at `to`, which is made if its node exists and has none.
    ///
    /// # Errors
    /// - [`NotFound`](FailureKind::NotFound): routing's verdict that no node is there.
    /// - [`ShuttingDown`](FailureKind::ShuttingDown): the promise of an activation that is going away.
    /// - [`Unavailable`](FailureKind::Unavailable): no answer within the bound, or nobody left to give one.
    /// - whatever else the hub answers.
    ///
    /// # Cancel safety
    /// Dropping the future drops the answer. The request may have been taken on.
    pub async fn request<R: Request>(&self, to: &Address, request: R) -> Result<R::Reply, DeliveryFailure> {
        let hub = self.inner.resolve(to).await?;
        let answer = hub.ask(request);
        match tokio::time::timeout(self.inner.options.request_timeout, answer).await {
            Ok(answer) => answer,
            Err(_elapsed) => {
                let text = format!("{NO_ANSWER_IN_TIME}: {} to {to}", R::NAME);
                Err(DeliveryFailure::new(FailureKind::Unavailable, text))
            }
        }
    }

    /// Sends a message that nobody awaits to the activation at `to`. It wakes nobody: without an activation it is dropped.
    pub fn tell<M: Send + 'static>(&self, to: &Address, what: &'static str, message: M) {
        if let Some(hub) = self.inner.resolve_live(&to.node()) {
            hub.tell(what, message);
        }
    }

    /// Writes a node from outside: where there was none, there is one from now on. Answers with the version.
    ///
    /// # Errors
    /// What the store or the node's hub answers.
    pub async fn put(&self, path: &Address, content: impl Into<Arc<str>>) -> Result<u64, DeliveryFailure> {
        let content = content.into();
        if self.inner.store.read(path).await?.is_some() {
            return self.request(path, WriteNode { content }).await;
        }
        let version = self.inner.store.write(path, None, content).await?;
        self.inner.feed.announce(path, Some(version));
        Ok(version)
    }

    /// Deletes a node. The change is announced, and its activation torn down.
    ///
    /// # Errors
    /// What the store answers.
    pub async fn delete(&self, path: &Address) -> Result<bool, DeliveryFailure> {
        let deleted = self.inner.store.delete(path).await?;
        if let Some(version) = deleted {
            self.inner.feed.announce(path, Some(version));
        }
        if let Some(hub) = self.inner.root.inner.hosted.get(path) {
            hub.dispose();
        }
        Ok(deleted.is_some())
    }

    /// Ends the activation at `path`, if there is one, and hands out the corpse. The next request makes a successor.
    pub fn recycle(&self, path: &Address) -> Option<Hub> {
        let hub = self.inner.root.inner.hosted.get(path)?;
        hub.dispose();
        if self.inner.options.recycle_goodbye {
            self.say_goodbye(hub.clone());
        }
        Some(hub)
    }

    /// Sends every delivery for `address` to the activation `at` until the hold is dropped.
    pub fn hold_route(&self, address: &Address, at: Hub) -> RouteHold {
        self.inner.holds.hold(address, at)
    }

    /// The activation that routing finds at `address`, a corpse that it is held at included. Makes none.
    #[must_use]
    pub fn activation_at(&self, address: &Address) -> Option<Hub> {
        self.inner.resolve_live(address)
    }

    /// The feed of changes.
    #[must_use]
    pub fn change_feed(&self) -> ChangeFeed {
        self.inner.feed.clone()
    }

    /// The hub that hosts all others. Disposing it ends the mesh.
    pub fn root(&self) -> &Hub {
        &self.inner.root
    }

    /// The parent speaks for the corpse: after its disposal, and never for an ancestor's cascade.
    fn say_goodbye(&self, corpse: Hub) {
        self.inner.root.inner.runtime.spawn(async move {
            corpse.disposal_completed().await;
            let subscribers = corpse.inner.node.as_ref().map(node::NodeState::take_subscribers);
            for frames in subscribers.unwrap_or_default() {
                frames.ask_again("the owner was recycled");
            }
        });
    }
}

impl Drop for MeshInner {
    fn drop(&mut self) {
        self.root.dispose();
    }
}

/// Builds a [`Mesh`].
#[derive(Default)]
#[must_use]
pub struct MeshBuilder {
    options: MeshOptions,
    spec: HubSpec,
    store: Option<Arc<dyn NodeStore>>,
    feed: ChangeFeed,
    on_activate: Option<OnActivate>,
}

impl MeshBuilder {
    /// With these options.
    pub fn options(mut self, options: MeshOptions) -> Self {
        self.options = options;
        self
    }

    /// With handlers of your own at every node, beside those of a node.
    pub fn handlers(mut self, spec: HubSpec) -> Self {
        self.spec = spec;
        self
    }

    /// Over a store of your own.
    pub fn store(mut self, store: Arc<dyn NodeStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// With a change feed that others announce on too.
    pub fn change_feed(mut self, feed: ChangeFeed) -> Self {
        self.feed = feed;
        self
    }

    /// Runs before a node is loaded, and may refuse the activation.
    pub fn on_activate(mut self, first: OnActivate) -> Self {
        self.on_activate = Some(first);
        self
    }

    /// Brings the mesh up.
    ///
    /// # Errors
    /// Outside a tokio runtime.
    pub fn build(self) -> Result<Mesh, NoRuntime> {
        let runtime = Handle::try_current().map_err(|_| NoRuntime)?;
        let Self { options, spec, store, feed, on_activate } = self;
        let store = store.unwrap_or_else(|| Arc::new(MemoryStore::default()));
        let inner = Arc::new_cyclic(|mesh: &WeakMesh| {
            let root = Hub::bring_up(Birth {
                address: Address::new(ROOT),
                parent: None,
                spec: Arc::new(HubSpec::new()),
                node: None,
                bounds: options.disposal,
                runtime,
                mesh: mesh.clone(),
                start: None,
            });
            MeshInner {
                root,
                spec: Arc::new(node::handlers(spec)),
                store,
                feed,
                holds: Holds::default(),
                options,
                on_activate,
            }
        });
        Ok(Mesh { inner })
    }
}

impl fmt::Debug for MeshBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MeshBuilder").field("options", &self.options).finish_non_exhaustive()
    }
}

/// A mesh lives on a tokio runtime, and there was none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRuntime;

impl fmt::Display for NoRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mesh must be built inside a tokio runtime")
    }
}

impl Error for NoRuntime {}
