//! The commands that look at the code and write the baseline.

use std::{fs, io::Write};

use anyhow::{Result, bail};

use super::{amount, cwd, existing};
use crate::{
    Exit, analyse,
    analysis::Analysis,
    cli::RecordArgs,
    deliver,
    ratchet::{self, Comparison, Document, Entry, Place},
    workspace::Workspace,
};

/// A line for people, unless they want none.
fn say(args: &RecordArgs, stdout: &mut dyn Write, exit: Exit, line: &str) -> Result<Exit> {
    deliver(stdout, exit, |out| if args.scope.quiet { Ok(()) } else { writeln!(out, "{line}") })
}

/// A sentence on why nothing was written.
fn refuse(stderr: &mut dyn Write, sentence: &str) -> Exit {
    let _ = writeln!(stderr, "error: {sentence}");
    Exit::Findings
}

/// A baseline that does not see a file would call its findings mended, or new later on.
fn unread(analysis: &Analysis, shown: &str, stderr: &mut dyn Write) -> Option<Exit> {
    let first = analysis.unread.first()?;
    let more = match analysis.unread.len() {
        1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    let line = first.line.map_or(String::new(), |line| format!(":{line}"));
    let sentence = format!(
        "`{shown}` is left as it is, because a file could not be read: {}{line}: {}{more}",
        first.path, first.reason
    );
    Some(refuse(stderr, &sentence))
}

/// Refuses findings that no entry can name.
fn within(workspace: &Workspace, analysis: &Analysis, place: &Place) -> Result<()> {
    match ratchet::outside(workspace, analysis, place) {
        None => Ok(()),
        Some(file) => bail!(
            "`{file}` has a finding and lies outside of the folder of `{}`; name a baseline in a folder above both \
             with `--baseline`",
            place.shown
        ),
    }
}

pub(super) fn init(args: &RecordArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> Result<Exit> {
    let (workspace, analysis) = analyse(&args.scope, "Recording", stderr)?;
    let place = Place::create(&workspace.root, &cwd()?, args.file.baseline.as_deref())?;
    let shown = &place.shown;
    let before = match fs::read(&place.path) {
        Ok(bytes) if ratchet::is_blank(&bytes) => Some(bytes),
        Ok(_) => {
            bail!("`{shown}` is there already; `cargo rideout baseline tighten` takes out what is mended")
        }
        Err(_) => None,
    };
    if let Some(exit) = unread(&analysis, shown, stderr) {
        return Ok(exit);
    }
    within(&workspace, &analysis, &place)?;
    let found = ratchet::found(&workspace, &analysis, &place);
    let entries: Vec<Entry> =
        found.into_iter().filter(|found| found.counts(args.pedantic)).map(|found| found.entry).collect();
    let mut document = Document::new(before.as_deref());
    let count = entries.len();
    document.rewrite([], entries);
    ratchet::save(&place.path, before.as_deref(), &document.text())?;
    say(args, stdout, Exit::Clean, &format!("{shown}: {} recorded", amount(count)))
}

pub(super) fn tighten(args: &RecordArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> Result<Exit> {
    let (workspace, analysis) = analyse(&args.scope, "Tightening", stderr)?;
    let place = existing(&workspace.root, &args.file)?;
    let (document, bytes) = place.read()?;
    let shown = &place.shown;
    if let Some(exit) = unread(&analysis, shown, stderr) {
        return Ok(exit);
    }
    within(&workspace, &analysis, &place)?;
    let comparison = Comparison::new(&workspace, &analysis, &place, &document);
    let new = comparison.new_ones(args.pedantic).len();
    if new > 0 {
        return Ok(refuse(
            stderr,
            &format!(
                "`{shown}` is left as it is, because {} not in it: `cargo rideout check` shows what is new",
                are(new)
            ),
        ));
    }
    let tightened = comparison.tightened(&document, Vec::new(), true);
    let text = tightened.text();
    let (out, left) = (comparison.verdict().stale.len(), tightened.entries().count());
    if text.as_bytes() == bytes {
        return say(
            args,
            stdout,
            Exit::Clean,
            &format!("{shown}: nothing to tighten; {} left", amount(left)),
        );
    }
    ratchet::save(&place.path, Some(&bytes), &text)?;
    let followed = match comparison.followed() {
        0 => String::new(),
        count => format!(", {count} edited or moved"),
    };
    say(
        args,
        stdout,
        Exit::Clean,
        &format!("{shown}: {} taken out{followed}; {} left", amount(out), amount(left)),
    )
}

pub(super) fn adopt(
    args: &RecordArgs,
    reason: Option<&str>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<Exit> {
    if reason.is_some_and(|reason| !reason.contains(char::is_alphanumeric) || reason.contains(['\n', '\r'])) {
        bail!("`--reason` must say why, in one line");
    }
    let (workspace, analysis) = analyse(&args.scope, "Adopting", stderr)?;
    let place = existing(&workspace.root, &args.file)?;
    let (document, bytes) = place.read()?;
    let shown = &place.shown;
    if let Some(exit) = unread(&analysis, shown, stderr) {
        return Ok(exit);
    }
    within(&workspace, &analysis, &place)?;
    let comparison = Comparison::new(&workspace, &analysis, &place, &document);
    let new: Vec<Entry> =
        comparison.new_ones(args.pedantic).into_iter().map(|found| found.entry.clone()).collect();
    let refused = new.iter().filter(|entry| entry.plain && !document.may_grow(entry.rule)).count();
    if refused > 0 {
        return Ok(refuse(
            stderr,
            &format!(
                "`{shown}` is left as it is: {} new and not found by a newer analysis, but come with the code. \
                 Mend the watch, or allow it with a comment and a reason",
                are(refused)
            ),
        ));
    }
    if new.is_empty() && !document.is_older() {
        return say(args, stdout, Exit::Clean, &format!("{shown}: nothing to adopt"));
    }
    let (count, grows) = (new.len(), document.is_older() || new.iter().any(|entry| entry.plain));
    let mut adopted = comparison.tightened(&document, new, false);
    if grows {
        let Some(reason) = reason else { bail!("`--reason` must say why the list may grow") };
        adopted.adopt(reason);
    }
    ratchet::save(&place.path, Some(&bytes), &adopted.text())?;
    let left = amount(adopted.entries().count());
    say(args, stdout, Exit::Clean, &format!("{shown}: {} adopted; {left} now", amount(count)))
}

fn are(count: usize) -> String {
    if count == 1 { "1 finding is".to_owned() } else { format!("{count} findings are") }
}
