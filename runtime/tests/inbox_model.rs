//! An inbox under random events: nothing is drained by two at once, nothing is lost, and nothing stays claimed.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    convert::Infallible,
    future::poll_fn,
    io,
    rc::Rc,
    task::Poll,
};

use rideout::{
    inbox::{Claims, InboxEvent, inbox_watch},
    schedule::ManualSchedule,
    test::ScriptedSource,
};

use crate::support::{Random, now, policy, reset};

/// What the drains do, as the target sees it.
#[derive(Default)]
struct Target {
    open: Cell<bool>,
    in_flight: RefCell<BTreeSet<u64>>,
    done: RefCell<Vec<u64>>,
}

struct InFlight(Rc<Target>, u64);

impl InFlight {
    fn begin(target: &Rc<Target>, letter: u64) -> Self {
        assert!(target.in_flight.borrow_mut().insert(letter), "{letter} is drained by two at once");
        assert_eq!(target.in_flight.borrow().len(), 1, "one at a time");
        Self(Rc::clone(target), letter)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.in_flight.borrow_mut().remove(&self.1);
    }
}

fn run(seed: u64) {
    let mut random = Random::seeded(seed);
    let (clock, claims, source) = (ManualSchedule::new(), Claims::new(), ScriptedSource::new());
    let target = Rc::new(Target::default());
    let drain = |letter: u64| {
        let target = Rc::clone(&target);
        async move {
            let in_flight = InFlight::begin(&target, letter);
            poll_fn(|_| if target.open.get() { Poll::Ready(()) } else { Poll::Pending }).await;
            target.done.borrow_mut().push(letter);
            drop(in_flight);
            Ok::<_, Infallible>(())
        }
    };
    let mut watch = Box::pin(inbox_watch(
        claims.clone(),
        async |_| source.open(),
        drain,
        policy(&clock).max_consecutive(None),
    ));
    let mut inbox: BTreeSet<u64> = BTreeSet::new();
    let (mut next, mut faults) = (0, 0);
    let mut settle = |inbox: &mut BTreeSet<u64>| {
        while let Some(event) = now(&mut watch) {
            // The target has compared and set: what is drained leaves the inbox.
            if let InboxEvent::Drained { delivery } =
                event.expect("the watch goes on").expect("no fault surfaces")
            {
                inbox.remove(&delivery);
            }
        }
    };
    for _ in 0..400 {
        settle(&mut inbox);
        match random.below(6) {
            0 | 1 => {
                inbox.insert(next);
                next += 1;
                source.emit(inbox.iter().copied().collect());
            }
            2 => {
                source.emit(inbox.iter().copied().collect());
            }
            3 => target.open.set(!target.open.get()),
            4 => faults += u32::from(source.fault(reset())),
            _ => {
                clock.fire();
            }
        }
        settle(&mut inbox);
        if source.current().is_none() {
            assert_eq!(claims.held(), 0, "seed {seed}: nothing is claimed between two openings");
            assert!(target.in_flight.borrow().is_empty(), "seed {seed}: and nothing is worked on");
        }
    }
    // The source is up, the target is open, and the whole inbox is listed once more: all of it is drained.
    target.open.set(true);
    while source.current().is_none() {
        assert!(clock.fire());
        settle(&mut inbox);
    }
    source.emit(inbox.iter().copied().collect());
    settle(&mut inbox);
    assert!(inbox.is_empty(), "seed {seed}: {inbox:?}");
    let done = target.done.borrow();
    let once: BTreeSet<u64> = done.iter().copied().collect();
    assert_eq!(once.len(), usize::try_from(next).unwrap(), "seed {seed}: each is drained");
    assert_eq!(done.len(), once.len(), "seed {seed}: and none twice, since none was cut after it was done");
    assert!(faults > 0, "seed {seed}");
}

#[test]
fn under_random_events_each_delivery_is_drained_once_and_by_one() {
    for seed in 1..=200 {
        run(seed);
    }
}

/// A listing that is older than the end of a drain shows a delivery that is done: it is not drained again.
#[test]
fn a_stale_listing_does_not_drain_again() {
    let (clock, claims) = (ManualSchedule::new(), Claims::new());
    let source = ScriptedSource::new().opens([Ok(vec![1]), Ok(vec![1]), Ok(vec![]), Ok(vec![1])]);
    let drain = |_| async { Ok::<_, Infallible>(()) };
    let mut watch = Box::pin(inbox_watch::<_, _, _, _, _, _, _, io::Error>(
        claims,
        async |_| source.open(),
        drain,
        policy(&clock),
    ));
    let events: Vec<_> = std::iter::from_fn(|| now(&mut watch).flatten()).map(Result::unwrap).collect();
    let drained = events.iter().filter(|event| matches!(event, InboxEvent::Drained { .. })).count();
    assert_eq!(drained, 2, "once for each time it came: {events:?}");
}
