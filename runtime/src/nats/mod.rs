//! A mesh across processes, over NATS.
//!
//! - Every process has a mesh of its own. The catalogue of nodes is a JetStream key-value bucket, and so are the *leases*:
//!   one activation an address, wherever it is, holds one and renews it.
//! - An activation listens on its address's subject until its ShutDown phase. The window in which a dying hub is still
//!   found is therefore as real here as in one process.
//! - *No responders* means that no activation is there right now. It never means that the node is absent: that verdict is the
//!   catalogue's.
//! - The client reconnects by itself and core NATS is at-most-once, so an interruption is invisible to a subscription. It is
//!   marked as a gap on the [`ChangeFeed`], and the riders' latch repairs what was missed.
//! - A refusal travels as headers (its kind, and the activation that refused), with its text as the body for people.
//!
//! ```no_run
//! use std::sync::Arc;
//! use futures_util::StreamExt;
//! use rideout::nats::{NatsMesh, NatsOptions};
//! use rideout::rider::{SyncStream, SyncStreamOptions};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mesh = NatsMesh::connect("127.0.0.1:4222", NatsOptions::default()).await?;
//! let inst = "Tenant/Inst".into();
//! mesh.put(&inst, "first").await?;
//! let mut frames = SyncStream::open(Arc::new(mesh.clone()), &inst, SyncStreamOptions::default());
//! while let Some(frame) = frames.next().await {
//!     println!("version {}", frame?.version);
//! }
//! # Ok(())
//! # }
//! ```

mod frames;
mod host;
mod lease;
mod link;
mod store;
mod transport;
mod wire;

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::{self, kv, stream};
use tokio_util::sync::{CancellationToken, DropGuard};

use self::frames::FrameTable;
use self::host::Seats;
use self::lease::Leases;
use self::link::Link;
use self::store::BucketStore;
use self::wire::Subjects;
use crate::activation::ActivationId;
use crate::hub_watcher::{HubWatcherOptions, WatcherHandle, subscribe_hub_watcher};
use crate::mesh::{ChangeFeed, Mesh, MeshOptions, NodeStore};

/// What a process joins the mesh with.
#[derive(Clone, Debug)]
#[must_use]
pub struct NatsOptions {
    /// The name of the mesh: in front of every subject, and in the names of the buckets. Letters and digits.
    pub mesh: String,
    /// Whether this process hosts activations. One that does not asks those that do.
    pub hosts: bool,
    /// How long a lease outlives its last renewal, and so how long the address of a process that was killed stays held by
    /// its corpse. At least three times the time in which the server answers.
    pub lease: Duration,
    /// How long an activation still listens, and refuses, after its teardown. Zero outside of tests.
    pub linger: Duration,
    /// How long a request may stay unanswered.
    pub request_timeout: Duration,
    /// The options of this process's own mesh.
    pub options: MeshOptions,
}

impl Default for NatsOptions {
    /// A lease of 3 s, well inside the 8 s that a rider rests on one activation.
    fn default() -> Self {
        Self {
            mesh: "rideout".to_owned(),
            hosts: true,
            lease: Duration::from_secs(3),
            linger: Duration::ZERO,
            request_timeout: Duration::from_secs(5),
            options: MeshOptions::default(),
        }
    }
}

/// One process's part of a mesh over NATS. Clones are handles to the same part.
#[derive(Clone)]
pub struct NatsMesh {
    inner: Arc<Inner>,
}

struct Inner {
    link: Link,
    mesh: Mesh,
    store: Arc<BucketStore>,
    subjects: Subjects,
    frames: FrameTable,
    request_timeout: Duration,
    /// Who refuses in the name of nobody: while no process is there to activate an address, it is as if one activation
    /// went on refusing, so that a rider pays for it in rests.
    vacancy: ActivationId,
    _feed: WatcherHandle,
    _stop: DropGuard,
}

