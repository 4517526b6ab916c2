//! `HubWatcherStopsAtTeardownStart`: a watcher ends with its host, at the first instant, and on three occasions only.

use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use futures_util::{FutureExt, StreamExt, stream};
use rideout::{
    hub_watcher::{Ending, HubWatcherOptions, WatchHost, WatcherFault, WatcherHandle, subscribe_hub_watcher},
    schedule::ManualSchedule,
    test::ScriptedSource,
};
use tokio_util::sync::CancellationToken;
use tracing::Level;

use crate::{
    log::Log,
    support::{defect, reset},
};

/// A host as a hub is one: its teardown begins long before it is over, and takes its children along.
struct Host {
    shutting_down: CancellationToken,
    /// Set in the last phase. A watcher that waits for this is late.
    shut_down: CancellationToken,
}

impl Host {
    fn root() -> Self {
        Self { shutting_down: CancellationToken::new(), shut_down: CancellationToken::new() }
    }

    fn child(&self) -> Self {
        Self { shutting_down: self.shutting_down.child_token(), shut_down: CancellationToken::new() }
    }

    /// Begins the teardown. With its mailbox parked, no later phase ever comes.
    fn dispose(&self) {
        self.shutting_down.cancel();
    }
}

impl WatchHost for Host {
    fn shutting_down(&self) -> CancellationToken {
        self.shutting_down.clone()
    }
}

type Source = ScriptedSource<u8, io::Error>;
type Seen = Arc<Mutex<Vec<u8>>>;

fn install(host: &Host, source: &Source, options: HubWatcherOptions<u8, io::Error>) -> (WatcherHandle, Seen) {
    let (opens, seen) = (source.clone(), Seen::default());
    let into = Arc::clone(&seen);
    let on_next = move |item| into.lock().unwrap().push(item);
    let open = move |_| std::future::ready(opens.open());
    (subscribe_hub_watcher(host, "own node", open, on_next, options), seen)
}

async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

/// Original name: `HubWatcherStopsAtTeardownStart`.
#[tokio::test]
async fn hub_watcher_stops_at_teardown_start() {
    let (host, source) = (Host::root(), Source::new());
    let (watcher, seen) = install(&host, &source, HubWatcherOptions::new());
    settle().await;
    source.emit(1);
    settle().await;
    assert_eq!(source.alive(), 1);

    host.dispose();
    // An emission that is on its way when the teardown begins is dropped.
    source.emit(2);
    settle().await;
    assert_eq!(source.alive(), 0, "the source has no observer");
    assert!(!host.shut_down.is_cancelled(), "the last phase never came");
    assert_eq!(*seen.lock().unwrap(), [1]);
    assert_eq!(watcher.ended().await, Ending::HostDisposing);
}

#[tokio::test]
async fn the_teardown_of_an_ancestor_stops_it_too() {
    let (root, source) = (Host::root(), Source::new());
    let (watcher, _) = install(&root.child().child(), &source, HubWatcherOptions::new());
    settle().await;
    root.dispose();
    settle().await;
    assert_eq!((source.alive(), watcher.is_over()), (0, true));
}

#[tokio::test]
async fn a_source_that_is_always_ready_does_not_keep_it() {
    let (host, seen) = (Host::root(), Arc::new(AtomicBool::new(false)));
    let reads = Arc::clone(&seen);
    let open = |_| std::future::ready(Ok::<_, io::Error>(stream::repeat_with(|| Ok(1))));
    let on_next = move |_| reads.store(true, Ordering::Relaxed);
    let watcher = subscribe_hub_watcher(&host, "own node", open, on_next, HubWatcherOptions::new());
    settle().await;
    assert!(seen.load(Ordering::Relaxed));
    host.dispose();
    assert_eq!(watcher.ended().await, Ending::HostDisposing);
}

#[tokio::test]
async fn it_stops_while_it_waits() {
    let (host, source, clock) = (Host::root(), Source::new().refuses(reset()), ManualSchedule::new());
    let (watcher, _) = install(&host, &source, HubWatcherOptions::new().schedule(clock.clone()));
    settle().await;
    assert_eq!(clock.pending().len(), 1);
    host.dispose();
    settle().await;
    assert_eq!((clock.pending().len(), watcher.is_over()), (0, true));
}

#[tokio::test]
async fn a_late_install_opens_nothing() {
    let (host, source) = (Host::root(), Source::new());
    host.dispose();
    let (watcher, _) = install(&host, &source, HubWatcherOptions::new());
    settle().await;
    assert_eq!((source.openings(), watcher.is_over()), (0, true));
    assert_eq!(watcher.ended().await, Ending::HostDisposing);
}

/// The unfixed shape: a watcher that waits for the last phase. With the mailbox parked it reads on.
#[tokio::test]
async fn a_watcher_that_waits_for_the_last_phase_fails_the_same_test() {
    let (host, source) = (Arc::new(Host::root()), Source::new());
    let (opens, life) = (source.clone(), Arc::clone(&host));
    let late = tokio::spawn(async move {
        let mut items = opens.open().unwrap();
        while !life.shut_down.is_cancelled() && items.next().await.is_some() {}
    });
    settle().await;
    host.dispose();
    source.emit(2);
    settle().await;
    assert_eq!(source.alive(), 1, "the unfixed shape still observes its source");
    late.abort();
}

