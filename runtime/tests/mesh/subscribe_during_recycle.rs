//! `SubscribeDuringRecycle`: a subscribe in the window between the freeze and the closing of the intake is a promise.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use rideout::address::Address;
use rideout::failure::{DeliveryFailure, FailureKind, HubDisposing};
use rideout::mesh::{Hub, HubSpec, Inbox, Mesh, Request, Responder, StreamId, Subscribe};
use rideout::run_level::RunLevel;
use tokio::time::sleep;

/// Never answered.
struct Never;

impl Request for Never {
    type Reply = ();
    const NAME: &'static str = "Never";
}

/// Opens a hosted hub as the unfixed shape did: a refusal to host was an absent child, and the absent child a bug.
struct SubscribeUnfixed;

impl Request for SubscribeUnfixed {
    type Reply = ();
    const NAME: &'static str = "SubscribeUnfixed";
}

/// A handler that wraps what it met, as handlers do.
struct SubscribeWrapped;

impl Request for SubscribeWrapped {
    type Reply = ();
    const NAME: &'static str = "SubscribeWrapped";
}

#[derive(Debug)]
struct Context(HubDisposing);

impl std::fmt::Display for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("could not open the stream")
    }
}

impl Error for Context {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

fn spec() -> HubSpec {
    HubSpec::new()
        .on_deferred::<Never>(|_hub, Never, reply: Responder<()>| std::mem::forget(reply))
        .on::<SubscribeUnfixed>(|hub, SubscribeUnfixed| {
            let child = hub.host("stream", Arc::new(HubSpec::new())).ok();
            child.map(drop).ok_or_else(|| "the stream's hub is null".into())
        })
        .on::<SubscribeWrapped>(|hub, SubscribeWrapped| {
            hub.host("stream", Arc::new(HubSpec::new())).map(drop).map_err(|e| Context(e).into())
        })
}

async fn quiescing() -> (Mesh, Address, Hub) {
    let mesh = Mesh::builder().handlers(spec()).build().unwrap();
    let (address, other) = (Address::new("Inst"), Address::new("Other"));
    mesh.put(&address, "").await.unwrap();
    mesh.put(&other, "").await.unwrap();
    mesh.put(&address, "activated").await.unwrap();
    let hub = mesh.activation_at(&address).unwrap();
    let asks = hub.clone();
    tokio::spawn(async move { asks.request(&other, Never).await });
    sleep(Duration::from_millis(1)).await;
    mesh.recycle(&address).unwrap();
    sleep(Duration::from_millis(100)).await;
    assert_eq!(hub.run_level(), RunLevel::Quiescing, "the unanswered request holds the phase");
    (mesh, address, hub)
}

fn assert_promise(answer: &DeliveryFailure, hub: &Hub) {
    assert_eq!(answer.kind, FailureKind::ShuttingDown, "{answer}");
    assert_eq!(answer.activation, Some(hub.activation()));
}

#[tokio::test(start_paused = true)]
async fn subscribe_during_recycle() {
    let (mesh, address, hub) = quiescing().await;
    let (frames, _inbox) = Inbox::new();
    let answer = mesh.request(&address, Subscribe { stream: StreamId::mint(), frames }).await;
    assert_promise(&answer.unwrap_err(), &hub);
    assert_promise(&mesh.request(&address, SubscribeWrapped).await.unwrap_err(), &hub);
}

/// The negative control: without the typed cause the same window is a terminal fault.
#[tokio::test(start_paused = true)]
async fn an_untyped_refusal_to_host_is_terminal() {
    let (mesh, address, _hub) = quiescing().await;
    let answer = mesh.request(&address, SubscribeUnfixed).await.unwrap_err();
    assert_eq!(answer.kind, FailureKind::Failed);
}
