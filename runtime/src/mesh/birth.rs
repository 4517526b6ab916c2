//! How an activation comes up.

use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::MeshInner;
use super::hub::{Hub, HubInner};
use super::identity::Identity;
use super::mailbox::{self, Start};
use super::node::NodeState;
use super::options::DisposalBounds;
use super::registry::Registry;
use super::signal::DisposalSignal;
use super::spec::HubSpec;
use crate::activation::ActivationId;
use crate::address::Address;

/// What a new hub is made of.
pub(super) struct Birth {
    pub(super) address: Address,
    pub(super) parent: Option<Hub>,
    pub(super) spec: Arc<HubSpec>,
    pub(super) node: Option<NodeState>,
    pub(super) bounds: DisposalBounds,
    pub(super) runtime: Handle,
    pub(super) mesh: Weak<MeshInner>,
    pub(super) start: Option<Start>,
}

impl Hub {
    pub(super) fn bring_up(birth: Birth) -> Self {
        let (mailbox, intake) = mpsc::unbounded_channel();
        let shutting_down = birth.parent.as_ref().map(|parent| parent.inner.shutting_down.child_token());
        let inner = Arc::new(HubInner {
            identity: Arc::new(Identity::new(birth.address, ActivationId::mint())),
            shutting_down: shutting_down.unwrap_or_default(),
            killed: CancellationToken::new(),
            callbacks: CancellationToken::new(),
            pending: AtomicUsize::new(0),
            quiescing_timed_out: AtomicBool::new(false),
            start_refused: OnceLock::new(),
            completed: Arc::new(DisposalSignal::new()),
            mailbox,
            parent: birth.parent.map(|parent| Arc::downgrade(&parent.inner)),
            hosted: Registry::new(),
            dispose_actions: Mutex::new(Vec::new()),
            spec: birth.spec,
            node: birth.node,
            bounds: birth.bounds,
            runtime: birth.runtime,
            mesh: birth.mesh,
        });
        let hub = Self { inner };
        hub.inner.runtime.spawn(mailbox::run(hub.clone(), intake, birth.start));
        hub
    }
}
