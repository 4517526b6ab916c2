//! What a re-opening watch costs per item over the bare stream, side by side with what else there is, in one run.
//!
//! `cargo bench -p rideout --bench overhead`, with `--features kube` for the column of kube's `StreamBackoff`.

#![expect(clippy::print_stdout, reason = "its figure is read by people")]

use std::{
    hint::black_box,
    pin::pin,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use backon::{ConstantBuilder, Retryable};
use divan::{AllocProfiler, Bencher, counter::ItemsCount};
use futures_util::{Stream, StreamExt, stream};
use rideout::{
    reopen::{ReopenPolicy, Stalled, reopen_on_transient_fault, watch_events},
    schedule::ManualSchedule,
};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

/// Items of one round: enough that opening and closing do not show.
const ITEMS: u64 = 10_000;

type Item = Result<u64, Fault>;

#[derive(Debug)]
struct Fault;

fn main() {
    overhead();
    divan::main();
}

fn source() -> impl Stream<Item = Item> + Unpin {
    stream::iter(0..ITEMS).map(Ok)
}

fn policy() -> ReopenPolicy<u64, Fault> {
    let transient = |_: &Fault| rideout::classify::Verdict::Transient;
    ReopenPolicy::new(transient, ManualSchedule::firing())
}

/// Reads a stream that never waits, to its end.
fn drain<T>(stream: impl Stream<Item = T>) {
    let mut stream = pin!(stream);
    let mut cx = Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(item)) = stream.as_mut().poll_next(&mut cx) {
        black_box(item);
    }
}

#[divan::bench]
fn a_bare_stream(bencher: Bencher<'_, '_>) {
    bencher.counter(ItemsCount::new(ITEMS)).bench(|| drain(source()));
}

#[divan::bench]
fn b_reopen_on_transient_fault(bencher: Bencher<'_, '_>) {
    bencher
        .counter(ItemsCount::new(ITEMS))
        .with_inputs(policy)
        .bench_values(|policy| drain(reopen_on_transient_fault(|_| source(), policy)));
}

#[divan::bench]
fn c_with_a_stall_bound_and_a_sign_of_life(bencher: Bencher<'_, '_>) {
    let policy =
        || policy().stall_bound(Duration::from_secs(60), |_: Stalled| Fault).proves_life(|item| *item > 0);
    bencher
        .counter(ItemsCount::new(ITEMS))
        .with_inputs(policy)
        .bench_values(|policy| drain(reopen_on_transient_fault(|_| source(), policy)));
}

#[divan::bench]
fn d_watch_events(bencher: Bencher<'_, '_>) {
    bencher
        .counter(ItemsCount::new(ITEMS))
        .with_inputs(policy)
        .bench_values(|policy| drain(watch_events(|_| std::future::ready(Ok(source())), policy)));
}

#[divan::bench]
fn e_backon_driven_loop(bencher: Bencher<'_, '_>) {
    let watch = async || -> Result<(), Fault> {
        let mut items = source();
        while let Some(item) = items.next().await {
            black_box(item?);
        }
        Ok(())
    };
    bencher.counter(ItemsCount::new(ITEMS)).bench(|| {
        let retried = watch.retry(ConstantBuilder::default().with_max_times(5));
        let mut retried = pin!(IntoFuture::into_future(retried));
        let done = Future::poll(retried.as_mut(), &mut Context::from_waker(Waker::noop()));
        assert!(done.is_ready());
    });
}

#[cfg(feature = "kube")]
#[divan::bench]
fn f_kube_stream_backoff(bencher: Bencher<'_, '_>) {
    use kube::runtime::{utils::StreamBackoff, watcher::DefaultBackoff};
    bencher
        .counter(ItemsCount::new(ITEMS))
        .bench(|| drain(StreamBackoff::new(source(), DefaultBackoff::default())));
}

/// The figure that is promised: the median of the difference to the bare stream, round by round.
fn overhead() {
    const ROUNDS: usize = 501;
    let round = |run: &dyn Fn()| {
        let began = Instant::now();
        run();
        began.elapsed().as_secs_f64() * 1e9 / ITEMS as f64
    };
    let mut over: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let bare = round(&|| drain(source()));
            round(&|| drain(reopen_on_transient_fault(|_| source(), policy()))) - bare
        })
        .collect();
    over.sort_by(f64::total_cmp);
    let median = over[ROUNDS / 2];
    println!(
        "overhead per item over the bare stream: {median:.2} ns (median of {ROUNDS} rounds of {ITEMS} items)"
    );
}
