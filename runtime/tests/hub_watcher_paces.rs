//! `HubWatcherPacesItsReEstablish`: cadence and levels of a watcher through an outage, on virtual time.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use futures_util::{StreamExt, stream};
use rideout::{
    hub_watcher::{HubWatcherOptions, subscribe_hub_watcher},
    schedule::ManualSchedule,
    test::{ScriptFailure, ScriptedSource, standing_watch_reopens},
};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tracing::Level;

use crate::{
    log::Log,
    support::{reset, reset_named},
};

const HOUR: Duration = Duration::from_secs(3600);

/// What an outage of an hour cost, and the heal after it.
#[derive(Debug)]
struct Cost {
    opens: u32,
    warnings: usize,
    errors: usize,
    infos: usize,
}

impl Cost {
    fn is_paced(&self) -> bool {
        self.opens <= 65 && self.errors == 1 && self.infos == 1
    }
}

/// Runs a watcher through an outage of one hour and a reading after it.
async fn outage<W>(watch: impl FnOnce(Arc<AtomicU32>, Instant) -> W) -> (Cost, Log) {
    let (log, _guard) = Log::start();
    let (opens, heals_at) = (Arc::new(AtomicU32::new(0)), Instant::now() + HOUR);
    let watcher = watch(Arc::clone(&opens), heals_at);
    sleep(HOUR - Duration::from_millis(1)).await;
    let opens = opens.load(Ordering::Relaxed);
    sleep(Duration::from_secs(61)).await;
    drop(watcher);
    let (warnings, errors, infos) = (log.count(Level::WARN), log.count(Level::ERROR), log.count(Level::INFO));
    (Cost { opens, warnings, errors, infos }, log)
}

/// Original name: `HubWatcherPacesItsReEstablish`.
#[tokio::test(start_paused = true)]
async fn hub_watcher_paces_its_re_establish() {
    let (cost, log) =
        outage(|opens, heals_at| {
            let open = move |_| {
                opens.fetch_add(1, Ordering::Relaxed);
                let healed = Instant::now() >= heals_at;
                async move {
                    if healed { Ok(stream::iter([Ok(())]).chain(stream::pending())) } else { Err(reset()) }
                }
            };
            subscribe_hub_watcher(&CancellationToken::new(), "roles", open, |()| {}, HubWatcherOptions::new())
        })
        .await;
    assert!(cost.is_paced(), "{cost:?}");
    assert_eq!((cost.opens, cost.errors, cost.infos), (65, 1, 1), "{cost:?}");
    let warnings = log.lines(Level::WARN);
    assert_eq!(cost.warnings, warnings.len());
    for (n, seconds) in [1, 2, 5, 15, 30].into_iter().enumerate() {
        let line = &warnings[n];
        let told = format!("watch=\"roles\" attempt={} delay_ms={}000", n + 1, seconds);
        assert!(line.contains(&told), "{line}");
    }
    assert!(warnings[5].contains("attempt=7 delay_ms=60000"), "the sixth is the error: {}", warnings[5]);
    let error = &log.lines(Level::ERROR)[0];
    assert!(error.contains("watch=\"roles\" attempt=6 delay_ms=60000"), "{error}");
    let info = &log.lines(Level::INFO)[0];
    assert!(info.contains("watch=\"roles\""), "{info}");
}

/// The unfixed shape: a fixed second and an error each time.
#[tokio::test(start_paused = true)]
async fn a_fixed_second_and_an_error_each_time_fails_the_same_test() {
    struct Abort(tokio::task::JoinHandle<()>);
    impl Drop for Abort {
        fn drop(&mut self) {
            self.0.abort();
        }
    }
    let (cost, _) = outage(|opens, heals_at| {
        Abort(tokio::spawn(async move {
            loop {
                opens.fetch_add(1, Ordering::Relaxed);
                if Instant::now() >= heals_at {
                    return;
                }
                tracing::error!("watcher failed, opens again");
                sleep(Duration::from_secs(1)).await;
            }
        }))
    })
    .await;
    assert!(!cost.is_paced());
    assert_eq!((cost.opens, cost.errors), (3600, 3600));
}

