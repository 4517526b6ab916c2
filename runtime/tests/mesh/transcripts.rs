//! Two recorded outages, as scripts: the unfixed rider is orphaned by each, and the rider lives through both.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use rideout::address::Address;
use rideout::mesh::{HubSpec, Mesh, Request};
use rideout::rider::{SyncStream, SyncStreamOptions};
use rideout::run_level::RunLevel;
use tokio::time::{Instant, sleep, timeout};
use tracing::Level;

use super::logs::Logs;
use super::transports::{Tap, corpse_of, mesh_with_inst};
use super::unfixed::{self, Before, OnVerdict};

/// How long a reader is given before it counts as orphaned. The recorded one waited 55 s.
const ORPHANED: Duration = Duration::from_secs(55);

struct Wedge;

impl Request for Wedge {
    type Reply = ();
    const NAME: &'static str = "Wedge";
}

/// A node whose teardown has begun and drains: its hosted hub is wedged, so the join on it takes its whole bound.
async fn draining() -> (Mesh, Address) {
    let (mesh, inst) = mesh_with_inst().await;
    let wedged = HubSpec::new().on_async::<Wedge, _>(|_, Wedge| async {
        std::future::pending::<()>().await;
        Ok(())
    });
    let hub = mesh.activation_at(&inst).unwrap();
    let child = hub.host("child", Arc::new(wedged)).unwrap();
    let (asks, to) = (mesh.clone(), child.address().clone());
    tokio::spawn(async move { asks.request(&to, Wedge).await });
    sleep(Duration::from_millis(1)).await;
    mesh.recycle(&inst).unwrap();
    sleep(Duration::from_millis(1)).await;
    assert_eq!(hub.run_level(), RunLevel::DisposeHostedHubs);
    (mesh, inst)
}

/// Four rejections in 11 ms: the dying hub is still registered, and an immediate re-ask resolves to it.
#[tokio::test(start_paused = true)]
async fn four_rejections_in_eleven_milliseconds_orphan_the_immediate_re_ask() {
    let (mesh, inst) = draining().await;
    let tap = Tap::new(&mesh);
    let mut items = unfixed::open(Arc::new(tap.clone()), &inst, Before::Nothing, OnVerdict::Fault);
    assert!(timeout(ORPHANED, items.recv()).await.is_err(), "nothing more ever came");
    let refusals = tap.refusals();
    assert_eq!(refusals.len(), 4);
    assert!(refusals[3] - refusals[0] < Duration::from_millis(11), "the whole budget in one teardown window");
    mesh.request(&inst, rideout::mesh::GetNode).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_join_spends_one_chance_on_a_state_that_can_answer() {
    let (mesh, inst) = draining().await;
    let tap = Tap::new(&mesh);
    let begun = Instant::now();
    let mut stream = SyncStream::open(Arc::new(tap.clone()), &inst, SyncStreamOptions::default());
    let frame = timeout(ORPHANED, stream.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(frame.version, 1);
    assert_eq!((tap.refusals().len(), tap.asked()), (1, 2), "one refusal, one join, one re-ask");
    assert!(begun.elapsed() < Duration::from_millis(5_100), "5 s is what the wedged hub takes");
}

/// Three refusals by one activation inside one millisecond, then nothing: a corpse has the join behind it already.
#[tokio::test(start_paused = true)]
async fn three_rejections_in_one_millisecond_and_then_silence_orphan_the_one_counter() {
    let (mesh, inst) = mesh_with_inst().await;
    let corpse = corpse_of(&mesh, &inst).await;
    let held = mesh.hold_route(&inst, corpse);
    let tap = Tap::new(&mesh);
    let mut items = unfixed::open(Arc::new(tap.clone()), &inst, Before::TheJoin, OnVerdict::Fault);
    sleep(Duration::from_secs(1)).await;
    drop(held);
    assert!(timeout(ORPHANED, items.recv()).await.is_err(), "the address answers, and nobody asks it");
    let refusals = tap.refusals();
    assert_eq!(refusals.len(), 4, "the first ask, and three chances that are one");
    assert!(refusals[3] - refusals[0] <= Duration::from_millis(1));
}

#[tokio::test(start_paused = true)]
async fn the_same_refusals_are_paced_and_ridden_out() {
    let (mesh, inst) = mesh_with_inst().await;
    let corpse = corpse_of(&mesh, &inst).await;
    let activation = corpse.activation();
    let held = mesh.hold_route(&inst, corpse);
    let tap = Tap::new(&mesh);
    let (logs, _guard) = Logs::capture();
    let mut stream = SyncStream::open(Arc::new(tap.clone()), &inst, SyncStreamOptions::default());
    let begun = Instant::now();
    sleep(Duration::from_secs(1)).await;
    drop(held);
    let frame = timeout(ORPHANED, stream.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(frame.version, 1);
    assert_ne!(frame.activation, activation);
    assert!(begun.elapsed() <= Duration::from_millis(1_500), "{:?}", begun.elapsed());

    let failed = logs.at(Level::WARN, "resubscribe failed.");
    assert!(failed.len() >= 2, "each refused re-ask is said");
    let named = format!(
        "Hub Inst is shutting down (RunLevel=Dead, activation #{activation}) — cannot process SubscribeRequest"
    );
    assert!(failed.iter().all(|line| line.contains(&named)), "{failed:?}");
    assert!(logs.at(Level::WARN, "gave up").is_empty());
}
