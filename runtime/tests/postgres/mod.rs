//! A watch on a real PostgreSQL, behind a proxy that resets its connection at random moments while notifications are sent.
//!
//! Real sockets and real time: 20 s of resets, or as many seconds as `RIDEOUT_FAULT_SECONDS` says.

mod census;
mod proxy;
mod server;

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use futures_util::{Stream, StreamExt};
use proxy::Proxy;
use rideout::{
    cadence::Cadence,
    reopen::{Opening, ReopenObserver, ReopenPolicy, WatchEvent, watch_events},
};
use server::Server;
use sqlx::{
    Connection, PgConnection,
    postgres::{PgListener, PgNotification},
};
use tokio::time::{sleep, timeout};

/// Its first back-off is short, so that the minutes hold many resets; every later one is a second.
const CADENCE: Cadence = Cadence::steps(Duration::from_millis(200), &[Duration::from_secs(1)]);

/// What a loaded machine may take to connect and to notify, on top of the back-off.
const SLACK: Duration = Duration::from_secs(3);

fn url(port: u16) -> String {
    format!("postgres://rideout@127.0.0.1:{port}/postgres?sslmode=disable")
}

/// A fresh connection that listens. Once it is returned, nothing that is sent is missed until it faults.
async fn listen(
    port: u16,
) -> Result<impl Stream<Item = Result<PgNotification, sqlx::Error>> + Unpin, sqlx::Error> {
    let mut listener = PgListener::connect(&url(port)).await?;
    listener.listen("news").await?;
    Ok(listener.into_stream())
}

/// Writes and announces 1, 2, 3 ... each in one transaction, past the proxy.
async fn send(port: u16, sent: Arc<AtomicU64>) {
    let mut database = PgConnection::connect(&url(port)).await.unwrap();
    loop {
        let next = sent.load(Ordering::SeqCst) + 1;
        let write = "WITH row AS (INSERT INTO news VALUES ($1) RETURNING n) SELECT pg_notify('news', n::text) FROM row";
        sqlx::query(write).bind(i64::try_from(next).unwrap()).execute(&mut database).await.unwrap();
        sent.store(next, Ordering::SeqCst);
        sleep(Duration::from_millis(2)).await;
    }
}

/// Counts what an observer such as a health page would say.
#[derive(Clone, Default)]
struct Told {
    interrupted: Arc<AtomicU64>,
    reading: Arc<AtomicU64>,
}

impl ReopenObserver<sqlx::Error> for Told {
    fn interrupted(&mut self, _: &sqlx::Error, _: rideout::reopen::Interruption) {
        self.interrupted.fetch_add(1, Ordering::SeqCst);
    }

    fn reading(&mut self, _: u32) {
        self.reading.fetch_add(1, Ordering::SeqCst);
    }
}

