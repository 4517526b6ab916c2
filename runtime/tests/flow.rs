//! How a re-opening watch goes through faults: what it yields, when it waits, what it holds.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use rideout::{
    classify::{Compose, Infrastructure, Promise, TypedFault},
    reopen::{
        Jitter, Opening, ReopenPolicy, WatchEvent, reopen_on_transient_fault,
        reopen_on_transient_fault_async, watch_events,
    },
    schedule::ManualSchedule,
    test::{DropProbe, InstanceProbe, ScriptedSource},
};

use crate::support::{Diary, defect, now, policy, reset, reset_named};

#[test]
fn a_transient_fault_costs_the_pause_and_no_item() {
    let (clock, source) =
        (ManualSchedule::new(), ScriptedSource::new().opens([Ok(1), Err(reset())]).opens([Ok(2)]));
    let mut watch = Box::pin(reopen_on_transient_fault_async(async |_| source.open(), policy(&clock)));
    assert_eq!(now(&mut watch).unwrap().unwrap().unwrap(), 1);
    assert!(now(&mut watch).is_none());
    assert_eq!(clock.pending().len(), 1);
    clock.advance(Duration::from_millis(1999));
    assert!(now(&mut watch).is_none());
    assert_eq!(source.openings(), 1, "not a moment early");
    clock.advance(Duration::from_millis(1));
    assert_eq!(now(&mut watch).unwrap().unwrap().unwrap(), 2);
}

#[test]
fn the_old_upstream_is_dropped_before_the_wait() {
    let (clock, probe) = (ManualSchedule::new(), DropProbe::new());
    let open = |_: Opening| {
        let held = probe.hold();
        stream::iter([Err::<(), _>(reset())]).inspect(move |_| _ = &held)
    };
    let mut watch = Box::pin(reopen_on_transient_fault(open, policy(&clock)));
    for opened in 1..=5 {
        assert!(now(&mut watch).is_none());
        assert_eq!((probe.made(), probe.alive()), (opened, 0), "nothing is held through the pause");
        assert!(clock.fire());
    }
    assert!(now(&mut watch).unwrap().unwrap().is_err());
    assert_eq!(probe.most_alive(), 1);
}

#[test]
fn every_opening_is_a_fresh_upstream() {
    let (clock, probe) = (ManualSchedule::firing(), InstanceProbe::new());
    let open = |_: Opening| {
        probe
            .stamp(stream::iter(vec![Ok("item"), Err(reset())]))
            .map(|(id, item)| item.map(|item| (id, item)))
    };
    let watch = reopen_on_transient_fault(open, policy(&clock));
    let ids: Vec<u64> =
        futures_executor::block_on_stream(Box::pin(watch.take(4))).map(|item| item.unwrap().0).collect();
    assert_eq!(ids, [1, 2, 3, 4]);
}

/// The misuse: one stream, handed out at each opening, replays what is latched in it and burns the budget.
#[test]
fn a_factory_that_hands_back_one_stream_defeats_the_watch() {
    let (clock, probe) = (ManualSchedule::firing(), InstanceProbe::new());
    let latched = futures_util::StreamExt::boxed(stream::repeat_with(|| Err::<(), _>(reset())));
    let captured = std::sync::Arc::new(std::sync::Mutex::new(probe.stamp(latched)));
    let open = |_: Opening| {
        let captured = std::sync::Arc::clone(&captured);
        stream::poll_fn(move |cx| captured.lock().unwrap().poll_next_unpin(cx).map(|item| Some(item?.1)))
    };
    let watch = reopen_on_transient_fault(open, policy(&clock));
    assert!(futures_executor::block_on(Box::pin(watch).next()).unwrap().is_err());
    assert_eq!(probe.instances(), 1, "five re-opens, and not one fresh upstream");
}

#[test]
fn dropping_the_watch_while_it_waits_takes_the_wait_with_it() {
    let clock = ManualSchedule::new();
    let mut watch =
        Box::pin(reopen_on_transient_fault(|_| stream::iter([Err::<(), _>(reset())]), policy(&clock)));
    assert!(now(&mut watch).is_none());
    assert_eq!(clock.pending().len(), 1);
    drop(watch);
    assert!(clock.pending().is_empty());
}

#[test]
fn a_dropped_next_loses_no_item() {
    let (clock, source) = (ManualSchedule::new(), ScriptedSource::new());
    let mut watch = Box::pin(reopen_on_transient_fault_async(async |_| source.open(), policy(&clock)));
    for n in 0..10 {
        assert!(now(&mut watch).is_none(), "a `next()` that was polled and dropped");
        assert!(source.emit(n));
        assert_eq!(now(&mut watch).unwrap().unwrap().unwrap(), n);
    }
}

