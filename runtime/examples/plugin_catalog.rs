//! A plugin catalog that two standing watches keep: one publishes what may be installed, one updates what is installed.
//!
//! While the feed is down, the catalog keeps its entries and fails closed: an install is refused and not decided on entries
//! from before the outage. Both facts are one snapshot, so no installer sees a recovered feed with the old entries.
//!
//! Run it with `cargo run -p rideout --example plugin_catalog`.

#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::{collections::BTreeMap, error::Error, future::Future, io, pin::pin, sync::Arc, time::Duration};

use futures_util::{Stream, StreamExt, stream};
use rideout::{
    cadence::Cadence,
    reopen::{Opening, ReopenPolicy, reopen_on_transient_fault_async},
    snapshot::{FailClosed, SnapshotCell},
};

/// The newest version of each plugin that may be installed.
pub type Entries = BTreeMap<String, u32>;

/// Watches the feed and publishes each reading, until the watch is over.
pub async fn watch_catalog<C, S, E>(
    connect: impl FnMut(Opening) -> C,
    catalog: Arc<SnapshotCell<Entries>>,
    policy: ReopenPolicy<Entries, E>,
) -> Result<(), E>
where
    C: Future<Output = Result<S, E>>,
    S: Stream<Item = Result<Entries, E>>,
    E: Error + 'static,
{
    let policy = policy.observer(FailClosed::new(Arc::clone(&catalog)));
    let mut readings = pin!(reopen_on_transient_fault_async(connect, policy));
    while let Some(entries) = readings.next().await {
        catalog.publish(entries?);
    }
    Ok(())
}

/// Whether this version may be installed, by one look at one snapshot.
pub fn may_install(catalog: &SnapshotCell<Entries>, plugin: &str, version: u32) -> Result<(), String> {
    let snapshot = catalog.load();
    let Some(entries) = snapshot.trusted() else {
        return Err(format!("the catalog cannot be trusted: {}", snapshot.fail_closed().unwrap_or_default()));
    };
    match entries.get(plugin) {
        Some(newest) if *newest >= version => Ok(()),
        _ => Err(format!("{plugin} {version} is not in the catalog")),
    }
}

/// Watches the feed and hands each plugin that is behind to `update`, with its new version.
pub async fn watch_updates<C, S, E>(
    connect: impl FnMut(Opening) -> C,
    installed: &mut Entries,
    mut update: impl FnMut(&str, u32),
    policy: ReopenPolicy<Entries, E>,
) -> Result<(), E>
where
    C: Future<Output = Result<S, E>>,
    S: Stream<Item = Result<Entries, E>>,
{
    let mut readings = pin!(reopen_on_transient_fault_async(connect, policy));
    while let Some(entries) = readings.next().await {
        for (plugin, newest) in entries? {
            if let Some(version) = installed.get_mut(&plugin).filter(|version| **version < newest) {
                update(&plugin, newest);
                *version = newest;
            }
        }
    }
    Ok(())
}

/// A feed that is reset after its first reading, and goes away for good after its second opening.
async fn connect(opening: Opening) -> io::Result<impl Stream<Item = io::Result<Entries>>> {
    let (version, end) = match opening.number {
        1 => (1, Some(io::Error::from(io::ErrorKind::ConnectionReset))),
        _ => (2, None),
    };
    let reading = stream::iter([Ok(Entries::from([("spell-check".to_owned(), version)]))]);
    // A moment between the reading and what follows it, so that the run can be watched.
    let moment = async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        end.map(Err)
    };
    Ok(reading.chain(stream::once(moment).filter_map(std::future::ready)))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let quick = || ReopenPolicy::standing_watch().cadence(Cadence::steps(Duration::from_millis(200), &[]));
    let catalog = Arc::new(SnapshotCell::default());
    let asks = async {
        for _ in 0..8 {
            println!("install spell-check 1? {:?}", may_install(&catalog, "spell-check", 1));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let mut installed = Entries::from([("spell-check".to_owned(), 0)]);
    let update = |plugin: &str, version| println!("updating {plugin} to {version}");
    let (_, catalog_over, updates_over) = tokio::join!(
        asks,
        watch_catalog(connect, Arc::clone(&catalog), quick()),
        watch_updates(connect, &mut installed, update, quick()),
    );
    catalog_over.and(updates_over)
}
