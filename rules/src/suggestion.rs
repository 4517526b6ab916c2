//! The change of the code that mends a defect, where a few words do.

use crate::model::{Applicability, Edit, FaultPath, Location, Mend, Outcome, Suggestion};

/// What to write for a fault that leads to a defect. None: that takes thought.
pub(crate) fn suggestion(path: &FaultPath) -> Option<Suggestion> {
    let unpaced = matches!(
        path.outcome,
        Outcome::Reopens { paced: false, .. } | Outcome::Continues { paced: false, .. }
    );
    match path.mend.as_ref()? {
        Mend::Leaves(leave) if path.outcome.is_dead() => Some(Suggestion {
            message: "go on after this fault".to_owned(),
            edits: vec![Edit { location: *leave, text: "continue".to_owned() }],
            applicability: Applicability::MachineApplicable,
        }),
        Mend::Shares { arm, pattern } if path.outcome.is_dead() => Some(Suggestion {
            message: "go on after the fault that passes by itself".to_owned(),
            edits: vec![insert(arm.start, *arm, format!("{pattern} => continue,\n"))],
            applicability: Applicability::MaybeIncorrect,
        }),
        Mend::Splits { head, body, name, poll, pattern } if path.outcome.is_dead() => {
            let split = format!(
                "let {name} = match {poll} {{\n    Ok({name}) => {name},\n    {pattern} => continue,\n    Err(_) => break,\n}};\n"
            );
            Some(Suggestion {
                message: "go on after the fault that passes by itself".to_owned(),
                edits: vec![
                    Edit { location: *head, text: "loop".to_owned() },
                    insert(body.start, *body, split),
                ],
                applicability: Applicability::MaybeIncorrect,
            })
        }
        Mend::Waits { before, alone, sleep } if unpaced => {
            let pause = format!("{sleep}(core::time::Duration::from_secs(1)).await;\n");
            Some(Suggestion {
                message: "wait before the next attempt".to_owned(),
                edits: if *alone {
                    vec![
                        insert(before.start, *before, format!("{{\n    {pause}    ")),
                        insert(before.end, *before, "\n}".to_owned()),
                    ]
                } else {
                    vec![insert(before.start, *before, pause)]
                },
                applicability: Applicability::MaybeIncorrect,
            })
        }
        _ => None,
    }
}

fn insert(at: u32, place: Location, text: String) -> Edit {
    Edit { location: Location { start: at, end: at, ..place }, text }
}

#[cfg(test)]
mod tests {
    use super::suggestion;
    use crate::model::{Applicability, Edit, FaultPath, Location, Mend, Outcome, ShowsAs};
    use crate::testing::{at, path};

    fn mended(outcome: Outcome, mend: Mend) -> FaultPath {
        FaultPath { mend: Some(mend), ..path(ShowsAs::Variant, outcome) }
    }

    #[test]
    fn what_leaves_becomes_what_goes_on() {
        let found = suggestion(&mended(Outcome::Ends, Mend::Leaves(at(7)))).unwrap();
        assert_eq!(found.edits, [Edit { location: at(7), text: "continue".to_owned() }]);
        assert_eq!(found.applicability, Applicability::MachineApplicable);
    }

    #[test]
    fn a_fault_that_shares_an_arm_gets_its_own_before_it() {
        let shares = Mend::Shares { arm: at(7), pattern: "Err(Lagged(_))".to_owned() };
        let found = suggestion(&mended(Outcome::Ends, shares)).unwrap();
        let location = Location { file: 0, start: 7, end: 7 };
        assert_eq!(found.edits, [Edit { location, text: "Err(Lagged(_)) => continue,\n".to_owned() }]);
    }

    #[test]
    fn a_loop_that_ends_on_every_fault_tells_them_apart() {
        let splits = Mend::Splits {
            head: at(7),
            body: at(9),
            name: "item".to_owned(),
            poll: "rx.recv().await".to_owned(),
            pattern: "Err(Lagged(_))".to_owned(),
        };
        let found = suggestion(&mended(Outcome::Ends, splits)).unwrap();
        assert_eq!(found.edits[0], Edit { location: at(7), text: "loop".to_owned() });
        let wanted = "\
let item = match rx.recv().await {
    Ok(item) => item,
    Err(Lagged(_)) => continue,
    Err(_) => break,
};
";
        assert_eq!((found.edits[1].location.start, found.edits[1].text.as_str()), (9, wanted));
    }

    #[test]
    fn a_pause_is_a_statement_of_its_own() {
        let by = at(1);
        let hot = Outcome::Reopens { paced: false, by };
        let waits = |alone| Mend::Waits { before: at(7), alone, sleep: "demo::sleep".to_owned() };
        let found = suggestion(&mended(hot, waits(false))).unwrap();
        assert_eq!(found.edits.len(), 1);
        assert_eq!(found.edits[0].text, "demo::sleep(core::time::Duration::from_secs(1)).await;\n");
        let found = suggestion(&mended(hot, waits(true))).unwrap();
        let places: Vec<u32> = found.edits.iter().map(|edit| edit.location.start).collect();
        assert_eq!(places, [7, 8], "a brace on both sides");
    }

    #[test]
    fn a_mend_for_another_defect_is_none() {
        let by = at(1);
        assert!(suggestion(&path(ShowsAs::Ends, Outcome::Ends)).is_none());
        assert!(suggestion(&mended(Outcome::Reopens { paced: false, by }, Mend::Leaves(at(7)))).is_none());
        let waits = Mend::Waits { before: at(7), alone: true, sleep: "demo::sleep".to_owned() };
        assert!(suggestion(&mended(Outcome::Ends, waits)).is_none());
    }
}
