//! `ShuttingDownIsNotAbsent`: a read through a recycling address, and what it says when its budget ends.

use std::time::Duration;

use rideout::failure::{DeliveryFailure, FailureKind};
use rideout::mesh::Node;
use rideout::rider::{NodeRead, ReadOptions, Transport, read_node};
use tokio::time::{Instant, sleep};

use super::transports::{Answer, Script, corpse_of, mesh_with_inst, refused_by, refused_unnamed};

/// The unfixed read: what could not be read is absent.
async fn collapse_to_absent(transport: &dyn Transport) -> Option<Node> {
    transport.read(&"Inst".into()).await.ok()
}

#[tokio::test(start_paused = true)]
async fn shutting_down_is_not_absent() {
    let (mesh, inst) = mesh_with_inst().await;
    let corpse = corpse_of(&mesh, &inst).await;
    let _held = mesh.hold_route(&inst, corpse);
    let begun = Instant::now();
    let recycling = read_node(&mesh, &inst, ReadOptions::default()).await.unwrap_err();
    assert_eq!(begun.elapsed(), Duration::from_secs(10), "nothing outlives the budget");
    assert_eq!(recycling.probes, 21, "one, one at once, and one each 500 ms");
    assert_eq!(recycling.distinct_owners, 1);
    let text = recycling.to_string();
    for part in ["21 probes", "10.0s", "recycling", "not absent", "disposal"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(
        collapse_to_absent(&mesh).await,
        None,
        "the unfixed read takes a living node for an absent one"
    );
}

#[tokio::test(start_paused = true)]
async fn a_storm_is_named_by_its_distinct_owners() {
    let script = Script::new((1..=37).map(refused_by));
    let recycling = read_node(&script, &"Inst".into(), ReadOptions::default()).await.unwrap_err();
    assert_eq!(recycling.distinct_owners as u32, recycling.probes);
    assert!(recycling.to_string().contains("21 distinct owner activations"), "{recycling}");

    let unnamed = Script::new([refused_unnamed()]);
    let recycling = read_node(&unnamed, &"Inst".into(), ReadOptions::default()).await.unwrap_err();
    assert_eq!(recycling.distinct_owners, 0, "who does not name himself is not counted");
    assert!(!recycling.to_string().contains("distinct"), "nothing observed, nothing said");
}

#[tokio::test(start_paused = true)]
async fn a_healthy_recycle_costs_one_re_probe() {
    let (mesh, inst) = mesh_with_inst().await;
    mesh.recycle(&inst).unwrap();
    let begun = Instant::now();
    let read = read_node(&mesh, &inst, ReadOptions::default()).await.unwrap();
    assert!(matches!(read, NodeRead::Present(node) if node.version == 1));
    assert!(begun.elapsed() < Duration::from_millis(100));
}

#[tokio::test(start_paused = true)]
async fn a_corpse_that_is_let_go_is_read_through() {
    let (mesh, inst) = mesh_with_inst().await;
    let corpse = corpse_of(&mesh, &inst).await;
    let held = mesh.hold_route(&inst, corpse);
    tokio::spawn(async move {
        sleep(Duration::from_secs(3)).await;
        drop(held);
    });
    let read = read_node(&mesh, &inst, ReadOptions::default()).await.unwrap();
    assert!(matches!(read, NodeRead::Present(_)));
}

#[tokio::test(start_paused = true)]
async fn a_verdict_is_told_at_once_and_could_not_read_is_never_absent() {
    let (mesh, _) = mesh_with_inst().await;
    assert_eq!(read_node(&mesh, &"None".into(), ReadOptions::default()).await.unwrap(), NodeRead::Absent);
    for kind in [FailureKind::Unauthorized, FailureKind::Failed, FailureKind::Unavailable] {
        let script = Script::new([Answer::Failure(DeliveryFailure::new(kind, "no"))]);
        let read = read_node(&script, &"Inst".into(), ReadOptions::default()).await.unwrap();
        assert!(matches!(read, NodeRead::Unavailable(failure) if failure.kind == kind));
    }
}

#[tokio::test(start_paused = true)]
async fn silence_is_a_timeout_and_no_recycle() {
    let script = Script::new([Answer::Never]);
    let read = read_node(&script, &"Inst".into(), ReadOptions::default()).await.unwrap();
    let NodeRead::Unavailable(failure) = read else { panic!("{read:?}") };
    assert!(failure.message.contains("NOT not-found"), "{failure}");
}
