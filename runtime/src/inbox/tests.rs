//! Claims, and the ways in which an opening ends.

use std::{
    io,
    sync::{Arc, Mutex},
};

use futures_util::{FutureExt, stream};

use super::*;
use crate::{classify::Infrastructure, schedule::ManualSchedule};

fn claim(claims: &Claims<&'static str>, opening: u64, listed: &[&'static str]) -> Vec<Claim<&'static str>> {
    claims.of_opening(opening).claim_new(listed.to_vec())
}

#[test]
fn a_delivery_is_claimed_once() {
    let claims = Claims::new();
    let first = claim(&claims, 1, &["a", "b", "a"]);
    assert_eq!(first.iter().map(|claim| *claim.key()).collect::<Vec<_>>(), ["a", "b"]);
    assert!(claim(&claims, 1, &["a", "b"]).is_empty());
    assert_eq!((claims.holder(&"a"), claims.held()), (Some(1), 2));
}

#[test]
fn a_dropped_claim_is_released_to_the_next_opening() {
    let claims = Claims::new();
    drop(claim(&claims, 1, &["a"]));
    let again = claim(&claims, 2, &["a"]);
    assert_eq!((again.len(), claims.holder(&"a")), (1, Some(2)));
}

#[test]
fn a_finished_delivery_stays_taken_until_a_listing_no_longer_shows_it() {
    let claims = Claims::new();
    claim(&claims, 1, &["a"]).remove(0).finish();
    assert!(claim(&claims, 1, &["a"]).is_empty());
    assert!(claim(&claims, 2, &["a"]).is_empty(), "across openings too");
    assert!(claim(&claims, 2, &[]).is_empty());
    assert_eq!(claim(&claims, 2, &["a"]).len(), 1, "it came anew");
}

#[test]
fn a_failed_drain_is_told_and_taken_again_by_the_next_listing() {
    let tries = std::cell::Cell::new(0);
    let mut watch = Box::pin(inbox_watch(
        Claims::new(),
        async |_| {
            let listings = (0..4).map(|_| Ok::<_, io::Error>(vec!["a"]));
            Ok(stream::iter(listings).chain(stream::pending()))
        },
        |_| {
            tries.set(tries.get() + 1);
            let tried = tries.get();
            async move {
                assert!(tried != 2, "a defect");
                if tried == 1 { Err("full") } else { Ok(()) }
            }
        },
        ReopenPolicy::new(Infrastructure, ManualSchedule::new()),
    ));
    let events: Vec<_> = (0..7).map(|_| event(&mut watch)).collect();
    let claimed = |claimed| InboxEvent::Listed { claimed };
    assert_eq!(
        events,
        [
            claimed(1),
            InboxEvent::DrainFailed { delivery: "a", failure: "full" },
            claimed(1),
            InboxEvent::DrainPanicked { delivery: "a" },
            claimed(1),
            InboxEvent::Drained { delivery: "a" },
            claimed(0),
        ]
    );
    assert!(watch.next().now_or_never().is_none());
}

fn event<R>(
    watch: &mut (impl Stream<Item = Result<InboxEvent<&'static str, R>, io::Error>> + Unpin),
) -> InboxEvent<&'static str, R> {
    watch.next().now_or_never().flatten().unwrap().unwrap()
}

/// Notes when it is dropped.
struct Noted(&'static str, Arc<Mutex<Vec<String>>>);

impl Drop for Noted {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0.to_owned());
    }
}

