//! One activation an address, across processes: a lease that is created if absent, and expires unless it is renewed.

use std::time::Duration;

use async_nats::jetstream::kv::{Operation, Store};
use tokio::time::Instant;

use super::store::unavailable;
use super::wire::{key_of, parse_activation};
use crate::activation::ActivationId;
use crate::address::Address;
use crate::failure::{DeliveryFailure, FailureKind};

/// The leases of a mesh.
#[derive(Debug)]
pub(super) struct Leases {
    bucket: Store,
    lasts: Duration,
}

/// One lease, held.
#[derive(Debug)]
pub(super) struct Lease {
    key: String,
    activation: ActivationId,
    revision: u64,
    renewed: Instant,
}

impl Leases {
    pub(super) fn new(bucket: Store, lasts: Duration) -> Self {
        Self { bucket, lasts }
    }

    /// How often a lease is renewed.
    pub(super) fn renewal(&self) -> Duration {
        self.lasts / 3
    }

    /// Takes the lease of an address.
    ///
    /// While another activation holds it, the answer is a promise that names the holder: it may be a corpse whose lease
    /// runs out, or a successor that is just coming up, and in both cases the address may answer again.
    pub(super) async fn take(
        &self,
        address: &Address,
        activation: ActivationId,
    ) -> Result<Lease, DeliveryFailure> {
        let key = key_of(address);
        // Taken before the request is sent: a lease is never believed to last longer than it does.
        let renewed = Instant::now();
        let error = match self.bucket.create(&key, activation.to_string().into()).await {
            Ok(revision) => return Ok(Lease { key, activation, revision, renewed }),
            Err(error) => error,
        };
        let entry = self.bucket.entry(key.as_str()).await.map_err(unavailable)?;
        let Some(holder) = entry.filter(|entry| entry.operation == Operation::Put) else {
            return Err(unavailable(error));
        };
        let holder = std::str::from_utf8(&holder.value).ok().and_then(parse_activation);
        let named = holder.map_or_else(|| "unnamed".to_owned(), |holder| format!("activation #{holder}"));
        let message = format!(
            "The lease of {address} is held ({named}), and its holder does not answer; the address may reactivate."
        );
        Err(DeliveryFailure { kind: FailureKind::ShuttingDown, message: message.into(), activation: holder })
    }

    /// Renews a lease. `false` once it is lost, or may be.
    pub(super) async fn renew(&self, lease: &mut Lease) -> bool {
        let at = Instant::now();
        let value = lease.activation.to_string();
        let renewed = match self.bucket.update(&lease.key, value.clone().into(), lease.revision).await {
            Ok(revision) => Some(revision),
            // The renewal may have landed and its answer been lost: then the entry is still ours.
            Err(_) => match self.bucket.entry(lease.key.as_str()).await {
                Ok(Some(entry)) if entry.value == value.as_bytes() => Some(entry.revision),
                Ok(_) => return false,
                Err(_) => None,
            },
        };
        if let Some(revision) = renewed {
            lease.revision = revision;
            lease.renewed = at;
        }
        lease.renewed.elapsed() < self.lasts
    }

    /// Gives a lease back.
    pub(super) async fn give_back(&self, lease: Lease) {
        if let Err(error) = self.bucket.delete_expect_revision(&lease.key, Some(lease.revision)).await {
            tracing::debug!(%error, key = lease.key, "a lease was not given back, and will expire");
        }
    }
}
