//! A fan-in under random events: nothing is lost or reordered, and each of its ends names who is to blame.

use std::{io, sync::Arc, time::Duration};

use rideout::{
    fan_in::{FanInFault, FanInPolicy, Frame, STALL_BUDGET, fan_in_with},
    schedule::ManualSchedule,
    test::ScriptedSource,
};

use crate::support::{Random, now, reset};

/// What one provider has done so far.
#[derive(Default)]
struct Model {
    emitted: Vec<u64>,
    delivered: usize,
    ended: bool,
    faulted: bool,
}

impl Model {
    fn is_over(&self) -> bool {
        self.ended || self.faulted
    }
}

const NAMES: [&str; 3] = ["a", "b", "c"];

/// How the run ended.
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum End {
    Open,
    Completed,
    Faulted,
    Stalled,
}

fn run(seed: u64) -> (End, bool) {
    let mut random = Random::seeded(seed);
    let (clock, mut waited) = (ManualSchedule::new(), Duration::ZERO);
    let sources: Vec<_> = NAMES.iter().map(|_| ScriptedSource::<u64, io::Error>::new()).collect();
    let providers = NAMES.iter().zip(&sources).map(|(name, source)| (*name, source.open().unwrap()));
    let mut union = fan_in_with(providers, FanInPolicy::new(clock.clone()));
    let mut models: [Model; 3] = Default::default();
    let mut opened = false;
    assert!(now(&mut union).is_none());
    for n in 0..60 {
        let at = usize::try_from(random.below(3)).unwrap();
        let (source, model) = (&sources[at], &mut models[at]);
        match random.below(24) {
            0 => model.ended |= !model.is_over() && source.end(),
            1 => model.faulted |= !model.is_over() && source.fault(reset()),
            2..=6 => {
                clock.advance(Duration::from_secs(4));
                waited += Duration::from_secs(4);
            }
            _ if !model.is_over() && source.emit(n) => model.emitted.push(n),
            _ => {}
        }
        while let Some(frame) = now(&mut union) {
            match frame {
                Some(Ok(Frame::Initial(initial))) => {
                    assert!(!std::mem::replace(&mut opened, true), "seed {seed}: one Initial");
                    for (part, model) in initial.parts.iter().zip(&mut models) {
                        assert_eq!(part.answer, model.emitted.first().copied(), "seed {seed}");
                        assert!(
                            part.answer.is_some() || model.ended,
                            "seed {seed}: empty only if it completed"
                        );
                        model.delivered = usize::from(part.answer.is_some());
                    }
                }
                Some(Ok(Frame::Update { provider, item })) => {
                    assert!(opened, "seed {seed}: no update before the Initial");
                    let model = &mut models[NAMES.iter().position(|name| **name == *provider).unwrap()];
                    assert_eq!(
                        Some(&item),
                        model.emitted.get(model.delivered),
                        "seed {seed}: in order, none lost"
                    );
                    model.delivered += 1;
                }
                Some(Err(FanInFault::Provider { provider, .. })) => {
                    let blamed = NAMES.iter().position(|name| **name == *provider).unwrap();
                    assert!(models[blamed].faulted, "seed {seed}");
                    assert!(now(&mut union).unwrap().is_none(), "seed {seed}: over");
                    return (End::Faulted, opened);
                }
                Some(Err(FanInFault::Stalled(stalled))) => {
                    let silent: Vec<Arc<str>> = NAMES
                        .iter()
                        .zip(&models)
                        .filter(|(_, model)| model.emitted.is_empty() && !model.is_over())
                        .map(|(name, _)| Arc::from(*name))
                        .collect();
                    assert_eq!(stalled.providers, silent, "seed {seed}");
                    assert!(!opened && waited >= STALL_BUDGET && !silent.is_empty(), "seed {seed}");
                    return (End::Stalled, opened);
                }
                None => {
                    assert!(models.iter().all(|model| model.ended), "seed {seed}");
                    assert!(models.iter().all(|model| model.delivered == model.emitted.len()), "seed {seed}");
                    return (End::Completed, opened);
                }
            }
        }
        if opened {
            assert!(
                models.iter().all(|model| model.delivered == model.emitted.len()),
                "seed {seed}: all is told"
            );
        } else {
            assert!(waited < STALL_BUDGET, "seed {seed}: a stall past the budget");
        }
    }
    (End::Open, opened)
}

#[test]
fn under_random_events_nothing_is_lost_and_each_end_names_its_cause() {
    let mut ends: Vec<(End, bool)> = (1..=2_000).map(run).collect();
    ends.sort();
    let kinds = ends.chunk_by(PartialEq::eq).map(|kind| (&kind[0], kind.len())).collect::<Vec<_>>();
    println!("ends, and whether the gate was open: {kinds:?}");
    assert!(
        kinds.len() == 5 && kinds.iter().all(|(_, runs)| *runs >= 20),
        "every way to end is met: {kinds:?}"
    );
}
