//! `LiveRecordCensusReopens` on a real database: its connection is reset while it streams the catalogue's rows.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use rideout::{
    fan_in::{Union, fan_in},
    health::{HealthBook, Status},
    query_cache::QueryCache,
    reopen::{ReopenPolicy, reopen_on_transient_fault},
};
use sqlx::{Connection, PgConnection};
use tokio::time::{sleep, timeout};

use super::{CADENCE, SLACK, proxy::Proxy, server::Server, url};

/// Ten records, slow and large enough that each one is a packet of its own.
const RECORDS: &str = "SELECT n::bigint, repeat('x', 20000) FROM generate_series(1, 10) n, LATERAL (SELECT pg_sleep(0.02 + n * 0)) slow";

/// What the census does on the wire.
#[derive(Default)]
struct Wire {
    connections: AtomicU64,
    rows: AtomicU64,
}

/// Reads the catalogue again and again, row by row, over one connection.
fn catalogue(port: u16, wire: Arc<Wire>) -> impl Stream<Item = Result<Vec<i64>, sqlx::Error>> {
    let connect = async move {
        let connection = PgConnection::connect(&url(port)).await?;
        wire.connections.fetch_add(1, Ordering::SeqCst);
        Ok::<_, sqlx::Error>(stream::try_unfold((connection, wire), async |(mut connection, wire)| {
            let mut records = Vec::new();
            let mut rows = sqlx::query_as::<_, (i64, String)>(RECORDS).fetch(&mut connection);
            while let Some((record, _)) = rows.try_next().await? {
                wire.rows.fetch_add(1, Ordering::SeqCst);
                records.push(record);
            }
            drop(rows);
            Ok::<_, sqlx::Error>(Some((records, (connection, wire))))
        }))
    };
    stream::once(connect).try_flatten()
}

/// Until the census has got so many rows more.
async fn rows(wire: &Wire, more: u64) {
    let from = wire.rows.load(Ordering::SeqCst);
    while wire.rows.load(Ordering::SeqCst) < from + more {
        sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_census_rides_out_a_reset_while_it_streams_rows() {
    let server = tokio::task::spawn_blocking(Server::start).await.unwrap();
    let proxy = Proxy::before(server.port()).await;
    let (port, wire, book) = (proxy.port(), Arc::new(Wire::default()), HealthBook::new());

    let cache = QueryCache::keep_if(Union::is_complete);
    let policy = ReopenPolicy::standing_watch().cadence(CADENCE).observer(book.observer("live-records"));
    let streamed = Arc::clone(&wire);
    let open = move |_| {
        let wire = Arc::clone(&streamed);
        cache.get("records", move || fan_in([("sql", catalogue(port, wire))]).latest())
    };
    let mut census = pin!(reopen_on_transient_fault(open, policy));
    let all: Vec<i64> = (1..=10).collect();
    let soon = CADENCE.cap() + SLACK;

    for reset in 1..=3 {
        let reading = timeout(soon, census.next()).await.expect("no reading").unwrap().unwrap();
        assert_eq!(reading.parts[0].answer.as_ref(), Some(&all));
        assert_eq!(book.report().status(), Status::Healthy);
        assert_eq!(wire.connections.load(Ordering::SeqCst), reset, "a fresh upstream after each reset");

        // In the middle of a reading, and with nothing left to read from before it.
        while timeout(Duration::ZERO, census.next()).await.is_ok() {}
        rows(&wire, 3).await;
        proxy.reset();
        let degraded = async {
            while book.report().status() == Status::Healthy {
                // Polls the watch, which must be polled to hear of its fault, without waiting for its next reading.
                let _ = timeout(Duration::from_millis(1), census.next()).await;
            }
            book.report().to_string()
        };
        let told = timeout(SLACK, degraded).await.expect("the gap was silent");
        println!("reset {reset}: {told}");
        assert!(told.contains("live-records is interrupted") && told.contains("os error 104"), "{told}");
    }
    let reading = timeout(soon, census.next()).await.expect("no reading").unwrap();
    assert!(reading.is_ok());
    assert_eq!((book.report().status(), book.report().watches[0].outages), (Status::Healthy, 3));
}

/// The unfixed shape: the bare query. It is over with the first reset.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn control_the_bare_census_is_over_with_the_first_reset() {
    let server = tokio::task::spawn_blocking(Server::start).await.unwrap();
    let proxy = Proxy::before(server.port()).await;
    let wire = Arc::new(Wire::default());
    let mut census = pin!(catalogue(proxy.port(), Arc::clone(&wire)));
    assert!(census.next().await.unwrap().is_ok());
    let (over, ()) = tokio::join!(census.next(), async {
        rows(&wire, 3).await;
        proxy.reset();
    });
    assert!(over.unwrap().unwrap_err().to_string().contains("104"));
    assert!(census.next().await.is_none());
    assert_eq!(wire.connections.load(Ordering::SeqCst), 1, "nothing opens it again");
}
