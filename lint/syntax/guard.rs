//! Looks at a file's text before the parser does: a parser that recurses must not meet a hundred thousand parentheses, and one that
//! makes an attribute of each doc comment need not see them.

use std::ops::Range;

/// Deepest nesting of brackets, and longest row of prefix operators, that is handed to the parser.
const DEEPEST: usize = 400;

/// The text with every comment made of spaces, so that each byte stays where it is.
///
/// # Errors
///
/// The line (from 1) on which the code nests too deep. Strings and comments do not count.
pub(super) fn code(text: &str) -> Result<String, u32> {
    let mut scanner = Scanner::new(text);
    let mut depth = 0_usize;
    let mut prefixes = 0_usize;
    while let Some(byte) = scanner.next_code() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        prefixes = match byte {
            b'!' | b'-' | b'*' | b'&' => prefixes + 1,
            _ if byte.is_ascii_whitespace() => prefixes,
            _ => 0,
        };
        if depth > DEEPEST || prefixes > DEEPEST {
            let lines = scanner.bytes[..scanner.at].iter().filter(|byte| **byte == b'\n').count();
            return Err(u32::try_from(lines + 1).unwrap_or(u32::MAX));
        }
    }
    let mut code = String::with_capacity(text.len());
    let mut copied = 0;
    for comment in scanner.comments {
        code.push_str(&text[copied..comment.start]);
        code.extend(
            text.as_bytes()[comment.clone()].iter().map(|byte| if *byte == b'\n' { '\n' } else { ' ' }),
        );
        copied = comment.end;
    }
    code.push_str(&text[copied..]);
    Ok(code)
}

/// Walks over the bytes of a text that are code.
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    /// The byte after the last one given.
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

    /// The next byte that is neither in a comment nor in a literal.
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

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn depth_is_bounded_with_its_line() {
        assert!(code("fn main() { ((())) }").is_ok());
        assert_eq!(code(&format!("\n\n{}", "(".repeat(100_000))), Err(3));
        assert_eq!(code(&format!("const A: bool = {}true;", "!".repeat(100_000))), Err(1));
    }

    #[test]
    fn text_that_is_no_code_does_not_count() {
        let brackets = "[({".repeat(1_000);
        for text in [
            format!("// {brackets}\nfn a() {{}}"),
            format!("/* /* {brackets} */ {brackets} */"),
            format!("const A: &str = \"{brackets}\\\"{brackets}\";"),
            format!("const A: &str = r#\"{brackets}\"{brackets}\"#;"),
            "'('".repeat(1_000),
            r"'\''".repeat(1_000),
        ] {
            assert!(code(&text).is_ok(), "{text:.40}");
        }
        assert!(code(&format!("fn a<'a>(b: &'a str) {{ r#type; {}", "(".repeat(1_000))).is_err());
    }

    #[test]
    fn comments_become_spaces_and_nothing_moves() {
        let blank = |text: &str| code(text).unwrap();
        assert_eq!(blank("/// é\nfn a() {} // b"), "      \nfn a() {}     ");
        assert_eq!(
            blank("/* a\n/* b */ */ const A: &str = \"// c\";"),
            "    \n           const A: &str = \"// c\";"
        );
        assert_eq!(blank("const A: char = '/'; //! d"), "const A: char = '/';      ");
        assert_eq!(blank("fn a() {} /* no end"), "fn a() {} /* no end");
    }
}
