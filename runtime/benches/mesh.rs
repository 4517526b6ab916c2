//! What a message and a hub cost, beside a plain actor of `kameo` in the same run.
//!
//! `cargo bench -p rideout --bench mesh`. Plain request and reply, one thread: one at a time, and a hundred at once.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints its figures and fails by panic"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::join_all;
use kameo::Actor;
use kameo::actor::{ActorRef, Spawn};
use kameo::message::{Context, Message};
use rideout::address::Address;
use rideout::mesh::{GetNode, HubSpec, Mesh, Request};
use rideout::rider::{SyncStream, SyncStreamOptions};
use rideout::test::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const MESSAGES: usize = 200_000;
const AT_ONCE: usize = 100;
const HUBS: usize = 1_000;
const SUBSCRIBERS: usize = 10_000;
const ROUNDS: usize = 5;

struct Add(u64);

impl Request for Add {
    type Reply = u64;
    const NAME: &'static str = "Add";
}

#[derive(Actor)]
struct Adder;

impl Message<Add> for Adder {
    type Reply = u64;

    async fn handle(&mut self, Add(n): Add, _ctx: &mut Context<Self, Self::Reply>) -> u64 {
        n + 1
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        speed().await;
        memory().await;
    });
}

async fn speed() {
    let mesh = Mesh::builder().handlers(HubSpec::new().on::<Add>(|_, Add(n)| Ok(n + 1))).build().unwrap();
    let address = Address::new("Node/1");
    mesh.put(&address, "content").await.unwrap();
    let hub = async |n| mesh.request(&address, Add(n)).await.unwrap();
    let adder = Adder::spawn(Adder);
    let actor = async |n| adder.ask(Add(n)).await.unwrap();
    hub(0).await;
    actor(0).await;
    // Interleaved, and the best of each: what else the machine does then meets both alike.
    let (mut one, mut many) = ([Duration::MAX; 2], [Duration::MAX; 2]);
    for _ in 0..ROUNDS {
        one[0] = one[0].min(one_at_a_time(&hub).await);
        one[1] = one[1].min(one_at_a_time(&actor).await);
        many[0] = many[0].min(hundred_at_once(&hub).await);
        many[1] = many[1].min(hundred_at_once(&actor).await);
    }
    println!("requests answered per second, best of {ROUNDS} rounds of {MESSAGES}");
    println!("                    rideout hub   kameo actor");
    for (what, took) in [("one at a time", one), ("100 at once", many)] {
        let rate = took.map(|took| MESSAGES as f64 / took.as_secs_f64());
        println!("  {what:<15} {:>12.0} {:>13.0}", rate[0], rate[1]);
    }
}

async fn one_at_a_time(ask: &impl AsyncFn(u64) -> u64) -> Duration {
    let begun = Instant::now();
    for n in 0..MESSAGES as u64 {
        black_box(ask(n).await);
    }
    begun.elapsed()
}

async fn hundred_at_once(ask: &impl AsyncFn(u64) -> u64) -> Duration {
    let begun = Instant::now();
    for _ in 0..MESSAGES / AT_ONCE {
        black_box(join_all((0..AT_ONCE as u64).map(|n| ask(n))).await);
    }
    begun.elapsed()
}

async fn memory() {
    let bytes = || CountingAllocator::here().bytes;
    let mesh = Mesh::builder().build().unwrap();
    let paths: Vec<_> = (0..HUBS).map(|n| Address::new(format!("Node/{n}"))).collect();
    for path in &paths {
        mesh.put(path, "content").await.unwrap();
    }
    let before = bytes();
    for path in &paths {
        mesh.request(path, GetNode).await.unwrap();
    }
    let hub = (bytes() - before) / HUBS as i64;

    let before = bytes();
    let shared = Arc::new(mesh.clone());
    let mut streams: Vec<_> = (0..SUBSCRIBERS)
        .map(|n| SyncStream::open(shared.clone(), &paths[n % HUBS], SyncStreamOptions::default()))
        .collect();
    for stream in &mut streams {
        stream.next().await.unwrap().unwrap();
    }
    let subscriber = (bytes() - before) / SUBSCRIBERS as i64;

    let before = bytes();
    let actors: Vec<ActorRef<Adder>> = (0..HUBS).map(|_| Adder::spawn(Adder)).collect();
    for actor in &actors {
        actor.ask(Add(1)).await.unwrap();
    }
    let actor = (bytes() - before) / HUBS as i64;
    println!("bytes held, of {HUBS} hubs, {SUBSCRIBERS} subscribers and {HUBS} actors");
    println!("  a hub: {hub}, a kameo actor: {actor}, a subscriber with its hosted hub: {subscriber}");
}
