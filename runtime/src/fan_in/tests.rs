//! The four things a provider may do, before the gate and after it.

use std::io;

use futures_core::FusedStream;
use futures_util::{FutureExt, StreamExt, stream};

use super::*;
use crate::schedule::ManualSchedule;

type Answer = Result<u32, io::Error>;

fn policy(clock: &ManualSchedule) -> FanInPolicy<ManualSchedule> {
    FanInPolicy::new(clock.clone())
}

fn reset() -> io::Error {
    io::Error::from(io::ErrorKind::ConnectionReset)
}

/// `items`, and then silence.
fn then_silent(items: Vec<Answer>) -> impl Stream<Item = Answer> + Unpin {
    stream::iter(items).chain(stream::pending())
}

#[test]
fn updates_before_the_gate_follow_the_initial_in_their_order() {
    let clock = ManualSchedule::new();
    let a = then_silent(vec![Ok(1), Ok(2), Ok(3)]);
    let b = then_silent(vec![Ok(10)]);
    let mut union = fan_in_with([("a", a), ("b", b)], policy(&clock));
    let Some(Ok(Frame::Initial(initial))) = union.next().now_or_never().flatten() else { panic!() };
    assert_eq!(initial.into_answers().collect::<Vec<_>>(), [1, 10]);
    for expected in [2, 3] {
        let next = union.next().now_or_never().flatten();
        assert!(matches!(next, Some(Ok(Frame::Update { item, .. })) if item == expected));
    }
    assert!(union.next().now_or_never().is_none());
}

#[test]
fn a_provider_that_completes_without_an_item_is_counted_empty_and_named() {
    let clock = ManualSchedule::new();
    let mut union = fan_in_with(
        [("a", stream::iter(vec![Ok::<_, io::Error>(1)])), ("b", stream::iter(vec![]))],
        policy(&clock),
    );
    let Some(Ok(frame)) = union.next().now_or_never().flatten() else { panic!() };
    assert!(!frame.is_complete());
    let Frame::Initial(initial) = frame else { panic!() };
    assert_eq!(initial.silent().collect::<Vec<_>>(), ["b"]);
    assert!(matches!(union.next().now_or_never(), Some(None)));
    assert!(union.is_terminated());
}

#[test]
fn a_fault_before_the_gate_is_not_held_back_by_a_silent_provider() {
    let clock = ManualSchedule::new();
    let answers = then_silent(vec![Ok(1), Err(reset())]);
    let mut union = fan_in_with([("a", answers), ("b", then_silent(vec![]))], policy(&clock));
    let fault = union.next().now_or_never().flatten().unwrap().unwrap_err();
    assert!(matches!(fault, FanInFault::Provider { provider, .. } if &*provider == "a"));
    assert!(!clock.fire(), "the timer went with the fault");
    assert!(matches!(union.next().now_or_never(), Some(None)));
}

#[test]
fn a_fault_after_the_gate_names_its_provider() {
    let clock = ManualSchedule::new();
    let mut union = fan_in_with([("a", then_silent(vec![Ok(1), Err(reset())]))], policy(&clock));
    assert!(matches!(union.next().now_or_never().flatten(), Some(Ok(Frame::Initial(_)))));
    let fault = union.next().now_or_never().flatten().unwrap().unwrap_err();
    assert_eq!(fault.to_string(), "query provider `a`: connection reset");
}

#[test]
fn the_budget_counts_from_the_first_poll() {
    let clock = ManualSchedule::new();
    let mut union = fan_in_with([("a", then_silent(vec![]))], policy(&clock).budget(Duration::from_secs(3)));
    clock.advance(Duration::from_secs(60));
    assert!(union.next().now_or_never().is_none());
    clock.advance(Duration::from_millis(2999));
    assert!(union.next().now_or_never().is_none());
    clock.advance(Duration::from_millis(1));
    assert!(matches!(union.next().now_or_never(), Some(Some(Err(FanInFault::Stalled(_))))));
}

#[test]
fn a_busy_provider_does_not_keep_the_executor_from_its_timer() {
    let clock = ManualSchedule::new();
    let busy = stream::repeat_with(|| Ok::<_, io::Error>(1)).boxed();
    let mut union = fan_in_with([("busy", busy), ("mute", stream::pending().boxed())], policy(&clock));
    assert!(union.next().now_or_never().is_none());
    assert!(clock.fire());
    let fault = union.next().now_or_never().flatten().unwrap().unwrap_err();
    assert!(matches!(fault, FanInFault::Stalled(stalled) if stalled.providers == [Arc::from("mute")]));
}

#[test]
fn no_provider_is_an_empty_initial_and_the_end() {
    let clock = ManualSchedule::new();
    let none: [(&str, stream::Empty<Answer>); 0] = [];
    let mut union = fan_in_with(none, policy(&clock));
    let first = union.next().now_or_never().flatten();
    assert!(matches!(first, Some(Ok(Frame::Initial(initial))) if initial.parts.is_empty()));
    assert!(matches!(union.next().now_or_never(), Some(None)));
}

#[test]
fn the_fan_in_is_send() {
    fn send<T: Send>(_: &T) {}
    send(&fan_in_with([("a", stream::iter(vec![Ok::<_, io::Error>(1)]))], policy(&ManualSchedule::new())));
}

#[test]
fn each_frame_of_the_latest_is_the_whole_answer() {
    let clock = ManualSchedule::new();
    let mut latest = fan_in_with(
        [("a", then_silent(vec![Ok(1), Ok(2)])), ("b", then_silent(vec![Ok(10)]))],
        policy(&clock),
    )
    .latest();
    for expected in [[1, 10], [2, 10]] {
        let union = latest.next().now_or_never().flatten().unwrap().unwrap();
        assert_eq!(union.into_answers().collect::<Vec<_>>(), expected);
    }
}
