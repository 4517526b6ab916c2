//! From an address to the activation that a delivery goes to.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::hub::Hub;
use super::sync::lock;
use super::{MeshInner, node};
use crate::address::Address;
use crate::failure::{DeliveryFailure, FailureKind};

/// Addresses whose deliveries go to a chosen activation, whatever the registry says.
#[derive(Clone, Debug, Default)]
pub(super) struct Holds {
    count: Arc<AtomicUsize>,
    held: Arc<Mutex<HashMap<Address, Hub>>>,
}

impl Holds {
    fn get(&self, address: &Address) -> Option<Hub> {
        // Almost no mesh ever holds a route: the count keeps the lock off every delivery's way.
        if self.count.load(Ordering::Acquire) == 0 { None } else { lock(&self.held).get(address).cloned() }
    }

    pub(super) fn hold(&self, address: &Address, at: Hub) -> RouteHold {
        self.count.fetch_add(1, Ordering::AcqRel);
        lock(&self.held).insert(address.clone(), at);
        RouteHold { holds: self.clone(), address: address.clone() }
    }
}

/// Holds an address at one activation, a corpse included, until it is dropped.
///
/// A resolution that is stale for a moment is an accident of timing. Holding it is how a test has that moment for as long
/// as it needs.
#[derive(Debug)]
#[must_use = "the route is released as soon as this is dropped"]
pub struct RouteHold {
    holds: Holds,
    address: Address,
}

impl Drop for RouteHold {
    fn drop(&mut self) {
        lock(&self.holds.held).remove(&self.address);
        self.holds.count.fetch_sub(1, Ordering::AcqRel);
    }
}

impl MeshInner {
    /// The activation that a request to `address` goes to; made if the node exists and has none.
    pub(super) async fn resolve(&self, address: &Address) -> Result<Hub, DeliveryFailure> {
        let node = address.node();
        let hub = match self.resolve_live(&node) {
            Some(hub) => hub,
            None if self.root.run_level().refuses() => return Err(mesh_going_away(address)),
            None => self.activate(&node).await?,
        };
        descend(hub, address).ok_or_else(|| DeliveryFailure::not_found(address))
    }

    /// The activation that a message which must wake nobody goes to.
    pub(super) fn resolve_live(&self, node: &Address) -> Option<Hub> {
        self.holds.get(node).or_else(|| self.root.inner.hosted.get(node))
    }

    /// Absent is a verdict: nothing falls back to an ancestor.
    async fn activate(&self, node: &Address) -> Result<Hub, DeliveryFailure> {
        if self.store.read(node).await?.is_none() {
            return Err(DeliveryFailure::not_found(node));
        }
        node::bring_up(self, node)
    }
}

fn descend(mut hub: Hub, address: &Address) -> Option<Hub> {
    for name in address.hosted_names() {
        hub = hub.hosted(name)?;
    }
    Some(hub)
}

/// The answer of a mesh that goes away. Its subject is the mesh, not the address, and no activation there has spoken.
pub(super) fn mesh_going_away(address: &Address) -> DeliveryFailure {
    DeliveryFailure::new(
        FailureKind::ShuttingDown,
        format!("Mesh is shutting down, cannot route to {address}"),
    )
}
