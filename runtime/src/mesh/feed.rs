//! Announces which paths changed, to whoever watches one of them.
//!
//! An announcement is a level, not an event: a watcher that comes late, or slowly, finds the latest one. It says that there
//! is something to read, and never carries it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::sync::lock;
use crate::address::Address;

/// What has been announced of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Announced {
    /// The highest version announced.
    pub version: u64,
    /// How many announcements named no version.
    pub versionless: u64,
}

/// The change feed of a mesh.
#[derive(Clone, Debug, Default)]
pub struct ChangeFeed {
    paths: Arc<Mutex<HashMap<Address, watch::Sender<Announced>>>>,
}

impl ChangeFeed {
    /// Announces a change of `path`, with the version that it led to where that is known.
    pub fn announce(&self, path: &Address, version: Option<u64>) {
        if let Some(watched) = lock(&self.paths).get(path) {
            watched.send_modify(|announced| match version {
                Some(version) => announced.version = announced.version.max(version),
                None => announced.versionless += 1,
            });
        }
    }

    /// Announces a change of every watched path: what happened meanwhile is not known.
    pub fn announce_gap(&self) {
        for watched in lock(&self.paths).values() {
            watched.send_modify(|announced| announced.versionless += 1);
        }
    }

    /// Watches `path` until dropped.
    pub fn watch(&self, path: &Address) -> FeedWatch {
        let mut paths = lock(&self.paths);
        let announced =
            paths.entry(path.clone()).or_insert_with(|| watch::channel(Announced::default()).0).subscribe();
        FeedWatch { feed: self.clone(), path: path.clone(), announced }
    }

    /// How many paths are watched.
    #[must_use]
    pub fn watched(&self) -> usize {
        lock(&self.paths).len()
    }
}

/// One watch of one path. Dropping it ends the watch.
#[derive(Debug)]
#[must_use]
pub struct FeedWatch {
    feed: ChangeFeed,
    path: Address,
    announced: watch::Receiver<Announced>,
}

impl FeedWatch {
    /// Completes with what is announced, when that is something new.
    ///
    /// # Cancel safety
    /// An announcement is seen by this call or the next, never lost.
    pub async fn changed(&mut self) -> Announced {
        // The sender lives as long as somebody watches the path, and this is somebody.
        if self.announced.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        *self.announced.borrow_and_update()
    }
}

impl Drop for FeedWatch {
    fn drop(&mut self) {
        let mut paths = self.feed.paths.lock().unwrap_or_else(PoisonError::into_inner);
        if paths.get(&self.path).is_some_and(|watched| watched.receiver_count() <= 1) {
            paths.remove(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn a_burst_is_one_announcement_with_the_highest_version() {
        let feed = ChangeFeed::default();
        let path = Address::new("a");
        let mut watch = feed.watch(&path);
        for version in [3, 5, 4] {
            feed.announce(&path, Some(version));
        }
        assert_eq!(watch.changed().now_or_never(), Some(Announced { version: 5, versionless: 0 }));
        assert_eq!(watch.changed().now_or_never(), None);
    }

    #[test]
    fn a_path_is_forgotten_with_its_last_watch() {
        let feed = ChangeFeed::default();
        let path = Address::new("a");
        let (one, two) = (feed.watch(&path), feed.watch(&path));
        drop(one);
        assert_eq!(feed.watched(), 1);
        drop(two);
        assert_eq!(feed.watched(), 0);
    }
}
