//! `StandingWatchesReopen`: one script per shape of watch, and the unguarded shape put back fails it.

use std::{
    cell::RefCell,
    io,
    sync::{Arc, Mutex},
};

use futures_util::{StreamExt, future::Either};
use rideout::{
    reopen::{WatchEvent, reopen_on_transient_fault_async, watch_events},
    schedule::ManualSchedule,
    test::{ScriptFailure, ScriptedSource, standing_watch_reopens},
};

use crate::support::{policy, reset};

type Source = ScriptedSource<u8, io::Error>;

fn seen() -> (Arc<Mutex<Vec<u8>>>, impl FnMut() -> bool) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    (Arc::clone(&seen), move || seen.lock().unwrap().contains(&7))
}

/// Original name: `StandingWatchesReopenAfterAFault`.
#[test]
fn standing_watches_reopen() {
    let (items, processed) = seen();
    let watch = async |source: Source, clock: ManualSchedule| {
        let mut watch =
            std::pin::pin!(reopen_on_transient_fault_async(async |_| source.open(), policy(&clock)));
        while let Some(item) = watch.next().await {
            items.lock().unwrap().extend(item);
        }
    };
    let outcome = futures_executor::block_on(standing_watch_reopens(reset(), 7, watch, processed));
    assert_eq!(outcome, Ok(()));
}

#[test]
fn a_consumer_of_events_reopens_and_refetches() {
    let (items, processed) = seen();
    let refetched = RefCell::new(0);
    let watch = async |source: Source, clock: ManualSchedule| {
        let mut events = std::pin::pin!(watch_events(async |_| source.open(), policy(&clock)));
        while let Some(event) = events.next().await {
            match event {
                WatchEvent::Opened(_) => *refetched.borrow_mut() += 1,
                WatchEvent::Item(item) => items.lock().unwrap().push(item),
                WatchEvent::Interrupted { .. } => {}
                WatchEvent::Terminal { .. } | WatchEvent::Ended => break,
            }
        }
    };
    let outcome = futures_executor::block_on(standing_watch_reopens(reset(), 7, watch, processed));
    assert_eq!(outcome, Ok(()));
    assert_eq!(*refetched.borrow(), 1);
}

/// A watch that its site spawned: what the script gets is the handle.
#[tokio::test]
async fn a_spawned_watch_reopens() {
    let (items, processed) = seen();
    let watch = move |source: Source, clock: ManualSchedule| {
        tokio::spawn(async move {
            let policy = policy(&clock);
            let open = move |_| std::future::ready(source.open());
            let mut watch = std::pin::pin!(reopen_on_transient_fault_async(open, policy));
            while let Some(item) = watch.next().await {
                items.lock().unwrap().extend(item);
            }
        })
    };
    assert_eq!(standing_watch_reopens(reset(), 7, watch, processed).await, Ok(()));
}

/// The unfixed shapes, put through the same script.
#[test]
fn the_unguarded_shapes_fail_the_script() {
    let (items, processed) = seen();
    // `while let Some(Ok(..))`: the fault ends it in silence.
    let bare = async |source: Source, _| {
        let mut stream = match source.open() {
            Ok(stream) => Either::Left(stream),
            Err(fault) => Either::Right(futures_util::stream::iter([Err(fault)])),
        };
        while let Some(Ok(item)) = stream.next().await {
            items.lock().unwrap().push(item);
        }
    };
    let outcome = futures_executor::block_on(standing_watch_reopens(reset(), 7, bare, processed));
    assert_eq!(outcome, Err(ScriptFailure::Died));

    // An arm that only logs, and a task that stays: nothing ends, and nothing reads.
    let logs = async |source: Source, _| {
        let mut log = Vec::new();
        if let Err(fault) = source.open() {
            log.push(fault.to_string());
        }
        std::future::pending::<()>().await;
    };
    let outcome = futures_executor::block_on(standing_watch_reopens(reset(), 7, logs, || false));
    assert_eq!(outcome, Err(ScriptFailure::Parked));
}
