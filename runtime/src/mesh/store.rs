//! Which nodes exist, and what they hold: what outlives every activation.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use futures_util::{FutureExt, future::ready};

use super::sync::lock;
use crate::address::Address;
use crate::failure::{DeliveryFailure, FailureKind};

/// What a node holds. Versions of one path only rise, also over its deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Counts the writes to the path.
    pub version: u64,
    /// The content, as text.
    pub content: Arc<str>,
}

/// The catalogue of nodes. Routing asks it whether an address exists, an activation what it holds.
pub trait NodeStore: fmt::Debug + Send + Sync + 'static {
    /// What is at the path, if anything is.
    ///
    /// # Errors
    /// When the store cannot say: that is never "absent".
    fn read(&self, path: &Address) -> BoxFuture<'static, Result<Option<Node>, DeliveryFailure>>;

    /// Writes over the version `expected`, or whatever is there for `None`. Answers with the new version.
    ///
    /// # Errors
    /// - [`Failed`](FailureKind::Failed) when another version is there: an activation that was replaced does not write over
    ///   its successor.
    /// - [`NotFound`](FailureKind::NotFound) when a version is expected and nothing is there any more.
    /// - [`Unavailable`](FailureKind::Unavailable) when the store cannot say.
    fn write(
        &self,
        path: &Address,
        expected: Option<u64>,
        content: Arc<str>,
    ) -> BoxFuture<'static, Result<u64, DeliveryFailure>>;

    /// Deletes what is at the path. Answers with the version of the deletion, or `None` if nothing was there.
    ///
    /// # Errors
    /// When the store cannot say.
    fn delete(&self, path: &Address) -> BoxFuture<'static, Result<Option<u64>, DeliveryFailure>>;
}

/// A store in this process.
#[derive(Debug, Default)]
pub struct MemoryStore {
    nodes: Mutex<HashMap<Address, Versioned>>,
}

/// The version of a path, and what is there; a deletion has a version too.
type Versioned = (u64, Option<Arc<str>>);

impl NodeStore for MemoryStore {
    fn read(&self, path: &Address) -> BoxFuture<'static, Result<Option<Node>, DeliveryFailure>> {
        let node = lock(&self.nodes).get(path).and_then(|(version, content)| {
            content.clone().map(|content| Node { version: *version, content })
        });
        ready(Ok(node)).boxed()
    }

    fn write(
        &self,
        path: &Address,
        expected: Option<u64>,
        content: Arc<str>,
    ) -> BoxFuture<'static, Result<u64, DeliveryFailure>> {
        let mut nodes = lock(&self.nodes);
        let (version, held) = nodes.entry(path.clone()).or_default();
        let written = if expected.is_some() && held.is_none() {
            Err(DeliveryFailure::not_found(path))
        } else if expected.is_some_and(|expected| expected != *version) {
            let text = format!("'{path}' is at version {version}, not the one written over");
            Err(DeliveryFailure::new(FailureKind::Failed, text))
        } else {
            *version += 1;
            *held = Some(content);
            Ok(*version)
        };
        ready(written).boxed()
    }

    fn delete(&self, path: &Address) -> BoxFuture<'static, Result<Option<u64>, DeliveryFailure>> {
        let deleted = lock(&self.nodes).get_mut(path).and_then(|(version, content)| {
            content.take()?;
            *version += 1;
            Some(*version)
        });
        ready(Ok(deleted)).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn versions_only_rise_and_nobody_writes_over_another_version() {
        let (store, path) = (MemoryStore::default(), Address::new("a"));
        assert_eq!(store.read(&path).await.unwrap(), None);
        assert_eq!(store.write(&path, None, "one".into()).await.unwrap(), 1);
        assert_eq!(store.write(&path, Some(1), "two".into()).await.unwrap(), 2);
        let stale = store.write(&path, Some(1), "stale".into()).await.unwrap_err();
        assert_eq!(stale.kind, FailureKind::Failed);
        assert_eq!(store.delete(&path).await.unwrap(), Some(3));
        assert_eq!(store.delete(&path).await.unwrap(), None);
        let deleted = store.write(&path, Some(3), "over a deletion".into()).await.unwrap_err();
        assert_eq!(deleted.kind, FailureKind::NotFound);
        assert_eq!(store.write(&path, None, "again".into()).await.unwrap(), 4);
    }
}
