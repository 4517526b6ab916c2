//! The phases of a teardown: who is refused, when a hub leaves its registry, what its signal follows.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use rideout::activation::ActivationId;
use rideout::address::Address;
use rideout::failure::FailureKind;
use rideout::mesh::{GetNode, HubSpec, MemoryStore, Mesh, NodeStore, Request, Responder, WriteNode};
use rideout::run_level::RunLevel;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

/// Kept unanswered by whoever takes it, until `release` is dropped.
struct Park(oneshot::Receiver<()>);

impl Request for Park {
    type Reply = ();
    const NAME: &'static str = "Park";
}

/// Occupies the mailbox until its future ends.
struct Wedge;

impl Request for Wedge {
    type Reply = ();
    const NAME: &'static str = "Wedge";
}

struct Panics;

impl Request for Panics {
    type Reply = ();
    const NAME: &'static str = "Panics";
}

fn spec() -> HubSpec {
    HubSpec::new()
        .on_deferred::<Park>(|_hub, Park(release), reply: Responder<()>| {
            tokio::spawn(async move {
                let _ = release.await;
                drop(reply);
            });
        })
        .on_async::<Wedge, _>(|_hub, Wedge| async {
            std::future::pending::<()>().await;
            Ok(())
        })
        .on::<Panics>(|_hub, Panics| panic!("a bug in a handler"))
}

async fn mesh_with(path: &str) -> (Mesh, Address) {
    let mesh = Mesh::builder().handlers(spec()).build().unwrap();
    let address = Address::new(path);
    mesh.put(&address, "content").await.unwrap();
    mesh.request(&address, GetNode).await.unwrap();
    (mesh, address)
}

#[tokio::test(start_paused = true)]
async fn the_signal_follows_the_level_and_stays() {
    let (mesh, address) = mesh_with("a").await;
    let hub = mesh.activation_at(&address).unwrap();
    let early = hub.disposal_completed();
    mesh.recycle(&address).unwrap();
    early.await;
    assert_eq!(hub.run_level(), RunLevel::Dead);
    assert_eq!(hub.disposal_completed().now_or_never(), Some(()), "a late joiner is let through at once");
    assert!(!hub.quiescing_timed_out());
}

#[tokio::test(start_paused = true)]
async fn a_successor_is_another_activation_with_the_same_content() {
    let (mesh, address) = mesh_with("a").await;
    let corpse = mesh.recycle(&address).unwrap();
    corpse.disposal_completed().await;
    assert!(mesh.activation_at(&address).is_none());
    assert_eq!(mesh.request(&address, GetNode).await.unwrap().content.as_ref(), "content");
    assert_ne!(mesh.activation_at(&address).unwrap().activation(), corpse.activation());
}

/// Parks a request of the node's own, so that its quiescing phase holds.
async fn hold_quiescing(mesh: &Mesh, address: &Address) -> oneshot::Sender<()> {
    let (release, parked) = oneshot::channel();
    let other = Address::new("other");
    mesh.put(&other, "").await.unwrap();
    let hub = mesh.activation_at(address).unwrap();
    tokio::spawn(async move { hub.request(&other, Park(parked)).await });
    sleep(Duration::from_millis(1)).await;
    release
}

#[tokio::test(start_paused = true)]
async fn intake_stays_open_while_quiescing_and_hosting_does_not() {
    let (mesh, address) = mesh_with("a").await;
    let release = hold_quiescing(&mesh, &address).await;
    let hub = mesh.recycle(&address).unwrap();
    let frozen = hub.host("child", Arc::new(HubSpec::new()));
    assert_eq!(
        frozen.unwrap_err().activation,
        hub.activation(),
        "frozen from the first statement of dispose"
    );
    assert!(hub.shutting_down().is_cancelled());
    sleep(Duration::from_millis(100)).await;
    assert_eq!(hub.run_level(), RunLevel::Quiescing);
    mesh.request(&address, GetNode).await.unwrap();
    drop(release);
    hub.disposal_completed().await;
    assert!(!hub.quiescing_timed_out());
}

