//! The rows of a report: the findings that count at this level, and the files and comments that could not be read as findings too.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

use rideout_rules::{
    invalid_suppression,
    model::{Finding, Level, Location, Step, Watch},
    unread_file,
};

use super::{
    head::Head,
    sources::{Position, Sources},
};
use crate::{
    analysis::{Analysis, FileText, Suppression, Unread},
    ratchet::{Count, State, Verdict},
};

/// One run, ready to be shown.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    /// The folder that paths are relative to.
    pub(crate) root: &'a Path,
    /// The texts.
    pub(crate) sources: Sources,
    /// In order of path and place.
    pub(crate) rows: Vec<Row>,
    /// Findings that `--pedantic` would add.
    pub(crate) withheld: usize,
    /// Every watch in scope.
    pub(crate) watches: &'a [Watch],
    /// Files that could not be read or parsed.
    pub(crate) unread: &'a [Unread],
    /// What comments allow, in order of path and place.
    pub(crate) suppressions: Vec<&'a Suppression>,
    /// The states of what each of them suppresses; known, where there is none.
    allowed: Vec<Vec<State>>,
    /// The findings at this level that they have suppressed.
    pub(crate) suppressed: usize,
    /// How the run stands to its baseline.
    pub(crate) verdict: Verdict,
}

/// A finding and what goes with it.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The finding.
    pub(crate) finding: Finding,
    /// What the ratchet knows it by. Empty for a file or a comment that could not be read.
    pub(crate) fingerprint: String,
    /// How it stands to the baseline.
    pub(crate) state: State,
    /// The line, where the text itself is not at hand.
    line: Option<u32>,
}

impl<'a> Report<'a> {
    /// The rows of an analysis without a baseline, those of the pedantic level only on request.
    pub(crate) fn new(root: &'a Path, analysis: &'a Analysis, pedantic: bool) -> Self {
        Self::held(root, analysis, pedantic, Verdict::default())
    }

    /// The rows of an analysis that is held against a baseline.
    pub(crate) fn held(root: &'a Path, analysis: &'a Analysis, pedantic: bool, verdict: Verdict) -> Self {
        let mut files = analysis.files.clone();
        let mut index: HashMap<&str, usize> =
            analysis.files.iter().enumerate().map(|(index, file)| (file.path.as_str(), index)).collect();
        for unread in &analysis.unread {
            index.entry(&unread.path).or_insert_with(|| {
                files.push(FileText { path: unread.path.clone(), text: "".into() });
                files.len() - 1
            });
        }
        let sources = Sources::new(files);

        let counts = |finding: &Finding| pedantic || finding.level == Level::Deny;
        let mut rows: Vec<Row> = analysis
            .findings
            .iter()
            .enumerate()
            .filter(|(_, (finding, _))| counts(finding))
            .map(|(index, (finding, fingerprint))| Row {
                finding: finding.clone(),
                fingerprint: fingerprint.clone(),
                state: verdict.findings.get(index).copied().unwrap_or_default(),
                line: None,
            })
            .collect();
        let withheld = analysis.findings.len() - rows.len();
        rows.extend(analysis.unread.iter().filter_map(|unread| {
            let file = u32::try_from(*index.get(unread.path.as_str())?).ok()?;
            let finding = unread_file(sources.line(file, unread.line), &unread.reason);
            Some(Row { finding, fingerprint: String::new(), state: State::New, line: unread.line })
        }));
        rows.extend(analysis.invalid.iter().map(|invalid| Row {
            finding: invalid_suppression(invalid.location, &invalid.reason),
            fingerprint: String::new(),
            state: State::New,
            line: None,
        }));
        let states = analysis.suppressions.iter().zip(&verdict.allowed);
        let allowances = states.flat_map(|(suppression, states)| {
            let new = suppression.findings.iter().zip(states).filter(|(_, state)| **state == State::New);
            new.map(move |(found, _)| (suppression, found)).filter(|(_, (finding, _))| counts(finding))
        });
        let mut unheld = 0;
        for (suppression, (finding, fingerprint)) in allowances {
            let finding = unheld_allowance(finding, suppression);
            rows.push(Row { finding, fingerprint: fingerprint.clone(), state: State::New, line: None });
            unheld += 1;
        }
        let key = |location: Location| (sources.path(location.file).to_owned(), location.start);
        rows.sort_by_cached_key(|row| key(row.finding.primary));
        let states = verdict.allowed.iter().cloned().chain(std::iter::repeat(Vec::new()));
        let mut both: Vec<(&Suppression, Vec<State>)> = analysis.suppressions.iter().zip(states).collect();
        both.sort_by_cached_key(|(suppression, _)| key(suppression.location));
        let (suppressions, allowed): (Vec<&Suppression>, Vec<Vec<State>>) = both.into_iter().unzip();
        let suppressed = suppressions.iter().flat_map(|suppression| &suppression.findings);
        let suppressed = suppressed.filter(|(finding, _)| counts(finding)).count() - unheld;
        Self {
            root,
            sources,
            rows,
            withheld,
            watches: &analysis.watches,
            unread: &analysis.unread,
            suppressions,
            allowed,
            suppressed,
            verdict,
        }
    }

