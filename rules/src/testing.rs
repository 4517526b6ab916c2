//! Small watches for the rules' unit tests.

use crate::model::{Arm, Fault, FaultPath, Location, Outcome, ShowsAs, Source, Watch};

/// A place whose first byte is `start`.
pub(crate) fn at(start: u32) -> Location {
    Location { file: 0, start, end: start + 1 }
}

/// An arm at `start`.
pub(crate) fn arm(start: u32, logs: bool, transient: Option<&str>) -> Arm {
    Arm { location: at(start), logs, transient: transient.map(str::to_owned) }
}

/// A fault that no arm receives, consumed at 10.
pub(crate) fn path(shows_as: ShowsAs, outcome: Outcome) -> FaultPath {
    FaultPath {
        in_example: false,
        fault: Fault { shows_as, text: "a cut connection ends the stream".into() },
        outcome,
        arm: None,
        consumer: at(10),
        item: "Feed::run".into(),
        path: Vec::new(),
        mend: None,
    }
}

/// A watch with these faults.
pub(crate) fn watch(faults: Vec<FaultPath>) -> Watch {
    Watch {
        source: Source {
            id: "demo-stream".into(),
            package: "demo".into(),
            api: "demo::Stream".into(),
            guessed: false,
            spins_pedantic: false,
            help: None,
        },
        opener: Some(at(0)),
        opening: None,
        consumer: at(10),
        poll: at(12),
        item: "Feed::run".into(),
        faults,
    }
}
