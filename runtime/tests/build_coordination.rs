//! `BuildCoordinationRetry`: both shapes of no answer are retried and then reported as unreachable, and a verdict is neither.

use std::{
    cell::Cell,
    error::Error,
    future::{Future, ready},
    io,
    num::NonZeroU32,
    time::{Duration, SystemTime},
};

use futures_executor::block_on;
use rideout::{
    cadence::Cadence,
    classify::{Aggregate, TypedFault},
    handshake::{
        BuildCoordinationUnreachable, Go, HandshakeError, HandshakePolicy, MAX_PAUSE, WitnessReading,
        claim_handshake, witness_door,
    },
    health::HealthBook,
    schedule::ManualSchedule,
};
use tracing::Level;

use crate::log::Log;

/// The router's text, as it crosses the boundary that the error object does not survive.
const ROUTED: &str =
    "Delivery to 'Admin/Build' failed: Response did not arrive on time in 00:00:30 for message: Request";

type BoxError = Box<dyn Error + Send + Sync>;

/// Runs a handshake whose first `failures` attempts fail; tells the outcome, the attempts and the pauses in seconds.
fn handshake(
    failures: u32,
    fault: impl Fn() -> TypedFault,
    policy: impl FnOnce(HandshakePolicy<ManualSchedule>) -> HandshakePolicy<ManualSchedule>,
) -> (Result<&'static str, HandshakeError<TypedFault>>, u32, Duration) {
    let (clock, attempts) = (ManualSchedule::firing(), Cell::new(0));
    let ask = |attempt: NonZeroU32| {
        attempts.set(attempt.get());
        ready(if attempt.get() <= failures { Err(fault()) } else { Ok("granted") })
    };
    let outcome = block_on(claim_handshake(ask, policy(HandshakePolicy::new("Admin/Build", clock.clone()))));
    (outcome, attempts.get(), clock.now())
}

type Shape = fn() -> TypedFault;

/// Each shape of "no answer in time".
fn shapes() -> Vec<(&'static str, Shape)> {
    vec![
        ("this process", || TypedFault::no_answer("no reply within 60 s")),
        ("the transport", || TypedFault::flattened(ROUTED)),
        ("the transport, placing", || TypedFault::flattened("grain placement OPERATION timed out")),
    ]
}

/// Original name: `BuildCoordinationRetry`.
#[test]
fn build_coordination_retry() {
    for (shape, fault) in shapes() {
        let (outcome, attempts, waited) = handshake(2, fault, |policy| policy);
        assert_eq!((outcome.unwrap(), attempts, waited.as_secs()), ("granted", 3, 5 + 15), "{shape}");

        let (outcome, attempts, waited) = handshake(9, fault, |policy| policy);
        let Err(HandshakeError::Unreachable(unreachable)) = outcome else { panic!("{shape}: {outcome:?}") };
        assert_eq!((attempts, waited.as_secs()), (3, 20), "{shape}: no pause after the last attempt");
        assert_eq!((&*unreachable.node, unreachable.attempts.get()), ("Admin/Build", 3));
        let text = unreachable.to_string();
        assert!(text.contains("`Admin/Build`") && text.contains("nothing was verified"), "{text}");
    }
}

/// The unfixed shape: it knows the timeout of its own process and reads the routed text as a hard verdict.
#[test]
fn control_a_handshake_that_knows_one_shape_fails_on_the_routed_text() {
    async fn one_shape<F, Fut>(mut ask: F) -> Result<&'static str, TypedFault>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<&'static str, TypedFault>>,
    {
        let mut left = 3;
        loop {
            left -= 1;
            let answer = ask().await;
            let again =
                matches!(&answer, Err(fault) if fault.nature() == rideout::classify::Nature::NoAnswerInTime);
            if !again || left == 0 {
                return answer;
            }
        }
    }
    let attempts = Cell::new(0);
    let run = |fault: Shape| {
        attempts.set(0);
        block_on(one_shape(|| {
            attempts.set(attempts.get() + 1);
            ready(if attempts.get() <= 2 { Err(fault()) } else { Ok("granted") })
        }))
    };
    assert_eq!(run(|| TypedFault::no_answer("no reply")).unwrap(), "granted");
    let fault = run(|| TypedFault::flattened(ROUTED)).unwrap_err();
    assert_eq!(attempts.get(), 1, "one slow exchange ended the whole warm-up");
    assert!(BuildCoordinationUnreachable::find(&fault).is_none(), "and the witness was never asked");
}

#[test]
fn a_timeout_in_any_branch_of_an_aggregate_is_no_answer() {
    let several = || {
        let here: BoxError = io::Error::other(io::Error::from(io::ErrorKind::TimedOut)).into();
        Aggregate::new(vec![TypedFault::verdict("absent").into(), here])
    };
    let policy = HandshakePolicy::new("Admin/Build", ManualSchedule::firing());
    let outcome = block_on(claim_handshake(|_| ready(Err::<(), _>(several())), policy));
    assert!(
        matches!(outcome, Err(HandshakeError::Unreachable(unreachable)) if unreachable.attempts.get() == 3)
    );
}

#[test]
fn a_verdict_is_not_retried_and_not_relabelled() {
    for fault in [
        (|| TypedFault::verdict("Delivery to 'Admin/Build' failed: access denied")) as Shape,
        || TypedFault::verdict(ROUTED),
        || TypedFault::flattened("Delivery to 'Admin/Build' failed: no node found"),
    ] {
        let (outcome, attempts, waited) = handshake(9, fault, |policy| policy);
        let Err(HandshakeError::Answered(answered)) = outcome else { panic!("{outcome:?}") };
        assert_eq!((answered.to_string(), attempts, waited), (fault().to_string(), 1, Duration::ZERO));
    }
}

