//! `RecycleReAskRidesOutTheDyingActivation`, and how a ride-out ends.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use rideout::address::Address;
use rideout::mesh::{GetNode, Mesh};
use rideout::ride_out::{Bound, RideOutPolicy};
use rideout::rider::{OnGiveUp, RideState, SyncStream, SyncStreamOptions};
use tokio::time::{Instant, sleep, timeout};
use tracing::Level;

use super::logs::Logs;
use super::transports::{Answer, Script, Tap, corpse_of, mesh_with_inst, refused_by, refused_unnamed};
use super::unfixed::{self, Before, OnVerdict};

/// Nothing but the carrier can ask: the heartbeat is far away.
fn carrier_only() -> SyncStreamOptions {
    let watchdog = RideOutPolicy::DISPOSAL_WATCHDOG;
    SyncStreamOptions {
        ride_out: RideOutPolicy::try_new(3, 40, Duration::from_millis(200), watchdog).unwrap(),
        heartbeat: Duration::from_secs(300),
        ..SyncStreamOptions::default()
    }
}

/// Recycles the owner for real and holds its address at the corpse until it has refused four times.
async fn script<T>(open: impl FnOnce(Tap, &Address) -> T) -> (Mesh, Tap, T, usize) {
    let (mesh, inst) = mesh_with_inst().await;
    let corpse = corpse_of(&mesh, &inst).await;
    let held = mesh.hold_route(&inst, corpse);
    let tap = Tap::new(&mesh);
    let opened = open(tap.clone(), &inst);
    tap.wait_for_refusals(4).await;
    drop(held);
    let before = tap.asked();
    sleep(Duration::from_secs(60)).await;
    let after = tap.asked() - before;
    (mesh, tap, opened, after)
}

#[tokio::test(start_paused = true)]
async fn recycle_re_ask_rides_out_the_dying_activation() {
    let open = |tap: Tap, inst: &Address| SyncStream::open(Arc::new(tap), inst, carrier_only());
    let (_mesh, tap, mut stream, after) = script(open).await;
    assert_eq!(after, 1, "a delivery after the release, and no more than the one that was answered");
    assert_eq!(stream.next().await.unwrap().unwrap().version, 1);
    assert_eq!(tap.refusals().len(), 4);
}

