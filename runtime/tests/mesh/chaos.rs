//! Hubs that recycle at random under many subscribers: everybody converges, everybody who lost is told, nothing leaks.
//!
//! 100 hubs and 1,000 subscribers for two minutes of virtual time by default. `RIDEOUT_CHAOS=full` runs 1,000 hubs and
//! 10,000 subscribers for ten minutes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use rideout::address::Address;
use rideout::failure::FailureKind;
use rideout::mesh::{GetNode, Mesh, MeshOptions, WriteNode};
use rideout::rider::{RideState, SyncStream, SyncStreamOptions, Transport};
use rideout::test::CountingAllocator;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

/// How long a subscriber of a deleted node may take to be told: the latch, a whole ride-out, and a little.
const TOLD_WITHIN: Duration = Duration::from_secs(2 + 8 + 1);

#[derive(Clone, Copy)]
struct Size {
    hubs: usize,
    subscribers: usize,
    lasts: Duration,
    /// Between two events anywhere in the mesh.
    every: Duration,
    goodbye: bool,
}

const SMALL: Size = Size {
    hubs: 100,
    subscribers: 1_000,
    lasts: Duration::from_secs(120),
    every: Duration::from_millis(50),
    goodbye: true,
};

fn size() -> Size {
    match std::env::var("RIDEOUT_CHAOS").as_deref() {
        Ok("full") => Size { hubs: 1_000, subscribers: 10_000, lasts: Duration::from_secs(600), ..SMALL },
        _ => SMALL,
    }
}

/// A generator good enough to pick who dies next; the same seed picks the same.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

/// What one subscriber knows.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    version: u64,
    told: Option<(FailureKind, Instant)>,
}

struct Subscriber {
    path: usize,
    seen: Arc<Mutex<Seen>>,
    state: watch::Receiver<RideState>,
    reads: JoinHandle<()>,
}

fn subscribe(mesh: &Mesh, paths: &[Address], path: usize) -> Subscriber {
    let mut stream = SyncStream::open(Arc::new(mesh.clone()), &paths[path], SyncStreamOptions::default());
    let (state, seen) = (stream.state(), Arc::new(Mutex::new(Seen::default())));
    let notes = Arc::clone(&seen);
    let reads = tokio::spawn(async move {
        while let Some(item) = stream.next().await {
            let mut notes = notes.lock().unwrap();
            match item {
                Ok(frame) => {
                    assert!(frame.version > notes.version, "versions only rise");
                    notes.version = frame.version;
                }
                Err(failure) => notes.told = Some((failure.kind, Instant::now())),
            }
        }
    });
    Subscriber { path, seen, state, reads }
}

/// A writer that waits for a node that is coming back, as a writer must.
async fn write(mesh: Mesh, path: Address) {
    for _ in 0..60 {
        match mesh.request(&path, WriteNode { content: "changed".into() }).await {
            Err(failure) if failure.kind.is_promise() => sleep(Duration::from_millis(200)).await,
            _ => return,
        }
    }
}

#[derive(Debug, Default)]
struct Figures {
    recycles: u32,
    writes: u32,
    holds: u32,
    deletions: u32,
    told: usize,
    longest_to_be_told: Duration,
    bytes_per_hub: i64,
    bytes_per_subscriber: i64,
}

async fn chaos(size: Size, seed: u64) -> Figures {
    let options = MeshOptions { recycle_goodbye: size.goodbye, ..MeshOptions::default() };
    let mesh = Mesh::builder().options(options).build().unwrap();
    sleep(Duration::from_millis(1)).await;
    let tasks_at_start = Handle::current().metrics().num_alive_tasks();
    let mut figures = Figures::default();
    let paths: Vec<Address> = (0..size.hubs).map(|n| Address::new(format!("Node/{n}"))).collect();
    for path in &paths {
        mesh.put(path, "content").await.unwrap();
    }
    let bytes = CountingAllocator::here().bytes;
    for path in &paths {
        mesh.request(path, GetNode).await.unwrap();
    }
    figures.bytes_per_hub = (CountingAllocator::here().bytes - bytes) / size.hubs as i64;
    let bytes = CountingAllocator::here().bytes;
    let mut subscribers: Vec<_> =
        (0..size.subscribers).map(|n| subscribe(&mesh, &paths, n % paths.len())).collect();
    sleep(Duration::from_secs(1)).await;
    figures.bytes_per_subscriber = (CountingAllocator::here().bytes - bytes) / size.subscribers as i64;

    let mut deleted: Vec<Option<Instant>> = vec![None; paths.len()];
    rage(&mesh, &paths, &mut deleted, &mut figures, size, seed).await;
    sleep(TOLD_WITHIN).await;
    check(&mesh, &paths, &deleted, &subscribers, &mut figures).await;

    for subscriber in &mut subscribers {
        subscriber.reads.abort();
    }
    drop(subscribers);
    for path in &paths {
        if let Some(hub) = mesh.activation_at(path) {
            hub.dispose();
        }
    }
    sleep(Duration::from_secs(20)).await;
    assert_eq!(Handle::current().metrics().num_alive_tasks(), tasks_at_start, "tasks were left behind");
    assert_eq!(mesh.change_feed().watched(), 0);
    figures
}

