//! `QueryFanInStallIsTerminal`: a silent provider ends the fan-in, by name, and the shape without a bound hangs.

use std::{io, time::Duration};

use futures_util::{StreamExt, future, stream};
use rideout::{
    before_first::{ConnectRetry, retry_before_first_async},
    classify::{Infrastructure, is_no_answer_in_time, is_transient_infrastructure},
    fan_in::{FanInFault, FanInPolicy, Frame, STALL_BUDGET, fan_in_with},
    reopen::{ReopenPolicy, reopen_on_transient_fault},
    schedule::ManualSchedule,
    test::{ScriptedSource, ScriptedStream},
};
use tracing::Level;

use crate::{
    log::Log,
    support::{now, reset},
};

type Source = ScriptedSource<&'static str, io::Error>;
type Providers = [(&'static str, ScriptedStream<&'static str, io::Error>); 2];

/// A provider that answers and one that is mute until it is driven by hand.
fn answering_and_mute() -> (Source, Source) {
    (Source::new().opens([Ok("a"), Ok("a2")]), Source::new())
}

fn open(answering: &Source, mute: &Source) -> Providers {
    [("answering", answering.open().unwrap()), ("mute", mute.open().unwrap())]
}

/// Original name: `QueryFanInStallIsTerminal`.
#[test]
fn query_fan_in_stall_is_terminal() {
    let clock = ManualSchedule::new();
    let (answering, mute) = answering_and_mute();
    let mut union = fan_in_with(open(&answering, &mute), FanInPolicy::new(clock.clone()));

    assert!(now(&mut union).is_none());
    clock.advance(STALL_BUDGET - Duration::from_millis(1));
    assert!(now(&mut union).is_none());
    clock.advance(Duration::from_millis(1));
    let fault = now(&mut union).flatten().unwrap().unwrap_err();

    let FanInFault::Stalled(stalled) = &fault else { panic!("{fault}") };
    let silent: Vec<&str> = stalled.providers.iter().map(|name| &**name).collect();
    assert_eq!((silent, stalled.budget), (vec!["mute"], Duration::from_secs(15)));
    assert!(fault.to_string().contains("`mute`") && !fault.to_string().contains("`answering`"));
    assert!(is_transient_infrastructure(&fault), "an availability failure");
    assert!(!is_no_answer_in_time(&fault), "and no timeout that a caller may claim as its own");
    assert!(now(&mut union).unwrap().is_none(), "over");
    assert_eq!((answering.alive(), mute.alive()), (0, 0), "and the providers are let go of");
}

/// The positive control: both answer, the fan-in is held far past the bound, and no fault comes.
#[test]
fn the_bound_is_disarmed_when_the_last_initial_lands() {
    let clock = ManualSchedule::new();
    let (answering, late) = answering_and_mute();
    let mut union = fan_in_with(open(&answering, &late), FanInPolicy::new(clock.clone()));
    assert!(now(&mut union).is_none());
    clock.advance(STALL_BUDGET - Duration::from_millis(1));
    assert!(late.emit("late"));
    assert!(matches!(now(&mut union), Some(Some(Ok(Frame::Initial(initial)))) if initial.is_complete()));
    clock.advance(Duration::from_secs(3600));
    assert!(matches!(now(&mut union), Some(Some(Ok(Frame::Update { item: "a2", .. })))));
    assert!(now(&mut union).is_none());
    assert!(late.emit("still there"));
    assert!(matches!(now(&mut union), Some(Some(Ok(Frame::Update { item: "still there", .. })))));
}

/// The unfixed shape: the first item of each provider, awaited together without a bound. It hangs, and names nobody.
#[tokio::test(start_paused = true)]
async fn control_a_fan_in_without_a_bound_hangs_on_the_same_script() {
    let (answering, mute) = answering_and_mute();
    let firsts = open(&answering, &mute).map(|(_, provider)| async move { provider.into_future().await.0 });
    let gathered = tokio::time::timeout(Duration::from_secs(3600), future::join_all(firsts));
    let elapsed = gathered.await.unwrap_err();
    assert!(!is_transient_infrastructure(&elapsed), "all that its caller learns is a timeout of its own");
}

/// A provider that ends without an answer is no stall: it counts as empty, is named, and is warned of once.
#[test]
fn a_provider_counted_as_empty_is_warned_of_once() {
    let (log, _guard) = Log::start();
    let (answering, empty) = (answering_and_mute().0, Source::new().opens_and_ends([]));
    let providers = [("answering", answering.open().unwrap()), ("empty", empty.open().unwrap())];
    let mut union = fan_in_with(providers, FanInPolicy::new(ManualSchedule::new()));
    let Some(Some(Ok(Frame::Initial(initial)))) = now(&mut union) else { panic!() };
    assert_eq!(initial.silent().collect::<Vec<_>>(), ["empty"]);
    assert!(now(&mut union).is_some_and(|frame| frame.is_some()));
    let warnings = log.lines(Level::WARN);
    assert!(warnings.len() == 1 && warnings[0].contains("provider=\"empty\""), "{warnings:?}");
}

/// A provider that is retried before its first item, inside the bound of the fan-in: a refused connect is ridden out, and a
/// fault after the first item is not, since a second Initial has no place in a merge that has closed its accounts.
#[test]
fn a_provider_is_retried_before_its_first_item_and_not_after() {
    let (bound, retries) = (ManualSchedule::new(), ManualSchedule::firing());
    let flaky = Source::new().refuses(reset()).refuses(reset()).opens([Ok("f"), Err(reset())]);
    let opened = flaky.clone();
    let retried = retry_before_first_async(
        move |_| future::ready(opened.open()),
        ConnectRetry::new(Infrastructure, retries.clone()),
    );
    let steady = Source::new().opens([Ok("s")]).open().unwrap();
    let providers = [("flaky", retried.boxed()), ("steady", steady.boxed())];
    let mut union = fan_in_with(providers, FanInPolicy::new(bound));
    let Some(Some(Ok(Frame::Initial(initial)))) = now(&mut union) else { panic!() };
    assert_eq!(initial.into_answers().collect::<Vec<_>>(), ["f", "s"]);
    assert_eq!((flaky.openings(), retries.now()), (3, Duration::from_millis(750)));
    let fault = now(&mut union).flatten().unwrap().unwrap_err();
    assert!(matches!(fault, FanInFault::Provider { provider, .. } if &*provider == "flaky"));
    assert_eq!(flaky.openings(), 3, "no second Initial");
}

/// A watch over the fan-in re-opens after the stall, and reads when the provider is back.
#[test]
fn a_standing_watch_rides_the_stall_out() {
    let clock = ManualSchedule::new();
    let bound = clock.clone();
    let mut watch = Box::pin(reopen_on_transient_fault(
        move |opening| {
            let second = match opening.number {
                1 => stream::pending().boxed(),
                _ => stream::iter([Ok::<_, io::Error>("back")]).chain(stream::pending()).boxed(),
            };
            let first = stream::iter([Ok("a")]).chain(stream::pending()).boxed();
            fan_in_with([("first", first), ("second", second)], FanInPolicy::new(bound.clone()))
        },
        ReopenPolicy::new(Infrastructure, clock.clone()),
    ));
    assert!(now(&mut watch).is_none());
    clock.advance(STALL_BUDGET);
    assert!(now(&mut watch).is_none());
    assert_eq!(clock.pending().len(), 1, "it waits for its re-open");
    assert!(clock.fire());
    assert!(matches!(now(&mut watch), Some(Some(Ok(Frame::Initial(union)))) if union.is_complete()));
}
