//! Transports for tests: one that watches a mesh, one that plays a script.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rideout::activation::ActivationId;
use rideout::address::Address;
use rideout::failure::{DeliveryFailure, FailureKind};
use rideout::mesh::{Ack, ChangeFeed, Frame, Hub, Mesh, Node, StreamId, Subscribe};
use rideout::nack::ShutdownNack;
use rideout::rider::Transport;
use rideout::run_level::RunLevel;
use tokio::time::Instant;

/// A mesh, and every answer to a subscribe that passed.
#[derive(Clone, Debug)]
pub(crate) struct Tap {
    pub(crate) mesh: Mesh,
    answers: Arc<Mutex<Vec<Answered>>>,
    under_way: Arc<AtomicUsize>,
}

/// When a subscribe was answered, and with what, if it failed.
type Answered = (Instant, Option<DeliveryFailure>);

impl Tap {
    pub(crate) fn new(mesh: &Mesh) -> Self {
        Self { mesh: mesh.clone(), answers: Arc::default(), under_way: Arc::default() }
    }

    /// How many subscribes were answered.
    pub(crate) fn asked(&self) -> usize {
        self.answers.lock().unwrap().len()
    }

    /// When each refusal by a promise came.
    pub(crate) fn refusals(&self) -> Vec<Instant> {
        let answers = self.answers.lock().unwrap();
        answers
            .iter()
            .filter(|(_, failure)| failure.as_ref().is_some_and(|f| f.kind.is_promise()))
            .map(|(at, _)| *at)
            .collect()
    }

    /// Lets the clock run until so many refusals have come.
    pub(crate) async fn wait_for_refusals(&self, count: usize) {
        while self.refusals().len() < count {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    }
}

impl Transport for Tap {
    fn subscribe(
        &self,
        owner: &Address,
        subscribe: Subscribe,
    ) -> BoxFuture<'static, Result<Ack, DeliveryFailure>> {
        let (this, ask) = (self.clone(), self.mesh.subscribe(owner, subscribe));
        async move {
            assert_eq!(this.under_way.fetch_add(1, Ordering::SeqCst), 0, "one ask at a time");
            let answer = ask.await;
            this.under_way.fetch_sub(1, Ordering::SeqCst);
            this.answers.lock().unwrap().push((Instant::now(), answer.clone().err()));
            answer
        }
        .boxed()
    }

    fn read(&self, owner: &Address) -> BoxFuture<'static, Result<Node, DeliveryFailure>> {
        self.mesh.read(owner)
    }

    fn heartbeat(&self, owner: &Address, stream: &StreamId) {
        self.mesh.heartbeat(owner, stream);
    }

    fn unsubscribe(&self, owner: &Address, stream: &StreamId) {
        self.mesh.unsubscribe(owner, stream);
    }

    fn owner_ready(&self, owner: &Address, refused_by: Option<ActivationId>) -> BoxFuture<'static, ()> {
        self.mesh.owner_ready(owner, refused_by)
    }

    fn feed(&self) -> ChangeFeed {
        self.mesh.feed()
    }
}

/// One answer of a [`Script`].
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// A frame of this version, and an ack.
    Frame(u64),
    /// An ack without a frame.
    Quiet,
    /// A negative answer.
    Failure(DeliveryFailure),
    /// No answer.
    Never,
}

/// Answers subscribes from a list, and then with its last answer for ever.
#[derive(Clone)]
pub(crate) struct Script {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    pub(crate) feed: ChangeFeed,
    pub(crate) asked: Arc<AtomicUsize>,
    pub(crate) under_way: Arc<AtomicUsize>,
    pub(crate) most_under_way: Arc<AtomicUsize>,
    pub(crate) heartbeats: Arc<AtomicUsize>,
    takes: std::time::Duration,
}

impl Script {
    pub(crate) fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self {
            answers: Arc::new(Mutex::new(answers.into_iter().collect())),
            feed: ChangeFeed::default(),
            asked: Arc::default(),
            under_way: Arc::default(),
            most_under_way: Arc::default(),
            heartbeats: Arc::default(),
            takes: std::time::Duration::from_millis(1),
        }
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    pub(crate) fn heartbeats(&self) -> usize {
        self.heartbeats.load(Ordering::SeqCst)
    }

