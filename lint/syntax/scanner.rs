//! Walks over a text and leaves out what is no code.

use std::ops::Range;

/// Walks over the bytes of a text that are code.
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    /// Behind the last byte that was given.
    pub(super) at: usize,
    /// The comments that were passed.
    pub(super) comments: Vec<Range<usize>>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), at: 0, comments: Vec::new() }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// The next byte that is in no comment, string or character.
    pub(super) fn next_code(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            match (byte, self.peek(1)) {
                (b'/', b'/') => {
                    let start = self.at;
                    self.skip_until(|scanner| scanner.peek(0) == b'\n');
                    self.comments.push(start..self.at);
                }
                (b'/', b'*') => self.skip_comment(),
                (b'"', _) => self.skip_string(),
                (b'r', b'"' | b'#') if !self.inside_name() => {
                    if !self.skip_raw_string() {
                        self.at += 1;
                        return Some(byte);
                    }
                }
                (b'\'', _) => self.skip_char(),
                _ => {
                    self.at += 1;
                    return Some(byte);
                }
            }
        }
    }

    fn inside_name(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.bytes.get(at)).copied().unwrap_or(0);
        (before.is_ascii_alphanumeric() || before == b'_') && before != b'b' && before != b'c'
    }

    fn skip_until(&mut self, done: impl Fn(&Self) -> bool) {
        while self.at < self.bytes.len() && !done(self) {
            self.at += 1;
        }
    }

    /// Skips a comment in `/*`. One without an end is left to the parser, which rejects it.
    fn skip_comment(&mut self) {
        let start = self.at;
        let mut open = 0_usize;
        while self.at < self.bytes.len() {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') => {
                    open += 1;
                    self.at += 2;
                }
                (b'*', b'/') => {
                    open -= 1;
                    self.at += 2;
                    if open == 0 {
                        self.comments.push(start..self.at);
                        return;
                    }
                }
                _ => self.at += 1,
            }
        }
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b'\\' => self.at += 2,
                b'"' => {
                    self.at += 1;
                    return;
                }
                _ => self.at += 1,
            }
        }
    }

    /// Skips `r"..."`, `r#"..."#`; tells whether there was one (and no raw identifier).
    fn skip_raw_string(&mut self) -> bool {
        let hashes = self.bytes[self.at + 1..].iter().take_while(|byte| **byte == b'#').count();
        if self.peek(1 + hashes) != b'"' {
            return false;
        }
        self.at += 2 + hashes;
        let end: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
        self.skip_until(|scanner| scanner.bytes[scanner.at..].starts_with(&end));
        self.at += end.len();
        true
    }

    /// Skips a character literal; a lifetime is left with its quote skipped.
    fn skip_char(&mut self) {
        let escaped = self.peek(1) == b'\\';
        let width = self.bytes.get(self.at + 1).map_or(1, |first| match first {
            0xF0.. => 4,
            0xE0.. => 3,
            0xC0.. => 2,
            _ => 1,
        });
        if escaped {
            self.at += 3;
            self.skip_until(|scanner| matches!(scanner.peek(0), b'\'' | b'\n'));
            self.at += 1;
        } else if self.peek(1 + width) == b'\'' {
            self.at += width + 2;
        } else {
            self.at += 1;
        }
    }
}
