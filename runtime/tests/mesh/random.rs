//! Random sequences of refusals, answers and recycles through a whole stream.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use proptest::prelude::*;
use rideout::address::Address;
use rideout::rider::{RideState, SyncStream, SyncStreamOptions};
use tokio::time::sleep;
use tracing::Level;

use super::logs::Logs;
use super::transports::{Answer, Script, refused_by, refused_unnamed};

#[derive(Clone, Copy, Debug)]
enum Step {
    RefusedBy(u32),
    Unnamed,
    Answer,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1u32..4).prop_map(Step::RefusedBy),
        1 => Just(Step::Unnamed),
        2 => Just(Step::Answer),
    ];
    prop::collection::vec(step, 0..60)
}

/// Plays the steps, then answers for ever; announces a change now and then, so that the latch asks too.
async fn play(steps: Vec<Step>, pokes: Vec<u64>) {
    let (logs, _guard) = Logs::capture();
    let inst = Address::new("Inst");
    let mut version = 0;
    let answers = steps.iter().map(|step| match step {
        Step::RefusedBy(bits) => refused_by(*bits),
        Step::Unnamed => refused_unnamed(),
        Step::Answer => {
            version += 1;
            Answer::Frame(version)
        }
    });
    let script = Script::new(answers.chain([Answer::Frame(1_000)]).collect::<Vec<_>>());
    let stream = SyncStream::open(Arc::new(script.clone()), &inst, SyncStreamOptions::default());
    let mut parked = 0;
    for poke in pokes {
        sleep(Duration::from_millis(poke)).await;
        script.feed.announce(&inst, None);
    }
    // A change at a time, until the end of the script is reached: the address answers, so the stream converges.
    for _ in 0..steps.len() + 1 {
        sleep(Duration::from_secs(20)).await;
        let state = stream.state().borrow().clone();
        match state {
            RideState::Reading => {}
            RideState::Parked { .. } => parked += 1,
            other => panic!("neither reading nor parked after the whole ride-out: {other:?}"),
        }
        let warned = logs.at(Level::WARN, "gave up").len();
        assert!(parked == 0 || warned > 0, "parked without a word");
        script.feed.announce(&inst, Some(1_000));
    }
    sleep(Duration::from_secs(20)).await;
    assert_eq!(*stream.state().borrow(), RideState::Reading, "the address answers");
    assert!(script.most_under_way.load(Ordering::SeqCst) <= 1, "more than one ask outstanding");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_stream_never_asks_twice_at_once_never_parks_in_silence_and_converges(
        steps in steps(),
        pokes in prop::collection::vec(0u64..3_000, 0..20),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(play(steps, pokes));
    }
}
