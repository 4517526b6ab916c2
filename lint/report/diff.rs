//! What has changed between two baselines, for people, for a pull request and for machines.

use std::io::{self, Write};

use serde::Serialize;

use super::json;
use crate::ratchet::{Admitted, Change, Entry};

/// One line a change: `-` gone, `~` written in another way, `+` come.
pub(crate) fn diff(change: &Change, out: &mut dyn Write) -> io::Result<()> {
    for entry in &change.removed {
        writeln!(out, "- {}", entry.shown())?;
    }
    for (before, after) in &change.changed {
        writeln!(out, "~ {}", changed(before, after))?;
    }
    for (entry, _, admitted) in &change.added {
        writeln!(out, "+ {} ({})", entry.shown(), word(*admitted))?;
    }
    for sentence in &change.loosened {
        writeln!(out, "! {sentence}")?;
    }
    writeln!(out, "{}", summary(change))
}

/// A list for a comment on a pull request.
pub(crate) fn diff_markdown(change: &Change, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "**Baseline: {}**", summary(change))?;
    let mut lines: Vec<String> = Vec::new();
    lines.extend(change.removed.iter().map(|entry| format!("- mended: `{}`", entry.shown())));
    lines.extend(
        change.changed.iter().map(|(before, after)| format!("- changed: `{}`", changed(before, after))),
    );
    lines.extend(
        change.added.iter().map(|(entry, _, admitted)| format!("- {}: `{}`", word(*admitted), entry.shown())),
    );
    lines.extend(change.loosened.iter().map(|sentence| format!("- loosened: {sentence}")));
    if !lines.is_empty() {
        writeln!(out, "\n{}", lines.join("\n"))?;
    }
    Ok(())
}

fn changed(before: &Entry, after: &Entry) -> String {
    if before.file == after.file && before.place() == after.place() {
        format!("{} ({} -> {})", after.shown(), before.fingerprint, after.fingerprint)
    } else {
        format!("{} -> {}", before.shown(), after.shown())
    }
}

fn word(admitted: Admitted) -> &'static str {
    match admitted {
        Admitted::No => "raised",
        Admitted::Allowed => "allowed",
        Admitted::Adopted => "adopted",
    }
}

fn summary(change: &Change) -> String {
    let Change { removed, changed, added, .. } = change;
    if removed.is_empty() && changed.is_empty() && added.is_empty() {
        return "no entry has changed".to_owned();
    }
    format!("{} gone, {} changed, {} come", removed.len(), changed.len(), added.len())
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    removed: Vec<EntryRow<'a>>,
    changed: Vec<ChangedRow<'a>>,
    added: Vec<AddedRow<'a>>,
    loosened: &'a [String],
}

/// An entry of a baseline.
#[derive(Serialize)]
pub(super) struct EntryRow<'a> {
    file: &'a str,
    rule: &'static str,
    item: &'a str,
    fingerprint: &'a str,
    allowed: bool,
}

#[derive(Serialize)]
struct ChangedRow<'a> {
    before: EntryRow<'a>,
    after: EntryRow<'a>,
}

#[derive(Serialize)]
struct AddedRow<'a> {
    #[serde(flatten)]
    entry: EntryRow<'a>,
    admitted: Option<&'static str>,
}

impl<'a> EntryRow<'a> {
    pub(super) fn new(entry: &'a Entry) -> Self {
        let Entry { file, plain, rule, item, fingerprint } = entry;
        Self { file, rule, item, fingerprint, allowed: !plain }
    }
}

/// The same for machines.
pub(crate) fn diff_json(change: &Change, out: &mut dyn Write) -> io::Result<()> {
    let changed = change.changed.iter();
    let added = change.added.iter().map(|(entry, _, admitted)| AddedRow {
        entry: EntryRow::new(entry),
        admitted: (*admitted != Admitted::No).then(|| word(*admitted)),
    });
    json::write(
        out,
        &Document {
            version: json::VERSION,
            removed: change.removed.iter().map(EntryRow::new).collect(),
            changed: changed
                .map(|(before, after)| ChangedRow {
                    before: EntryRow::new(before),
                    after: EntryRow::new(after),
                })
                .collect(),
            added: added.collect(),
            loosened: &change.loosened,
        },
    )
}
