//! A subscriber that lives through a recycle storm, and says so line by line.
//!
//! `cargo run -p rideout --example ride_out`. The clock is virtual: what takes seconds there takes none here.
#![cfg_attr(not(test), expect(clippy::print_stdout, reason = "an example that shows log lines"))]

use std::error::Error;
use std::fmt::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use rideout::address::Address;
use rideout::mesh::{Hub, Mesh, OnActivate};
use rideout::rider::{RideState, SyncStream, SyncStreamOptions};
use tokio::time::{Instant, sleep};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

#[cfg_attr(test, expect(dead_code, reason = "a test runs the storm itself"))]
fn main() -> Result<(), Box<dyn Error>> {
    storm(Arc::new(|line: &str| println!("{line}")))
}

/// Where lines go.
type Print = Arc<dyn Fn(&str) + Send + Sync>;

/// The storm, on a clock of its own.
pub(crate) fn storm(print: Print) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build()?;
    runtime.block_on(async {
        let clock = Clock { begun: Instant::now(), print };
        let _logging = tracing::subscriber::set_default(Log(clock.clone()));
        ride(&clock).await
    })
}

async fn ride(clock: &Clock) -> Result<(), Box<dyn Error>> {
    // How many of the next activations go away before they can answer.
    let short_lived = Arc::new(AtomicU32::new(0));
    let mesh = Mesh::builder().on_activate(goes_away_while(Arc::clone(&short_lived))).build()?;
    let inst = Address::new("Tenant/Inst");
    mesh.put(&inst, "first").await?;
    let mut stream = SyncStream::open(Arc::new(mesh.clone()), &inst, SyncStreamOptions::default());
    next(clock, &mut stream).await?;

    clock.say("-- a recycle: its parent says goodbye, and the stream asks the successor");
    recycle(&mesh, &inst)?.disposal_completed().await;
    settle(&mut stream).await?;
    mesh.put(&inst, "second").await?;
    next(clock, &mut stream).await?;

    clock.say("-- a recycle whose corpse routing still finds for 1.2 s: one activation, paced");
    let held = mesh.hold_route(&inst, recycle(&mesh, &inst)?);
    sleep(Duration::from_millis(1_200)).await;
    drop(held);
    settle(&mut stream).await?;
    mesh.put(&inst, "third").await?;
    next(clock, &mut stream).await?;

    clock.say("-- a storm: two successors go away before they can answer");
    short_lived.store(2, Ordering::Relaxed);
    recycle(&mesh, &inst)?.disposal_completed().await;
    settle(&mut stream).await?;
    mesh.put(&inst, "fourth").await?;
    next(clock, &mut stream).await?;

    clock.say("-- a corpse that never lets go: the bound on its time is spent, and that is said");
    let held = mesh.hold_route(&inst, recycle(&mesh, &inst)?);
    stream.state().wait_for(|state| matches!(state, RideState::Parked { .. })).await?;
    drop(held);
    clock.say("-- parked, and not deaf: an announced change is asked for");
    mesh.put(&inst, "fifth").await?;
    next(clock, &mut stream).await?;

    clock.say("-- the node is deleted: a verdict, and the stream ends with it");
    mesh.delete(&inst).await?;
    next(clock, &mut stream).await
}

fn goes_away_while(short_lived: Arc<AtomicU32>) -> OnActivate {
    Arc::new(move |hub: Hub| {
        let one_less = |left: u32| left.checked_sub(1);
        if short_lived.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok() {
            hub.dispose();
        }
        Box::pin(std::future::ready(Ok(())))
    })
}

fn recycle(mesh: &Mesh, inst: &Address) -> Result<Hub, Box<dyn Error>> {
    Ok(mesh.recycle(inst).ok_or("there is no activation to recycle")?)
}

/// Waits until the stream has been answered.
async fn settle(stream: &mut SyncStream) -> Result<(), Box<dyn Error>> {
    sleep(Duration::from_millis(1)).await;
    stream.state().wait_for(|state| *state == RideState::Reading).await?;
    Ok(())
}

async fn next(clock: &Clock, stream: &mut SyncStream) -> Result<(), Box<dyn Error>> {
    match stream.next().await {
        Some(Ok(frame)) => clock.say(&format!("frame: version {}, '{}'", frame.version, frame.content)),
        Some(Err(failure)) => clock.say(&format!("ended: {failure}")),
        None => clock.say("ended"),
    }
    Ok(())
}

/// Prints with the virtual time in front.
#[derive(Clone)]
struct Clock {
    begun: Instant,
    print: Print,
}

impl Clock {
    fn say(&self, line: &str) {
        (self.print)(&format!("{:7.3} {line}", self.begun.elapsed().as_secs_f64()));
    }
}

/// Prints what the library logs at Information and above.
struct Log(Clock);

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO && metadata.target().starts_with("rideout")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let level = match *event.metadata().level() {
            Level::ERROR => "Error",
            Level::WARN => "Warning",
            _ => "Information",
        };
        self.0.say(&format!("[{level}] {}", fields.message));
        if !fields.error.is_empty() {
            (self.0.print)(&format!("          {}", fields.error));
        }
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Fields {
    message: String,
    error: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let into = match field.name() {
            "message" => &mut self.message,
            "error" => &mut self.error,
            _ => return,
        };
        // Writing to a string does not fail.
        let _ = write!(into, "{value:?}");
    }
}
