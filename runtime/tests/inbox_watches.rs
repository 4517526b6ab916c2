//! `StandingWatchesReopen` for the two inbox drains, and what an opening of theirs must let go of.

use std::{
    collections::HashSet,
    future::{pending, ready},
    sync::{Arc, Mutex},
};

use futures_executor::block_on;
use futures_util::{FutureExt, StreamExt, stream};
use rideout::{
    inbox::{Claims, InboxEvent, inbox_drain, inbox_watch},
    reopen::ReopenPolicy,
    schedule::ManualSchedule,
    test::{ScriptFailure, ScriptedSource, standing_watch_reopens},
};

use crate::{
    sites::{Site, policy_of, stalled},
    support::{now, policy, reset},
};

type Letters = Vec<&'static str>;

/// Original name: `StandingWatchesReopenAfterAFault`, the inbox of the graph.
#[test]
fn inbox_drain_reopens() {
    let drained = Mutex::new(Vec::new());
    let watch = async |source: Site<Letters>, clock: ManualSchedule| {
        let drain = |letter| {
            drained.lock().unwrap().push(letter);
            ready(Ok::<_, String>(()))
        };
        inbox_drain(Claims::new(), async |_| source.open(), drain, policy_of(&clock)).await
    };
    let script = standing_watch_reopens(stalled(), vec!["a"], watch, || *drained.lock().unwrap() == ["a"]);
    assert_eq!(block_on(script), Ok(()));
}

/// Original name: `StandingWatchesReopenAfterAFault`, the inbox whose events its site reads.
#[test]
fn inbox_watch_reopens() {
    let drained = Mutex::new(Vec::new());
    let watch = async |source: Site<Letters>, clock: ManualSchedule| {
        let drain = |_| ready(Ok::<_, String>(()));
        let mut events =
            std::pin::pin!(inbox_watch(Claims::new(), async |_| source.open(), drain, policy_of(&clock)));
        while let Some(event) = events.next().await {
            if let Ok(InboxEvent::Drained { delivery }) = event {
                drained.lock().unwrap().push(delivery);
            }
        }
    };
    let script = standing_watch_reopens(stalled(), vec!["a"], watch, || *drained.lock().unwrap() == ["a"]);
    assert_eq!(block_on(script), Ok(()));
}

/// The unfixed shape: the listing is subscribed once, and its error arm only logs.
#[test]
fn control_an_inbox_that_only_logs_its_fault_dies() {
    let mut log = Vec::new();
    let watch = async |source: Site<Letters>, _| match source.open() {
        Ok(mut listing) => while listing.next().await.is_some() {},
        Err(fault) => log.push(fault.to_string()),
    };
    let outcome = block_on(standing_watch_reopens(stalled(), vec!["a"], watch, || false));
    assert_eq!(outcome, Err(ScriptFailure::Died));
    assert!(log[0].contains("`catalogue`"), "{log:?}");
}

/// A drain hangs, the listing faults: the opening ends at once, and the next one drains the same delivery.
#[test]
fn a_hung_drain_does_not_hold_the_fault_back_and_its_delivery_is_drained_again() {
    let (clock, claims, taken) = (ManualSchedule::new(), Claims::new(), Mutex::new(Vec::new()));
    let source = ScriptedSource::new().opens([Ok(vec!["a", "b"])]);
    let drain = |letter: &'static str| {
        taken.lock().unwrap().push(letter);
        let hangs = taken.lock().unwrap().len() == 1;
        async move { if hangs { pending().await } else { Ok::<_, String>(()) } }
    };
    let mut watch = Box::pin(inbox_watch(claims.clone(), async |_| source.open(), drain, policy(&clock)));
    assert!(matches!(now(&mut watch), Some(Some(Ok(InboxEvent::Listed { claimed: 2 })))));
    assert!(now(&mut watch).is_none(), "the drain of `a` hangs, and `b` is queued");
    assert_eq!((claims.holder(&"a"), claims.holder(&"b")), (Some(1), Some(1)));

    assert!(source.fault(reset()));
    assert!(now(&mut watch).is_none());
    assert_eq!(clock.pending().len(), 1, "the re-open is waited for while the drain would hang on");
    assert_eq!(claims.held(), 0, "in flight or queued: both are released before the wait");

    assert!(clock.fire());
    assert!(now(&mut watch).is_none());
    assert!(source.emit(vec!["a", "b"]));
    let events: Vec<_> = std::iter::from_fn(|| now(&mut watch).flatten()).map(Result::unwrap).collect();
    let drained = |delivery| InboxEvent::Drained { delivery };
    assert_eq!(events, [InboxEvent::Listed { claimed: 2 }, drained("a"), drained("b")]);
    assert_eq!(*taken.lock().unwrap(), ["a", "a", "b"]);
}

/// The unfixed shape: one pipeline maps each listing to its drains, one after the other. Nobody polls the listing meanwhile.
#[test]
fn control_a_pipeline_of_listing_and_drain_holds_the_fault_back() {
    let clock = ManualSchedule::new();
    let source = ScriptedSource::new().opens([Ok(vec!["a", "b"])]);
    let open = async |_| {
        let listing = source.open()?;
        Ok(listing.then(|letters: std::io::Result<Letters>| async {
            for _letter in letters? {
                pending::<()>().await;
            }
            Ok(())
        }))
    };
    let mut watch = Box::pin(rideout::reopen::reopen_on_transient_fault_async(open, policy(&clock)));
    assert!(now(&mut watch).is_none());
    assert!(source.fault(reset()));
    assert!(now(&mut watch).is_none());
    assert!(clock.pending().is_empty(), "the fault waits behind the hung drain, and no re-open is due");
}

/// The unfixed shape: what was picked up is remembered across openings, so what was not finished is skipped for ever.
#[test]
fn control_a_set_of_picked_up_deliveries_skips_what_was_not_finished() {
    let clock = ManualSchedule::new();
    let source = ScriptedSource::new().opens([Ok(vec!["a"])]);
    let picked = Arc::new(Mutex::new(HashSet::new()));
    let opened = source.clone();
    let open = move |_| {
        let (listing, picked) = (opened.open().unwrap(), Arc::clone(&picked));
        let new = listing.map(move |letters: std::io::Result<Letters>| {
            letters.map(|letters| {
                letters.into_iter().filter(|letter| picked.lock().unwrap().insert(*letter)).count()
            })
        });
        // The drain of what is new would hang here, and is cut with its opening.
        new.chain(stream::pending())
    };
    let mut watch = Box::pin(rideout::reopen::reopen_on_transient_fault(open, policy(&clock)));
    assert!(matches!(now(&mut watch), Some(Some(Ok(1)))));
    assert!(source.fault(reset()));
    assert!(now(&mut watch).is_none());
    assert!(clock.fire());
    assert!(now(&mut watch).is_none());
    assert!(source.emit(vec!["a"]));
    assert!(matches!(now(&mut watch), Some(Some(Ok(0)))), "the delivery is skipped as taken");
}

/// The budget of the policy holds for a listing as for any watch, and the drain's own failures cost none of it.
#[test]
fn a_listing_that_stays_down_surfaces_its_last_fault() {
    let clock = ManualSchedule::firing();
    let policy: ReopenPolicy<InboxEvent<&str, String>, _> = policy(&clock);
    let source = (0..6).fold(ScriptedSource::<Letters, _>::new(), |source, n| {
        source.refuses(crate::support::reset_named(n))
    });
    let over = inbox_drain(Claims::new(), async |_| source.open(), |_| ready(Ok(())), policy);
    assert_eq!(over.now_or_never().unwrap().unwrap_err().to_string(), "5");
}
