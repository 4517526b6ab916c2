//! Health as kinds of watches keep it: one that ends with its host, and one that is quiet by nature.

use std::{io, time::Duration};

use futures_util::{StreamExt, stream};
use rideout::{
    health::{HealthBook, Status, WatchState},
    hub_watcher::{HubWatcherOptions, subscribe_hub_watcher},
    reopen::{ReopenPolicy, reopen_on_transient_fault_async},
    schedule::ManualSchedule,
    test::ScriptedSource,
};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::support::{now, policy, reset};

fn state(book: &HealthBook) -> WatchState {
    book.report().watches[0].state.clone()
}

#[tokio::test(start_paused = true)]
async fn a_hub_watcher_is_in_the_book_for_as_long_as_its_host_lives() {
    let (book, host) = (HealthBook::new(), CancellationToken::new());
    let options = HubWatcherOptions::new().observer(book.observer("settings").stops_quietly());
    // Down for the first ten minutes.
    let open = async |opening: rideout::reopen::Opening| {
        if opening.number <= 14 { Err(reset()) } else { Ok(stream::iter([Ok(1)]).chain(stream::pending())) }
    };
    let watcher = subscribe_hub_watcher(&host, "settings", open, |_: i32| {}, options);
    sleep(Duration::from_secs(500)).await;
    assert!(matches!(state(&book), WatchState::Interrupted { attempt, delay, .. }
        if attempt.get() > 6 && delay.as_secs() == 60));
    assert_eq!(book.report().watches[0].outages, 1, "one outage, however many re-opens");
    sleep(Duration::from_secs(120)).await;
    assert_eq!(book.report().status(), Status::Healthy);
    host.cancel();
    watcher.ended().await;
    assert!(book.report().watches.is_empty(), "it ended as it was meant to");
}

#[test]
fn a_quiet_source_whose_opening_counts_is_healthy_before_its_next_item() {
    let (book, clock) = (HealthBook::new(), ManualSchedule::new());
    let source = ScriptedSource::<u8, io::Error>::new().opens([Err(reset())]);
    let observed = |policy: ReopenPolicy<u8, io::Error>, name| {
        policy.observer(book.observer("plain")).observer(book.observer(name).opening_reads())
    };
    let watch = reopen_on_transient_fault_async(async |_| source.open(), observed(policy(&clock), "quiet"));
    let mut watch = Box::pin(watch);
    assert!(now(&mut watch).is_none());
    assert!(book.report().watches.iter().all(|watch| !watch.state.is_healthy()));
    assert!(clock.fire());
    assert!(now(&mut watch).is_none());
    let healthy: Vec<bool> = book.report().watches.iter().map(|watch| watch.state.is_healthy()).collect();
    assert_eq!(healthy, [false, true], "plain waits for a reading, quiet does not");
}