#[tokio::test]
async fn a_factory_that_panics_or_errs_is_a_fault() {
    let (clock, told) = (ManualSchedule::firing(), Arc::new(Mutex::new(Vec::new())));
    let note = Arc::clone(&told);
    let options = HubWatcherOptions::new()
        .schedule(clock)
        .on_transient_fault(move |fault, _| note.lock().unwrap().push(fault.to_string()));
    let (host, done) = (Host::root(), Arc::new(AtomicBool::new(false)));
    let reads = Arc::clone(&done);
    let open = |opening: rideout::reopen::Opening| {
        assert_ne!(opening.number, 1, "at once");
        async move {
            assert_ne!(opening.number, 2, "while it connects");
            let number = opening.number;
            match number {
                3 => Err(reset()),
                _ => Ok(stream::poll_fn(move |_| {
                    assert_ne!(number, 4, "while it is read");
                    std::task::Poll::Ready((number > 5).then_some(Ok(number)))
                })),
            }
        }
    };
    let on_next = move |_| reads.store(true, Ordering::Relaxed);
    let watcher = subscribe_hub_watcher(&host, "own node", open, on_next, options);
    while !done.load(Ordering::Relaxed) {
        settle().await;
    }
    drop(watcher);
    let told = told.lock().unwrap();
    let has = |n: usize, text: &str| assert!(told[n].contains(text), "{}", told[n]);
    has(0, "at once");
    has(1, "while it connects");
    has(2, "connection reset");
    has(3, "while it is read");
    has(4, "the source ended");
}

#[tokio::test]
async fn a_panic_of_on_next_is_logged_and_the_watcher_goes_on() {
    let (log, _guard) = Log::start();
    let (host, source, seen) = (Host::root(), Source::new(), Seen::default());
    let (opens, into) = (source.clone(), Arc::clone(&seen));
    let on_next = move |item| {
        assert_ne!(item, 1, "a handler with a defect");
        into.lock().unwrap().push(item);
    };
    let open = move |_| std::future::ready(opens.open());
    let _watcher = subscribe_hub_watcher(&host, "own node", open, on_next, HubWatcherOptions::new());
    settle().await;
    for item in [1, 2] {
        source.emit(item);
        settle().await;
    }
    assert_eq!((*seen.lock().unwrap()).clone(), [2]);
    assert_eq!(source.openings(), 1, "no fault of the source");
    assert!(log.lines(Level::ERROR)[0].contains("a handler with a defect"));
}

#[tokio::test]
async fn the_three_ends_and_no_other() {
    for (kind, ending, level) in [
        (io::ErrorKind::InvalidData, Ending::PoisonedContent, Level::ERROR),
        (io::ErrorKind::NotFound, Ending::OwnNodeGone, Level::WARN),
    ] {
        let (log, _guard) = Log::start();
        let (host, source, sunk) = (Host::root(), Source::new(), Arc::new(Mutex::new(None)));
        let sink = Arc::clone(&sunk);
        let options = HubWatcherOptions::new()
            .ends(|fault: &io::Error| match fault.kind() {
                io::ErrorKind::InvalidData => Some(Ending::PoisonedContent),
                io::ErrorKind::NotFound => Some(Ending::OwnNodeGone),
                _ => None,
            })
            .on_end(move |ending, fault: Option<&WatcherFault<io::Error>>| {
                *sink.lock().unwrap() = Some((ending, fault.map(ToString::to_string)));
            });
        let (watcher, _) = install(&host, &source, options);
        settle().await;
        source.fault(kind.into());
        assert_eq!(watcher.ended().await, ending);
        assert_eq!(*sunk.lock().unwrap(), Some((ending, Some(io::Error::from(kind).to_string()))));
        assert_eq!(log.count(level), 1);
        assert_eq!(source.openings(), 1);
    }
    // Any other fault, a defect too, is ridden out.
    let (host, source, clock) = (Host::root(), Source::new().refuses(defect()), ManualSchedule::firing());
    let (watcher, _) = install(&host, &source, HubWatcherOptions::new().schedule(clock));
    settle().await;
    assert_eq!(source.openings(), 2);
    assert!(watcher.ended().now_or_never().is_none());
}

#[tokio::test]
async fn dropping_the_handle_stops_it_and_detaching_does_not() {
    let (host, source) = (Host::root(), Source::new());
    let (watcher, _) = install(&host, &source, HubWatcherOptions::new());
    settle().await;
    drop(watcher);
    settle().await;
    assert_eq!(source.alive(), 0);

    let (watcher, _) = install(&host, &source, HubWatcherOptions::new());
    watcher.detach();
    settle().await;
    assert_eq!(source.alive(), 1);
    host.dispose();
    settle().await;
    assert_eq!(source.alive(), 0);
}
