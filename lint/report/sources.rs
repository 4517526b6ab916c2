//! From bytes to lines and columns. A byte-order mark counts as bytes and not as a column.

use std::{cell::OnceCell, ops::Range, sync::Arc};

use codespan_reporting::files::{self, Files};
use rideout_rules::model::Location;
use serde::Serialize;

use crate::analysis::FileText;

const BOM: &str = "\u{feff}";

/// The texts that locations point into.
#[derive(Debug)]
pub(crate) struct Sources {
    files: Vec<Source>,
}

#[derive(Debug)]
struct Source {
    path: String,
    whole: Arc<str>,
    /// The length of a byte-order mark.
    bom: usize,
    starts: OnceCell<Vec<usize>>,
}

/// A place for people and for machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Position {
    /// From 1.
    pub(crate) line: usize,
    /// From 1, in Unicode scalar values.
    pub(crate) column: usize,
    /// From 0.
    pub(crate) byte: usize,
}

impl Sources {
    /// Locations index this list.
    pub(crate) fn new(files: impl IntoIterator<Item = FileText>) -> Self {
        let source = |file: FileText| {
            let bom = if file.text.starts_with(BOM) { BOM.len() } else { 0 };
            Source { path: file.path, whole: file.text, bom, starts: OnceCell::new() }
        };
        Self { files: files.into_iter().map(source).collect() }
    }

    /// The path of a file, relative to the root.
    pub(crate) fn path(&self, file: u32) -> &str {
        self.files.get(file as usize).map_or("", |source| &source.path)
    }

    /// Whether there is anything to show of a file.
    pub(crate) fn has_text(&self, file: u32) -> bool {
        !self.text(file).is_empty()
    }

    /// A line from 1, without its indent; the start of the file if there is no such line.
    pub(crate) fn line(&self, file: u32, line: Option<u32>) -> Location {
        let nowhere = Location { file, start: 0, end: 0 };
        let Some(source) = self.files.get(file as usize) else { return nowhere };
        let index = line.map_or(0, |line| (line as usize).saturating_sub(1));
        let Some(&start) = source.starts().get(index) else { return nowhere };
        let shown = source.text().get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let start = source.bom + start + (shown.len() - shown.trim_start().len());
        let offset = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX);
        Location { file, start: offset(start), end: offset(start + shown.trim().len()) }
    }

    /// Where a location begins and ends.
    pub(crate) fn span(&self, location: Location) -> (Position, Position) {
        match self.files.get(location.file as usize) {
            Some(source) => {
                (source.position(location.start), source.position(location.end.max(location.start)))
            }
            None => (Position { line: 1, column: 1, byte: 0 }, Position { line: 1, column: 1, byte: 0 }),
        }
    }

    /// `path:line:column`.
    pub(super) fn place(&self, file: u32, Position { line, column, .. }: Position) -> String {
        format!("{}:{line}:{column}", self.path(file))
    }

    /// Where a location begins, as `path:line:column`.
    pub(super) fn place_of(&self, location: Location) -> String {
        self.place(location.file, self.span(location).0)
    }

    /// The bytes to underline: those of the location on its first line, in the text without a byte-order mark.
    pub(super) fn first_line(&self, location: Location) -> Range<usize> {
        let Some(source) = self.files.get(location.file as usize) else { return 0..0 };
        let start = source.clamp(location.start);
        let end = source.clamp(location.end).max(start);
        let shown = source.text().get(start..end).unwrap_or_default();
        let line = shown.lines().next().unwrap_or_default().trim_end();
        start..start + line.len()
    }

    /// The text of a file, without a byte-order mark.
    pub(super) fn text(&self, file: u32) -> &str {
        self.files.get(file as usize).map_or("", Source::text)
    }

    /// Where the line on which a location begins starts, in the text without a byte-order mark.
    pub(super) fn line_start(&self, location: Location) -> usize {
        self.files.get(location.file as usize).map_or(0, |source| {
            let line = source.line_index(source.clamp(location.start));
            source.starts().get(line).copied().unwrap_or_default()
        })
    }

    /// Where the line after the one on which a location begins starts, if the location goes that far.
    pub(super) fn next_line(&self, location: Location) -> Option<u32> {
        let source = self.files.get(location.file as usize)?;
        let line = source.line_index(source.clamp(location.start));
        let next = u32::try_from(source.starts().get(line + 1)? + source.bom).ok()?;
        (next < location.end).then_some(next)
    }

    /// The length of the line on which a location begins, in bytes.
    pub(super) fn line_length(&self, location: Location) -> usize {
        let id = location.file as usize;
        let line =
            self.line_index(id, self.first_line(location).start).and_then(|line| self.line_range(id, line));
        line.map_or(0, |line| line.len())
    }

    fn source(&self, id: usize) -> Result<&Source, files::Error> {
        self.files.get(id).ok_or(files::Error::FileMissing)
    }
}

