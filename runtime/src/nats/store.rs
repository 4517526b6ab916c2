//! The catalogue of nodes in a key-value bucket. A node's version is the revision of its entry, which only rises.

use std::fmt;
use std::sync::Arc;

use async_nats::jetstream::kv::{Operation, Store};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::wire::key_of;
use crate::address::Address;
use crate::failure::{DeliveryFailure, FailureKind};
use crate::mesh::{Node, NodeStore};

pub(super) struct BucketStore {
    nodes: Store,
}

impl BucketStore {
    pub(super) fn new(nodes: Store) -> Self {
        Self { nodes }
    }
}

impl NodeStore for BucketStore {
    fn read(&self, path: &Address) -> BoxFuture<'static, Result<Option<Node>, DeliveryFailure>> {
        let (nodes, key) = (self.nodes.clone(), key_of(path));
        async move {
            let entry = nodes.entry(key).await.map_err(unavailable)?;
            Ok(entry.filter(|entry| entry.operation == Operation::Put).map(|entry| Node {
                version: entry.revision,
                content: String::from_utf8_lossy(&entry.value).into(),
            }))
        }
        .boxed()
    }

    fn write(
        &self,
        path: &Address,
        expected: Option<u64>,
        content: Arc<str>,
    ) -> BoxFuture<'static, Result<u64, DeliveryFailure>> {
        let (nodes, path, key) = (self.nodes.clone(), path.clone(), key_of(path));
        async move {
            let value = content.as_bytes().to_vec().into();
            let Some(revision) = expected else {
                return nodes.put(key, value).await.map_err(unavailable);
            };
            let error = match nodes.update(&key, value, revision).await {
                Ok(written) => return Ok(written),
                Err(error) => error,
            };
            // The client does not say why: the entry does.
            match nodes
                .entry(key)
                .await
                .map_err(unavailable)?
                .filter(|entry| entry.operation == Operation::Put)
            {
                None => Err(DeliveryFailure::not_found(&path)),
                Some(entry) if entry.revision == revision => Err(unavailable(error)),
                Some(entry) => {
                    let text = format!("'{path}' is at version {}, not at {revision}", entry.revision);
                    Err(DeliveryFailure::new(FailureKind::Failed, text))
                }
            }
        }
        .boxed()
    }

    fn delete(&self, path: &Address) -> BoxFuture<'static, Result<Option<u64>, DeliveryFailure>> {
        let (nodes, key) = (self.nodes.clone(), key_of(path));
        async move {
            let entry = nodes.entry(key.clone()).await.map_err(unavailable)?;
            if entry.is_none_or(|entry| entry.operation != Operation::Put) {
                return Ok(None);
            }
            nodes.delete(key.clone()).await.map_err(unavailable)?;
            let marker = nodes.entry(key).await.map_err(unavailable)?;
            Ok(marker.map(|marker| marker.revision))
        }
        .boxed()
    }
}

/// A bucket that cannot answer says nothing about the node.
pub(super) fn unavailable(error: impl std::error::Error) -> DeliveryFailure {
    DeliveryFailure::new(FailureKind::Unavailable, format!("the catalogue of nodes did not answer: {error}"))
}

impl fmt::Debug for BucketStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BucketStore")
    }
}