    fn next(&self) -> Answer {
        let mut answers = self.answers.lock().unwrap();
        match answers.len() {
            0 => Answer::Quiet,
            1 => answers[0].clone(),
            _ => answers.pop_front().unwrap(),
        }
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Script")
    }
}

impl Transport for Script {
    fn subscribe(
        &self,
        _owner: &Address,
        subscribe: Subscribe,
    ) -> BoxFuture<'static, Result<Ack, DeliveryFailure>> {
        let this = self.clone();
        async move {
            this.asked.fetch_add(1, Ordering::SeqCst);
            let under_way = this.under_way.fetch_add(1, Ordering::SeqCst) + 1;
            this.most_under_way.fetch_max(under_way, Ordering::SeqCst);
            tokio::time::sleep(this.takes).await;
            this.under_way.fetch_sub(1, Ordering::SeqCst);
            let ack = |version| Ok(Ack { version, activation: id(1) });
            match this.next() {
                Answer::Frame(version) => {
                    subscribe.frames.push(Frame { version, content: "content".into(), activation: id(1) });
                    ack(version)
                }
                Answer::Quiet => ack(0),
                Answer::Failure(failure) => Err(failure),
                Answer::Never => std::future::pending().await,
            }
        }
        .boxed()
    }

    fn read(&self, _owner: &Address) -> BoxFuture<'static, Result<Node, DeliveryFailure>> {
        let this = self.clone();
        async move {
            this.asked.fetch_add(1, Ordering::SeqCst);
            match this.next() {
                Answer::Frame(version) => Ok(Node { version, content: "content".into() }),
                Answer::Quiet => Ok(Node { version: 0, content: "".into() }),
                Answer::Failure(failure) => Err(failure),
                Answer::Never => std::future::pending().await,
            }
        }
        .boxed()
    }

    fn heartbeat(&self, _owner: &Address, _stream: &StreamId) {
        self.heartbeats.fetch_add(1, Ordering::SeqCst);
    }

    fn unsubscribe(&self, _owner: &Address, _stream: &StreamId) {}

    fn owner_ready(&self, _owner: &Address, _refused_by: Option<ActivationId>) -> BoxFuture<'static, ()> {
        std::future::ready(()).boxed()
    }

    fn feed(&self) -> ChangeFeed {
        self.feed.clone()
    }
}

pub(crate) fn id(bits: u32) -> ActivationId {
    ActivationId::from_bits(bits).unwrap()
}

/// A refusal by the activation with this number.
pub(crate) fn refused_by(bits: u32) -> Answer {
    let address = Address::new("Inst");
    let nack = ShutdownNack {
        address: &address,
        run_level: RunLevel::Dead,
        activation: id(bits),
        what: "SubscribeRequest",
    };
    Answer::Failure(DeliveryFailure::rejecting(&nack))
}

/// A refusal that names nobody.
pub(crate) fn refused_unnamed() -> Answer {
    Answer::Failure(DeliveryFailure::new(FailureKind::ShuttingDown, "Hub Inst is shutting down"))
}

/// A mesh with one active node, `Inst`, at version 1.
pub(crate) async fn mesh_with_inst() -> (Mesh, Address) {
    let mesh = Mesh::builder().build().unwrap();
    let inst = Address::new("Inst");
    mesh.put(&inst, "content").await.unwrap();
    mesh.request(&inst, rideout::mesh::GetNode).await.unwrap();
    (mesh, inst)
}

/// Recycles `Inst` for real, and waits until its activation is dead.
pub(crate) async fn corpse_of(mesh: &Mesh, inst: &Address) -> Hub {
    let corpse = mesh.recycle(inst).unwrap();
    corpse.disposal_completed().await;
    assert_eq!(corpse.run_level(), RunLevel::Dead);
    corpse
}