#[test]
fn observers_are_told_before_the_wait_and_in_order() {
    let (clock, diary) = (ManualSchedule::new(), Diary::default());
    let source = ScriptedSource::new().refuses(reset()).opens([Ok(1), Ok(2), Err(reset_named("again"))]);
    let mut watch = Box::pin(reopen_on_transient_fault_async(
        async |_| source.open(),
        policy(&clock).observer(diary.clone()),
    ));
    assert!(now(&mut watch).is_none());
    assert_eq!(diary.lines(), ["connection reset: re-open 1 in 2s"], "told while the wait still runs");
    clock.fire();
    while now(&mut watch).is_some() {}
    clock.fire();
    assert!(now(&mut watch).is_none());
    source.fault(defect());
    assert!(now(&mut watch).unwrap().unwrap().is_err());
    assert_eq!(
        diary.lines()[1..],
        [
            "opened 2",
            "reading after 1",
            "again: re-open 1 in 2s",
            "opened 3",
            "invalid data: over, NotTransient"
        ]
    );
}

#[test]
fn events_show_the_gap_and_the_moment_to_refetch() {
    let clock = ManualSchedule::new();
    let source = ScriptedSource::new().opens([Ok(1), Err(reset())]).refuses(reset_named("still"));
    let mut events = Box::pin(watch_events(async |_| source.open(), policy(&clock)));
    let mut next = || now(&mut events).flatten();
    assert!(matches!(next(), Some(WatchEvent::Opened(opening)) if opening.number == 1));
    assert!(matches!(next(), Some(WatchEvent::Item(1))));
    assert!(matches!(next(), Some(WatchEvent::Interrupted { attempt, .. }) if attempt.get() == 1));
    assert!(next().is_none());
    clock.fire();
    assert!(matches!(next(), Some(WatchEvent::Interrupted { attempt, .. }) if attempt.get() == 2));
    assert!(next().is_none());
    clock.fire();
    let Some(WatchEvent::Opened(opening)) = next() else { panic!("the third opening") };
    assert_eq!((opening.number, opening.attempt), (3, 2));
    source.end();
    assert!(matches!(next(), Some(WatchEvent::Ended)));
}

#[test]
fn a_mesh_watch_composes_the_promise_with_infrastructure() {
    let clock = ManualSchedule::firing();
    let open = |opening: Opening| {
        let going_away = || TypedFault::promise("the hub is shutting down");
        stream::iter(if opening.number < 3 { vec![Err(going_away())] } else { vec![Ok("back")] })
    };
    let bare = ReopenPolicy::new(Infrastructure, clock.clone());
    let composed = ReopenPolicy::new(Infrastructure.or(Promise), clock);
    let first = |policy| {
        futures_executor::block_on(Box::pin(reopen_on_transient_fault(open, policy)).next()).unwrap()
    };
    assert!(first(bare).is_err(), "by default a promise is no infrastructure fault");
    assert_eq!(first(composed).unwrap(), "back");
}

#[test]
fn jitter_stays_inside_the_cap() {
    let clock = ManualSchedule::new();
    let mut watch = Box::pin(reopen_on_transient_fault(
        |_| stream::iter([Err::<(), _>(reset())]),
        policy(&clock).jitter(Jitter::percent(100).seeded(3)).max_consecutive(None),
    ));
    for _ in 0..200 {
        assert!(now(&mut watch).is_none());
        clock.fire();
    }
    let cap = Duration::from_secs(60);
    let pauses: Vec<Duration> = clock.asked().into_iter().map(|(_, delay)| delay).collect();
    assert!(pauses.iter().all(|pause| *pause <= cap));
    assert_ne!(pauses[..4], [2, 5, 15, 30].map(Duration::from_secs));
    assert!(pauses[4..].iter().all(|pause| *pause == cap));
}

#[test]
fn watches_can_be_sent_to_another_thread() {
    fn sent<T: Send>(_: &T) {}
    let clock = ManualSchedule::new();
    let watch = reopen_on_transient_fault(|_| stream::iter([Err::<(), _>(reset())]), policy(&clock));
    sent(&watch);
    let events =
        watch_events(|_| std::future::ready(Ok(stream::iter([Err::<(), _>(reset())]))), policy(&clock));
    sent(&events);
    sent(&clock);
}