/// What the consumer saw, and the faults of the watch that it found in it.
#[derive(Default)]
struct Seen {
    read: BTreeSet<u64>,
    refetched: BTreeSet<u64>,
    last: u64,
    gaps: u64,
    unreported: Vec<(u64, u64)>,
    twice: Vec<u64>,
    never_sent: Vec<u64>,
    late: Vec<Duration>,
    back: Vec<Duration>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_rides_out_resets_of_real_sockets() {
    let seconds = std::env::var("RIDEOUT_FAULT_SECONDS").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let server = tokio::task::spawn_blocking(Server::start).await.unwrap();
    let direct = server.port();
    let mut database = PgConnection::connect(&url(direct)).await.unwrap();
    sqlx::query("CREATE TABLE news (n bigint PRIMARY KEY)").execute(&mut database).await.unwrap();

    let (proxy, sent) = (Arc::new(Proxy::before(direct).await), Arc::new(AtomicU64::new(0)));
    let control = tokio::spawn(bare_control(listen(proxy.port()).await.unwrap()));
    let sender = tokio::spawn(send(direct, Arc::clone(&sent)));

    let told = Told::default();
    let over = Arc::new(AtomicU64::new(u64::MAX));
    let resets = tokio::spawn(reset_at_random(
        Arc::clone(&proxy),
        Duration::from_secs(seconds),
        Arc::clone(&sent),
        Arc::clone(&over),
    ));
    let seen = consume(&proxy, &mut database, &sent, &over, &told).await;
    let strikes = resets.await.unwrap();
    sender.abort();

    println!(
        "{seconds} s: {strikes} strikes, {} connections reset, {} sent, {} read as they came, {} fetched after a gap",
        proxy.resets(),
        sent.load(Ordering::SeqCst),
        seen.read.len(),
        seen.refetched.len(),
    );
    let mut back = seen.back.clone();
    back.sort();
    println!(
        "read again after {:?} (median), {:?} (longest), back-off 200 ms",
        back[back.len() / 2],
        back[back.len() - 1]
    );

    let control_read = control.await.unwrap();
    assert!(control_read.died, "the bare stream must die on the first reset");
    println!("control: the bare stream read {} and ended: {}", control_read.items, control_read.fault);

    assert!(strikes >= seconds, "{strikes} strikes");
    assert_eq!(told.interrupted.load(Ordering::SeqCst), seen.gaps, "every interruption was told");
    // A reset that hits the driver's pool while it connects is no gap: nobody listened yet, and the pool connects once more.
    assert!((strikes / 2..proxy.resets()).contains(&seen.gaps), "{} gaps", seen.gaps);
    assert_eq!(seen.unreported, [], "something was missed without a gap");
    assert_eq!(seen.twice, [0; 0], "read twice");
    assert_eq!(seen.never_sent, [0; 0], "read and never sent");
    assert!(seen.late.is_empty(), "not back within the back-off: {:?}", seen.late);
    assert!(told.reading.load(Ordering::SeqCst) <= seen.gaps + 1, "told as read without an item");
    let all: BTreeSet<u64> = seen.read.union(&seen.refetched).copied().collect();
    assert_eq!(all, (1..=seen.last).collect(), "what was missed could be fetched at each `Opened`");
}

/// Consumes the watch until the strikes are over and it has read once more.
async fn consume(
    proxy: &Proxy,
    database: &mut PgConnection,
    sent: &AtomicU64,
    over: &AtomicU64,
    told: &Told,
) -> Seen {
    let port = proxy.port();
    let policy = ReopenPolicy::standing_watch().cadence(CADENCE).max_consecutive(None).observer(told.clone());
    let mut events = std::pin::pin!(watch_events(move |_: Opening| listen(port), policy));
    let (mut seen, mut interrupted, mut gap_since_item) = (Seen::default(), None, true);
    loop {
        let event = timeout(Duration::from_secs(30), events.next()).await.expect("the watch fell silent");
        match event.expect("the watch ended") {
            WatchEvent::Opened(_) => {
                let missed: Vec<(i64,)> = sqlx::query_as("SELECT n FROM news WHERE n > $1")
                    .bind(i64::try_from(seen.last).unwrap())
                    .fetch_all(&mut *database)
                    .await
                    .unwrap();
                seen.refetched.extend(missed.iter().map(|(n,)| u64::try_from(*n).unwrap()));
            }
            WatchEvent::Item(item) => {
                let n: u64 = item.payload().parse().unwrap();
                if !seen.read.insert(n) {
                    seen.twice.push(n);
                }
                // Committed before it is announced, counted just after: at most one is on its way.
                if n > sent.load(Ordering::SeqCst) + 1 {
                    seen.never_sent.push(n);
                }
                if !gap_since_item && n != seen.last + 1 {
                    seen.unreported.push((seen.last, n));
                }
                if let Some((at, delay)) = interrupted.take() {
                    let back = Instant::now().duration_since(at);
                    seen.back.push(back);
                    if back > delay + SLACK {
                        seen.late.push(back);
                    }
                }
                (seen.last, gap_since_item) = (n, false);
                if n > over.load(Ordering::SeqCst) {
                    return seen;
                }
            }
            WatchEvent::Interrupted { fault, delay, .. } => {
                assert!(rideout::classify::is_transient_infrastructure(&fault), "{fault}");
                seen.gaps += 1;
                // A strike while it connects begins a back-off of its own.
                interrupted = Some((Instant::now(), delay));
                gap_since_item = true;
            }
            WatchEvent::Terminal { fault, .. } => panic!("the watch gave up: {fault}"),
            WatchEvent::Ended => panic!("the watch ended"),
        }
    }
}

/// Resets all connections at random moments, then says after which number the watch must still read.
async fn reset_at_random(
    proxy: Arc<Proxy>,
    span: Duration,
    sent: Arc<AtomicU64>,
    over: Arc<AtomicU64>,
) -> u64 {
    let began = Instant::now();
    let mut seed = u64::from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos());
    println!("seed {seed}");
    let mut strikes = 0;
    while began.elapsed() < span {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        sleep(Duration::from_millis(50 + (seed >> 33) % 900)).await;
        proxy.reset();
        strikes += 1;
    }
    // What is sent from here on can only be read past the last reset.
    sleep(Duration::from_millis(300)).await;
    over.store(sent.load(Ordering::SeqCst), Ordering::SeqCst);
    strikes
}

struct Control {
    items: u64,
    died: bool,
    fault: String,
}

/// The unfixed shape: the stream of the driver as it is, until it ends.
async fn bare_control(
    mut stream: impl Stream<Item = Result<PgNotification, sqlx::Error>> + Unpin,
) -> Control {
    let (mut items, mut fault) = (0, String::from("no fault"));
    while let Some(item) = stream.next().await {
        match item {
            Ok(_) => items += 1,
            Err(error) => fault = error.to_string(),
        }
    }
    Control { items, died: stream.next().await.is_none(), fault }
}
