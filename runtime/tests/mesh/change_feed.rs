//! `ChangeFeedCoalesce`: a burst of announcements is one re-subscription, and only for what has not arrived.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use rideout::address::Address;
use rideout::mesh::{Inbox, StreamId, Subscribe};
use rideout::rider::{SyncStream, SyncStreamOptions, Transport};
use tokio::time::{sleep, timeout};

use super::transports::{Answer, Script, mesh_with_inst};

async fn burst(script: &Script, inst: &Address) {
    for version in 1..=6 {
        script.feed.announce(inst, Some(version));
        sleep(Duration::from_millis(60)).await;
    }
    sleep(Duration::from_secs(60)).await;
}

fn open(script: &Script, inst: &Address) -> SyncStream {
    let options = SyncStreamOptions { debounce: Duration::from_millis(600), ..SyncStreamOptions::default() };
    SyncStream::open(Arc::new(script.clone()), inst, options)
}

#[tokio::test(start_paused = true)]
async fn change_feed_coalesce() {
    let (script, inst) = (Script::new([Answer::Quiet]), Address::new("Inst"));
    let _stream = open(&script, &inst);
    sleep(Duration::from_millis(10)).await;
    burst(&script, &inst).await;
    assert_eq!(script.asked(), 2, "the first ask, and one for the burst");
}

/// The negative control: one re-subscription an event.
#[tokio::test(start_paused = true)]
async fn a_re_subscription_an_event_is_one_more_than_the_events() {
    let (script, inst) = (Script::new([Answer::Quiet]), Address::new("Inst"));
    let mut feed = script.feed.watch(&inst);
    let asks = script.clone();
    tokio::spawn(async move {
        let (frames, _inbox) = Inbox::new();
        loop {
            let subscribe = Subscribe { stream: StreamId::mint(), frames: frames.clone() };
            asks.subscribe(&"Inst".into(), subscribe).await.unwrap();
            feed.changed().await;
        }
    });
    sleep(Duration::from_millis(10)).await;
    burst(&script, &inst).await;
    assert_eq!(script.asked(), 7);
}

#[tokio::test(start_paused = true)]
async fn what_has_arrived_is_not_asked_for() {
    let (script, inst) = (Script::new([Answer::Frame(6)]), Address::new("Inst"));
    let _stream = open(&script, &inst);
    sleep(Duration::from_millis(10)).await;
    burst(&script, &inst).await;
    assert_eq!(script.asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_change_without_a_version_is_one_more_than_what_has_arrived() {
    let (script, inst) = (Script::new([Answer::Frame(6)]), Address::new("Inst"));
    let _stream = open(&script, &inst);
    sleep(Duration::from_millis(10)).await;
    script.feed.announce(&inst, None);
    sleep(Duration::from_secs(60)).await;
    assert_eq!(script.asked(), 2);
    script.feed.announce_gap();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(script.asked(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_path_that_changes_all_the_time_is_still_asked_for() {
    let (script, inst) = (Script::new([Answer::Quiet]), Address::new("Inst"));
    let _stream = open(&script, &inst);
    for version in 1..=100 {
        script.feed.announce(&inst, Some(version));
        sleep(Duration::from_millis(100)).await;
    }
    assert!((4..=9).contains(&script.asked()), "{}: one a window and a grace, never none", script.asked());
}

/// An owner that answered and went quiet delivers when it is poked.
#[tokio::test(start_paused = true)]
async fn the_first_heartbeat_comes_after_five_seconds() {
    let (script, inst) = (Script::new([Answer::Quiet]), Address::new("Inst"));
    let _stream = open(&script, &inst);
    sleep(Duration::from_millis(4_999)).await;
    assert_eq!(script.heartbeats(), 0);
    sleep(Duration::from_millis(2)).await;
    assert_eq!(script.heartbeats(), 1);
    sleep(Duration::from_secs(90)).await;
    assert_eq!(script.heartbeats(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_heartbeat_wakes_nobody() {
    let (mesh, inst) = mesh_with_inst().await;
    let mut stream = SyncStream::open(Arc::new(mesh.clone()), &inst, SyncStreamOptions::default());
    stream.next().await.unwrap().unwrap();
    mesh.activation_at(&inst).unwrap().dispose();
    sleep(Duration::from_secs(300)).await;
    assert!(
        mesh.activation_at(&inst).is_none(),
        "a pure recycle without a goodbye: nothing asks, and nothing wakes it"
    );
    mesh.put(&inst, "changed").await.unwrap();
    let frame = timeout(Duration::from_millis(2_100), stream.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(frame.version, 2, "the latch finds what the dead subscription missed");
}
