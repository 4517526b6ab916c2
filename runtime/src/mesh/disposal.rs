//! The phases in which a hub goes away.
//!
//! Each phase is a message to the hub itself; every wait runs beside the mailbox loop and posts the next phase. A phase that
//! comes twice is ignored by its run level.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use futures_util::future::join_all;
use tokio::time::{Instant, sleep, timeout};

use super::hub::{Hub, HubInner};
use super::mailbox::Item;
use super::signal::DisposalSignal;
use super::sync::lock;
use crate::run_level::RunLevel;

impl HubInner {
    /// The synchronous part: by the time it returns, nothing new is hosted in the whole subtree and everybody in it knows.
    pub(super) fn dispose(self: &Arc<Self>) {
        if !self.identity.begin_disposing() {
            return;
        }
        self.cascade();
        self.shutting_down.cancel();
        self.post(RunLevel::Quiescing);
        self.arm_watchdog();
    }

    /// Freezes the subtree.
    pub(super) fn cascade(&self) {
        self.identity.mark_going_away();
        for hub in self.hosted.freeze() {
            hub.inner.cascade();
        }
    }

    /// Runs one phase, on the mailbox loop. `true` when it was the last.
    pub(super) fn enter(self: &Arc<Self>, phase: RunLevel) -> bool {
        if !self.identity.raise(phase) {
            return false;
        }
        match phase {
            RunLevel::Quiescing if self.is_quiet() => self.post(RunLevel::DisposeHostedHubs),
            RunLevel::Quiescing => self.beside(|hub| async move {
                hub.wait_for_callbacks().await;
                hub.post(RunLevel::DisposeHostedHubs);
            }),
            RunLevel::DisposeHostedHubs => self.beside(|hub| async move {
                hub.dispose_hosted().await;
                hub.identity.raise(RunLevel::HostedHubsDisposed);
                hub.post(RunLevel::ShutDown);
            }),
            RunLevel::ShutDown => {
                self.shut_down();
                return true;
            }
            RunLevel::Starting | RunLevel::Started | RunLevel::HostedHubsDisposed | RunLevel::Dead => {}
        }
        false
    }

    /// The ShutDown phase. Every step may run twice: a teardown by force repeats what the loop did not finish.
    fn shut_down(self: &Arc<Self>) {
        self.callbacks.cancel();
        self.run_dispose_actions();
        if let Some(parent) = self.parent.as_ref().and_then(Weak::upgrade) {
            parent.hosted.remove_exact(&self.identity.address, |hub| Arc::ptr_eq(&hub.inner, self));
        }
    }

    /// The end: the level first, then the signal.
    pub(super) fn finish(&self) {
        self.identity.raise(RunLevel::Dead);
        self.completed.fire();
    }

    /// Tears down out of band, whatever the mailbox loop is caught in.
    fn tear_down_by_force(self: &Arc<Self>) {
        self.begin_by_force();
        self.shut_down();
        self.killed.cancel();
        self.finish();
    }

    fn begin_by_force(&self) {
        for hub in self.hosted.snapshot() {
            hub.dispose();
        }
        self.identity.raise(RunLevel::ShutDown);
    }

    pub(super) fn run_dispose_actions(&self) {
        let actions = std::mem::take(&mut *lock(&self.dispose_actions));
        for action in actions {
            if catch_unwind(AssertUnwindSafe(action)).is_err() {
                tracing::error!(hub = %self.identity.address, "a dispose action panicked");
            }
        }
    }

    fn is_quiet(&self) -> bool {
        self.pending.load(Ordering::Acquire) == 0
    }

    async fn wait_for_callbacks(&self) {
        let deadline = Instant::now() + self.bounds.quiescing;
        while !self.is_quiet() {
            if Instant::now() >= deadline {
                self.quiescing_timed_out.store(true, Ordering::Release);
                tracing::warn!(hub = %self.identity.address, "open requests outlived the quiescing phase and are cancelled");
                self.callbacks.cancel();
                return;
            }
            sleep(self.bounds.quiescing_poll).await;
        }
    }

    /// Disposes the hosted hubs and joins them. A wedged one cannot hold the join up past its bound.
    async fn dispose_hosted(&self) {
        let joined = timeout(self.bounds.hosted, async {
            poll_fn(|cx| self.hosted.poll_settled(cx)).await;
            join_all(self.hosted.snapshot().into_iter().map(|hub| {
                hub.dispose();
                hub.disposal_completed()
            }))
            .await;
        });
        if joined.await.is_err() {
            tracing::warn!(hub = %self.identity.address, left = self.hosted.len(), "hosted hubs outlived their phase");
        }
    }

    /// Cancelled the instant the disposal completes, and never what keeps the hub alive.
    fn arm_watchdog(self: &Arc<Self>) {
        let (hub, bound) = (Arc::downgrade(self), self.bounds.watchdog);
        let completed = DisposalSignal::wait(&self.completed);
        self.runtime.spawn(async move {
            if timeout(bound, completed).await.is_ok() {
                return;
            }
            let Some(hub) = hub.upgrade() else { return };
            tracing::error!(
                hub = %hub.identity.address,
                activation = %hub.identity.activation,
                run_level = %hub.identity.level(),
                "the teardown outlived its watchdog ({bound:?}) and is ended by force"
            );
            hub.tear_down_by_force();
        });
    }

    fn post(&self, phase: RunLevel) {
        // A closed mailbox is a hub that has ended: it needs no further phase.
        drop(self.mailbox.send(Item::Phase(phase)));
    }

    fn beside<F: Future<Output = ()> + Send + 'static>(self: &Arc<Self>, work: impl FnOnce(Arc<Self>) -> F) {
        self.runtime.spawn(work(Arc::clone(self)));
    }
}

/// Ends a hub whose loop ends in any way: a panic included.
pub(super) struct EndsDead(pub(super) Hub);

impl Drop for EndsDead {
    fn drop(&mut self) {
        let hub = &self.0.inner;
        if !hub.completed.has_fired() {
            hub.tear_down_by_force();
        }
    }
}