impl Source {
    /// Without a byte-order mark.
    fn text(&self) -> &str {
        self.whole.get(self.bom..).unwrap_or_default()
    }

    /// An offset in `text`, on a character boundary.
    fn clamp(&self, byte: u32) -> usize {
        self.text().floor_char_boundary((byte as usize).saturating_sub(self.bom).min(self.text().len()))
    }

    fn starts(&self) -> &[usize] {
        self.starts.get_or_init(|| files::line_starts(self.text()).collect())
    }

    fn line_index(&self, offset: usize) -> usize {
        self.starts().partition_point(|start| *start <= offset).saturating_sub(1)
    }

    fn position(&self, byte: u32) -> Position {
        let offset = self.clamp(byte);
        let line = self.line_index(offset);
        let start = self.starts().get(line).copied().unwrap_or_default();
        let column = self.text().get(start..offset).unwrap_or_default().chars().count();
        Position { line: line + 1, column: column + 1, byte: offset + self.bom }
    }
}

impl<'f> Files<'f> for Sources {
    type FileId = usize;
    type Name = &'f str;
    type Source = &'f str;

    fn name(&'f self, id: usize) -> Result<&'f str, files::Error> {
        Ok(&Sources::source(self, id)?.path)
    }

    fn source(&'f self, id: usize) -> Result<&'f str, files::Error> {
        Ok(Sources::source(self, id)?.text())
    }

    fn line_index(&'f self, id: usize, byte: usize) -> Result<usize, files::Error> {
        Ok(Sources::source(self, id)?.line_index(byte))
    }

    fn line_range(&'f self, id: usize, line: usize) -> Result<Range<usize>, files::Error> {
        let source = Sources::source(self, id)?;
        let starts = source.starts();
        let given = files::Error::LineTooLarge { given: line, max: starts.len() };
        let start = *starts.get(line).ok_or(given)?;
        Ok(start..starts.get(line + 1).copied().unwrap_or(source.text().len()))
    }
}

#[cfg(test)]
mod tests {
    use rideout_rules::model::Location;

    use super::{Position, Sources};
    use crate::analysis::FileText;

    fn position(text: &str, byte: u32) -> Position {
        let file = FileText { path: "a.rs".into(), text: text.into() };
        Sources::new([file]).span(Location { file: 0, start: byte, end: byte }).0
    }

    #[test]
    fn columns_are_characters_and_bytes_are_bytes() {
        let text = "a\n\t\u{1f980}x\r\nb";
        assert_eq!(position(text, 2), Position { line: 2, column: 1, byte: 2 });
        assert_eq!(position(text, 7), Position { line: 2, column: 3, byte: 7 });
        assert_eq!(position(text, 10), Position { line: 3, column: 1, byte: 10 });
        assert_eq!(position(text, 99), Position { line: 3, column: 2, byte: 11 });
        assert_eq!(position(text, 5), Position { line: 2, column: 2, byte: 3 }, "inside a character");
        assert_eq!(position("", 3), Position { line: 1, column: 1, byte: 0 });
    }

    #[test]
    fn a_byte_order_mark_is_no_column() {
        assert_eq!(position("\u{feff}ab", 4), Position { line: 1, column: 2, byte: 4 });
        assert_eq!(position("\u{feff}#!x\nab", 8), Position { line: 2, column: 2, byte: 8 });
        assert_eq!(position("\u{feff}ab", 0), Position { line: 1, column: 1, byte: 3 });
    }

    #[test]
    fn only_the_first_line_is_underlined() {
        let file = FileText { path: "a.rs".into(), text: "\u{feff}loop {  \r\n}\n".into() };
        let sources = Sources::new([file]);
        assert_eq!(sources.first_line(Location { file: 0, start: 3, end: 14 }), 0..6);
        assert_eq!(sources.line_length(Location { file: 0, start: 3, end: 14 }), 10);
    }
}
