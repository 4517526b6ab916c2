//! Takes entries out of a baseline, rewrites them and adds some, and leaves every other byte as it is.
//!
//! A comment directly above an entry or a table goes where that goes, and so does one inside of a table that goes. Every other comment
//! stays.

use std::{collections::HashMap, mem};

use super::{
    cursor::quoted,
    document::{Document, Row, Table},
    entry::Entry,
};

/// What becomes of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It stays as it is.
    Keep,
    /// It goes.
    Drop,
    /// It becomes another.
    Become(Entry),
}

impl Document {
    /// Gives each entry its fate, in the order of the file, and adds new ones.
    pub(crate) fn rewrite(&mut self, fates: impl IntoIterator<Item = Fate>, added: Vec<Entry>) {
        let mut fates = fates.into_iter();
        let mut moved = Vec::new();
        let mut carried = String::new();
        let mut tables = Vec::with_capacity(self.tables.len());
        for mut table in mem::take(&mut self.tables) {
            let mut leaving = Vec::new();
            let behind = keep_rows(&mut table, &mut fates, &mut leaving);
            if table.rows.is_empty() && !leaving.is_empty() {
                let (free, own) = split(&table.lead);
                carried += free.strip_suffix(self.newline).unwrap_or(free);
                moved.extend(leaving.into_iter().flatten().map(|row| (row, own.to_owned())));
            } else {
                table.lead.insert_str(0, &mem::replace(&mut carried, behind));
                moved.extend(leaving.into_iter().flatten().map(|row| (row, String::new())));
                tables.push(table);
            }
        }
        self.tail.insert_str(0, &carried);
        self.tables = tables;
        moved.extend(added.into_iter().map(|entry| (Row::new(entry), String::new())));
        moved.sort_by(|(left, _), (right, _)| left.entry.cmp(&right.entry));
        self.insert(moved);
    }

    /// Puts rows, with the comments of the tables they came from, to their places.
    fn insert(&mut self, rows: Vec<(Row, String)>) {
        let newline = self.newline;
        let mut new: Vec<Table> = Vec::new();
        let index: HashMap<String, usize> =
            self.tables.iter().enumerate().map(|(index, table)| (table.file.clone(), index)).collect();
        for (row, comment) in rows {
            if let Some(index) = index.get(&row.entry.file) {
                self.tables[*index].insert(row, newline);
                continue;
            }
            if new.last().is_none_or(|table| table.file != row.entry.file) {
                let file = row.entry.file.clone();
                let header = format!("[{}]{newline}", quoted(&file));
                new.push(Table { lead: format!("{newline}{comment}"), header, file, rows: Vec::new() });
            }
            if let Some(table) = new.last_mut() {
                table.insert(row, newline);
            }
        }
        if new.is_empty() {
            return;
        }
        match self.tables.last_mut() {
            Some(last) => last.end_line(newline),
            None if !self.head.ends_with('\n') => self.head += newline,
            None => {}
        }
        let mut tables = Vec::with_capacity(self.tables.len() + new.len());
        let mut new = new.into_iter().peekable();
        for table in mem::take(&mut self.tables) {
            while let Some(earlier) = new.next_if(|earlier| earlier.file < table.file) {
                tables.push(earlier);
            }
            tables.push(table);
        }
        tables.extend(new);
        self.tables = tables;
    }
}

/// Keeps the rows of a table that are to stay in it. For each that is not, `leaving` gets what is to go elsewhere, if anything.
/// Gives the comments that are left over at the end.
fn keep_rows(
    table: &mut Table,
    fates: &mut impl Iterator<Item = Fate>,
    leaving: &mut Vec<Option<Row>>,
) -> String {
    let mut carried = String::new();
    let mut rows: Vec<Row> = Vec::new();
    for mut row in mem::take(&mut table.rows) {
        let fate = fates.next().unwrap_or(Fate::Keep);
        match fate {
            Fate::Keep => {}
            Fate::Become(entry) if entry.file == row.entry.file && entry.place() == row.entry.place() => {
                row.text.replace_range(row.value.clone(), &quoted(&entry.fingerprint));
                row.entry = entry;
            }
            Fate::Drop => {
                let (free, own) = split(&row.lead);
                carried += free;
                // What stands directly below the header may speak of the whole file.
                carried += if rows.is_empty() && leaving.is_empty() { own } else { "" };
                leaving.push(None);
                continue;
            }
            Fate::Become(entry) => {
                let (free, own) = split(&row.lead);
                carried += free;
                let tail = row.text.get(row.value.end..).unwrap_or_default().trim_end().to_owned();
                leaving.push(Some(Row { lead: own.to_owned(), text: tail, ..Row::new(entry) }));
                continue;
            }
        }
        row.lead.insert_str(0, &mem::take(&mut carried));
        rows.push(row);
    }
    table.rows = rows;
    carried
}

impl Table {
    /// Puts a row to its place and gives it its key. Its text is what follows the entry on the line.
    fn insert(&mut self, mut row: Row, newline: &str) {
        let alike = |other: &&Row| other.entry.place() == row.entry.place();
        let used: Vec<usize> = self.rows.iter().filter(alike).map(|row| row.number).collect();
        row.number = (1..).find(|number| !used.contains(number)).unwrap_or(usize::MAX);
        let start = quoted(&row.entry.key(row.number)) + " = ";
        let value = quoted(&row.entry.fingerprint);
        row.value = start.len()..start.len() + value.len();
        row.text = format!("{start}{value}{}{newline}", row.text);
        self.end_line(newline);
        let later = |other: &Row| (other.entry.place(), other.number) > (row.entry.place(), row.number);
        let at = self.rows.iter().position(later).unwrap_or(self.rows.len());
        self.rows.insert(at, row);
    }

    /// Ends the last line, which in the last line of a file may be open.
    fn end_line(&mut self, newline: &str) {
        let last = self.rows.last_mut().map_or(&mut self.header, |row| &mut row.text);
        if !last.ends_with('\n') {
            *last += newline;
        }
    }
}

impl Row {
    fn new(entry: Entry) -> Self {
        Self { lead: String::new(), text: String::new(), value: 0..0, entry, number: 1, line: 0 }
    }
}

/// The comments before a line: those that are free of it, and those directly above it.
fn split(lead: &str) -> (&str, &str) {
    let end = lead.rfind('\n').map_or(0, |end| end + 1);
    let lead = lead.get(..end).unwrap_or_default();
    let comments = lead.split_inclusive('\n').rev().take_while(|line| !line.trim().is_empty());
    lead.split_at(lead.len() - comments.map(str::len).sum::<usize>())
}
