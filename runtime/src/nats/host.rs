//! The side that hosts: an activation takes its seat, serves its subjects, and leaves it.

use std::sync::Arc;
use std::time::Duration;

use async_nats::Message;
use futures_util::StreamExt;
use tokio::time::{Instant, interval_at, sleep};
use tokio_util::sync::CancellationToken;

use super::NatsError;
use super::lease::{Lease, Leases};
use super::link::{Link, Lost};
use super::store::unavailable;
use super::wire::{Answer, Ask, Subjects, Told, ask_again, encode_answer};
use crate::address::Address;
use crate::failure::DeliveryFailure;
use crate::mesh::{
    Arrival, GetNode, Heartbeat, Hub, Inbox, Mesh, OnActivate, StreamId, Subscribe, Unsubscribe, WriteNode,
};

/// How long a reader may take to acknowledge a frame before the next one is sent.
const ACKNOWLEDGED_WITHIN: Duration = Duration::from_secs(1);

/// What every activation of this process needs for its seat.
#[derive(Debug)]
pub(super) struct Seats {
    link: Link,
    leases: Leases,
    subjects: Subjects,
    linger: Duration,
}

impl Seats {
    pub(super) fn new(link: Link, leases: Leases, subjects: Subjects, linger: Duration) -> Self {
        Self { link, leases, subjects, linger }
    }
}

/// Takes the lease of an address, listens on its subjects, and only then lets the activation start.
pub(super) fn take_seat(seats: Arc<Seats>) -> OnActivate {
    Arc::new(move |hub| {
        let seats = Arc::clone(&seats);
        Box::pin(async move {
            let lease = seats.leases.take(hub.address(), hub.activation()).await?;
            let client = seats.link.client();
            let asks = client.subscribe(seats.subjects.asks(hub.address())).await.map_err(unavailable)?;
            let tells = client.subscribe(seats.subjects.tells(hub.address())).await.map_err(unavailable)?;
            client.flush().await.map_err(unavailable)?;
            let left = CancellationToken::new();
            let leaves = left.clone();
            hub.on_dispose(move || leaves.cancel());
            tokio::spawn(sit(seats, hub, lease, asks, tells, left));
            Ok(())
        })
    })
}

/// Serves one activation until its ShutDown phase, and a little longer where it lingers.
async fn sit(
    seats: Arc<Seats>,
    hub: Hub,
    mut lease: Lease,
    mut asks: async_nats::Subscriber,
    mut tells: async_nats::Subscriber,
    left: CancellationToken,
) {
    let mut renewals = interval_at(Instant::now() + seats.leases.renewal(), seats.leases.renewal());
    let lingers = async {
        left.cancelled().await;
        sleep(seats.linger).await;
    };
    tokio::pin!(lingers);
    loop {
        tokio::select! {
            () = &mut lingers => break,
            Some(ask) = asks.next() => drop(tokio::spawn(answer(seats.link.clone(), seats.subjects.clone(), Owner::Hub(hub.clone()), ask))),
            Some(told) = tells.next() => take_told(&hub, &told),
            _ = renewals.tick() => {
                if !seats.leases.renew(&mut lease).await && !hub.is_disposing() {
                    tracing::warn!(hub = %hub.address(), activation = %hub.activation(), "the lease is lost, and the activation ends with it");
                    hub.dispose();
                }
            }
        }
    }
    seats.leases.give_back(lease).await;
}

/// Who answers an ask.
enum Owner {
    /// This activation and no other.
    Hub(Hub),
    /// Whatever activation is at the address here; made if there is none.
    Mesh(Mesh),
}

impl Owner {
    async fn ask<R: crate::mesh::Request>(
        &self,
        address: &Address,
        request: R,
    ) -> Result<R::Reply, DeliveryFailure> {
        match self {
            Self::Hub(hub) => hub.ask(request).await,
            Self::Mesh(mesh) => mesh.request(address, request).await,
        }
    }
}

