//! One activation: an actor with one mailbox and one logical thread, at an address.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::birth::Birth;
use super::identity::Identity;
use super::mailbox::{Item, Start};
use super::message::{Ask, Parcel, Request, Tell};
use super::node::NodeState;
use super::options::DisposalBounds;
use super::registry::Registry;
use super::signal::{DisposalCompleted, DisposalSignal};
use super::spec::HubSpec;
use super::sync::lock;
use super::{Mesh, MeshInner};
use crate::activation::ActivationId;
use crate::address::Address;
use crate::failure::{DeliveryFailure, FailureKind, HubDisposing};
use crate::hub_watcher::WatchHost;
use crate::nack::ShutdownNack;
use crate::run_level::RunLevel;

/// A handle to one activation. Clones are handles to the same one; dropping them does not end it.
#[derive(Clone)]
pub struct Hub {
    pub(super) inner: Arc<HubInner>,
}

pub(super) struct HubInner {
    pub(super) identity: Arc<Identity>,
    pub(super) shutting_down: CancellationToken,
    /// Ends the mailbox loop from outside, for a teardown by force.
    pub(super) killed: CancellationToken,
    /// Cancels the hub's own open requests.
    pub(super) callbacks: CancellationToken,
    pub(super) pending: AtomicUsize,
    pub(super) quiescing_timed_out: AtomicBool,
    /// The promise that its start was refused with, in whose name it then refuses everything: it never lived, and a
    /// refusal of its own would look like one more recycle.
    pub(super) start_refused: OnceLock<DeliveryFailure>,
    pub(super) completed: Arc<DisposalSignal>,
    pub(super) mailbox: mpsc::UnboundedSender<Item>,
    pub(super) parent: Option<Weak<HubInner>>,
    pub(super) hosted: Registry<Address, Hub>,
    pub(super) dispose_actions: Mutex<Vec<DisposeAction>>,
    pub(super) spec: Arc<HubSpec>,
    pub(super) node: Option<NodeState>,
    pub(super) bounds: DisposalBounds,
    pub(super) runtime: Handle,
    pub(super) mesh: Weak<MeshInner>,
}

pub(super) type DisposeAction = Box<dyn FnOnce() + Send>;

impl Hub {
    /// Which life at its address this is.
    #[must_use]
    pub fn activation(&self) -> ActivationId {
        self.inner.identity.activation
    }

