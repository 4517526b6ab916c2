//! `LiveRecordCensusReopens`: the watch over the catalogue dies in mid-stream of a connection reset, and reads again.
//!
//! The whole chain is the real one: a provider, the fan-in over it, the query cache, the re-opening watch, the health book.

use std::{error::Error, fmt, io, pin::Pin};

use futures_util::{FutureExt, Stream, StreamExt, TryStreamExt, future, stream};
use rideout::{
    classify::Infrastructure,
    fan_in::{FanInFault, FanInPolicy, Union, fan_in_with},
    health::{HealthBook, Status},
    query_cache::{CachedQuery, QueryCache, QueryFault},
    reopen::{ReopenPolicy, reopen_on_transient_fault},
    schedule::ManualSchedule,
    test::ScriptedSource,
};

type Records = Vec<&'static str>;
type Catalogue = ScriptedSource<Records, DriverError>;
type Fault = QueryFault<FanInFault<DriverError>>;
type Cache = QueryCache<&'static str, Union<Records>, FanInFault<DriverError>>;

/// What a database driver throws.
#[derive(Debug)]
enum DriverError {
    /// It wraps what happened to its socket.
    Reading(io::Error),
    /// It says what is wrong with the query.
    UndefinedColumn,
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reading(_) => "exception while reading from stream",
            Self::UndefinedColumn => "column `build` does not exist",
        })
    }
}

impl Error for DriverError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Reading(io) => Some(io),
            Self::UndefinedColumn => None,
        }
    }
}

/// The chain of the incident: driver error, I/O error, connection reset by peer (104).
fn connection_reset_mid_read() -> DriverError {
    DriverError::Reading(io::Error::other(io::Error::from_raw_os_error(104)))
}

/// Asks the cache, as each opening does.
fn ask(cache: &Cache, catalogue: &Catalogue) -> CachedQuery<Union<Records>, FanInFault<DriverError>> {
    let catalogue = catalogue.clone();
    cache.get("nodeType:NodeType", move || {
        let provider = stream::once(future::ready(catalogue.open())).try_flatten().boxed();
        fan_in_with([("sql", provider)], FanInPolicy::new(ManualSchedule::new())).latest()
    })
}

struct Census {
    cache: Cache,
    catalogue: Catalogue,
    clock: ManualSchedule,
    book: HealthBook,
}

type Watch = Pin<Box<dyn Stream<Item = Result<std::sync::Arc<Union<Records>>, Fault>>>>;

impl Census {
    fn of(catalogue: Catalogue) -> Self {
        let cache = QueryCache::keep_if(Union::is_complete);
        Self { cache, catalogue, clock: ManualSchedule::new(), book: HealthBook::new() }
    }

    fn watch(&self) -> Watch {
        let policy = ReopenPolicy::new(Infrastructure, self.clock.clone())
            .observer(self.book.observer("live-records"));
        let (cache, catalogue) = (self.cache.clone(), self.catalogue.clone());
        Box::pin(reopen_on_transient_fault(move |_| ask(&cache, &catalogue), policy))
    }
}

fn records(union: &Union<Records>) -> Records {
    union.clone().into_answers().flatten().collect()
}

/// Lets the chain's task run.
async fn settled<S: Stream + Unpin>(watch: &mut S) -> Option<Option<S::Item>> {
    for _ in 0..32 {
        if let Some(item) = watch.next().now_or_never() {
            return Some(item);
        }
        tokio::task::yield_now().await;
    }
    None
}

/// Original name: `LiveRecordCensusReopensAfterTransientFault`.
#[tokio::test(start_paused = true)]
async fn live_record_census_reopens() {
    let census = Census::of(Catalogue::new().opens([Ok(vec!["a"])]));
    let mut watch = census.watch();
    assert_eq!(records(&watch.next().await.unwrap().unwrap()), ["a"]);
    assert_eq!(census.book.report().status(), Status::Healthy);

    assert!(census.catalogue.fault(connection_reset_mid_read()));
    assert!(settled(&mut watch).await.is_none(), "the fault is no item");
    assert_eq!(
        census.book.report().to_string(),
        "degraded: live-records is interrupted (query provider `sql`: exception while reading from stream: \
         Connection reset by peer (os error 104)), re-open 1 after 2s; what it read before is frozen"
    );
    assert!(census.cache.is_empty(), "the faulted chain is evicted");
    assert_eq!((census.catalogue.openings(), census.catalogue.alive()), (1, 0));

    assert!(census.clock.fire());
    assert!(settled(&mut watch).await.is_none());
    assert_eq!(census.catalogue.openings(), 2, "a fresh upstream, no replay of the latched fault");
    assert_eq!(census.book.report().status(), Status::Degraded, "open is not yet reading");
    assert!(census.catalogue.emit(vec!["a", "re-keyed"]));
    assert_eq!(records(&watch.next().await.unwrap().unwrap()), ["a", "re-keyed"]);
    assert_eq!(census.book.report().status(), Status::Healthy);
}