/// Each fault costs one second again once an item has come, and an outage that comes back is reported anew.
#[tokio::test]
async fn an_emission_restarts_the_cadence_and_the_levels() {
    let (log, _guard) = Log::start();
    let (clock, source) = (ManualSchedule::new(), ScriptedSource::new());
    let source = (0..2).fold(source, |source, outage| {
        (0..7)
            .fold(source, |source, n| source.refuses(reset_named(format!("{outage}.{n}"))))
            .opens([Ok(outage)])
    });
    let opens = source.clone();
    let watcher = subscribe_hub_watcher(
        &CancellationToken::new(),
        "roles",
        move |_| std::future::ready(opens.open()),
        |_| {},
        HubWatcherOptions::new().schedule(clock.clone()),
    );
    while source.openings() < 8 || source.current().is_none() {
        tokio::task::yield_now().await;
        clock.fire();
    }
    settle().await;
    source.fault(reset_named("an hour later"));
    while source.openings() < 16 || source.current().is_none() {
        tokio::task::yield_now().await;
        clock.fire();
    }
    settle().await;
    let pauses: Vec<u64> = clock.asked().iter().map(|(_, delay)| delay.as_secs()).collect();
    assert_eq!(pauses, [1, 2, 5, 15, 30, 60, 60, 1, 2, 5, 15, 30, 60, 60, 60]);
    assert_eq!((log.count(Level::ERROR), log.count(Level::INFO)), (2, 2), "once for each outage");
    drop(watcher);
}

async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_one_script_passes() {
    let processed = Arc::new(AtomicU32::new(0));
    let (count, host) = (Arc::clone(&processed), CancellationToken::new());
    let watch = |source: ScriptedSource<u32, io::Error>, clock: ManualSchedule| {
        let options = HubWatcherOptions::new().schedule(clock);
        let open = move |_| std::future::ready(source.open());
        let on_next = move |item| count.store(item, Ordering::Relaxed);
        subscribe_hub_watcher(&host, "roles", open, on_next, options).ended()
    };
    let outcome = standing_watch_reopens(reset(), 7, watch, || processed.load(Ordering::Relaxed) == 7).await;
    assert_eq!(outcome, Ok(()));
    let _ = ScriptFailure::Died;
}

#[tokio::test]
async fn a_source_that_falls_silent_is_a_fault() {
    let (clock, source) = (ManualSchedule::new(), ScriptedSource::<u8, io::Error>::new());
    let opens = source.clone();
    let options = HubWatcherOptions::new().schedule(clock.clone()).stall_bound(Duration::from_secs(40));
    let open = move |_| std::future::ready(opens.open());
    let watcher = subscribe_hub_watcher(&CancellationToken::new(), "roles", open, |_| {}, options);
    for _ in 0..5 {
        settle().await;
        assert_eq!((source.openings(), clock.pending().len()), (1, 0));
        clock.advance(Duration::from_secs(10));
    }
    settle().await;
    assert_eq!(
        (source.alive(), clock.pending().len()),
        (0, 1),
        "the silent source is gone, the re-open waits"
    );
    clock.fire();
    settle().await;
    assert_eq!(source.openings(), 2);
    drop(watcher);
}

#[tokio::test]
async fn the_hook_runs_before_the_wait_and_its_panic_ends_nothing() {
    let (log, _guard) = Log::start();
    let (clock, ran) = (ManualSchedule::new(), Arc::new(AtomicU32::new(0)));
    let (count, pending) = (Arc::clone(&ran), clock.clone());
    let source = ScriptedSource::<u8, io::Error>::new().refuses(reset());
    let opens = source.clone();
    let options =
        HubWatcherOptions::new().schedule(clock.clone()).on_transient_fault(move |_, interruption| {
            assert_eq!(interruption.attempt.get(), 1);
            assert!(pending.pending().is_empty(), "the wait has not begun");
            count.fetch_add(1, Ordering::Relaxed);
            panic!("a hook with a defect");
        });
    let watcher = subscribe_hub_watcher(
        &CancellationToken::new(),
        "roles",
        move |_| std::future::ready(opens.open()),
        |_| {},
        options,
    );
    settle().await;
    assert_eq!((ran.load(Ordering::Relaxed), clock.pending().len()), (1, 1));
    clock.fire();
    settle().await;
    assert_eq!(source.openings(), 2);
    assert!(log.lines(Level::ERROR)[0].contains("a hook with a defect"));
    drop(watcher);
}
