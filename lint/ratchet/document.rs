//! The file as it is written, text by text, so that what nobody changes stays as it is, comments and all.

use std::{collections::BTreeSet, ops::Range};

use super::{cursor::quoted, entry::Entry};

/// What the analysis sees. A release that sees more raises it, so that a baseline of the one before may grow once.
pub(crate) const ANALYSIS: u32 = 1;

const ABOUT: &str = "\
# What `cargo rideout` lets pass: one line for each finding that was there when the check was turned on.
# The list may only get shorter; `cargo rideout baseline tighten` takes out what has been mended.
";

/// A baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Document {
    /// All up to the last setting.
    pub(super) head: String,
    /// The places of the settings in the head.
    pub(super) settings: Settings,
    pub(super) tables: Vec<Table>,
    /// What follows the last table.
    pub(super) tail: String,
    /// The end of a line.
    pub(super) newline: &'static str,
}

/// What the head says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The version of the analysis that wrote it.
    pub(crate) analysis: u32,
    /// The rules that were known then.
    pub(crate) rules: BTreeSet<&'static str>,
    /// Why the list has grown, each time that it has.
    pub(crate) adopted: Vec<String>,
    pub(super) places: Places,
}

/// Where the settings stand: whole, from the key to the end of the value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) analysis: Range<usize>,
    pub(super) rules: Range<usize>,
    pub(super) adopted: Option<Range<usize>>,
}

/// The entries of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    /// Comments and blank lines before the header.
    pub(super) lead: String,
    /// The line of the header.
    pub(super) header: String,
    pub(super) file: String,
    pub(super) rows: Vec<Row>,
}

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Comments and blank lines before it.
    pub(super) lead: String,
    /// Its line.
    pub(super) text: String,
    /// Where the fingerprint stands in the line, with its quotes.
    pub(super) value: Range<usize>,
    pub(super) entry: Entry,
    /// Which of those with the same key it is, from 1.
    pub(super) number: usize,
    /// Its line in the file, from 1; 0 for one that has not been in a file yet.
    pub(super) line: usize,
}

impl Document {
    /// One without entries, as this analysis writes it, below the comments that there are already.
    pub(crate) fn new(comments: Option<&[u8]>) -> Self {
        let comments = comments.map(String::from_utf8_lossy).unwrap_or_default();
        let comments = comments.trim();
        let head = if comments.is_empty() { ABOUT.to_owned() } else { format!("{comments}\n") };
        let mut document = Self {
            head,
            settings: Settings::default(),
            tables: Vec::new(),
            tail: String::new(),
            newline: "\n",
        };
        let mut place = |text: &str| {
            let start = document.head.len();
            document.head += text;
            document.head.push('\n');
            start..start + text.len()
        };
        let places =
            Places { analysis: place(&analysis()), rules: place(&rules(&all_rules(), "\n")), adopted: None };
        document.settings = Settings { analysis: ANALYSIS, rules: all_rules(), adopted: Vec::new(), places };
        document
    }

    /// What its head says.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether it was written by an analysis that sees less than this one.
    pub(crate) fn is_older(&self) -> bool {
        self.settings.analysis < ANALYSIS || !self.settings.rules.is_superset(&all_rules())
    }

    /// Whether findings of a rule may be added: this analysis sees more of them than the one that wrote it.
    pub(crate) fn may_grow(&self, rule: &str) -> bool {
        self.settings.analysis < ANALYSIS || !self.settings.rules.contains(rule)
    }

    /// The entries in the order of the file.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.rows().map(|row| &row.entry)
    }

    /// The entries with their lines.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&Entry, usize)> {
        self.rows().map(|row| (&row.entry, row.line))
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.tables.iter().flat_map(|table| &table.rows)
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> String {
        let mut text = self.head.clone();
        for table in &self.tables {
            text += &table.lead;
            text += &table.header;
            for row in &table.rows {
                text += &row.lead;
                text += &row.text;
            }
        }
        text + &self.tail
    }

    /// Says that this analysis has written it, and why it has grown.
    pub(crate) fn adopt(&mut self, reason: &str) {
        let reason = format!("analysis {ANALYSIS}: {reason}");
        let mut changes = Vec::new();
        let places = self.settings.places.clone();
        let mut reasons = self.settings.adopted.clone();
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
        let list = list("adopted", reasons.iter().map(String::as_str), self.newline);
        match places.adopted {
            Some(place) => changes.push((place, list)),
            None => changes.push((places.rules.end..places.rules.end, format!("{}{list}", self.newline))),
        }
        if self.settings.analysis < ANALYSIS {
            changes.push((places.analysis, analysis()));
        }
        let rules_now: BTreeSet<&str> = self.settings.rules.union(&all_rules()).copied().collect();
        if rules_now != self.settings.rules {
            changes.push((places.rules, rules(&rules_now, self.newline)));
        }
        changes.sort_by_key(|(place, _)| (place.start, place.end));
        for (place, text) in changes.into_iter().rev() {
            self.head.replace_range(place, &text);
        }
    }
}

fn all_rules() -> BTreeSet<&'static str> {
    super::entry::rules().into_iter().collect()
}

fn analysis() -> String {
    format!("analysis = {ANALYSIS}")
}

fn rules(ids: &BTreeSet<&'static str>, newline: &str) -> String {
    list("rules", ids.iter().copied(), newline)
}

fn list<'a>(key: &str, items: impl Iterator<Item = &'a str>, newline: &str) -> String {
    let lines: String = items.map(|item| format!("    {},{newline}", quoted(item))).collect();
    format!("{key} = [{newline}{lines}]")
}