/// Recycles, writes, deletes and holds at corpses, at random.
async fn rage(
    mesh: &Mesh,
    paths: &[Address],
    deleted: &mut [Option<Instant>],
    figures: &mut Figures,
    size: Size,
    seed: u64,
) {
    let mut random = Random(seed);
    let until = Instant::now() + size.lasts;
    while Instant::now() < until {
        sleep(size.every / 2 + size.every * random.below(1_000) as u32 / 1_000).await;
        let picked = random.below(paths.len());
        let path = &paths[picked];
        if deleted[picked].is_some() {
            continue;
        }
        match random.below(100) {
            0..55 => {
                mesh.recycle(path);
                figures.recycles += 1;
            }
            55..90 => {
                drop(tokio::spawn(write(mesh.clone(), path.clone())));
                figures.writes += 1;
            }
            90..99 => {
                let held_for = Duration::from_millis(random.below(4_000) as u64);
                if let Some(corpse) = mesh.recycle(path) {
                    drop(tokio::spawn(hold_at_corpse(mesh.clone(), path.clone(), corpse, held_for)));
                    figures.holds += 1;
                }
            }
            _ => {
                mesh.delete(path).await.unwrap();
                deleted[picked] = Some(Instant::now());
                figures.deletions += 1;
            }
        }
    }
}

async fn hold_at_corpse(mesh: Mesh, path: Address, corpse: rideout::mesh::Hub, held_for: Duration) {
    corpse.disposal_completed().await;
    let _held = mesh.hold_route(&path, corpse);
    sleep(held_for).await;
}

async fn check(
    mesh: &Mesh,
    paths: &[Address],
    deleted: &[Option<Instant>],
    subscribers: &[Subscriber],
    figures: &mut Figures,
) {
    for subscriber in subscribers {
        let seen = *subscriber.seen.lock().unwrap();
        let path = &paths[subscriber.path];
        match deleted[subscriber.path] {
            None => {
                let latest = mesh.read(path).await.unwrap().version;
                let state = subscriber.state.borrow().clone();
                assert_eq!(
                    seen.version, latest,
                    "a subscriber of {path} missed the latest: {seen:?}, {state:?}"
                );
            }
            Some(at) => {
                let (kind, told_at) =
                    seen.told.unwrap_or_else(|| panic!("{path} was deleted and nobody said so"));
                assert_eq!(kind, FailureKind::NotFound);
                let took = told_at.duration_since(at);
                assert!(took <= TOLD_WITHIN, "{path}: told after {took:?}");
                figures.told += 1;
                figures.longest_to_be_told = figures.longest_to_be_told.max(took);
            }
        }
    }
}

fn run(size: Size, seed: u64) -> Figures {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(chaos(size, seed))
}

#[test]
fn every_subscriber_converges_or_is_told_and_nothing_leaks() {
    let warm_up = Size { hubs: 10, subscribers: 100, lasts: Duration::from_secs(20), ..SMALL };
    run(warm_up, 1);
    let (before, begun) = (CountingAllocator::here(), std::time::Instant::now());
    let figures = run(size(), 0x5EED);
    let after = CountingAllocator::here();
    println!("{figures:#?} in {:.1?} of real time", begun.elapsed());
    println!("live allocations: {} before, {} after", before.live, after.live);
    assert_eq!(after.live, before.live, "allocations were left behind");
}

/// A pure recycle announces nothing and refuses nobody: without a goodbye, the next write finds the dead subscriptions.
#[test]
fn without_a_goodbye_the_change_feed_alone_converges() {
    let size = Size { hubs: 20, subscribers: 200, lasts: Duration::from_secs(60), goodbye: false, ..SMALL };
    for seed in 0..4 {
        run(size, seed);
    }
}