    /// Where it lives.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.inner.identity.address
    }

    /// How far its life has gone.
    #[must_use]
    pub fn run_level(&self) -> RunLevel {
        self.inner.identity.level()
    }

    /// Whether its teardown, or an ancestor's, has begun.
    #[must_use]
    pub fn is_disposing(&self) -> bool {
        self.inner.identity.is_going_away()
    }

    /// Fires at the first instant of its teardown, or of an ancestor's.
    #[must_use]
    pub fn shutting_down(&self) -> CancellationToken {
        self.inner.shutting_down.clone()
    }

    /// Completes once this activation is [`Dead`](RunLevel::Dead): at once, if it is.
    ///
    /// It does not say that the address can answer again.
    ///
    /// # Cancel safety
    /// Dropping the future forgets the wait and nothing else.
    pub fn disposal_completed(&self) -> DisposalCompleted {
        DisposalSignal::wait(&self.inner.completed)
    }

    /// Whether its own open requests outlived the quiescing phase. It stays so: a test should fail on it.
    #[must_use]
    pub fn quiescing_timed_out(&self) -> bool {
        self.inner.quiescing_timed_out.load(Ordering::Acquire)
    }

    /// How many hubs it hosts.
    #[must_use]
    pub fn hosted_count(&self) -> usize {
        self.inner.hosted.len()
    }

    /// How many streams it feeds; none, if it is no node's hub.
    #[must_use]
    pub fn subscriber_count(&self) -> usize {
        self.inner.node.as_ref().map_or(0, NodeState::subscriber_count)
    }

    /// The hub that it hosts under `name`, if there is one. Creates nothing.
    #[must_use]
    pub fn hosted(&self, name: &str) -> Option<Self> {
        self.inner.hosted.get(&self.address().hosted(name))
    }

    /// The hub that it hosts under `name`, made if there is none.
    ///
    /// # Errors
    /// [`HubDisposing`] from the first instant of its teardown, or of an ancestor's.
    pub fn host(&self, name: &str, spec: Arc<HubSpec>) -> Result<Self, HubDisposing> {
        self.host_with(self.address().hosted(name), spec, None, None)
    }

    /// Runs `action` in its ShutDown phase; at once, if that is past.
    pub fn on_dispose(&self, action: impl FnOnce() + Send + 'static) {
        lock(&self.inner.dispose_actions).push(Box::new(action));
        if self.run_level() >= RunLevel::ShutDown {
            self.inner.run_dispose_actions();
        }
    }

    /// Begins its teardown and returns at once. Again is nothing.
    pub fn dispose(&self) {
        self.inner.dispose();
    }

    /// Asks another hub. Its teardown waits for the answer while it is quiescing, and then cancels the request.
    ///
    /// # Errors
    /// What [`Mesh::request`] answers, or [`FailureKind::Unavailable`] once it is cancelled.
    ///
    /// # Cancel safety
    /// Dropping the future drops the request's answer.
    pub async fn request<R: Request>(&self, to: &Address, request: R) -> Result<R::Reply, DeliveryFailure> {
        let cancelled = || {
            DeliveryFailure::new(FailureKind::Unavailable, "cancelled at the teardown of the hub that asked")
        };
        let _pending = Pending::one_more(&self.inner);
        let Some(mesh) = self.mesh() else { return Err(cancelled()) };
        let callbacks = self.inner.callbacks.clone();
        callbacks.run_until_cancelled(mesh.request(to, request)).await.unwrap_or_else(|| Err(cancelled()))
    }

    /// The mesh that it belongs to; `None` once that is gone.
    #[must_use]
    pub fn mesh(&self) -> Option<Mesh> {
        self.inner.mesh.upgrade().map(|inner| Mesh { inner })
    }

    /// Sends a request to exactly this activation and awaits the answer.
    pub(crate) fn ask<R: Request>(
        &self,
        request: R,
    ) -> impl Future<Output = Result<R::Reply, DeliveryFailure>> + Send + use<R> {
        let (parcel, answer) = Ask::new(request);
        self.deliver(parcel);
        async move {
            answer.await.unwrap_or_else(|_| {
                let text = format!("{} was dropped, and nobody is left to answer it", R::NAME);
                Err(DeliveryFailure::new(FailureKind::Unavailable, text))
            })
        }
    }

    /// Sends a message that nobody awaits.
    pub(crate) fn tell<M: Send + 'static>(&self, what: &'static str, message: M) {
        self.deliver(Box::new(Tell { message, what }));
    }

    pub(super) fn deliver(&self, parcel: Box<dyn Parcel>) {
        if self.run_level().refuses() {
            return self.inner.refuse(parcel);
        }
        if let Err(mpsc::error::SendError(Item::Delivery(parcel))) =
            self.inner.mailbox.send(Item::Delivery(parcel))
        {
            self.inner.refuse(parcel);
        }
    }

    pub(super) fn host_with(
        &self,
        address: Address,
        spec: Arc<HubSpec>,
        node: Option<NodeState>,
        start: Option<Start>,
    ) -> Result<Self, HubDisposing> {
        let build = || {
            Self::bring_up(Birth {
                address: address.clone(),
                parent: Some(self.clone()),
                spec,
                node,
                bounds: self.inner.bounds,
                runtime: self.inner.runtime.clone(),
                mesh: self.inner.mesh.clone(),
                start,
            })
        };
        let late = |hub: &Self| hub.inner.cascade();
        self.inner
            .hosted
            .get_or_create(&address, build, late)
            .map_err(|_| self.inner.identity.disposing_error())
    }

    pub(super) fn disposing_error(&self) -> HubDisposing {
        self.inner.identity.disposing_error()
    }

    pub(super) fn nack<'a>(&'a self, what: &'a str) -> ShutdownNack<'a> {
        self.inner.identity.nack(what)
    }
}

impl WatchHost for Hub {
    fn shutting_down(&self) -> CancellationToken {
        self.inner.shutting_down.clone()
    }
}

impl HubInner {
    /// Refuses a delivery, through the parent: this hub's own answer would meet its own gate.
    ///
    /// What nobody awaits is dropped in silence, and so is everything once the parent is itself past its gate.
    pub(super) fn refuse(&self, parcel: Box<dyn Parcel>) {
        let parent = self.parent.as_ref().and_then(Weak::upgrade);
        if parcel.awaited() && parent.is_some_and(|parent| !parent.identity.level().refuses()) {
            let own = || DeliveryFailure::rejecting(&self.identity.nack(parcel.what()));
            let failure = self.start_refused.get().cloned().unwrap_or_else(own);
            parcel.refuse(failure);
        }
    }
}

/// One open request of a hub.
struct Pending<'a>(&'a HubInner);

impl<'a> Pending<'a> {
    fn one_more(hub: &'a HubInner) -> Self {
        hub.pending.fetch_add(1, Ordering::AcqRel);
        Self(hub)
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.0.pending.fetch_sub(1, Ordering::AcqRel);
    }
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Identity { address, activation, .. } = &*self.inner.identity;
        write!(f, "Hub({address}, {activation:?}, {})", self.run_level())
    }
}

impl PartialEq for Hub {
    /// The same activation.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for Hub {}