impl NatsMesh {
    /// Joins the mesh over the server at `address`. Makes its buckets if they do not exist.
    ///
    /// # Errors
    /// When the server cannot be reached, or has no JetStream.
    pub async fn connect(address: &str, options: NatsOptions) -> Result<Self, NatsError> {
        let subjects = Subjects::new(&options.mesh);
        let link = Link::connect(address).await?;
        let jetstream = jetstream::new(link.client().clone());
        let nodes = bucket(&jetstream, format!("{}_nodes", options.mesh), Duration::ZERO).await?;
        let leases = bucket(&jetstream, format!("{}_leases", options.mesh), options.lease).await?;

        let feed = ChangeFeed::default();
        let store = Arc::new(BucketStore::new(nodes.clone()));
        let seats = Arc::new(Seats::new(
            link.clone(),
            Leases::new(leases, options.lease),
            subjects.clone(),
            options.linger,
        ));
        let mesh = Mesh::builder()
            .options(options.options)
            .store(Arc::clone(&store) as Arc<dyn NodeStore>)
            .change_feed(feed.clone())
            .on_activate(host::take_seat(seats))
            .build()
            .map_err(NatsError::new)?;

        let stop = CancellationToken::new();
        if options.hosts {
            host::serve_wakes(&link, &mesh, &subjects, stop.clone()).await?;
        }
        tokio::spawn(stop.clone().run_until_cancelled_owned(link::mark_gaps(link.clone(), feed)));
        let frames = FrameTable::new(link.clone(), subjects.clone());
        let watcher = watch_nodes(nodes, &mesh);
        let inner = Inner {
            link,
            mesh,
            store,
            subjects,
            frames,
            request_timeout: options.request_timeout,
            vacancy: ActivationId::mint(),
            _feed: watcher,
            _stop: stop.drop_guard(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// This process's own mesh: the hubs that are active here.
    #[must_use]
    pub fn local(&self) -> &Mesh {
        &self.inner.mesh
    }

    /// How often the way to the server was interrupted.
    #[must_use]
    pub fn gaps(&self) -> u64 {
        self.inner.link.gaps()
    }
}

/// The bucket of this name, made if it does not exist.
///
/// It is made as the stream that it is: the client's own call for it asks for the account first, and does not understand
/// what a server before 2.10 answers.
async fn bucket(
    jetstream: &jetstream::Context,
    name: String,
    max_age: Duration,
) -> Result<kv::Store, NatsError> {
    let config = stream::Config {
        name: format!("KV_{name}"),
        subjects: vec![format!("$KV.{name}.>")],
        max_messages_per_subject: 1,
        max_age,
        allow_rollup: true,
        deny_delete: true,
        allow_direct: true,
        discard: stream::DiscardPolicy::New,
        ..stream::Config::default()
    };
    jetstream.get_or_create_stream(config).await.map_err(NatsError::new)?;
    jetstream.get_key_value(name).await.map_err(NatsError::new)
}

/// Announces what changes in the catalogue, and tears down the activations of what is deleted from it.
fn watch_nodes(nodes: kv::Store, mesh: &Mesh) -> WatcherHandle {
    let open = move |_| {
        let nodes = nodes.clone();
        async move { nodes.watch_all().await.map_err(NatsError::new).map(MapError) }
    };
    // The mesh owns the watcher, so the watcher does not own the mesh.
    let (root, feed) = (mesh.root().clone(), mesh.change_feed());
    let on_next = move |entry: kv::Entry| {
        let Some(path) = wire::address_of(&entry.key) else { return };
        feed.announce(&path, Some(entry.revision));
        if entry.operation != kv::Operation::Put
            && let Some(hub) = root.mesh().and_then(|mesh| mesh.activation_at(&path))
        {
            hub.dispose();
        }
    };
    subscribe_hub_watcher(mesh.root(), "the catalogue of nodes", open, on_next, HubWatcherOptions::new())
}

/// The stream of a bucket's changes, with our error.
struct MapError(kv::Watch);

impl futures_core::Stream for MapError {
    type Item = Result<kv::Entry, NatsError>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::pin::Pin::new(&mut self.0).poll_next(cx).map_err(NatsError::new)
    }
}

/// The server could not be used.
#[derive(Debug)]
pub struct NatsError {
    source: Box<dyn Error + Send + Sync>,
}

impl NatsError {
    fn new(source: impl Error + Send + Sync + 'static) -> Self {
        Self { source: Box::new(source) }
    }
}

impl fmt::Display for NatsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the NATS server could not be used: {}", self.source)
    }
}

impl Error for NatsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}

impl fmt::Debug for NatsMesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsMesh")
            .field("mesh", &self.inner.mesh)
            .field("gaps", &self.gaps())
            .finish_non_exhaustive()
    }
}
