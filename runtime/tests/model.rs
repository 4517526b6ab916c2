//! A re-opening watch under random scripts, against a model of a few lines.

use std::collections::VecDeque;

use futures_util::StreamExt;
use rideout::{
    cadence::Cadence, reopen::reopen_on_transient_fault_async, schedule::ManualSchedule, test::ScriptedSource,
};

use crate::support::{Diary, defect, now, policy, reset};

/// What an opening does.
#[derive(Clone, Debug)]
enum Act {
    Refuse { transient: bool },
    Read { items: u8, then: Then },
}

#[derive(Clone, Copy, Debug)]
enum Then {
    Reset,
    Defect,
    End,
}

/// What the consumer of a watch saw.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    items: u64,
    faults: u32,
    openings: u64,
    pauses: Vec<u64>,
    told_reading: usize,
}

const BUDGET: u32 = 5;

/// The rules as the documents say them, with nothing of the machine that keeps them.
fn model(script: &[Act], ends_are_faults: bool) -> Seen {
    let (mut seen, mut in_a_row) = (Seen::default(), 0);
    for act in script {
        seen.openings += 1;
        let transient = match act {
            Act::Refuse { transient } => *transient,
            Act::Read { items, then } => {
                seen.items += u64::from(*items);
                if *items > 0 {
                    (in_a_row, seen.told_reading) = (0, seen.told_reading + 1);
                }
                match then {
                    Then::Reset => true,
                    Then::Defect => false,
                    Then::End if ends_are_faults => true,
                    Then::End => return seen,
                }
            }
        };
        if !transient || in_a_row == BUDGET {
            seen.faults = 1;
            return seen;
        }
        in_a_row += 1;
        let attempt = std::num::NonZeroU32::new(in_a_row).unwrap();
        seen.pauses.push(Cadence::STANDING_WATCH.delay(attempt).as_secs());
    }
    unreachable!("the script ends in a defect")
}

fn watch(script: &[Act], ends_are_faults: bool) -> Seen {
    let (clock, diary) = (ManualSchedule::new(), Diary::default());
    let source = script.iter().fold(ScriptedSource::new(), |source, act| match act {
        Act::Refuse { transient: true } => source.refuses(reset()),
        Act::Refuse { transient: false } => source.refuses(defect()),
        Act::Read { items, then: Then::End } => source.opens_and_ends(0..*items),
        Act::Read { items, then } => {
            let fault = if matches!(then, Then::Reset) { reset() } else { defect() };
            source.opens((0..*items).map(Ok).chain([Err(fault)]))
        }
    });
    let mut policy = policy(&clock).observer(diary.clone());
    if ends_are_faults {
        policy = policy.end_is_fault(reset);
    }
    let mut watch = Box::pin(reopen_on_transient_fault_async(async |_| source.open(), policy));
    let mut seen = Seen::default();
    loop {
        assert!(source.alive() <= 1, "never two upstreams");
        match now(&mut watch) {
            Some(Some(Ok(_))) => seen.items += 1,
            Some(Some(Err(_))) => seen.faults += 1,
            Some(None) => break,
            None => {
                assert_eq!(
                    (source.alive(), clock.pending().len()),
                    (0, 1),
                    "one wait, and no upstream through it"
                );
                clock.fire();
            }
        }
    }
    assert!(watch.next().now_or_never_none(), "over is over");
    seen.openings = source.openings();
    seen.pauses = clock.asked().iter().map(|(_, delay)| delay.as_secs()).collect();
    let lines = diary.lines();
    seen.told_reading = lines.iter().filter(|line| line.starts_with("reading")).count();
    let interrupted = lines.iter().filter(|line| line.contains("re-open")).count();
    assert_eq!(interrupted, seen.pauses.len(), "each interruption is told");
    let last = lines.last().unwrap();
    assert!(last == "ended" || last.contains("over"), "the end is told: {last}");
    assert_eq!(source.alive(), 0);
    seen
}

trait OverIsOver: std::future::Future {
    fn now_or_never_none(self) -> bool;
}

impl<T, F: std::future::Future<Output = Option<T>>> OverIsOver for F {
    fn now_or_never_none(self) -> bool {
        matches!(futures_util::FutureExt::now_or_never(self), Some(None))
    }
}

/// Numbers from a seed, by a linear congruence: all that a script needs.
fn script(mut seed: u64) -> Vec<Act> {
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut acts = VecDeque::new();
    for _ in 0..draw(30) {
        acts.push_back(match draw(10) {
            0..=4 => Act::Refuse { transient: true },
            5 => Act::Read { items: 0, then: Then::Reset },
            6..=7 => Act::Read { items: u8::try_from(draw(4)).unwrap(), then: Then::Reset },
            8 => Act::Read { items: u8::try_from(draw(4)).unwrap(), then: Then::End },
            _ if draw(4) == 0 => Act::Refuse { transient: false },
            _ => Act::Read { items: 1, then: if draw(6) == 0 { Then::Defect } else { Then::Reset } },
        });
    }
    acts.push_back(Act::Refuse { transient: false });
    acts.into()
}

#[test]
fn twenty_thousand_scripts_go_as_the_rules_say() {
    for seed in 0..10_000 {
        let script = script(seed);
        for ends_are_faults in [false, true] {
            let (wanted, seen) = (model(&script, ends_are_faults), watch(&script, ends_are_faults));
            assert_eq!(seen, wanted, "seed {seed}: {script:?}");
        }
    }
}