/// Each re-ask is one warning, and no line claims an outcome that the next door may reverse.
#[test]
fn the_log_tells_of_the_asking_and_of_no_outcome() {
    let (log, _guard) = Log::start();
    let unreachable = unreachable();
    let warnings = log.lines(Level::WARN);
    let attempts: Vec<bool> = ["attempt=1 pause_ms=5000", "attempt=2 pause_ms=15000"]
        .iter()
        .zip(&warnings)
        .map(|(a, w)| w.contains(a))
        .collect();
    assert_eq!((attempts, warnings.len(), log.count(Level::ERROR)), (vec![true, true], 2, 0), "{warnings:?}");

    let ready_at = SystemTime::UNIX_EPOCH;
    let go = block_on(witness_door(unreachable, MINE, |_| ready(WitnessReading::Go { ready_at }), not_asked));
    assert!(go.is_ok());
    assert!(log.lines(Level::WARN)[2].contains("proceeding without the coordination node"));
}

#[test]
fn a_fault_deep_in_an_error_chain_is_found_unreachable() {
    let (outcome, ..) = handshake(9, || TypedFault::flattened(ROUTED), |policy| policy);
    let wrapped = io::Error::other(io::Error::other(outcome.unwrap_err()));
    assert_eq!(BuildCoordinationUnreachable::find(&wrapped).unwrap().attempts.get(), 3);
}

#[test]
fn no_attempts_still_ask_once_and_exhaustion_is_an_error() {
    let (outcome, attempts, _) = handshake(0, || TypedFault::flattened(ROUTED), |policy| policy.attempts(0));
    assert_eq!((outcome.unwrap(), attempts), ("granted", 1));
    let (outcome, attempts, _) = handshake(1, || TypedFault::flattened(ROUTED), |policy| policy.attempts(0));
    assert!(matches!(outcome, Err(HandshakeError::Unreachable(_))));
    assert_eq!(attempts, 1);
}

#[test]
fn a_pause_is_cut_below_the_bound_of_the_transport() {
    let long = Cadence::steps(Duration::from_secs(3600), &[]);
    let (_, _, waited) = handshake(1, || TypedFault::flattened(ROUTED), |policy| policy.pauses(long));
    assert_eq!(waited, MAX_PAUSE);
    assert!(MAX_PAUSE < Duration::from_secs(30));
}

/// A timeout inside the work that follows the claim is the work's own, and no unreachable node.
#[tokio::test(start_paused = true)]
async fn a_timeout_inside_the_work_is_not_unreachable() {
    let policy = HandshakePolicy::new("Admin/Build", ManualSchedule::new());
    let claim = claim_handshake(|_| ready(Ok::<_, TypedFault>("granted")), policy).await;
    let work = tokio::time::timeout(Duration::from_secs(1), std::future::pending::<()>());
    let elapsed = claim.map(|_| work).unwrap().await.unwrap_err();
    assert!(BuildCoordinationUnreachable::find(&elapsed).is_none());
}

fn unreachable() -> BuildCoordinationUnreachable {
    let (outcome, ..) = handshake(9, || TypedFault::flattened(ROUTED), |policy| policy);
    let Err(HandshakeError::Unreachable(unreachable)) = outcome else { panic!("{outcome:?}") };
    unreachable
}

const MINE: &str = "s2f22";

fn undetermined(why: &'static str) -> impl FnOnce(&str) -> std::future::Ready<WitnessReading> {
    move |_| ready(WitnessReading::Undetermined(why.into()))
}

fn not_asked(_: &str) -> std::future::Ready<WitnessReading> {
    panic!("the witness was read")
}

#[test]
fn the_witness_door_opens_on_the_go_of_exactly_this_fingerprint() {
    let ready_at = SystemTime::UNIX_EPOCH + Duration::from_secs(7);
    let record = [("s2f22-other", SystemTime::UNIX_EPOCH), (MINE, ready_at)];
    let go = block_on(witness_door(
        unreachable(),
        MINE,
        |mine| ready(WitnessReading::of(record, mine)),
        not_asked,
    ));
    assert_eq!(go.unwrap(), Go::Witnessed { ready_at });

    let others = [("s2f22-other", ready_at), ("S2F22", ready_at)];
    let shut = block_on(witness_door(
        unreachable(),
        MINE,
        |mine| ready(WitnessReading::of(others, mine)),
        not_asked,
    ))
    .unwrap_err();
    assert!(shut.is_no_go());
    assert_eq!(BuildCoordinationUnreachable::find(&shut).unwrap().attempts.get(), 3, "the original error");
}

#[test]
fn a_witness_that_could_not_be_read_is_followed_by_a_measurement_and_is_never_a_no() {
    let ready_at = SystemTime::UNIX_EPOCH;
    let measured = |_: &str| ready(WitnessReading::Go { ready_at });
    let go = block_on(witness_door(unreachable(), MINE, undetermined("timed out too"), measured));
    assert_eq!(go.unwrap(), Go::Measured { ready_at });

    let shut =
        block_on(witness_door(unreachable(), MINE, undetermined("timed out too"), undetermined("no share")))
            .unwrap_err();
    assert!(!shut.is_no_go(), "nobody could tell");
    assert!(shut.to_string().contains("timed out too") && shut.to_string().contains("no share"), "{shut}");

    // On health that is "not evaluated", and no regression.
    let book = HealthBook::new();
    book.bake().not_evaluated("Admin/Build", &shut);
    assert!(book.report().bake.is_ready());
}
