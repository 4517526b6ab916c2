//! The layers around a watch keep nothing of a survived fault: fan-in, query cache, inbox, and every observer.

use std::{cell::Cell, convert::Infallible, future::ready, io};

use futures_util::{FutureExt, StreamExt, stream};
use rideout::{
    classify::Infrastructure,
    fan_in::{FanInPolicy, Union, fan_in_with},
    health::HealthBook,
    inbox::{Claims, InboxEvent, inbox_watch},
    observe::{Metered, Traced},
    query_cache::QueryCache,
    reopen::{ReopenPolicy, reopen_on_transient_fault},
    schedule::ManualSchedule,
    snapshot::{FailClosed, SnapshotCell},
    test::CountingAllocator,
};

use crate::support::{policy, reset};

fn here() -> (i64, i64) {
    let here = CountingAllocator::here();
    (here.live, here.bytes)
}

#[tokio::test(start_paused = true)]
async fn a_census_is_as_large_after_a_thousand_faults_as_after_ten() {
    let cache = QueryCache::keep_if(Union::is_complete);
    let (book, cell) = (HealthBook::new(), std::sync::Arc::new(SnapshotCell::new(0)));
    let policy = ReopenPolicy::new(Infrastructure, ManualSchedule::firing())
        .observer(book.observer("census"))
        .observer(Traced::new("census"))
        .observer(Metered::new("census"))
        .observer(FailClosed::new(std::sync::Arc::clone(&cell)));
    let open = |_| {
        cache.get("records", || {
            let provider = stream::iter([Ok(1), Err(reset())]);
            fan_in_with([("sql", provider)], FanInPolicy::new(ManualSchedule::firing())).latest()
        })
    };
    let mut watch = Box::pin(reopen_on_transient_fault(open, policy));
    let mut live_after = async |faults: u32| {
        for _ in 0..faults {
            cell.publish(watch.next().await.unwrap().unwrap().parts.len());
        }
        here()
    };
    let after_10 = live_after(10).await;
    let after_1_000 = live_after(990).await;
    assert_eq!(after_10, after_1_000);
    assert_eq!(book.report().watches[0].outages, 999);
}

/// Observers are told of turns, not of items.
#[test]
fn an_item_costs_no_allocation_however_many_observers_there_are() {
    let book = HealthBook::new();
    let policy = policy(&ManualSchedule::firing())
        .observer(book.observer("feed"))
        .observer(Traced::new("feed"))
        .observer(Metered::new("feed"));
    let open = |_| stream::iter((0..100_000).map(Ok::<_, io::Error>));
    let mut watch = Box::pin(reopen_on_transient_fault(open, policy));
    assert_eq!(watch.next().now_or_never().flatten().unwrap().unwrap(), 0);
    let before = CountingAllocator::here().made;
    for n in 1..100_000 {
        assert_eq!(watch.next().now_or_never().flatten().unwrap().unwrap(), n);
    }
    assert_eq!(CountingAllocator::here().made, before);
}

#[test]
fn an_inbox_is_as_large_after_a_thousand_faults_as_after_ten() {
    let (clock, claims, openings) = (ManualSchedule::firing(), Claims::new(), Cell::new(0));
    let list = async |_| {
        openings.set(openings.get() + 1);
        // Each opening shows two letters: one of its own, which is drained, and one that its fault cuts off.
        Ok(stream::iter([Ok(vec![openings.get(), 0])]).chain(stream::once(yielding(Err(reset())))))
    };
    let drain = |letter: u32| async move {
        if letter == 0 {
            std::future::pending::<()>().await;
        }
        Ok::<_, Infallible>(())
    };
    let mut watch = Box::pin(inbox_watch(claims.clone(), list, drain, policy(&clock)));
    let mut live_after = |faults: u32| {
        let mut drained = 0;
        while openings.get() < faults {
            match watch.next().now_or_never().flatten() {
                Some(Ok(InboxEvent::Drained { .. })) => drained += 1,
                Some(Ok(_)) | None => {}
                Some(Err(fault)) => panic!("{fault}"),
            }
        }
        assert!(drained > 0);
        here()
    };
    let after_10 = live_after(10);
    let after_1_000 = live_after(1_000);
    assert_eq!(after_10, after_1_000);
    assert!(claims.held() <= 2);
}

/// Ready at the fourth poll.
async fn yielding(item: Result<Vec<u32>, io::Error>) -> Result<Vec<u32>, io::Error> {
    for _ in 0..3 {
        let mut first = true;
        futures_util::future::poll_fn(|cx| {
            cx.waker().wake_by_ref();
            if std::mem::take(&mut first) { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
        })
        .await;
    }
    ready(item).await
}