#[tokio::test(start_paused = true)]
async fn an_open_request_that_outlives_quiescing_is_cancelled_and_leaves_its_mark() {
    let (mesh, address) = mesh_with("a").await;
    let _release = hold_quiescing(&mesh, &address).await;
    let begun = Instant::now();
    let hub = mesh.recycle(&address).unwrap();
    hub.disposal_completed().await;
    assert!(hub.quiescing_timed_out());
    assert_eq!(begun.elapsed().as_secs(), 2);
}

/// From DisposeHostedHubs until ShutDown the hub refuses and is *still registered*: an immediate re-ask meets it again.
#[tokio::test(start_paused = true)]
async fn a_refusing_hub_is_still_what_routing_finds() {
    let (mesh, address) = mesh_with("a").await;
    let hub = mesh.activation_at(&address).unwrap();
    let child = hub.host("child", Arc::new(spec())).unwrap();
    let wedged = {
        let (mesh, to) = (mesh.clone(), child.address().clone());
        tokio::spawn(async move { mesh.request(&to, Wedge).await })
    };
    sleep(Duration::from_millis(1)).await;
    mesh.recycle(&address).unwrap();
    sleep(Duration::from_millis(1)).await;
    assert_eq!(hub.run_level(), RunLevel::DisposeHostedHubs);

    let begun = Instant::now();
    for _ in 0..4 {
        let refused = mesh.request(&address, GetNode).await.unwrap_err();
        assert_eq!(refused.kind, FailureKind::ShuttingDown);
        assert_eq!(refused.activation, Some(hub.activation()));
        assert!(refused.message.contains("RunLevel=DisposeHostedHubs"), "{refused}");
    }
    assert!(begun.elapsed() < Duration::from_millis(12), "four refusals inside one teardown window");

    hub.disposal_completed().await;
    let next = mesh.request(&address, GetNode).await;
    assert!(next.is_ok(), "the wedged child holds the join up for 5 s and no longer: {next:?}");
    assert_eq!(begun.elapsed().as_secs(), 4, "5 s less a little");
    child.disposal_completed().await;
    let answer = wedged.await.unwrap().unwrap_err();
    assert_eq!(
        answer.kind,
        FailureKind::ShuttingDown,
        "accepted and unfinished work is answered too: {answer}"
    );
    assert!(answer.message.ends_with("Ask again."));
}

#[tokio::test(start_paused = true)]
async fn a_wedged_mailbox_is_torn_down_by_force_and_its_queue_answered() {
    let (mesh, address) = mesh_with("a").await;
    let ask = |mesh: &Mesh| {
        let (mesh, to) = (mesh.clone(), address.clone());
        async move { mesh.request(&to, GetNode).await }
    };
    let hub = mesh.activation_at(&address).unwrap();
    let wedged = {
        let (mesh, to) = (mesh.clone(), address.clone());
        tokio::spawn(async move { mesh.request(&to, Wedge).await })
    };
    sleep(Duration::from_millis(1)).await;
    let queued = tokio::spawn(ask(&mesh));
    sleep(Duration::from_millis(1)).await;
    let ran = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&ran);
    hub.on_dispose(move || {
        count.fetch_add(1, Ordering::Relaxed);
    });

    let begun = Instant::now();
    mesh.recycle(&address).unwrap();
    hub.disposal_completed().await;
    assert_eq!(begun.elapsed().as_secs(), 8);
    assert_eq!(hub.run_level(), RunLevel::Dead);
    for answer in [wedged.await.unwrap().map(drop), queued.await.unwrap().map(drop)] {
        let failure = answer.unwrap_err();
        assert_eq!((failure.kind, failure.activation), (FailureKind::ShuttingDown, Some(hub.activation())));
    }
    assert_eq!(ran.load(Ordering::Relaxed), 1, "each dispose action runs once");
    ask(&mesh).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn only_what_somebody_awaits_is_refused_and_only_by_a_parent_that_can() {
    let (mesh, address) = mesh_with("a").await;
    let hub = mesh.recycle(&address).unwrap();
    hub.disposal_completed().await;
    let held = mesh.hold_route(&address, hub.clone());
    mesh.tell(&address, "Poke", 7_u8);
    assert_eq!(mesh.request(&address, GetNode).await.unwrap_err().kind, FailureKind::ShuttingDown);

    mesh.root().dispose();
    mesh.root().disposal_completed().await;
    let silent = mesh.request(&address, GetNode).await.unwrap_err();
    assert_eq!(silent.kind, FailureKind::Unavailable, "a parent that is gone says nothing: {silent}");
    drop(held);
    let routing = mesh.request(&address, GetNode).await.unwrap_err();
    assert_eq!((routing.kind, routing.token()), (FailureKind::ShuttingDown, None));
    assert!(routing.message.starts_with("Mesh is shutting down, cannot route to a"));
}

