//! The task of a watcher.

use std::{
    borrow::Cow,
    fmt::Display,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    task::{Context, Poll},
};

use futures_core::Stream;
use futures_util::StreamExt;
use pin_project_lite::pin_project;

use super::{
    Ending, HubWatcherOptions, WatchHost, WatcherFault, WatcherHandle,
    fault::panic_message,
    options::{Ends, OnFault},
};
use crate::{
    classify::Verdict,
    reopen::{
        Interruption, Opening, OutageLog, ReopenObserver, ReopenPolicy, reopen_on_transient_fault_async,
    },
};

/// Watches the source that `open` makes, for as long as `host` lives, and calls `on_next` with each item.
///
/// It runs as a task of the current tokio runtime and stops at the first instant of the teardown of its host: the source is
/// dropped, and an item that was read and not yet handed to `on_next` is dropped too. On a host that is going away already
/// nothing is opened.
///
/// A panic of `open` or of the source is a fault like any other. A panic of `on_next` is no fault of the source: it is logged
/// at `ERROR`, the item is lost, and the watcher goes on.
///
/// # Panics
///
/// If it is called outside of a tokio runtime.
///
/// # Cancel safety
///
/// Dropping the handle stops the watcher between two calls of `on_next`.
pub fn subscribe_hub_watcher<H, F, Fut, S, T, E>(
    host: &H,
    name: impl Into<Cow<'static, str>>,
    open: F,
    on_next: impl FnMut(T) + Send + 'static,
    options: HubWatcherOptions<T, E>,
) -> WatcherHandle
where
    H: WatchHost + ?Sized,
    F: FnMut(Opening) -> Fut + Send + 'static,
    Fut: Future<Output = Result<S, E>> + Send + 'static,
    S: Stream<Item = Result<T, E>> + Send + 'static,
    T: Send + 'static,
    E: Display + Send + 'static,
{
    let (shutting_down, name) = (host.shutting_down(), name.into());
    if shutting_down.is_cancelled() {
        return WatcherHandle::inert();
    }
    WatcherHandle::of(tokio::spawn(async move {
        let HubWatcherOptions { policy, ends, on_transient_fault, on_end } = options;
        let policy = policy.observer(Levels(OutageLog::new(name.clone()), on_transient_fault));
        let reading = read(&name, open, on_next, policy, ends, || shutting_down.is_cancelled());
        let ended_by = tokio::select! {
            biased;
            () = shutting_down.cancelled() => None,
            ended_by = reading => ended_by,
        };
        let (ending, fault) = match ended_by {
            Some((ending, fault)) => (ending, Some(fault)),
            None => (Ending::HostDisposing, None),
        };
        report(&name, ending, fault.as_ref());
        if let Some(sink) = on_end {
            guarded(&name, "the sink for its end", || sink(ending, fault.as_ref()));
        }
        ending
    }))
}

type EndedBy<E> = Option<(Ending, WatcherFault<E>)>;

/// Reads until a fault ends the watcher. `None` if the host began to go away between two items.
async fn read<F, Fut, S, T, E>(
    name: &str,
    mut open: F,
    mut on_next: impl FnMut(T),
    policy: ReopenPolicy<T, WatcherFault<E>>,
    ends: Ends<E>,
    is_shutting_down: impl Fn() -> bool,
) -> EndedBy<E>
where
    F: FnMut(Opening) -> Fut,
    Fut: Future<Output = Result<S, E>>,
    S: Stream<Item = Result<T, E>>,
    E: Display + 'static,
{
    let ending = move |fault: &WatcherFault<E>| match fault {
        WatcherFault::Source(fault) => ends(fault),
        _ => None,
    };
    let is_end = ending.clone();
    let policy = policy.classify(move |fault: &WatcherFault<E>| Verdict::from(is_end(fault).is_none()));
    let fresh = |opening| {
        let opened = catch_unwind(AssertUnwindSafe(|| open(opening)));
        async {
            match opened {
                Ok(opens) => match (CatchPanic { inner: opens }).await {
                    Ok(Ok(upstream)) => Ok(Scoped { upstream: Some(upstream) }),
                    Ok(Err(fault)) => Err(WatcherFault::Source(fault)),
                    Err(panic) => Err(WatcherFault::panicked(&*panic)),
                },
                Err(panic) => Err(WatcherFault::panicked(&*panic)),
            }
        }
    };
    let mut watch = pin!(reopen_on_transient_fault_async(fresh, policy));
    while let Some(item) = watch.next().await {
        match item {
            // The host may have begun to go away while the item was on its way.
            Ok(_) if is_shutting_down() => return None,
            Ok(item) => guarded(name, "`on_next`", || on_next(item)),
            Err(fault) => return ending(&fault).map(|ending| (ending, fault)),
        }
        // A source that is always ready must not keep its host's teardown, or any other task, from running.
        tokio::task::coop::consume_budget().await;
    }
    None
}

fn report<E: Display>(watcher: &str, ending: Ending, fault: Option<&WatcherFault<E>>) {
    let fault = fault.map(tracing::field::display);
    match ending {
        Ending::HostDisposing => tracing::debug!(watcher, fault, "watcher ends with its host"),
        Ending::OwnNodeGone => tracing::warn!(watcher, fault, "watcher ends: its own node is gone"),
        Ending::PoisonedContent => {
            tracing::error!(watcher, fault, "watcher ends: its own content is poisoned")
        }
    }
}

/// Runs code of the owner whose panic must not end the watcher.
pub(super) fn guarded(watcher: &str, what: &str, run: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
        let panic = panic_message(&*panic);
        tracing::error!(watcher, panic, "{what} of a watcher panicked; the watcher goes on");
    }
}

/// The log of an outage without the line for the end, which a watcher reports itself; then the hook of its owner.
struct Levels<E>(OutageLog, Option<OnFault<E>>);

impl<E: Display> ReopenObserver<WatcherFault<E>> for Levels<E> {
    fn reading(&mut self, after: u32) {
        ReopenObserver::<WatcherFault<E>>::reading(&mut self.0, after);
    }

    fn interrupted(&mut self, fault: &WatcherFault<E>, interruption: Interruption) {
        self.0.interrupted(fault, interruption);
        if let Some(hook) = &mut self.1 {
            guarded(self.0.name(), "the hook on a fault", || hook(fault, interruption));
        }
    }
}

pin_project! {
    /// Turns a panic of a future into its output.
    struct CatchPanic<F> {
        #[pin]
        inner: F,
    }
}

impl<F: Future> Future for CatchPanic<F> {
    type Output = std::thread::Result<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let inner = self.project().inner;
        match catch_unwind(AssertUnwindSafe(|| inner.poll(cx))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

pin_project! {
    /// An upstream inside the fault scope: its panic is a fault, and after it nothing of it is polled.
    struct Scoped<S> {
        #[pin]
        upstream: Option<S>,
    }
}

impl<S, T, E> Stream for Scoped<S>
where
    S: Stream<Item = Result<T, E>>,
{
    type Item = Result<T, WatcherFault<E>>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut upstream = self.project().upstream;
        let Some(inner) = upstream.as_mut().as_pin_mut() else { return Poll::Ready(None) };
        match catch_unwind(AssertUnwindSafe(|| inner.poll_next(cx))) {
            Ok(polled) => polled.map(|item| item.map(|item| item.map_err(WatcherFault::Source))),
            Err(panic) => {
                upstream.set(None);
                Poll::Ready(Some(Err(WatcherFault::panicked(&*panic))))
            }
        }
    }
}
