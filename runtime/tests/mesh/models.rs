//! Every interleaving of the small parts that two threads can meet in, over a model checker's primitives.
//!
//! The parts are compiled here a second time from the same text: what they import as `super::sync` is the checker's.

mod sync {
    pub(super) use loom::sync::atomic;
    pub(super) use loom::sync::{Arc, Mutex, MutexGuard};

    pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap()
    }
}

#[path = "../../src/rider/in_flight.rs"]
#[expect(unreachable_pub, reason = "public where the text belongs")]
mod in_flight;
#[path = "../../src/mesh/registry.rs"]
#[expect(dead_code, reason = "the models use a part of it")]
mod registry;
#[path = "../../src/mesh/signal.rs"]
#[expect(unreachable_pub, reason = "public where the text belongs")]
mod signal;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize as Count, Ordering};
use std::task::{Context, Poll};

use futures_util::task::noop_waker_ref;
use loom::future::block_on;
use loom::sync::Arc;
use loom::thread;

use self::in_flight::InFlight;
use self::registry::{Frozen, Registry};
use self::signal::DisposalSignal;

#[test]
fn two_asks_are_never_under_way_together_and_the_flag_always_comes_down() {
    loom::model(|| {
        let flag = InFlight::new();
        let inside = Arc::new(loom::sync::atomic::AtomicUsize::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (flag, inside) = (flag.clone(), Arc::clone(&inside));
                thread::spawn(move || {
                    let Some(_guard) = flag.try_acquire() else { return false };
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two asks under way");
                    inside.fetch_sub(1, Ordering::SeqCst);
                    true
                })
            })
            .collect();
        let asked: Vec<bool> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(asked.contains(&true), "somebody asked");
        assert!(flag.try_acquire().is_some(), "the flag is down again");
    });
}

/// The negative control: a flag that is cleared by hand stays up when its operation is dropped.
#[test]
fn a_flag_cleared_by_hand_is_a_dead_latch_once_its_operation_is_dropped() {
    let flag = std::cell::Cell::new(false);
    let mut ask = Box::pin(async {
        flag.set(true);
        std::future::pending::<()>().await;
        flag.set(false);
    });
    let polled = ask.as_mut().poll(&mut Context::from_waker(noop_waker_ref()));
    assert_eq!(polled, Poll::Pending);
    drop(ask);
    assert!(flag.get(), "and no ask can ever begin again");

    let flag = rideout::rider::InFlight::new();
    let mut ask = Box::pin(async {
        let _guard = flag.try_acquire();
        std::future::pending::<()>().await;
    });
    let polled = ask.as_mut().poll(&mut Context::from_waker(noop_waker_ref()));
    assert_eq!(polled, Poll::Pending);
    assert!(flag.try_acquire().is_none());
    drop(ask);
    assert!(flag.try_acquire().is_some(), "a guard goes with it");
}

#[test]
fn a_disposal_is_signalled_exactly_once_and_no_joiner_is_left_waiting() {
    let mut three_threads = loom::model::Builder::new();
    // Every interleaving takes half a minute; with three preemptions it takes less than two seconds.
    three_threads.preemption_bound = Some(3);
    three_threads.check(|| {
        let signal = Arc::new(DisposalSignal::new());
        let fired: Vec<_> = (0..2)
            .map(|_| {
                let signal = Arc::clone(&signal);
                thread::spawn(move || signal.fire())
            })
            .collect();
        // Ends only if the wake is never lost: a joiner may come before, between or after.
        block_on(DisposalSignal::wait(&signal));
        assert!(signal.has_fired());
        let fired: Vec<bool> = fired.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert_eq!(fired.iter().filter(|first| **first).count(), 1);
        block_on(DisposalSignal::wait(&signal));
    });
}

#[test]
fn a_creation_is_refused_or_found_by_the_teardown_never_neither() {
    loom::model(|| {
        let registry = Arc::new(Registry::<u8, u32>::new());
        let (late, created) = (Arc::new(Count::new(0)), Arc::clone(&registry));
        let told = Arc::clone(&late);
        let creator = thread::spawn(move || {
            created.get_or_create(&1, || 7, |_| _ = told.fetch_add(1, Ordering::SeqCst))
        });
        let frozen_with = registry.freeze();
        block_on(poll_fn(|cx| registry.poll_settled(cx)));
        let torn_down = registry.snapshot();
        let made = creator.join().unwrap();
        match made {
            Err(Frozen) => assert!(torn_down.is_empty()),
            Ok(hub) => {
                assert_eq!(torn_down, [hub], "a hub was made that the teardown did not find");
                let told = late.load(Ordering::SeqCst);
                assert_eq!(
                    told == 1,
                    frozen_with.is_empty(),
                    "it is frozen with the others, or told that it is late"
                );
            }
        }
        assert_eq!(registry.get_or_create(&2, || 8, |_| {}), Err(Frozen));
    });
}

#[test]
fn two_creations_of_one_address_make_one_hub() {
    loom::model(|| {
        let registry = Arc::new(Registry::<u8, u32>::new());
        let built = Arc::new(Count::new(0));
        let creators: Vec<_> = (0..2)
            .map(|_| {
                let (registry, built) = (Arc::clone(&registry), Arc::clone(&built));
                thread::spawn(move || {
                    let build = || {
                        built.fetch_add(1, Ordering::SeqCst);
                        7
                    };
                    registry.get_or_create(&1, build, |_| {}).unwrap()
                })
            })
            .collect();
        let made: Vec<u32> = creators.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert_eq!(made, [7, 7]);
        assert_eq!(built.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_dropped_joiner_leaves_no_waker_behind() {
    loom::model(|| {
        let signal = Arc::new(DisposalSignal::new());
        {
            let mut dropped = pin!(DisposalSignal::wait(&signal));
            let polled = dropped.as_mut().poll(&mut Context::from_waker(noop_waker_ref()));
            assert_eq!(polled, Poll::Pending);
        }
        assert!(signal.fire());
    });
}
