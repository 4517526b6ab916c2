//! The little of TOML that a baseline is made of, read with line numbers: keys, strings, integers, lists of strings, tables.

use std::{borrow::Cow, ops::Range};

/// A mistake in a baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// From 1.
    pub(crate) line: usize,
    /// One clause without a final dot.
    pub(crate) reason: String,
}

/// Reads a text from its start to its end.
#[derive(Debug)]
pub(super) struct Cursor<'t> {
    text: &'t str,
    pub(super) at: usize,
    pub(super) line: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, line: 1 }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn is_done(&self) -> bool {
        self.at >= self.text.len()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The line that the cursor stands in, from there on, without its end.
    pub(super) fn ahead(&self) -> &'t str {
        self.rest().split('\n').next().unwrap_or_default().trim_end_matches('\r')
    }

    pub(super) fn mistake(&self, reason: impl Into<String>) -> Mistake {
        Mistake { line: self.line, reason: reason.into() }
    }

    /// Takes a character if it comes next.
    pub(super) fn take(&mut self, wanted: char) -> bool {
        let there = self.rest().starts_with(wanted);
        self.at += if there { wanted.len_utf8() } else { 0 };
        there
    }

    pub(super) fn expect(&mut self, wanted: char) -> Result<(), Mistake> {
        if self.take(wanted) { Ok(()) } else { Err(self.mistake(format!("a `{wanted}` is missing"))) }
    }

    pub(super) fn blanks(&mut self) {
        self.at += self.rest().bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    }

    /// Takes the rest of a line, which may only be a comment, with its end.
    pub(super) fn end_of_line(&mut self) -> Result<(), Mistake> {
        self.blanks();
        let ahead = self.ahead();
        if !(ahead.is_empty() || ahead.starts_with('#')) {
            return Err(self.mistake(format!("`{}` is too much", ahead.trim_end())));
        }
        self.skip_line();
        Ok(())
    }

    /// Takes the rest of a line with its end, whatever it is.
    pub(super) fn skip_line(&mut self) {
        let rest = self.rest();
        match rest.find('\n') {
            Some(end) => {
                self.at += end + 1;
                self.line += 1;
            }
            None => self.at += rest.len(),
        }
    }

    /// A key without quotes.
    pub(super) fn bare(&mut self) -> &'t str {
        let rest = self.rest();
        let is_bare = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let length = rest.bytes().take_while(|byte| is_bare(byte)).count();
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// A string on one line, and where it stands with its quotes.
    pub(super) fn string(&mut self) -> Result<(Cow<'t, str>, Range<usize>), Mistake> {
        let start = self.at;
        let quote = match self.peek() {
            Some(quote @ ('"' | '\'')) => quote,
            _ => return Err(self.mistake("a string in quotes is missing")),
        };
        self.at += 1;
        let rest = self.ahead();
        let end = closing(rest, quote).ok_or_else(|| self.mistake("a string without its closing quote"))?;
        let raw = rest.get(..end).unwrap_or_default();
        self.at += end + 1;
        let text = if quote == '"' && raw.contains('\\') {
            Cow::Owned(unescaped(raw).ok_or_else(|| self.mistake("an escape that TOML does not have"))?)
        } else {
            Cow::Borrowed(raw)
        };
        Ok((text, start..self.at))
    }

    /// A list of strings, over several lines or on one.
    pub(super) fn strings(&mut self) -> Result<Vec<(Cow<'t, str>, usize)>, Mistake> {
        self.expect('[')?;
        let mut found = Vec::new();
        loop {
            self.space()?;
            if self.take(']') {
                return Ok(found);
            }
            found.push((self.string()?.0, self.line));
            self.space()?;
            if !self.take(',') {
                self.expect(']')?;
                return Ok(found);
            }
        }
    }

    /// White space, line ends and comments.
    fn space(&mut self) -> Result<(), Mistake> {
        loop {
            self.blanks();
            match self.peek() {
                Some('\n' | '\r' | '#') => self.skip_line(),
                Some(_) => return Ok(()),
                None => return Err(self.mistake("a list without its closing bracket")),
            }
        }
    }
}

/// Where the closing quote stands.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == quote {
            return Some(at);
        } else {
            escaped = c == '\\' && quote == '"';
        }
    }
    None
}

fn unescaped(raw: &str) -> Option<String> {
    let mut text = String::new();
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        let digits = match chars.next()? {
            'b' => Err('\u{8}'),
            't' => Err('\t'),
            'n' => Err('\n'),
            'f' => Err('\u{c}'),
            'r' => Err('\r'),
            'e' => Err('\u{1b}'),
            '"' => Err('"'),
            '\\' => Err('\\'),
            'x' => Ok(2),
            'u' => Ok(4),
            'U' => Ok(8),
            _ => return None,
        };
        text.push(match digits {
            Err(plain) => plain,
            Ok(digits) => {
                let number: String = chars.by_ref().take(digits).collect();
                let number = u32::from_str_radix(&number, 16).ok().filter(|_| number.len() == digits);
                char::from_u32(number?)?
            }
        });
    }
    Some(text)
}

/// A string as TOML has it.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\t' => out += "\\t",
            '\r' => out += "\\r",
            c if c.is_control() => out += &format!("\\u{:04X}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::{Cursor, quoted};

    #[test]
    fn strings_come_back_and_are_tomls() {
        for text in ["src/a.rs", "a \"b\" \\ c", "tab\there\nand\u{7f}\u{1f980}", ""] {
            let written = quoted(text);
            let mut cursor = Cursor::new(&written);
            let (read, place) = cursor.string().unwrap();
            assert_eq!((read.as_ref(), place), (text, 0..written.len()));
            let toml: toml::Table = format!("a = {written}").parse().unwrap();
            assert_eq!(toml["a"].as_str(), Some(text));
        }
    }

    #[test]
    fn a_string_ends_on_its_line() {
        assert_eq!(Cursor::new("'a\\'").string().unwrap().0, "a\\");
        assert!(Cursor::new("\"a\nb\"").string().is_err());
        assert!(Cursor::new("\"\\q\"").string().is_err());
    }

    #[test]
    fn lists_may_span_lines() {
        let mut cursor = Cursor::new("[ 'a', # one\n  \"b\",\n]x");
        let found: Vec<_> =
            cursor.strings().unwrap().into_iter().map(|(text, line)| (text.into_owned(), line)).collect();
        assert_eq!(found, [("a".to_owned(), 1), ("b".to_owned(), 2)]);
        assert!(cursor.end_of_line().is_err());
        assert!(Cursor::new("['a' 'b']").strings().is_err());
    }
}
