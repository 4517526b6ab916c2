//! `ShutdownFailureRideOut` and `AReAsksNotFoundIsAVerdict`: the promise is ridden out, every verdict is told, on both arms.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use rideout::address::Address;
use rideout::failure::{DeliveryFailure, FailureKind};
use rideout::mesh::{MemoryStore, Mesh, NodeStore};
use rideout::rider::{RideState, SyncStream, SyncStreamOptions};
use tokio::time::{sleep, timeout};

use super::transports::{Answer, Script, Tap, corpse_of, refused_by};
use super::unfixed::{self, Before, OnVerdict};

const VERDICTS: [FailureKind; 5] = [
    FailureKind::NotFound,
    FailureKind::Unauthorized,
    FailureKind::Failed,
    FailureKind::Unavailable,
    FailureKind::Other,
];

fn verdict(kind: FailureKind) -> Answer {
    Answer::Failure(DeliveryFailure::new(kind, "a verdict"))
}

fn open(script: &Script) -> SyncStream {
    SyncStream::open(Arc::new(script.clone()), &"Inst".into(), SyncStreamOptions::default())
}

/// Every kind but one ends the stream with the classified error, and disposes of its keep-alive.
async fn assert_faults(script: &Script, kind: FailureKind) {
    let mut stream = open(script);
    let state = stream.state();
    assert_eq!(stream.next().await.unwrap().unwrap_err().kind, kind);
    assert!(stream.next().await.is_none());
    assert!(matches!(&*state.borrow(), RideState::Faulted(failure) if failure.kind == kind));
    let asked = script.asked();
    script.feed.announce(&"Inst".into(), Some(99));
    sleep(Duration::from_secs(600)).await;
    assert_eq!(script.heartbeats(), 0, "no heartbeat to an absent owner");
    assert_eq!(script.asked(), asked, "and no latch");
}

/// `ShutdownFailureRideOut`, the first ask.
#[tokio::test(start_paused = true)]
async fn shutdown_failure_ride_out() {
    for kind in VERDICTS {
        assert_faults(&Script::new([verdict(kind)]), kind).await;
    }
    let script = Script::new([refused_by(1), Answer::Frame(1)]);
    assert_eq!(open(&script).next().await.unwrap().unwrap().version, 1);
}

#[tokio::test(start_paused = true)]
async fn the_arm_of_the_re_ask_mirrors_that_of_the_first_ask() {
    for kind in VERDICTS {
        let script = Script::new([refused_by(1), verdict(kind)]);
        assert_faults(&script, kind).await;
        assert_eq!(script.asked(), 2);
    }
}

/// The negative control: the arm that logs, on every kind.
#[tokio::test(start_paused = true)]
async fn an_arm_that_only_logs_swallows_every_kind() {
    for kind in VERDICTS {
        let script = Script::new([refused_by(1), verdict(kind)]);
        let mut items = unfixed::open(Arc::new(script), &"Inst".into(), Before::TheJoin, OnVerdict::LogOnly);
        assert!(timeout(Duration::from_secs(600), items.recv()).await.is_err(), "{kind:?} is never told");
    }
}

/// A corpse refuses once; then the node is gone, and routing says so. No heartbeat, no feed: nothing else can emit.
async fn deleted_while_refused<T>(open: impl FnOnce(Tap, &Address) -> T) -> (Mesh, T) {
    let store = Arc::new(MemoryStore::default());
    let mesh = Mesh::builder().store(store.clone()).build().unwrap();
    let inst = Address::new("Inst");
    mesh.put(&inst, "content").await.unwrap();
    mesh.put(&inst, "active").await.unwrap();
    let corpse = corpse_of(&mesh, &inst).await;
    let held = mesh.hold_route(&inst, corpse);
    let tap = Tap::new(&mesh);
    let opened = open(tap.clone(), &inst);
    tap.wait_for_refusals(1).await;
    store.delete(&inst).await.unwrap().unwrap();
    drop(held);
    (mesh, opened)
}

#[tokio::test(start_paused = true)]
async fn a_re_asks_not_found_is_a_verdict() {
    let options = SyncStreamOptions { heartbeat: Duration::from_secs(300), ..SyncStreamOptions::default() };
    let open = |tap: Tap, inst: &Address| SyncStream::open(Arc::new(tap), inst, options);
    let (_mesh, mut stream) = deleted_while_refused(open).await;
    let told = timeout(Duration::from_secs(1), stream.next()).await.unwrap().unwrap().unwrap_err();
    assert_eq!(told.kind, FailureKind::NotFound);
    assert!(told.message.starts_with("No node found at 'Inst'"));
}

/// The negative control. The held corpse is released before the budget of the unfixed rider can end.
#[tokio::test(start_paused = true)]
async fn a_re_asks_not_found_that_is_only_logged_parks_its_reader() {
    let script = Script::new([refused_by(1), Answer::Failure(DeliveryFailure::not_found(&"Inst".into()))]);
    let mut items =
        unfixed::open(Arc::new(script.clone()), &"Inst".into(), Before::TheJoin, OnVerdict::LogOnly);
    assert!(timeout(Duration::from_secs(600), items.recv()).await.is_err());
    assert_eq!(script.asked(), 2, "the verdict had come");
}

#[tokio::test(start_paused = true)]
async fn a_reader_of_a_deleted_node_is_told_within_the_latch() {
    let mesh = Mesh::builder().build().unwrap();
    let inst = Address::new("Inst");
    mesh.put(&inst, "content").await.unwrap();
    let mut stream = SyncStream::open(Arc::new(mesh.clone()), &inst, SyncStreamOptions::default());
    stream.next().await.unwrap().unwrap();
    mesh.delete(&inst).await.unwrap();
    let told = timeout(Duration::from_millis(2_100), stream.next()).await.unwrap().unwrap().unwrap_err();
    assert_eq!(told.kind, FailureKind::NotFound);

    mesh.put(&inst, "again").await.unwrap();
    let mut fresh = SyncStream::open(Arc::new(mesh.clone()), &inst, SyncStreamOptions::default());
    assert_eq!(fresh.next().await.unwrap().unwrap().version, 3, "nothing is cached, and versions only rise");
}
