//! The book's rules: a fault degrades, a reading clears, an end stays; and the two forms of the report.

use std::{
    io,
    sync::atomic::{AtomicU64, Ordering},
};

use super::*;
use crate::reopen::ReopenObserver;

const CENSUS: &str = "live-records";

fn interrupt(book: &HealthBook, attempt: u32, delay: u64) {
    let attempt = NonZeroU32::new(attempt).unwrap();
    book.record_fault(CENSUS, "reset", attempt, Duration::from_secs(delay));
}

fn state(book: &HealthBook) -> WatchState {
    book.report().watches[0].state.clone()
}

#[test]
fn an_interruption_degrades_until_the_next_reading() {
    let book = HealthBook::new();
    book.record_reading(CENSUS);
    assert_eq!(book.report().status(), Status::Healthy);
    interrupt(&book, 1, 2);
    assert_eq!(book.report().status(), Status::Degraded);
    book.record_reading(CENSUS);
    assert_eq!((book.report().status(), state(&book)), (Status::Healthy, WatchState::Reading));
}

#[test]
fn a_terminal_fault_stays_whatever_is_recorded_after_it() {
    let book = HealthBook::new();
    book.record_terminal(CENSUS, "column is missing", "not transient");
    book.record_reading(CENSUS);
    book.record_ended(CENSUS);
    book.record_dropped(CENSUS);
    assert!(matches!(state(&book), WatchState::Terminal { .. }));
    assert_eq!(
        book.report().to_string(),
        "degraded: live-records is no longer being watched for until a restart: not transient (column is missing)"
    );
}

#[test]
fn a_new_watch_of_the_name_clears_a_terminal_fault() {
    let book = HealthBook::new();
    book.record_terminal(CENSUS, "column is missing", "not transient");
    book.begin(CENSUS);
    assert_eq!(book.report().status(), Status::Healthy);
}

#[test]
fn an_end_without_a_fault_and_a_dropped_watch_are_not_healthy() {
    for end in [HealthBook::record_ended, HealthBook::record_dropped] {
        let book = HealthBook::new();
        book.record_reading(CENSUS);
        end(&book, CENSUS);
        assert_eq!(book.report().status(), Status::Degraded);
        book.forget(CENSUS);
        assert_eq!(book.report().status(), Status::Healthy);
    }
}

#[test]
fn a_watch_that_stops_quietly_leaves_the_book_and_a_terminal_one_stays() {
    let book = HealthBook::new();
    drop(book.observer::<io::Error>(CENSUS));
    assert_eq!(state(&book), WatchState::Dropped);
    drop(book.observer::<io::Error>(CENSUS).stops_quietly());
    assert!(book.report().watches.is_empty());
    let mut observer = book.observer::<io::Error>(CENSUS).stops_quietly();
    observer.terminal(&io::Error::other("a defect"), crate::reopen::Terminal::NotTransient);
    drop(observer);
    assert!(matches!(state(&book), WatchState::Terminal { .. }));
}

#[test]
fn one_outage_counts_once_and_from_its_first_fault() {
    let seconds = Arc::new(AtomicU64::new(0));
    let start = Instant::now();
    let clock = Arc::clone(&seconds);
    let book = HealthBook::with_clock(move || start + Duration::from_secs(clock.load(Ordering::SeqCst)));
    interrupt(&book, 1, 2);
    seconds.store(2, Ordering::SeqCst);
    interrupt(&book, 2, 5);
    seconds.store(7, Ordering::SeqCst);
    let census = book.report().watches.remove(0);
    assert_eq!((census.held, census.outages), (Duration::from_secs(7), 1));
    book.record_reading(CENSUS);
    interrupt(&book, 1, 2);
    assert_eq!(book.report().watches[0].outages, 2);
}

#[test]
fn the_json_is_read_back_as_it_was_meant() {
    let book = HealthBook::new();
    book.record_fault(CENSUS, "a \"quoted\"\n\u{1}\\ fault — é", NonZeroU32::MIN, Duration::from_secs(2));
    book.record_terminal("mail", "gone", "budget spent");
    book.bake().start();
    book.bake().not_evaluated("Admin/Build", "no answer");
    let json: serde_json::Value = serde_json::from_str(&book.report().to_json()).unwrap();
    assert_eq!(json["status"], "degraded");
    let census = &json["watches"][0];
    assert_eq!(census["fault"], "a \"quoted\"\n\u{1}\\ fault — é");
    assert_eq!((&census["attempt"], &census["delay_ms"]), (&1.into(), &2000.into()));
    assert_eq!(
        (&json["watches"][1]["state"], &json["watches"][1]["why"]),
        (&"terminal".into(), &"budget spent".into())
    );
    assert_eq!(json["bake"]["not_evaluated"]["Admin/Build"], "no answer");
    assert!(!book.report().to_json().contains('\n'));
}

#[test]
fn the_text_is_one_line_even_if_a_fault_is_not() {
    let book = HealthBook::new();
    book.record_terminal(CENSUS, "two\nlines", "why\r\nnot");
    assert_eq!(book.report().to_string().lines().count(), 1);
}

#[test]
fn a_running_bake_is_not_ready_and_a_complete_one_is() {
    let book = HealthBook::new();
    assert!(book.report().bake.is_ready());
    book.bake().start();
    assert_eq!(book.report().status(), Status::Degraded);
    book.bake().complete();
    assert_eq!(book.report().status(), Status::Healthy);
}

#[test]
fn a_regression_is_sticky_and_a_timeout_is_none() {
    let gate = BakeGate::new();
    gate.start();
    gate.not_evaluated("type/A", "no answer in time");
    gate.complete();
    assert!(gate.report().is_ready());
    gate.regressed("type/B", "does not compile");
    gate.start();
    gate.complete();
    assert_eq!(gate.report().phase, BakePhase::Regressed);
    assert_eq!(
        gate.report().to_string(),
        "regressed, type/B regressed (does not compile), type/A was not evaluated (no answer in time)"
    );
}

#[test]
fn a_fault_is_told_with_its_causes_and_none_twice() {
    let reset = io::Error::from(io::ErrorKind::ConnectionReset);
    let read = io::Error::new(io::ErrorKind::ConnectionReset, reset);
    assert_eq!(fault_line(&read), "connection reset");

    #[derive(Debug)]
    struct Query(io::Error);
    impl Display for Query {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("query failed")
        }
    }
    impl Error for Query {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }
    assert_eq!(fault_line(&Query(read)), "query failed: connection reset");
}

#[test]
fn the_book_is_shared_between_threads() {
    fn both<T: Send + Sync + 'static>() {}
    both::<HealthBook>();
}
