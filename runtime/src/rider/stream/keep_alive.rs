//! What keeps a stream alive between asks: a heartbeat, and a latch on the change feed.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{Instant, interval_at, sleep};

use super::ask::Rider;
use crate::mesh::{Announced, FeedWatch};

/// The first poke comes early: an owner that has answered and gone quiet delivers when it is poked.
const FIRST_HEARTBEAT: Duration = Duration::from_secs(5);

/// Fire-and-forget: never awaited, never refused, and never a subscription, which would make a hub at the owner.
pub(super) async fn heartbeat(rider: &Rider) {
    let every = rider.options.heartbeat.max(Duration::from_millis(1));
    let mut beats = interval_at(Instant::now() + every.min(FIRST_HEARTBEAT), every);
    loop {
        beats.tick().await;
        rider.transport.heartbeat(&rider.owner, &rider.id);
    }
}

/// Asks again when a version was announced that has not arrived.
///
/// Pulses are collected from the first of a burst, so that a path that changes all the time is still asked about. A pure
/// recycle writes nothing, and so never comes here.
pub(super) async fn latch(rider: &Rider, mut feed: FeedWatch) {
    let mut versionless = 0;
    loop {
        let mut announced = target(rider, feed.changed().await, &mut versionless);
        let collected = sleep(rider.options.debounce);
        tokio::pin!(collected);
        loop {
            tokio::select! {
                biased;
                () = &mut collected => break,
                more = feed.changed() => announced = announced.max(target(rider, more, &mut versionless)),
            }
        }
        sleep(rider.options.grace).await;
        if rider.received.load(Ordering::Acquire) < announced {
            rider.resubscribe("a change was announced and has not arrived").await;
        }
    }
}

/// The version that must arrive. A change without a version is one more than what has arrived.
fn target(rider: &Rider, announced: Announced, versionless: &mut u64) -> u64 {
    let unnamed = std::mem::replace(versionless, announced.versionless) < announced.versionless;
    let next = if unnamed { rider.received.load(Ordering::Acquire) + 1 } else { 0 };
    announced.version.max(next)
}
