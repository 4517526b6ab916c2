//! What is wrong with a standing watch: the catalog of long-lived streams (data) and the rules (pure functions over a small
//! model).
//!
//! This crate knows no syntax tree and does no IO. `cargo-rideout` finds the watches and walks their faults; the rules here
//! judge what it found.

pub mod catalog;
mod levels;
pub mod model;
pub mod rule;
mod suggestion;
pub mod suppression;
mod wording;

mod invalid_suppression;
mod log_only_error_arm;
mod nested_reopen;
mod silent_give_up;
mod stale_factory;
mod transient_as_terminal;
mod unguarded_watch;
mod unpaced_reopen;
mod unread_file;

#[cfg(test)]
mod testing;

pub use invalid_suppression::invalid_suppression;
pub use levels::{Levels, Setting};
use model::{FaultPath, Finding, Level, Watch};
pub use rule::{Rule, Verdict};
pub use unread_file::unread_file;

/// Every rule. One defect is one finding, under the first rule of this order that matches.
pub const RULES: &[Rule] = &[
    transient_as_terminal::RULE,
    log_only_error_arm::RULE,
    unguarded_watch::RULE,
    unpaced_reopen::RULE,
    nested_reopen::RULE,
    stale_factory::RULE,
    silent_give_up::RULE,
    unread_file::RULE,
    invalid_suppression::RULE,
];

/// Judges a watch: what the first of its faults that leads to a defect has to say, or nothing.
///
/// The faults count in the order of `watch.faults`; one whose findings are off or pedantic does not hide a later one that counts.
/// Several paths may belong to one fault (its callers, the branches of one arm); the construct that loses the fault gets one
/// finding, under the most specific rule that matches any of its paths.
pub fn judge(watch: &Watch, levels: &Levels) -> Vec<Finding> {
    let mut seen: Vec<&FaultPath> = Vec::new();
    let mut pedantic: Vec<Finding> = Vec::new();
    for first in &watch.faults {
        if seen.iter().any(|path| same_fault(path, first)) {
            continue;
        }
        seen.push(first);
        let group: Vec<&FaultPath> = watch.faults.iter().filter(|path| same_fault(path, first)).collect();
        let found = judge_fault(watch, &group).into_iter().filter_map(|finding| levels.apply(finding));
        let findings: Vec<Finding> = found.collect();
        if findings.iter().any(|finding| finding.level == Level::Deny) {
            return findings;
        }
        if pedantic.is_empty() {
            pedantic = findings;
        }
    }
    pedantic
}

fn same_fault(left: &FaultPath, right: &FaultPath) -> bool {
    left.fault.shows_as == right.fault.shows_as && left.fault.text == right.fault.text
}

/// The findings of one fault: at most one for each construct that loses it and for each primary place, in order of place.
fn judge_fault(watch: &Watch, paths: &[&FaultPath]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for rule in RULES {
        for finding in paths.iter().filter_map(|path| rule.finding(watch, path)) {
            let known =
                |other: &Finding| other.primary == finding.primary || other.consumer == finding.consumer;
            if !findings.iter().any(known) {
                findings.push(finding);
            }
        }
    }
    findings.sort_by_key(|finding| finding.primary);
    findings
}

#[cfg(test)]
mod tests {
    use super::{Levels, RULES, Setting};
    use crate::model::{Finding, Watch};
    use crate::model::{Level, Outcome, ShowsAs};
    use crate::testing::{arm, at, path, watch};

    fn judge(watch: &Watch) -> Vec<Finding> {
        super::judge(watch, &Levels::default())
    }

    #[test]
    fn every_page_has_the_sections_in_order() {
        let sections = [
            "### What it flags",
            "### Why is this bad?",
            "### Known limits",
            "### Example",
            "### Use instead",
        ];
        for rule in RULES {
            let found: Vec<&str> = rule.docs.lines().filter(|line| line.starts_with("### ")).collect();
            assert_eq!(found, sections, "{}", rule.id);
            assert_eq!(
                rule.docs.matches("\n```rust\n").count(),
                2,
                "{}: one example and one way out",
                rule.id
            );
        }
    }

    #[test]
    fn words_for_people_have_no_final_dot() {
        for rule in RULES {
            for text in [rule.summary, rule.why] {
                assert!(!text.is_empty() && !text.ends_with('.'), "{}: {text}", rule.id);
            }
        }
    }