/// The negative control: structural, however slow the machine. Nothing is ever sent again.
#[tokio::test(start_paused = true)]
async fn one_counter_for_both_axes_never_sends_another_delivery() {
    let open =
        |tap: Tap, inst: &Address| unfixed::open(Arc::new(tap), inst, Before::TheJoin, OnVerdict::Fault);
    let (_mesh, _tap, mut items, after) = script(open).await;
    assert_eq!(after, 0);
    assert!(items.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_wedged_corpse_is_given_up_after_eight_seconds_and_loudly() {
    let (logs, _guard) = Logs::capture();
    let (mesh, inst) = mesh_with_inst().await;
    let corpse = corpse_of(&mesh, &inst).await;
    let activation = corpse.activation();
    let held = mesh.hold_route(&inst, corpse);
    let tap = Tap::new(&mesh);
    let begun = Instant::now();
    let mut stream = SyncStream::open(Arc::new(tap.clone()), &inst, SyncStreamOptions::default());
    let mut state = stream.state();
    let parked = state.wait_for(|state| matches!(state, RideState::Parked { .. })).await.unwrap().clone();
    assert_eq!(
        parked,
        RideState::Parked { bound: Bound::Time, owner: inst.clone(), activation: Some(activation) }
    );
    assert_eq!(tap.refusals().len(), 18, "one ask, one join, sixteen rests");
    assert_eq!(begun.elapsed(), RideOutPolicy::DISPOSAL_WATCHDOG);

    let gave_up = logs.at(Level::WARN, "gave up");
    assert_eq!(gave_up.len(), 1);
    for part in ["Inst", &activation.to_string(), "re-asks at one activation", "disposal"] {
        assert!(gave_up[0].contains(part), "{part}: {gave_up:?}");
    }

    sleep(Duration::from_secs(600)).await;
    assert_eq!(tap.refusals().len(), 18, "parked: nothing polls");
    drop(held);
    mesh.put(&inst, "changed").await.unwrap();
    let frame = timeout(Duration::from_secs(3), stream.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(frame.version, 2, "the latch is still armed, and an answer un-parks");
    assert_eq!(*state.borrow(), RideState::Reading);
    assert_eq!(logs.at(Level::WARN, "gave up").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn four_activations_are_a_storm_and_given_up_at_once_and_loudly() {
    for (answers, shape) in [
        ([1, 2, 3, 4].map(refused_by).to_vec(), "4 distinct owner activations"),
        (vec![refused_unnamed(); 4], "unnamed"),
    ] {
        let (logs, _guard) = Logs::capture();
        let script = Script::new(answers);
        let stream = SyncStream::open(Arc::new(script.clone()), &"Inst".into(), SyncStreamOptions::default());
        let mut state = stream.state();
        state
            .wait_for(|state| matches!(state, RideState::Parked { bound: Bound::Activation, .. }))
            .await
            .unwrap();
        sleep(Duration::from_secs(600)).await;
        assert_eq!(script.asked(), 4, "one ask and three re-asks");
        assert!(script.heartbeats() > 0, "the keep-alive stays");
        let gave_up = logs.at(Level::WARN, "gave up");
        assert_eq!(gave_up.len(), 1);
        assert!(gave_up[0].contains(shape) && gave_up[0].contains("distinct activations"), "{gave_up:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_to_fault_on_giving_up_does() {
    let script = Script::new([1, 2, 3, 4].map(refused_by));
    let options = SyncStreamOptions { on_give_up: OnGiveUp::Fault, ..SyncStreamOptions::default() };
    let mut stream = SyncStream::open(Arc::new(script.clone()), &"Inst".into(), options);
    assert!(stream.next().await.unwrap().unwrap_err().kind.is_promise());
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn an_answer_starts_both_axes_afresh() {
    let storm = |from: u32| (from..from + 3).map(refused_by);
    let answers = storm(1).chain([Answer::Frame(1)]).chain(storm(4)).chain([Answer::Frame(2)]);
    let script = Script::new(answers);
    let mut stream = SyncStream::open(Arc::new(script.clone()), &"Inst".into(), SyncStreamOptions::default());
    assert_eq!(stream.next().await.unwrap().unwrap().version, 1);
    script.feed.announce(&"Inst".into(), Some(2));
    assert_eq!(stream.next().await.unwrap().unwrap().version, 2);
    assert_eq!(script.asked(), 8);
}

#[tokio::test(start_paused = true)]
async fn an_established_subscriber_is_told_of_a_recycle() {
    let (mesh, inst) = mesh_with_inst().await;
    let tap = Tap::new(&mesh);
    let mut stream = SyncStream::open(Arc::new(tap.clone()), &inst, SyncStreamOptions::default());
    stream.next().await.unwrap().unwrap();
    corpse_of(&mesh, &inst).await;
    sleep(Duration::from_millis(10)).await;
    assert_eq!(tap.asked(), 2, "the goodbye of the parent");
    mesh.put(&inst, "changed").await.unwrap();
    let frame = timeout(Duration::from_millis(10), stream.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(frame.version, 2, "pushed by the successor, with no announcement needed");
}

#[tokio::test(start_paused = true)]
async fn dropping_a_stream_unsubscribes_and_leaves_nothing_behind() {
    let (mesh, inst) = mesh_with_inst().await;
    let hub = mesh.activation_at(&inst).unwrap();
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let mut stream = SyncStream::open(Arc::new(mesh.clone()), &inst, SyncStreamOptions::default());
    stream.next().await.unwrap().unwrap();
    assert_eq!((hub.subscriber_count(), hub.hosted_count()), (1, 1));
    drop(stream);
    sleep(Duration::from_millis(10)).await;
    assert_eq!((hub.subscriber_count(), hub.hosted_count()), (0, 0));
    assert_eq!(tasks(), before);
    assert_eq!(mesh.change_feed().watched(), 0);
    mesh.request(&inst, GetNode).await.unwrap();
}

#[cfg(feature = "metrics")]
#[tokio::test(start_paused = true)]
async fn a_give_up_is_counted_by_its_bound() {
    use metrics_util::debugging::{DebugValue, DebuggingRecorder};

    let recorder = DebuggingRecorder::new();
    let seen = recorder.snapshotter();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let script = Script::new([1, 2, 3, 4].map(refused_by).to_vec());
    let stream = SyncStream::open(Arc::new(script), &"Inst".into(), SyncStreamOptions::default());
    let mut state = stream.state();
    state.wait_for(|state| matches!(state, RideState::Parked { .. })).await.unwrap();
    let metrics = seen.snapshot().into_vec();
    let [(key, _, _, DebugValue::Counter(1))] = metrics.as_slice() else { panic!("{metrics:?}") };
    let labels: Vec<_> = key.key().labels().map(|label| (label.key(), label.value())).collect();
    assert_eq!(
        (key.key().name(), labels.as_slice()),
        ("rideout_give_ups_total", &[("watch", "Inst"), ("bound", "activation")][..])
    );
}
