//! From a text to the baseline that it is. Whatever is not understood is a mistake with its line: a baseline that is only half read
//! would let things pass.

use std::collections::{BTreeSet, HashMap};

use super::{
    cursor::{Cursor, Mistake},
    document::{ANALYSIS, Document, Places, Row, Settings, Table},
    entry::{Entry, read_key, rules},
};

const BOM: char = '\u{feff}';

/// Reads a baseline.
///
/// # Errors
///
/// The first mistake.
pub(crate) fn read(bytes: &[u8]) -> Result<Document, Mistake> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        Mistake { line, reason: "no valid UTF-8".to_owned() }
    })?;
    if let Some(line) = text.lines().position(is_marker) {
        let reason = "a merge conflict; `cargo rideout baseline resolve` mends it".to_owned();
        return Err(Mistake { line: line + 1, reason });
    }
    if let Some(at) =
        text.find(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r')).or(bare_return(text))
    {
        let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        return Err(Mistake { line, reason: "a control character".to_owned() });
    }
    Reader { text, cursor: Cursor::new(text), lead: 0 }.document()
}

/// A carriage return that ends no line.
fn bare_return(text: &str) -> Option<usize> {
    text.match_indices('\r').map(|(at, _)| at).find(|at| text.as_bytes().get(at + 1) != Some(&b'\n'))
}

/// Whether a line is one of those that git puts around the two sides of a conflict.
pub(super) fn is_marker(line: &str) -> bool {
    let mark =
        |mark: &str| line.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    ["<<<<<<<", "|||||||", "=======", ">>>>>>>"].into_iter().any(mark)
}

struct Reader<'t> {
    text: &'t str,
    cursor: Cursor<'t>,
    /// Where the comments and blank lines before the cursor begin.
    lead: usize,
}

impl<'t> Reader<'t> {
    fn document(mut self) -> Result<Document, Mistake> {
        self.cursor.take(BOM);
        let settings = self.settings()?;
        let head = self.text.get(..self.lead).unwrap_or_default().to_owned();
        let mut tables: Vec<Table> = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        while self.skip_to_code() {
            let line = self.cursor.line;
            let table = self.table()?;
            if let Some(first) = seen.insert(table.file.clone(), line) {
                let reason = format!("a second table for `{}`; the first is in line {first}", table.file);
                return Err(Mistake { line, reason });
            }
            tables.push(table);
        }
        let tail = self.text.get(self.lead..).unwrap_or_default().to_owned();
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        Ok(Document { head, settings, tables, tail, newline })
    }

    /// Goes over comments and blank lines; tells whether there is anything behind them.
    fn skip_to_code(&mut self) -> bool {
        loop {
            self.cursor.blanks();
            if self.cursor.is_done() {
                return false;
            }
            let ahead = self.cursor.ahead();
            if !(ahead.is_empty() || ahead.starts_with('#')) {
                return true;
            }
            self.cursor.skip_line();
        }
    }

    /// The comments and blank lines that have been gone over, and from where on a line of code is to be kept.
    fn taken(&mut self, start: usize) -> (String, String) {
        let lead = self.text.get(self.lead..start).unwrap_or_default().to_owned();
        let line = self.text.get(start..self.cursor.at).unwrap_or_default().to_owned();
        self.lead = self.cursor.at;
        (lead, line)
    }

    fn settings(&mut self) -> Result<Settings, Mistake> {
        let (mut analysis, mut known, mut adopted) = (None, None, None);
        while self.skip_to_code() && self.cursor.peek() != Some('[') {
            let (start, line) = (self.cursor.at, self.cursor.line);
            let key = self.cursor.bare();
            self.cursor.blanks();
            let twice = match key {
                "analysis" => analysis.is_some(),
                "rules" => known.is_some(),
                "adopted" => adopted.is_some(),
                "" => {
                    return Err(self.cursor.mistake("neither a setting nor a table with the path of a file"));
                }
                _ => return Err(Mistake { line, reason: format!("an unknown key `{key}`") }),
            };
            if twice {
                return Err(Mistake { line, reason: format!("`{key}` is given twice") });
            }
            self.cursor.expect('=')?;
            self.cursor.blanks();
            match key {
                "analysis" => analysis = Some((self.version()?, start..self.cursor.at)),
                "rules" => known = Some((self.rules()?, start..self.cursor.at)),
                _ => {
                    let reasons = self.cursor.strings()?.into_iter().map(|(text, _)| text.into_owned());
                    adopted = Some((reasons.collect(), start..self.cursor.at));
                }
            }
            self.cursor.end_of_line()?;
            self.lead = self.cursor.at;
        }
        let missing = |key: &str| Mistake {
            line: 1,
            reason: format!("no `{key}`; `cargo rideout baseline init` writes a baseline"),
        };
        let (analysis, at_analysis) = analysis.ok_or_else(|| missing("analysis"))?;
        let (rules, at_rules) = known.ok_or_else(|| missing("rules"))?;
        let (adopted, at_adopted) = adopted.map_or((Vec::new(), None), |(list, at)| (list, Some(at)));
        let places = Places { analysis: at_analysis, rules: at_rules, adopted: at_adopted };
        Ok(Settings { analysis, rules, adopted, places })
    }

