//! How a run stands to its baseline, in lines.

use std::io::{self, Write};

use super::Report;
use crate::ratchet::State;

/// An entry of the baseline that is to go or may not be there.
pub(super) struct Surplus {
    /// Its line in the baseline, from 1.
    pub(super) line: usize,
    /// One sentence without a final dot.
    pub(super) message: String,
    /// Whether it fails the run.
    pub(super) fails: bool,
}

/// The entries that are too many, those that the base does not have first.
pub(super) fn surplus(report: &Report<'_>) -> Vec<Surplus> {
    let verdict = &report.verdict;
    let base = verdict.base.as_deref().unwrap_or_default();
    let raised = verdict.raised.iter().map(|raise| {
        let message = format!("{}; not so at {base}", raise.message);
        Surplus { line: raise.line, message, fails: true }
    });
    let stale = verdict.stale.iter().map(|stale| {
        let message = format!("stale entry: {}", stale.entry.shown());
        Surplus { line: stale.line, message, fails: verdict.strict }
    });
    raised.chain(stale).collect()
}

/// One line for each entry that may not be there, and for each that is to go, up to so many.
pub(super) fn held(report: &Report<'_>, most: usize, out: &mut dyn Write) -> io::Result<()> {
    let verdict = &report.verdict;
    let Some(baseline) = &verdict.baseline else { return Ok(()) };
    let word = |fails: bool| if fails { "error" } else { "warning" };
    let entries = surplus(report);
    let shown = verdict.raised.len().saturating_add(most);
    for Surplus { line, message, fails } in entries.iter().take(shown) {
        writeln!(out, "{baseline}:{line}: {}: {message}", word(*fails))?;
    }
    match entries.len().saturating_sub(shown) {
        0 => Ok(()),
        more => writeln!(out, "{baseline}: {}: {more} more stale entries", word(verdict.strict)),
    }
}

/// The entries in numbers, what they say of the findings, and what to do.
pub(super) fn standing(report: &Report<'_>) -> String {
    let verdict = &report.verdict;
    let Some(baseline) = &verdict.baseline else { return String::new() };
    let rows = report.rows.iter().map(|row| row.state);
    let allowed = report.allowed().flat_map(|(_, states)| states.iter().copied());
    let states: Vec<State> = rows.chain(allowed).collect();
    let count = |state: State| states.iter().filter(|found| **found == state).count();
    let numbers = [
        (count(State::Known), "known"),
        (count(State::Edited), "edited"),
        (count(State::Moved), "moved"),
        (verdict.stale.len(), "stale"),
        (verdict.unseen, "not looked at"),
    ];
    let numbers = numbers.iter().filter(|(count, _)| *count > 0);
    let numbers: Vec<String> = numbers.map(|(count, word)| format!("{count} {word}")).collect();
    let mut text = match verdict.entries.values().sum::<usize>() {
        0 => String::new(),
        1 => format!("{baseline}: 1 entry: {}\n", numbers.join(", ")),
        count => format!("{baseline}: {count} entries: {}\n", numbers.join(", ")),
    };
    for (rule, count) in report.counts() {
        match count.swapped() {
            0 => {}
            swapped => {
                text += &format!(
                    "swapped: {swapped} {rule} gone and {swapped} new: what is mended does not pay for what is new\n"
                );
            }
        }
    }
    if !verdict.stale.is_empty() && report.over().next().is_none() {
        text += "`cargo rideout baseline tighten` takes out what is stale\n";
    }
    for note in &verdict.notes {
        text += &format!("note: {note}\n");
    }
    text
}
