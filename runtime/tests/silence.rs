//! The stall bound: a source that falls silent is a fault, and one that speaks now and then is none.

use std::{io, time::Duration};

use futures_util::stream;
use rideout::{
    classify::{Infrastructure, is_no_answer_in_time, is_transient_infrastructure},
    reopen::{Stalled, reopen_on_transient_fault_async},
    schedule::ManualSchedule,
    test::ScriptedSource,
};

use crate::support::{Diary, now, policy};

const BOUND: Duration = Duration::from_secs(40);

fn stalled(stalled: Stalled) -> io::Error {
    io::Error::other(stalled)
}

#[test]
fn a_silent_source_is_reopened_between_one_bound_and_a_quarter_more() {
    let (clock, source) = (ManualSchedule::new(), ScriptedSource::new().opens([Ok(1)]));
    let policy = policy(&clock).stall_bound(BOUND, stalled);
    let mut watch = Box::pin(reopen_on_transient_fault_async(async |_| source.open(), policy));
    assert!(now(&mut watch).is_some());
    let mut silent_for = 0;
    while clock.pending().is_empty() {
        assert!(now(&mut watch).is_none());
        clock.advance(Duration::from_secs(1));
        silent_for += 1;
    }
    assert!((40..=51).contains(&silent_for), "{silent_for} s");
    assert_eq!(source.alive(), 0, "the silent upstream is gone");
    clock.fire();
    assert!(now(&mut watch).is_none());
    assert_eq!(source.openings(), 2);
}

#[test]
fn a_heartbeat_keeps_it() {
    let (clock, source) = (ManualSchedule::new(), ScriptedSource::new());
    let policy = policy(&clock).stall_bound(BOUND, stalled).proves_life(|item| *item != "heartbeat");
    let mut watch = Box::pin(reopen_on_transient_fault_async(async |_| source.open(), policy));
    for _ in 0..100 {
        assert!(now(&mut watch).is_none());
        clock.advance(BOUND - Duration::from_secs(1));
        source.emit("heartbeat");
        assert!(now(&mut watch).is_some());
    }
    assert_eq!(source.openings(), 1);
}

#[test]
fn an_opening_that_hangs_is_silent_too() {
    let (clock, diary) = (ManualSchedule::new(), Diary::default());
    let mut opened = 0;
    let mut watch = Box::pin(reopen_on_transient_fault_async(
        |_| {
            opened += 1;
            let hangs = opened == 1;
            async move {
                if hangs {
                    std::future::pending::<()>().await;
                }
                Ok(stream::iter([Ok(2)]))
            }
        },
        policy(&clock).stall_bound(BOUND, stalled).observer(diary.clone()),
    ));
    for _ in 0..5 {
        assert!(now(&mut watch).is_none());
        clock.advance(BOUND / 4);
    }
    assert!(now(&mut watch).is_none());
    assert_eq!(diary.lines(), ["the source was silent for 40s: re-open 1 in 2s"]);
    clock.fire();
    assert_eq!(now(&mut watch).unwrap().unwrap().unwrap(), 2);
}

#[test]
fn a_stall_is_an_availability_failure_and_no_timeout() {
    let fault = TestFault(stalled_for_test());
    assert!(is_transient_infrastructure(&fault));
    assert!(!is_no_answer_in_time(&fault));
    let _ = Infrastructure;
}

#[derive(Debug)]
struct TestFault(Stalled);

impl std::fmt::Display for TestFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the watch lost its source")
    }
}

impl std::error::Error for TestFault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

/// A stall as a watch makes it: `Stalled` cannot be made by hand.
fn stalled_for_test() -> Stalled {
    let (clock, caught) = (ManualSchedule::new(), std::sync::Arc::new(std::sync::Mutex::new(None)));
    let into = std::sync::Arc::clone(&caught);
    let source = ScriptedSource::<(), io::Error>::new();
    let policy = policy(&clock).stall_bound(Duration::from_secs(4), move |stall| {
        *into.lock().unwrap() = Some(stall);
        stalled(stall)
    });
    let mut watch = Box::pin(reopen_on_transient_fault_async(async |_| source.open(), policy));
    while caught.lock().unwrap().is_none() {
        assert!(now(&mut watch).is_none());
        clock.advance(Duration::from_secs(1));
    }
    let stall = caught.lock().unwrap().unwrap();
    assert_eq!(stall.bound, Duration::from_secs(4));
    stall
}