    fn version(&mut self) -> Result<u32, Mistake> {
        let digits = self.cursor.bare();
        match digits.parse::<u32>() {
            Ok(version) if version <= ANALYSIS && (digits == "0" || !digits.starts_with('0')) => Ok(version),
            Ok(version) if version > ANALYSIS => Err(self.cursor.mistake(format!(
                "analysis {version} is newer than this cargo-rideout, which has {ANALYSIS}; install the newer one"
            ))),
            _ => Err(self.cursor.mistake(format!("`{digits}` is no version of the analysis"))),
        }
    }

    fn rules(&mut self) -> Result<BTreeSet<&'static str>, Mistake> {
        let ids = rules();
        let mut known = BTreeSet::new();
        for (id, line) in self.cursor.strings()? {
            match ids.iter().find(|known| **known == id) {
                Some(id) if known.insert(*id) => {}
                Some(_) => return Err(Mistake { line, reason: format!("the rule `{id}` is listed twice") }),
                None => return Err(Mistake { line, reason: format!("there is no rule `{id}`") }),
            }
        }
        Ok(known)
    }

    fn table(&mut self) -> Result<Table, Mistake> {
        let start = self.cursor.at;
        if self.cursor.peek() != Some('[') {
            return Err(self.cursor.mistake("neither an entry nor a table with the path of a file"));
        }
        self.cursor.expect('[')?;
        self.cursor.blanks();
        let (file, _) = self.cursor.string()?;
        if let Some(fault) = fault_of_path(&file) {
            return Err(self.cursor.mistake(format!("the path `{file}` {fault}")));
        }
        self.cursor.blanks();
        self.cursor.expect(']')?;
        self.cursor.end_of_line()?;
        let (lead, header) = self.taken(start);
        let mut table = Table { lead, header, file: file.into_owned(), rows: Vec::new() };
        let mut seen: HashMap<String, usize> = HashMap::new();
        while self.skip_to_code() && matches!(self.cursor.peek(), Some('"' | '\'')) {
            let line = self.cursor.line;
            let (row, key) = self.row(&table.file)?;
            if let Some(first) = seen.insert(key, line) {
                let key = row.entry.key(row.number);
                return Err(Mistake {
                    line,
                    reason: format!("`{key}` is here twice; the first is in line {first}"),
                });
            }
            table.rows.push(row);
        }
        if self.cursor.peek().is_some_and(|c| c != '[') {
            let key = self.cursor.bare();
            return Err(self
                .cursor
                .mistake(format!("an unknown key `{key}`; an entry is `\"rule item\" = \"fingerprint\"`")));
        }
        Ok(table)
    }

    fn row(&mut self, file: &str) -> Result<(Row, String), Mistake> {
        let (start, line) = (self.cursor.at, self.cursor.line);
        let (key, _) = self.cursor.string()?;
        let (plain, rule, item, number) = read_key(&key).map_err(|reason| Mistake { line, reason })?;
        self.cursor.blanks();
        self.cursor.expect('=')?;
        self.cursor.blanks();
        let (print, place) = self.cursor.string()?;
        if print.len() != 8 || !print.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(self.cursor.mistake(format!("`{print}` is no fingerprint of eight digits")));
        }
        self.cursor.end_of_line()?;
        let entry = Entry {
            file: file.to_owned(),
            plain,
            rule,
            item: item.to_owned(),
            fingerprint: print.into_owned(),
        };
        let key = key.into_owned();
        let (lead, text) = self.taken(start);
        Ok((Row { lead, text, value: place.start - start..place.end - start, entry, number, line }, key))
    }
}

/// What is wrong with the path of a file, as a predicate.
fn fault_of_path(path: &str) -> Option<&'static str> {
    let drive = path.as_bytes().get(1) == Some(&b':');
    if path.starts_with(['/', '\\']) || drive {
        return Some("is absolute; it must start from the folder of the baseline");
    }
    let mut parts = path.split('/');
    if parts.clone().any(|part| part == "..") {
        return Some("leaves the folder of the baseline");
    }
    if parts.any(|part| part.is_empty() || part == ".") {
        return Some("is not in its shortest form");
    }
    (!path.ends_with(".rs")).then_some("is not that of a Rust file")
}
