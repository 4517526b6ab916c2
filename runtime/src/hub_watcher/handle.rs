//! The owner's end of a watcher.

use tokio::task::JoinHandle;

use super::Ending;

/// A running watcher. Dropping it stops the watcher; [`detach`](Self::detach) leaves it to its host.
#[derive(Debug)]
#[must_use = "dropping the handle stops the watcher"]
pub struct WatcherHandle {
    task: Option<JoinHandle<Ending>>,
}

impl WatcherHandle {
    pub(super) fn of(task: JoinHandle<Ending>) -> Self {
        Self { task: Some(task) }
    }

    /// The handle of a watcher that was never started, because its host was going away already.
    pub(super) fn inert() -> Self {
        Self { task: None }
    }

    /// Whether the watcher is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.task.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end and says which one it was. A runtime that shuts down counts as the host going away.
    ///
    /// # Panics
    ///
    /// If an observer of the watcher panicked, with the same panic.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the watcher, as dropping the handle does.
    pub async fn ended(mut self) -> Ending {
        match &mut self.task {
            Some(task) => match task.await {
                Ok(ending) => ending,
                Err(ended) if ended.is_panic() => std::panic::resume_unwind(ended.into_panic()),
                Err(_) => Ending::HostDisposing,
            },
            None => Ending::HostDisposing,
        }
    }

    /// Lets the watcher run for as long as its host.
    pub fn detach(mut self) {
        self.task = None;
    }
}

impl Drop for WatcherHandle {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}