/// The unfixed shape: the census as a bare query. It terminates on the same fault, and health would not know.
#[tokio::test(start_paused = true)]
async fn control_the_raw_census_terminates_on_the_same_fault() {
    let census = Census::of(Catalogue::new().opens([Ok(vec!["a"])]));
    let mut raw = ask(&census.cache, &census.catalogue);
    assert!(raw.next().await.unwrap().is_ok());
    assert!(census.catalogue.fault(connection_reset_mid_read()));
    assert!(raw.next().await.unwrap().is_err());
    assert!(raw.next().await.is_none());
    assert_eq!(census.catalogue.openings(), 1, "nothing opens it again");
    assert_eq!(census.book.report().status(), Status::Healthy, "and nothing says so");
}

/// The unfixed factory: one that hands back the reader it captured gets the latched end, and never a fresh upstream.
#[tokio::test(start_paused = true)]
async fn control_a_factory_that_hands_back_the_same_chain_reads_nothing_more() {
    let census = Census::of(Catalogue::new().opens([Ok(vec!["a"])]));
    let reader = std::sync::Arc::new(std::sync::Mutex::new(ask(&census.cache, &census.catalogue)));
    let stale = move |_| {
        let reader = std::sync::Arc::clone(&reader);
        stream::poll_fn(move |cx| reader.lock().unwrap().poll_next_unpin(cx))
    };
    let policy = ReopenPolicy::new(Infrastructure, census.clock.clone());
    let mut watch = Box::pin(reopen_on_transient_fault(stale, policy));
    assert!(watch.next().await.unwrap().is_ok());
    assert!(census.catalogue.fault(connection_reset_mid_read()));
    assert!(settled(&mut watch).await.is_none());
    assert!(census.clock.fire());
    assert!(settled(&mut watch).await.unwrap().is_none(), "the latched end");
    assert_eq!(census.catalogue.openings(), 1);
}

/// A provider that completed without an answer is counted empty: who reads now sees it, and the next caller asks anew.
#[tokio::test(start_paused = true)]
async fn a_frame_with_a_silent_provider_is_not_kept() {
    let cache: Cache = QueryCache::keep_if(Union::is_complete);
    let ask = |second: Vec<Result<Records, DriverError>>| {
        cache.get("nodeType:NodeType", move || {
            let first = stream::iter([Ok(vec!["a"])]).chain(stream::pending()).boxed();
            let providers = [("sql", first), ("files", stream::iter(second).boxed())];
            fan_in_with(providers, FanInPolicy::new(ManualSchedule::new())).latest()
        })
    };
    let mut first = ask(vec![]);
    let shown = first.next().await.unwrap().unwrap();
    assert_eq!((records(&shown), shown.silent().collect::<Vec<_>>()), (vec!["a"], vec!["files"]));
    assert!(cache.is_empty(), "not kept");
    let mut second = ask(vec![Ok(vec!["f"])]);
    assert_eq!(records(&second.next().await.unwrap().unwrap()), ["a", "f"]);
    assert_eq!(cache.len(), 1, "kept");
    assert!(settled(&mut first).await.is_none(), "the first reader goes on with its own chain");
}

#[tokio::test(start_paused = true)]
async fn a_fault_that_is_not_transient_ends_the_census_and_stays_on_health() {
    let census = Census::of(Catalogue::new().opens([Ok(vec!["a"]), Err(DriverError::UndefinedColumn)]));
    let mut watch = census.watch();
    let fault = watch.by_ref().filter_map(|item| future::ready(item.err())).next().await.unwrap();
    assert_eq!(fault.to_string(), "query provider `sql`: column `build` does not exist", "unchanged");
    assert!(watch.next().await.is_none());
    drop(watch);
    assert_eq!((census.catalogue.openings(), census.clock.asked().len()), (1, 0), "no re-open");
    assert_eq!(
        census.book.report().to_string(),
        "degraded: live-records is no longer being watched for until a restart: the fault is not transient \
         (query provider `sql`: column `build` does not exist)"
    );
}

#[tokio::test(start_paused = true)]
async fn a_catalogue_that_stays_down_is_reported_after_the_fifth_reopen() {
    let catalogue =
        (0..6).fold(Catalogue::new(), |catalogue, _| catalogue.refuses(connection_reset_mid_read()));
    let census = Census::of(catalogue);
    let mut watch = census.watch();
    for _ in 0..5 {
        assert!(settled(&mut watch).await.is_none());
        assert_eq!(census.book.report().status(), Status::Degraded);
        assert!(census.clock.fire());
    }
    assert!(settled(&mut watch).await.unwrap().unwrap().is_err());
    assert_eq!(census.clock.now().as_secs(), 112);
    assert!(census.book.report().to_string().contains("5 re-opens in a row did not help"));
    assert_eq!(census.book.report().watches[0].outages, 1);
}
