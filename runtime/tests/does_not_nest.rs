//! `StandingWatchDoesNotNest`: a watch is as large after its last fault as after its first.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::{FutureExt, Stream, StreamExt, stream};
use rideout::{
    hub_watcher::{HubWatcherOptions, subscribe_hub_watcher},
    reopen::{Opening, Stalled, reopen_on_transient_fault, reopen_on_transient_fault_async},
    schedule::ManualSchedule,
    test::CountingAllocator,
};
use tokio_util::sync::CancellationToken;

use crate::support::{policy, reset};

/// The allocations of this thread that are alive, once the watch has lived through `faults` of them.
fn live_after(faults: u64, watch: &mut (impl Stream + Unpin), survived: impl Fn() -> u64) -> (i64, i64) {
    while survived() < faults {
        assert!(watch.next().now_or_never().is_some(), "the clock fires at once");
    }
    let here = CountingAllocator::here();
    (here.live, here.bytes)
}

/// Original name: `StandingWatchDoesNotNest`.
#[test]
fn standing_watch_does_not_nest() {
    let clock = ManualSchedule::firing();
    let survived = std::cell::Cell::new(0);
    let open = |_: Opening| {
        survived.set(survived.get() + 1);
        // Boxed, as a connection is: what a nested watch would keep is an allocation.
        stream::iter([Ok(1), Err(reset())]).boxed()
    };
    let mut watch = Box::pin(reopen_on_transient_fault(open, policy(&clock)));
    // The first fault warms up what is allocated once and kept.
    let after_1 = live_after(2, &mut watch, || survived.get());
    let after_1_000 = live_after(1_001, &mut watch, || survived.get());
    let after_100_000 = live_after(100_001, &mut watch, || survived.get());
    println!(
        "live allocations and bytes after 1, 1,000 and 100,000 faults: {after_1:?} {after_1_000:?} {after_100_000:?}"
    );
    assert_eq!(after_1, after_1_000);
    assert_eq!(after_1, after_100_000);
}

#[test]
fn standing_watch_does_not_nest_while_it_fails_to_open() {
    let clock = ManualSchedule::firing();
    let survived = std::cell::Cell::new(0);
    let open = async |opening: Opening| {
        survived.set(survived.get() + 1);
        if opening.number.is_multiple_of(5) { Ok(stream::iter([Ok(1), Err(reset())])) } else { Err(reset()) }
    };
    let mut watch = Box::pin(reopen_on_transient_fault_async(open, policy(&clock)));
    let after_1 = live_after(10, &mut watch, || survived.get());
    let after_100_000 = live_after(100_000, &mut watch, || survived.get());
    assert_eq!(after_1, after_100_000);
}

#[tokio::test]
async fn a_hub_watcher_does_not_nest() {
    let (host, opens) = (CancellationToken::new(), Arc::new(AtomicU64::new(0)));
    let count = Arc::clone(&opens);
    let open = move |_| {
        let turn = count.fetch_add(1, Ordering::Relaxed) % 3;
        std::future::ready(if turn == 0 {
            Err(reset())
        } else {
            Ok(stream::iter([Ok(1), Err(reset())]).boxed())
        })
    };
    let options = HubWatcherOptions::new().schedule(ManualSchedule::firing());
    let watcher = subscribe_hub_watcher(&host, "flat", open, |_| {}, options);
    let live_after = async |faults| {
        while opens.load(Ordering::Relaxed) <= faults {
            tokio::task::yield_now().await;
        }
        CountingAllocator::here().live
    };
    // The watcher yields at moments of its own, an item more or less into an opening: what it holds differs by that opening.
    let after_10 = live_after(10).await;
    let after_100_000 = live_after(100_000).await;
    assert!((after_100_000 - after_10).abs() <= 3, "{after_10} and {after_100_000}");
    drop(watcher);
}

#[test]
fn an_item_costs_no_allocation() {
    let clock = ManualSchedule::firing();
    let stalled = |_: Stalled| reset();
    let policy = policy(&clock).stall_bound(Duration::from_secs(60), stalled).proves_life(|item| *item > 5);
    let mut watch =
        Box::pin(reopen_on_transient_fault(|_| stream::iter(0..100_000).map(Ok::<_, io::Error>), policy));
    assert!(watch.next().now_or_never().is_some());
    let before = CountingAllocator::here().made;
    for _ in 1..100_000 {
        assert!(watch.next().now_or_never().is_some());
    }
    assert_eq!(CountingAllocator::here().made, before);
}

type Nested = Pin<Box<dyn Stream<Item = Result<u32, io::Error>>>>;

/// The unfixed shape: the error path opens again from inside itself, one layer around the next.
fn nested(open: fn() -> Nested) -> Nested {
    let mut failed = false;
    let mut inner = Some(open());
    let mut next: Option<Nested> = None;
    Box::pin(stream::poll_fn(move |cx| {
        loop {
            if let Some(next) = &mut next {
                return next.poll_next_unpin(cx);
            }
            match inner.as_mut().map(|inner| inner.poll_next_unpin(cx)) {
                Some(std::task::Poll::Ready(Some(Err(_)))) if !failed => {
                    failed = true;
                    inner = None;
                    next = Some(nested(open));
                }
                Some(other) => return other,
                None => return std::task::Poll::Ready(None),
            }
        }
    }))
}

#[test]
fn the_nested_shape_grows_by_at_least_one_per_fault() {
    let mut watch = nested(|| stream::iter([Ok(1), Err(reset())]).boxed());
    let live = |watch: &mut Nested, items: usize| {
        for _ in 0..items {
            assert!(watch.next().now_or_never().is_some());
        }
        CountingAllocator::here().live
    };
    let after_1 = live(&mut watch, 2);
    let after_1_000 = live(&mut watch, 999);
    println!("the nested shape after 1 and 1,000 faults: {after_1} {after_1_000}");
    assert!(after_1_000 - after_1 >= 999, "{after_1} and {after_1_000}");
}

/// The other unfixed shape: a watch that awaits itself.
fn recursive(faults: u32) -> Pin<Box<dyn Future<Output = i64>>> {
    Box::pin(async move {
        let mut items = stream::iter([Ok(1), Err(reset())]);
        while let Some(Ok(_)) = items.next().await {}
        if faults == 0 { CountingAllocator::here().live } else { recursive(faults - 1).await }
    })
}

#[test]
fn the_recursive_shape_grows_by_at_least_one_per_fault() {
    let live = |faults| recursive(faults).now_or_never().unwrap();
    let after_1 = live(1);
    assert!(live(1_000) - after_1 >= 999);
}
