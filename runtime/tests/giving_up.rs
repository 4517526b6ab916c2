//! When a re-opening watch ends: the budget, the verdict, the end of the source.

use std::time::Duration;

use futures_core::FusedStream;
use futures_util::{StreamExt, stream};
use rideout::{
    cadence::Cadence,
    reopen::{Opening, ReopenPolicy, Terminal, WatchEvent, reopen_on_transient_fault, watch_events},
    schedule::ManualSchedule,
    test::ScriptedSource,
};

use crate::support::{Diary, defect, policy, reset, reset_named};

#[test]
fn five_reopens_in_a_row_then_the_last_fault_unchanged_and_once() {
    let clock = ManualSchedule::firing();
    let open = |opening: Opening| stream::iter([Err::<(), _>(reset_named(opening.number))]);
    let mut watch = Box::pin(reopen_on_transient_fault(open, policy(&clock)));
    let told: Vec<String> =
        futures_executor::block_on(watch.by_ref().map(|item| item.unwrap_err().to_string()).collect());
    assert_eq!(told, ["6"], "the sixth fault in a row, as it came");
    assert!(watch.is_terminated());
    assert!(futures_executor::block_on(watch.next()).is_none());
}

#[tokio::test(start_paused = true)]
async fn on_the_paused_clock_of_tokio_the_five_waits_are_112_seconds() {
    let began = tokio::time::Instant::now();
    let open = |_: Opening| stream::iter([Err::<(), _>(reset())]);
    let watch = reopen_on_transient_fault(open, ReopenPolicy::standing_watch());
    assert_eq!(watch.count().await, 1);
    assert_eq!(began.elapsed().as_secs(), 112);
}

#[test]
fn an_emission_resets_the_count() {
    let clock = ManualSchedule::new();
    // Four refusals, an item, a fault and four refusals, an item: nine faults, never more than five in a row.
    let source = (0..2).fold(ScriptedSource::new(), |source, _| {
        (0..4).fold(source, |source, _| source.refuses(reset())).opens([Ok(()), Err(reset())])
    });
    let mut watch =
        Box::pin(rideout::reopen::reopen_on_transient_fault_async(async |_| source.open(), policy(&clock)));
    let mut items = 0;
    while items < 2 {
        match crate::support::now(&mut watch) {
            Some(item) => items += u32::from(item.unwrap().is_ok()),
            None => assert!(clock.fire()),
        }
    }
    let pauses: Vec<u64> = clock.asked().iter().map(|(_, delay)| delay.as_secs()).collect();
    assert_eq!(pauses, [2, 5, 15, 30, 2, 5, 15, 30, 60], "the fault after an item waits 2 s again");
}

#[test]
fn a_greeting_before_each_failure_proves_no_life() {
    let open = |_: Opening| stream::iter([Ok("hello"), Err(reset())]);
    let openings = |policy: ReopenPolicy<&'static str, std::io::Error>| {
        let watch = Box::pin(reopen_on_transient_fault(open, policy));
        futures_executor::block_on(watch.take(1_000).filter(|item| std::future::ready(item.is_ok())).count())
    };
    let clock = ManualSchedule::firing();
    assert_eq!(openings(policy(&clock).proves_life(|item| *item != "hello")), 6, "one and five more");
    assert_eq!(openings(policy(&clock)), 1_000, "the unfixed shape: reset by its own greeting for ever");
}

#[test]
fn a_terminal_fault_ends_it_on_its_first_occurrence() {
    let (clock, diary) = (ManualSchedule::firing(), Diary::default());
    let mut openings = 0;
    let watch = reopen_on_transient_fault(
        |_| {
            openings += 1;
            stream::iter([Err::<(), _>(defect())])
        },
        policy(&clock).observer(diary.clone()),
    );
    let told: Vec<_> = futures_executor::block_on_stream(Box::pin(watch)).collect();
    assert_eq!((told.len(), openings, clock.now()), (1, 1, Duration::ZERO));
    assert_eq!(diary.lines(), ["opened 1", "invalid data: over, NotTransient"]);
}

#[test]
fn the_end_of_the_source_is_the_end_unless_it_is_said_to_be_a_fault() {
    let clock = ManualSchedule::firing();
    let open = |_: Opening| stream::iter([Ok::<_, std::io::Error>(1)]);
    let diary = Diary::default();
    let ends = reopen_on_transient_fault(open, policy(&clock).observer(diary.clone()));
    assert_eq!(futures_executor::block_on_stream(Box::pin(ends)).count(), 1);
    assert_eq!(diary.lines(), ["opened 1", "reading after 0", "ended"]);

    // The policy made this fault, so no classifier is asked: a kind that it calls terminal re-opens all the same.
    let reopens = reopen_on_transient_fault(open, policy(&clock).end_is_fault(defect));
    assert_eq!(futures_executor::block_on_stream(Box::pin(reopens)).take(10).count(), 10);
}

#[test]
fn a_budget_of_none_never_ends_and_a_budget_of_zero_never_reopens() {
    let clock = ManualSchedule::firing();
    let open = |opening: Opening| {
        stream::iter([if opening.number <= 1_000 { Err(reset()) } else { Ok(opening.number) }])
    };
    let endless = reopen_on_transient_fault(open, policy(&clock).max_consecutive(None));
    assert_eq!(futures_executor::block_on(Box::pin(endless).next()).unwrap().unwrap(), 1_001);

    let none = watch_events(
        async |_| Err::<stream::Empty<Result<(), _>>, _>(reset()),
        policy(&clock).max_consecutive(0).cadence(Cadence::HUB_WATCHER),
    );
    let events: Vec<_> = futures_executor::block_on_stream(Box::pin(none)).collect();
    let [WatchEvent::Terminal { why, .. }] = &events[..] else { panic!("one event: {events:?}") };
    assert_eq!(*why, Terminal::BudgetSpent { reopens: 0 });
}
