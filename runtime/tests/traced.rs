//! One span per watch, with the log of its outages inside.

use std::fmt::{Debug, Write};
use std::io;
use std::sync::{Arc, Mutex};

use futures_util::{FutureExt, StreamExt, stream};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use rideout::{
    classify::Infrastructure,
    observe::Traced,
    reopen::{ReopenPolicy, reopen_on_transient_fault},
    schedule::ManualSchedule,
};

use crate::{log, support::reset};

/// Writes down spans, what is recorded on them, and events with the span that they are in.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<(Vec<String>, bool)>>);

impl Lines {
    fn push(&self, what: &str, fields: impl FnOnce(&mut Fields)) {
        let mut line = Fields(what.to_owned());
        fields(&mut line);
        self.0.lock().unwrap().0.push(line.0);
    }
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("rideout")
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        self.push(span.metadata().name(), |fields| span.record(fields));
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        self.push("record", |fields| values.record(fields));
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let inside = event.parent().is_some() || self.0.lock().unwrap().1;
        let level = event.metadata().level();
        let what = if inside { format!("  {level}") } else { level.to_string() };
        self.push(&what, |fields| event.record(fields));
    }

    fn enter(&self, _: &span::Id) {
        self.0.lock().unwrap().1 = true;
    }

    fn exit(&self, _: &span::Id) {
        self.0.lock().unwrap().1 = false;
    }
}

#[test]
fn a_watch_has_one_span_with_its_latest_figures_and_its_log_inside() {
    let lines = Lines::default();
    log::cache_no_interest();
    tracing::subscriber::with_default(lines.clone(), || {
        let clock = ManualSchedule::new();
        let policy = ReopenPolicy::new(Infrastructure, clock.clone()).observer(Traced::new("orders"));
        let open = |_| stream::iter([Ok(1), Err(io::Error::other(reset()))]).chain(stream::pending());
        let mut watch = reopen_on_transient_fault(open, policy);
        for _ in 0..3 {
            clock.fire();
            let _ = watch.next().now_or_never();
        }
    });
    let lines = lines.0.lock().unwrap().0.clone();
    assert_eq!(
        lines,
        [
            "rideout.watch watch=\"orders\"",
            "record opening=1",
            "  DEBUG message=watch opened opening=1 attempt=0",
            "record attempt=1",
            "record delay_ms=2000",
            "  WARN message=watch interrupted, opens again watch=\"orders\" attempt=1 delay_ms=2000 \
             fault=connection reset",
            "record opening=2",
            "  DEBUG message=watch opened opening=2 attempt=1",
            "record attempt=0",
        ]
    );
}