#[test]
fn dropping_the_watch_drops_the_drain_before_its_claim() {
    let claims = Claims::new();
    let notes = Arc::new(Mutex::new(Vec::new()));
    let (noted, held) = (Arc::clone(&notes), claims.clone());
    let mut watch = Box::pin(inbox_watch(
        claims.clone(),
        async |_| Ok(stream::iter([Ok::<_, io::Error>(vec!["a", "b"])]).chain(stream::pending())),
        move |delivery| {
            let (noted, held) = (Noted("drain", Arc::clone(&noted)), held.clone());
            async move {
                let watch_claim = Holder(held, delivery, Arc::clone(&noted.1));
                std::future::pending::<()>().await;
                drop((noted, watch_claim));
                Ok::<_, &str>(())
            }
        },
        ReopenPolicy::new(Infrastructure, ManualSchedule::new()),
    ));
    assert_eq!(event(&mut watch), InboxEvent::Listed { claimed: 2 });
    assert!(watch.next().now_or_never().is_none());
    drop(watch);
    assert_eq!(*notes.lock().unwrap(), ["held by Some(1)", "drain"]);
    assert_eq!(claims.held(), 0);
}

/// Notes, when its drain is dropped, who holds the delivery.
struct Holder(Claims<&'static str>, &'static str, Arc<Mutex<Vec<String>>>);

impl Drop for Holder {
    fn drop(&mut self) {
        self.2.lock().unwrap().push(format!("held by {:?}", self.0.holder(&self.1)));
    }
}

#[test]
fn the_end_of_a_listing_ends_the_opening_at_once() {
    let claims = Claims::new();
    let mut watch = Box::pin(inbox_watch(
        claims.clone(),
        async |_| Ok(stream::iter([Ok::<_, io::Error>(vec!["a"])])),
        |_| std::future::pending::<Result<(), &str>>(),
        ReopenPolicy::new(Infrastructure, ManualSchedule::new()),
    ));
    assert_eq!(event(&mut watch), InboxEvent::Listed { claimed: 1 });
    assert!(watch.next().now_or_never().unwrap().is_none());
    assert_eq!(claims.held(), 0);
}

#[test]
fn a_drain_that_panics_costs_its_delivery_and_not_the_watch() {
    let claims = Claims::new();
    let mut watch = Box::pin(inbox_watch(
        claims.clone(),
        async |_| {
            Ok(stream::iter([Ok::<_, io::Error>(vec!["at once", "later", "fine"])]).chain(stream::pending()))
        },
        |delivery| {
            assert!(delivery != "at once", "a defect");
            async move {
                assert!(delivery != "later", "a defect");
                Ok::<_, &str>(())
            }
        },
        ReopenPolicy::new(Infrastructure, ManualSchedule::new()),
    ));
    let events: Vec<_> = (0..4).map(|_| event(&mut watch)).collect();
    let panicked = |delivery| InboxEvent::DrainPanicked { delivery };
    let drained = |delivery| InboxEvent::Drained { delivery };
    assert_eq!(events[1..], [panicked("at once"), panicked("later"), drained("fine")]);
    assert_eq!((claims.held(), claims.holder(&"later")), (0, None));
}

#[test]
fn a_busy_listing_does_not_keep_the_queue_from_its_work() {
    let mut watch = Box::pin(inbox_watch(
        Claims::new(),
        async |_| Ok(stream::repeat_with(|| Ok::<_, io::Error>(vec!["a", "b"]))),
        |_| async { Ok::<_, &str>(()) },
        ReopenPolicy::new(Infrastructure, ManualSchedule::new()),
    ));
    let events: Vec<_> = (0..4).map(|_| event(&mut watch)).collect();
    let drained = |delivery| InboxEvent::Drained { delivery };
    assert_eq!(
        events,
        [InboxEvent::Listed { claimed: 2 }, drained("a"), InboxEvent::Listed { claimed: 0 }, drained("b")]
    );
}

#[test]
fn the_watch_of_an_inbox_is_send() {
    fn send<T: Send>(_: &T) {}
    send(&inbox_watch(
        Claims::new(),
        async |_| Ok(stream::iter([Ok::<_, io::Error>(vec!["a"])])),
        |_| async { Ok::<_, io::Error>(()) },
        ReopenPolicy::new(Infrastructure, ManualSchedule::new()),
    ));
}
