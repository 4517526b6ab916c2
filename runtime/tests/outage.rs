//! A thousand watches on one process through an outage of one hour of virtual time.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::{StreamExt, stream};
use rideout::{
    hub_watcher::{HubWatcherOptions, WatcherHandle, subscribe_hub_watcher},
    reopen::Jitter,
};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tracing::Level;

use crate::{log::Log, support::reset};

const WATCHES: usize = 1_000;
const HOUR: Duration = Duration::from_secs(3600);

/// The moments at which each watch opened its source, and the log.
async fn outage(jitter: Option<fn(u64) -> Jitter>) -> (Vec<Vec<Duration>>, Log) {
    let (log, _guard) = Log::start();
    let (began, host) = (Instant::now(), CancellationToken::new());
    let opens: Arc<Vec<Mutex<Vec<Duration>>>> = Arc::new((0..WATCHES).map(|_| Mutex::default()).collect());
    let handles: Vec<WatcherHandle> = (0..WATCHES)
        .map(|n| {
            let opens = Arc::clone(&opens);
            // The outage begins for all of them at once: each reads, and is reset in the same instant.
            let open = move |_| {
                opens[n].lock().unwrap().push(began.elapsed());
                let healed = began.elapsed() >= HOUR;
                async move {
                    if healed { Ok(stream::iter([Ok(())]).chain(stream::pending())) } else { Err(reset()) }
                }
            };
            let mut options = HubWatcherOptions::new();
            if let Some(jitter) = jitter {
                options = options.jitter(jitter(n as u64));
            }
            subscribe_hub_watcher(&host, format!("watch {n}"), open, |()| {}, options)
        })
        .collect();
    sleep(HOUR + Duration::from_secs(70)).await;
    drop(handles);
    (opens.iter().map(|opens| opens.lock().unwrap().clone()).collect(), log)
}

/// How many opens fall into each second of the last ten minutes of the outage.
fn per_second(opens: &[Vec<Duration>]) -> Vec<usize> {
    let mut seconds = vec![0; 600];
    for at in opens.iter().flatten() {
        if let Some(second) = at.as_secs().checked_sub(3000).filter(|second| *second < 600) {
            seconds[usize::try_from(second).unwrap()] += 1;
        }
    }
    seconds
}

/// One minute of the outage, a line for each five seconds.
fn histogram(title: &str, seconds: &[usize]) {
    println!("{title}: opens in each 5 s of one minute, 50 minutes into the outage");
    for (n, bucket) in seconds[..60].chunks(5).enumerate() {
        let opens: usize = bucket.iter().sum();
        println!("  {:>2} s {opens:>5} {}", n * 5, "#".repeat(opens / 10));
    }
}

#[tokio::test(start_paused = true)]
async fn a_thousand_watches_ride_out_an_hour_without_a_herd() {
    let (opens, log) = outage(Some(|n| Jitter::half().seeded(n))).await;
    let during = |opens: &Vec<Duration>| opens.iter().filter(|at| **at < HOUR).count();
    let most = opens.iter().map(during).max().unwrap();
    assert!(most <= 65, "{most} opens");
    assert_eq!(log.count(Level::ERROR), WATCHES, "one error each");
    assert_eq!(log.count(Level::INFO), WATCHES, "each is told to be over once");
    assert!(opens.iter().all(|opens| *opens.last().unwrap() >= HOUR), "each one reads again");
    assert!(opens.iter().all(|opens| *opens.last().unwrap() <= HOUR + Duration::from_secs(60)));

    let seconds = per_second(&opens);
    histogram("with jitter", &seconds);
    let peak = seconds.iter().max().unwrap();
    println!(
        "  peak {peak} opens in one second of {} watches; most opens of one watch in the hour: {most}",
        WATCHES
    );
    assert!(*peak <= WATCHES / 20, "{peak} in one second");
}

/// The control: without jitter they come as one.
#[tokio::test(start_paused = true)]
async fn without_jitter_they_come_as_one() {
    let (opens, _) = outage(None).await;
    let seconds = per_second(&opens);
    histogram("without jitter", &seconds);
    assert_eq!(*seconds.iter().max().unwrap(), WATCHES);
}