async fn answer(link: Link, subjects: Subjects, owner: Owner, message: Message) {
    let Some(reply) = message.reply.clone() else { return };
    let Some((address, ask)) = Ask::decode(&message) else { return };
    let answer = match ask {
        Ask::Get => get(&owner, &address).await,
        Ask::Write(content) => write(&owner, &address, content).await,
        Ask::Subscribe(stream) => subscribe(&link, &subjects, &owner, &address, stream).await,
    };
    let (headers, body) = encode_answer(&answer);
    link.tell(reply.to_string(), headers, body);
}

async fn get(owner: &Owner, address: &Address) -> Result<Answer, DeliveryFailure> {
    let node = owner.ask(address, GetNode).await?;
    Ok(Answer { version: node.version, activation: speaker(owner, address), content: node.content })
}

async fn write(owner: &Owner, address: &Address, content: Arc<str>) -> Result<Answer, DeliveryFailure> {
    let version = owner.ask(address, WriteNode { content }).await?;
    Ok(Answer { version, activation: speaker(owner, address), content: "".into() })
}

async fn subscribe(
    link: &Link,
    subjects: &Subjects,
    owner: &Owner,
    address: &Address,
    stream: StreamId,
) -> Result<Answer, DeliveryFailure> {
    let (frames, inbox) = Inbox::new();
    tokio::spawn(forward(link.clone(), subjects.frames(&stream), inbox));
    let ack = owner.ask(address, Subscribe { stream, frames }).await?;
    Ok(Answer { version: ack.version, activation: ack.activation, content: "".into() })
}

/// Who an answer without an activation of its own came from. Only for people: nothing is decided by it.
fn speaker(owner: &Owner, address: &Address) -> crate::activation::ActivationId {
    match owner {
        Owner::Hub(hub) => hub.activation(),
        Owner::Mesh(mesh) => mesh
            .activation_at(address)
            .map_or_else(crate::activation::ActivationId::mint, |hub| hub.activation()),
    }
}

/// Sends a subscription's frames to its reader, for as long as its owner holds the subscription and somebody reads it.
///
/// A reader acknowledges each frame, so that one whose process was killed is known by having no responder. One that is only
/// cut off for a moment is taken for gone too: it finds a gap when it is back, and asks again.
async fn forward(link: Link, subject: String, mut inbox: Inbox) {
    while let Some(arrival) = inbox.next().await {
        let frame = match arrival {
            Arrival::Frame(frame) => {
                Answer { version: frame.version, activation: frame.activation, content: frame.content }
                    .encode()
            }
            Arrival::AskAgain(_) => (ask_again(), "".into()),
        };
        match link.request(subject.clone(), frame, ACKNOWLEDGED_WITHIN).await {
            Ok(_acknowledged) => {}
            Err(Lost::NoResponders) => {
                tracing::debug!(subject, "nobody reads the stream any more");
                return;
            }
            Err(Lost::Failed(error)) => {
                tracing::debug!(%error, subject, "a frame was not acknowledged; the change feed will tell its reader");
            }
        }
    }
}

fn take_told(hub: &Hub, message: &Message) {
    match Told::decode(message) {
        Some(Told::Heartbeat(stream)) => hub.tell("Heartbeat", Heartbeat(stream)),
        Some(Told::Unsubscribe(stream)) => hub.tell("Unsubscribe", Unsubscribe(stream)),
        None => {}
    }
}

/// Answers asks for addresses without an activation, as one of the hosts.
pub(super) async fn serve_wakes(
    link: &Link,
    mesh: &Mesh,
    subjects: &Subjects,
    stop: CancellationToken,
) -> Result<(), NatsError> {
    let mut wakes =
        link.client().queue_subscribe(subjects.wakes(), "hosts".to_owned()).await.map_err(NatsError::new)?;
    // By the time a process has joined, the server knows that it hosts.
    link.client().flush().await.map_err(NatsError::new)?;
    let (link, mesh, subjects) = (link.clone(), mesh.root().clone(), subjects.clone());
    tokio::spawn(stop.run_until_cancelled_owned(async move {
        while let Some(wake) = wakes.next().await {
            let Some(mesh) = mesh.mesh() else { return };
            tokio::spawn(answer(link.clone(), subjects.clone(), Owner::Mesh(mesh), wake));
        }
    }));
    Ok(())
}