#[tokio::test(start_paused = true)]
async fn absent_is_a_verdict_and_nothing_falls_back_to_an_ancestor() {
    let (mesh, _) = mesh_with("a").await;
    for absent in ["a/b", "b", "a~none"] {
        let verdict = mesh.request(&Address::new(absent), GetNode).await.unwrap_err();
        assert_eq!(verdict.kind, FailureKind::NotFound, "{absent}: {verdict}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panicking_handler_fails_its_request_and_not_its_hub() {
    let (mesh, address) = mesh_with("a").await;
    assert_eq!(mesh.request(&address, Panics).await.unwrap_err().kind, FailureKind::Failed);
    mesh.request(&address, GetNode).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_mesh_is_the_end_of_every_hub_in_it() {
    let (mesh, address) = mesh_with("a").await;
    let hub = mesh.activation_at(&address).unwrap();
    let child = hub.host("child", Arc::new(HubSpec::new())).unwrap();
    let root = mesh.root().clone();
    drop(mesh);
    assert!(
        child.shutting_down().is_cancelled(),
        "an ancestor's teardown is known at once, all the way down"
    );
    assert!(child.host("grandchild", Arc::new(HubSpec::new())).is_err());
    timeout(Duration::from_secs(1), root.disposal_completed()).await.unwrap();
    assert_eq!((hub.run_level(), child.run_level()), (RunLevel::Dead, RunLevel::Dead));
}

#[tokio::test(start_paused = true)]
async fn a_disposal_completes_although_a_dispose_action_panics() {
    let (mesh, address) = mesh_with("a").await;
    let hub = mesh.activation_at(&address).unwrap();
    hub.on_dispose(|| panic!("a bug in a dispose action"));
    mesh.recycle(&address).unwrap();
    timeout(Duration::from_secs(1), hub.disposal_completed()).await.unwrap();
    assert!(mesh.activation_at(&address).is_none());
}

#[tokio::test(start_paused = true)]
async fn activations_of_one_address_never_repeat() {
    let (mesh, address) = mesh_with("a").await;
    let mut seen: Vec<ActivationId> = Vec::new();
    for _ in 0..50 {
        mesh.request(&address, GetNode).await.unwrap();
        let corpse = mesh.recycle(&address).unwrap();
        corpse.disposal_completed().await;
        assert!(!seen.contains(&corpse.activation()));
        seen.push(corpse.activation());
    }
}

/// What an activation holds is not the node any more once somebody else has written it: a successor reads it anew.
#[tokio::test(start_paused = true)]
async fn an_activation_that_was_written_past_ends_with_a_promise() {
    let store = Arc::new(MemoryStore::default());
    let mesh = Mesh::builder().store(store.clone()).build().unwrap();
    let address = Address::new("a");
    let write = |content: &str| mesh.request(&address, WriteNode { content: content.into() });
    mesh.put(&address, "one").await.unwrap();
    write("two").await.unwrap();
    store.write(&address, None, "past it".into()).await.unwrap();
    let refused = write("three").await.unwrap_err();
    assert_eq!(refused.kind, FailureKind::ShuttingDown, "{refused}");
    sleep(Duration::from_millis(1)).await;
    assert_eq!(mesh.request(&address, GetNode).await.unwrap().content.as_ref(), "past it");
    assert_eq!(write("four").await.unwrap(), 4);
}
