//! Counters and a gauge per watch, through the `metrics` facade.

use std::sync::Arc;

use metrics::{Counter, Gauge, SharedString, counter, gauge};

use crate::reopen::{Interruption, Opening, ReopenObserver, Terminal};

/// An observer that counts a watch's re-opens and give-ups and shows its outages.
///
/// It registers with the recorder that is installed when it is made.
#[must_use = "give it to the policy of the watch"]
pub struct Metered {
    watch: SharedString,
    reopens: Counter,
    outage: Gauge,
    opening_reads: bool,
}

impl Metered {
    /// Meters the watch of this name.
    pub fn new(watch: impl Into<Arc<str>>) -> Self {
        let watch = SharedString::from(watch.into());
        let reopens = counter!("rideout_reopens_total", "watch" => watch.clone());
        let outage = gauge!("rideout_outage", "watch" => watch.clone());
        outage.set(0.0);
        Self { watch, reopens, outage, opening_reads: false }
    }

    /// For a source that is open only if it reads: the opening ends an outage, and not its first item.
    pub fn opening_reads(mut self) -> Self {
        self.opening_reads = true;
        self
    }
}

impl<E> ReopenObserver<E> for Metered {
    fn opened(&mut self, _: Opening) {
        if self.opening_reads {
            self.outage.set(0.0);
        }
    }

    fn reading(&mut self, _: u32) {
        self.outage.set(0.0);
    }

    fn interrupted(&mut self, _: &E, _: Interruption) {
        self.reopens.increment(1);
        self.outage.set(1.0);
    }

    fn terminal(&mut self, _: &E, why: Terminal) {
        self.outage.set(1.0);
        let bound = match why {
            Terminal::NotTransient => "not_transient",
            Terminal::BudgetSpent { .. } => "budget",
        };
        count_give_up(self.watch.clone(), bound);
    }

    fn ended(&mut self) {
        self.outage.set(1.0);
    }
}

/// Counts a give-up of `watch`, a watch or an address that is ridden out, on this bound.
pub fn count_give_up(watch: impl Into<SharedString>, bound: &'static str) {
    counter!("rideout_give_ups_total", "watch" => watch.into(), "bound" => bound).increment(1);
}

impl std::fmt::Debug for Metered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metered").field("watch", &self.watch).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        classify::Infrastructure,
        reopen::{ReopenPolicy, reopen_on_transient_fault},
        schedule::ManualSchedule,
    };
    use futures_util::{FutureExt, StreamExt, stream};
    use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
    use std::{collections::BTreeMap, io};

    /// Every metric by name and, where it has one, bound. Reading starts each one anew at 0.
    fn read(seen: &Snapshotter) -> BTreeMap<String, f64> {
        let metrics = seen.snapshot().into_vec().into_iter();
        let named = metrics.map(|(key, _, _, value)| {
            let bound = key.key().labels().find(|label| label.key() == "bound");
            let name = bound.map_or_else(
                || key.key().name().to_owned(),
                |bound| format!("{}: {}", key.key().name(), bound.value()),
            );
            let value = match value {
                DebugValue::Counter(count) => count as f64,
                DebugValue::Gauge(level) => level.into_inner(),
                DebugValue::Histogram(_) => panic!("{name} is no histogram"),
            };
            (name, value)
        });
        named.collect()
    }

    /// Drives a watch that is reset after an item, reads again, and ends on a defect; reads the metrics after `turns` polls.
    fn after(turns: usize) -> BTreeMap<String, f64> {
        let recorder = DebuggingRecorder::new();
        let seen = recorder.snapshotter();
        metrics::with_local_recorder(&recorder, || {
            let clock = ManualSchedule::new();
            let policy = ReopenPolicy::new(Infrastructure, clock.clone()).observer(Metered::new("orders"));
            let mut watch = reopen_on_transient_fault(
                |opening| {
                    let fault = match opening.number {
                        1 => io::Error::from(io::ErrorKind::ConnectionReset),
                        _ => io::Error::other("a defect"),
                    };
                    stream::iter([Ok(opening.number), Err(fault)]).chain(stream::pending())
                },
                policy,
            );
            for _ in 0..turns {
                clock.fire();
                let _ = watch.next().now_or_never();
            }
        });
        read(&seen)
    }

    #[test]
    fn an_outage_is_seen_while_it_lasts_and_every_reopen_is_counted() {
        assert_eq!(after(1)["rideout_outage"], 0.0);
        let interrupted = after(2);
        assert_eq!((interrupted["rideout_outage"], interrupted["rideout_reopens_total"]), (1.0, 1.0));
        let healed = after(3);
        assert_eq!((healed["rideout_outage"], healed["rideout_reopens_total"]), (0.0, 1.0));
    }

    #[test]
    fn a_give_up_is_counted_by_its_bound_and_the_outage_stays() {
        let over = after(4);
        assert_eq!((over["rideout_outage"], over["rideout_give_ups_total: not_transient"]), (1.0, 1.0));
    }
}