    /// The rows that the baseline does not cover: all that is shown but for the formats that tell every state.
    pub(crate) fn over(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.state == State::New)
    }

    /// The rules in numbers: those with a finding, or with an entry.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, Count> {
        let mut counts: BTreeMap<&'static str, Count> = BTreeMap::new();
        for row in &self.rows {
            counts.entry(row.finding.rule).or_default().add(row.state);
        }
        for (rule, entries) in &self.verdict.entries {
            counts.entry(rule).or_default().baseline = *entries;
        }
        for stale in &self.verdict.stale {
            counts.entry(stale.entry.rule).or_default().stale += 1;
        }
        counts
    }

    /// Whether the run fails: something is over the baseline, or the baseline over its base, or a stale entry is asked to fail it.
    pub(crate) fn fails(&self) -> bool {
        let stale = self.verdict.strict && !self.verdict.stale.is_empty();
        stale || !self.verdict.raised.is_empty() || self.over().next().is_some()
    }

    /// What comments allow, with the states of what each of them suppresses.
    pub(crate) fn allowed(&self) -> impl Iterator<Item = (&'a Suppression, &[State])> {
        self.suppressions.iter().copied().zip(self.allowed.iter().map(Vec::as_slice))
    }

    /// The suppressions that no finding needs.
    pub(crate) fn unused(&self) -> impl Iterator<Item = &'a Suppression> {
        self.suppressions.iter().copied().filter(|suppression| suppression.findings.is_empty())
    }

    /// Where a row begins and ends.
    pub(crate) fn span(&self, row: &Row) -> (Position, Position) {
        match row.line {
            Some(line) if !self.sources.has_text(row.finding.primary.file) => {
                let place = Position { line: line as usize, column: 1, byte: 0 };
                (place, place)
            }
            _ => self.sources.span(row.finding.primary),
        }
    }

    /// The first line of a row's place.
    pub(super) fn head(&self, row: &Row) -> Head<'_> {
        match row.line {
            Some(line) if !self.sources.has_text(row.finding.primary.file) => Head::blank(line as usize),
            _ => Head::new(&self.sources, row.finding.primary),
        }
    }

    /// The edits of a row's suggestion: where, and the new code as it is written there.
    pub(super) fn edits(&self, row: &Row) -> Vec<(Location, String)> {
        let edits = row.finding.suggestion.iter().flat_map(|suggestion| &suggestion.edits);
        edits
            .map(|edit| {
                let indentation = Head::new(&self.sources, edit.location).indentation();
                (edit.location, edit.text.replace('\n', &format!("\n{indentation}")))
            })
            .collect()
    }

    /// The places on the way of a row's fault, each once and none the row's own: the steps, then the opener.
    pub(super) fn related<'r>(&'r self, row: &'r Row) -> Vec<(Location, &'r str)> {
        let finding = &row.finding;
        let steps = finding.path.iter().map(|step| (step.location, step.label.as_str()));
        let opener = finding.opener.map(|location| (location, "opened here"));
        let mut seen = BTreeSet::from([finding.primary]);
        steps.chain(opener).filter(|(location, _)| seen.insert(*location)).collect()
    }

    /// `path:line:column` of a row.
    pub(crate) fn place(&self, row: &Row) -> String {
        self.sources.place(row.finding.primary.file, self.span(row).0)
    }
}

/// A finding that a comment allows and that the baseline does not have.
fn unheld_allowance(finding: &Finding, suppression: &Suppression) -> Finding {
    let comment = Step { location: suppression.location, label: "allowed here".to_owned() };
    Finding {
        message: format!("this allowance is not in the baseline: {}", finding.message),
        path: std::iter::once(comment).chain(finding.path.iter().cloned()).collect(),
        help: "mend the watch and delete the comment, or record the allowance with `cargo rideout baseline adopt`"
            .to_owned(),
        ..finding.clone()
    }
}

impl Row {
    /// Whether there is a watch behind the finding.
    pub(crate) fn has_watch(&self) -> bool {
        !self.finding.source.id.is_empty()
    }
}

/// `error` for what counts by default, `warning` for the rest.
pub(super) fn severity(level: Level) -> &'static str {
    match level {
        Level::Deny => "error",
        Level::Pedantic => "warning",
    }
}
