//! `HubWatcherStopsAtTeardownStart`, on a real hub whose mailbox is parked: no later phase of its teardown can come.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use rideout::address::Address;
use rideout::hub_watcher::{Ending, HubWatcherOptions, WatcherHandle, subscribe_hub_watcher};
use rideout::mesh::{GetNode, Hub, HubSpec, Mesh, Request};
use rideout::run_level::RunLevel;
use rideout::test::ScriptedSource;
use tokio::time::sleep;

struct Wedge;

impl Request for Wedge {
    type Reply = ();
    const NAME: &'static str = "Wedge";
}

type Source = ScriptedSource<u8, io::Error>;

async fn parked_hub() -> (Mesh, Hub) {
    let spec = HubSpec::new().on_async::<Wedge, _>(|_, Wedge| async {
        std::future::pending::<()>().await;
        Ok(())
    });
    let mesh = Mesh::builder().handlers(spec).build().unwrap();
    let inst = Address::new("Inst");
    mesh.put(&inst, "content").await.unwrap();
    mesh.request(&inst, GetNode).await.unwrap();
    let asks = mesh.clone();
    tokio::spawn(async move { asks.request(&"Inst".into(), Wedge).await });
    sleep(Duration::from_millis(1)).await;
    let hub = mesh.activation_at(&inst).unwrap();
    (mesh, hub)
}

async fn install(hub: &Hub, source: &Source) -> (WatcherHandle, Arc<Mutex<Vec<u8>>>) {
    let (opens, seen) = (source.clone(), Arc::new(Mutex::new(Vec::new())));
    let into = Arc::clone(&seen);
    let on_next = move |item| into.lock().unwrap().push(item);
    let open = move |_| std::future::ready(opens.open());
    let watcher = subscribe_hub_watcher(hub, "own node", open, on_next, HubWatcherOptions::new());
    sleep(Duration::from_millis(1)).await;
    (watcher, seen)
}

#[tokio::test(start_paused = true)]
async fn hub_watcher_stops_at_teardown_start() {
    let (_mesh, hub) = parked_hub().await;
    let source = Source::new();
    let (watcher, seen) = install(&hub, &source).await;
    source.emit(1);
    sleep(Duration::from_millis(1)).await;

    hub.dispose();
    source.emit(2);
    sleep(Duration::from_millis(1)).await;
    assert_eq!(
        hub.run_level(),
        RunLevel::Started,
        "the mailbox is parked: not even the first phase has come"
    );
    assert_eq!(source.alive(), 0, "the source has no observer");
    assert_eq!(*seen.lock().unwrap(), [1], "an emission on its way is dropped");
    assert_eq!(watcher.ended().await, Ending::HostDisposing);
}

#[tokio::test(start_paused = true)]
async fn an_ancestors_teardown_is_its_hosts() {
    let (mesh, hub) = parked_hub().await;
    let child = hub.host("child", Arc::new(HubSpec::new())).unwrap();
    let source = Source::new();
    let (watcher, _) = install(&child, &source).await;
    assert_eq!(source.alive(), 1);
    mesh.root().dispose();
    sleep(Duration::from_millis(1)).await;
    assert_eq!((source.alive(), watcher.is_over()), (0, true));

    let late = Source::new();
    let (watcher, _) = install(&child, &late).await;
    assert_eq!((late.openings(), watcher.is_over()), (0, true), "a late install opens nothing");
}

/// The negative control: a watcher that ends in its host's last phase reads on for as long as the mailbox is parked.
#[tokio::test(start_paused = true)]
async fn a_watcher_that_waits_for_a_dispose_action_reads_on() {
    let (_mesh, hub) = parked_hub().await;
    let source = Source::new();
    let opens = source.clone();
    let late = tokio::spawn(async move {
        let mut items = opens.open().unwrap();
        while items.next().await.is_some() {}
    });
    hub.on_dispose(move || late.abort());
    sleep(Duration::from_millis(1)).await;
    hub.dispose();
    sleep(Duration::from_secs(7)).await;
    assert_eq!(source.alive(), 1, "until the watchdog, the unfixed shape observes its source");
    sleep(Duration::from_secs(2)).await;
    assert_eq!(source.alive(), 0);
}
