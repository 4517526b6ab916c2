//! Whose life a watcher shares.

use tokio_util::sync::CancellationToken;

/// What owns a watcher: a hub, a service, a process.
pub trait WatchHost {
    /// Fires at the *first* instant of the host's teardown, its own or an ancestor's, and stays fired.
    ///
    /// It must be level-triggered: a token taken after the teardown began is fired already.
    fn shutting_down(&self) -> CancellationToken;
}

impl WatchHost for CancellationToken {
    fn shutting_down(&self) -> CancellationToken {
        self.clone()
    }
}

impl<H: WatchHost + ?Sized> WatchHost for &H {
    fn shutting_down(&self) -> CancellationToken {
        (**self).shutting_down()
    }
}