    #[test]
    fn the_first_fault_with_a_defect_wins() {
        let mut ends = path(ShowsAs::Ends, Outcome::Ends);
        ends.consumer = at(50);
        let faults = vec![
            path(ShowsAs::ErrorThenEnds, Outcome::Surfaces),
            ends.clone(),
            path(ShowsAs::CallError, Outcome::Ends),
        ];
        let findings = judge(&watch(faults));
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].rule, findings[0].primary), ("unguarded-watch", at(50)));
    }

    #[test]
    fn one_construct_gets_one_finding_under_the_most_specific_rule() {
        let logged = crate::model::FaultPath {
            arm: Some(arm(20, true, None)),
            ..path(ShowsAs::Variant, Outcome::Ends)
        };
        let lagged = crate::model::FaultPath {
            arm: Some(arm(30, true, Some("Lagged"))),
            ..path(ShowsAs::Variant, Outcome::Ends)
        };
        let findings = judge(&watch(vec![logged, lagged]));
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].rule, findings[0].primary), ("transient-as-terminal", at(30)));
    }

    #[test]
    fn two_callers_that_lose_one_fault_are_two_findings() {
        let mut near = path(ShowsAs::Ends, Outcome::Ends);
        near.consumer = at(90);
        let mut far = path(ShowsAs::Ends, Outcome::Ends);
        far.consumer = at(40);
        let primaries: Vec<_> =
            judge(&watch(vec![near, far])).iter().map(|finding| finding.primary).collect();
        assert_eq!(primaries, [at(40), at(90)]);
    }

    #[test]
    fn a_guarded_watch_has_no_finding() {
        let by = at(1);
        for outcome in [
            Outcome::OneShot,
            Outcome::Reopens { paced: true, by },
            Outcome::Continues { paced: true, by },
            Outcome::Catches,
            Outcome::Forwards,
            Outcome::Surfaces,
            Outcome::Releases,
            Outcome::Unknown,
        ] {
            assert!(
                judge(&watch(vec![path(ShowsAs::ErrorThenEnds, outcome)])).is_empty(),
                "{}",
                outcome.name()
            );
        }
    }

    #[test]
    fn examples_guesses_and_spinning_accept_loops_are_pedantic() {
        let unpaced = Outcome::Continues { paced: false, by: at(1) };
        let mut accept = watch(vec![path(ShowsAs::CallError, unpaced)]);
        accept.source.spins_pedantic = true;
        assert_eq!(judge(&accept)[0].level, Level::Pedantic);
        accept.faults[0].outcome = Outcome::Ends;
        assert_eq!(judge(&accept)[0].level, Level::Deny);
        accept.source.guessed = true;
        assert_eq!(judge(&accept)[0].level, Level::Pedantic);
        accept.source.guessed = false;
        accept.faults[0].in_example = true;
        assert_eq!(judge(&accept)[0].level, Level::Pedantic);
    }

    fn levels(settings: &[(&str, Setting)]) -> Levels {
        let mut levels = Levels::default();
        for (id, setting) in settings {
            levels.set(RULES.iter().find(|rule| rule.id == *id).unwrap(), *setting);
        }
        levels
    }

    #[test]
    fn a_finding_that_does_not_count_hides_none_that_does() {
        let unpaced = path(ShowsAs::CallError, Outcome::Continues { paced: false, by: at(1) });
        let both = watch(vec![unpaced, path(ShowsAs::Ends, Outcome::Ends)]);
        let found = |settings: &[(&str, Setting)]| {
            let findings = super::judge(&both, &levels(settings));
            findings.into_iter().map(|finding| (finding.rule, finding.level)).collect::<Vec<_>>()
        };
        assert_eq!(found(&[]), [("unpaced-reopen", Level::Deny)]);
        for setting in [Setting::Pedantic, Setting::Off] {
            assert_eq!(found(&[("unpaced-reopen", setting)]), [("unguarded-watch", Level::Deny)]);
        }
        let all = [("unpaced-reopen", Setting::Pedantic), ("unguarded-watch", Setting::Off)];
        assert_eq!(found(&all), [("unpaced-reopen", Level::Pedantic)]);
        assert_eq!(found(&[("unpaced-reopen", Setting::Off), ("unguarded-watch", Setting::Off)]), []);
    }

    #[test]
    fn deny_raises_what_is_pedantic_by_itself() {
        let mut guess = watch(vec![path(ShowsAs::Ends, Outcome::Ends)]);
        guess.source.guessed = true;
        let found = super::judge(&guess, &levels(&[("unguarded-watch", Setting::Deny)]));
        assert_eq!(found[0].level, Level::Deny);
    }
}
