//! What can be told of a file before it is parsed: its comments, its nesting, and where the bodies of its functions are.

use std::{collections::HashMap, ops::Range};

use super::scanner::Scanner;

/// Deepest nesting of brackets, and longest row of prefix operators, that is handed to the parser.
const DEEPEST: usize = 400;

/// A file's code with the bodies of its functions marked.
pub(super) struct Outline {
    /// The text with every comment made of spaces, so that each byte stays where it is.
    pub(super) code: String,
    /// The functions that are not inside others, in order.
    functions: Vec<Function>,
}

struct Function {
    name: Range<usize>,
    /// From the name to the end of the body.
    whole: Range<usize>,
    /// What is between the braces.
    body: Range<usize>,
    /// Whether the body declares items, which the code around it may need.
    items: bool,
}

impl Outline {
    /// Looks at a text.
    ///
    /// # Errors
    ///
    /// The line (from 1) on which the code nests too deep. Strings and comments do not count.
    pub(super) fn new(text: &str) -> Result<Self, u32> {
        let mut reader = Reader::new(text);
        let too_deep = |scanner: &Scanner<'_>| {
            let lines = text.as_bytes()[..scanner.at].iter().filter(|byte| **byte == b'\n').count();
            u32::try_from(lines + 1).unwrap_or(u32::MAX)
        };
        while let Some(byte) = reader.scanner.next_code() {
            reader.read(byte);
            if reader.depth > DEEPEST || reader.prefixes > DEEPEST {
                return Err(too_deep(&reader.scanner));
            }
        }
        let code = blanked(text, &reader.scanner.comments);
        Ok(Self { code, functions: reader.functions })
    }

    /// The code without the bodies that nothing points at: those of functions in which `wanted` sees nothing, and that name no
    /// function of this file in which it does.
    pub(super) fn pruned(&self, wanted: &dyn Fn(&str) -> bool, common: &dyn Fn(&str) -> bool) -> String {
        let mut live: Vec<bool> = self
            .functions
            .iter()
            .map(|function| function.items || wanted(&self.code[function.whole.clone()]))
            .collect();
        if live.iter().any(|live| *live) && !live.iter().all(|live| *live) {
            self.spread(&mut live, common);
        }
        let dead: Vec<Range<usize>> = self
            .functions
            .iter()
            .zip(live)
            .filter(|(_, live)| !live)
            .map(|(function, _)| function.body.clone())
            .collect();
        blanked(&self.code, &dead)
    }

    /// Whoever names a live function is live.
    fn spread(&self, live: &mut [bool], common: &dyn Fn(&str) -> bool) {
        let mut callers: HashMap<&str, Vec<usize>> = HashMap::new();
        for function in &self.functions {
            let name = &self.code[function.name.clone()];
            if !common(name) {
                callers.entry(name).or_default();
            }
        }
        for (at, function) in self.functions.iter().enumerate().filter(|(at, _)| !live[*at]) {
            for word in words(self.body(function)) {
                if let Some(callers) = callers.get_mut(word)
                    && callers.last() != Some(&at)
                {
                    callers.push(at);
                }
            }
        }
        let mut todo: Vec<usize> = (0..live.len()).filter(|at| live[*at]).collect();
        while let Some(at) = todo.pop() {
            for &caller in callers.get(&self.code[self.functions[at].name.clone()]).into_iter().flatten() {
                if !std::mem::replace(&mut live[caller], true) {
                    todo.push(caller);
                }
            }
        }
    }

    fn body(&self, function: &Function) -> &str {
        &self.code[function.body.clone()]
    }
}

/// The words of a text that holds no comments.
fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The text with these ranges made of spaces; lines stay.
fn blanked(text: &str, ranges: &[Range<usize>]) -> String {
    let mut code = String::with_capacity(text.len());
    let mut copied = 0;
    for range in ranges {
        code.push_str(&text[copied..range.start]);
        code.extend(
            text.as_bytes()[range.clone()].iter().map(|byte| if *byte == b'\n' { '\n' } else { ' ' }),
        );
        copied = range.end;
    }
    code.push_str(&text[copied..]);
    code
}

/// What comes next in a function that has begun.
enum Awaits {
    Nothing,
    Name,
    /// The body, at this depth.
    Body {
        name: Range<usize>,
        depth: usize,
    },
}

struct Reader<'a> {
    scanner: Scanner<'a>,
    text: &'a str,
    depth: usize,
    prefixes: usize,
    word: Range<usize>,
    awaits: Awaits,
    /// The function whose body is open, and the depth around it.
    open: Option<(Function, usize)>,
    functions: Vec<Function>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            scanner: Scanner::new(text),
            text,
            depth: 0,
            prefixes: 0,
            word: 0..0,
            awaits: Awaits::Nothing,
            open: None,
            functions: Vec::new(),
        }
    }

    fn read(&mut self, byte: u8) {
        let at = self.scanner.at - 1;
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80 {
            self.prefixes = 0;
            if self.word.end != at {
                self.end_word();
                self.word.start = at;
            }
            self.word.end = at + 1;
            return;
        }
        self.end_word();
        match byte {
            b'(' | b'[' => self.depth += 1,
            b')' | b']' => self.depth = self.depth.saturating_sub(1),
            b'{' => self.open_brace(at),
            b'}' => self.close_brace(at),
            b';' if matches!(self.awaits, Awaits::Body { depth, .. } if depth == self.depth) => {
                self.awaits = Awaits::Nothing;
            }
            _ => {}
        }
        if matches!(self.awaits, Awaits::Name) && !byte.is_ascii_whitespace() {
            self.awaits = Awaits::Nothing;
        }
        self.prefixes = match byte {
            b'!' | b'-' | b'*' | b'&' => self.prefixes + 1,
            _ if byte.is_ascii_whitespace() => self.prefixes,
            _ => 0,
        };
    }

    fn end_word(&mut self) {
        let word = std::mem::replace(&mut self.word, 0..0);
        if word.is_empty() {
            return;
        }
        if let Some((function, _)) = &mut self.open {
            function.items |= declares(&self.text[word]);
        } else if matches!(self.awaits, Awaits::Name) {
            self.awaits = Awaits::Body { name: word, depth: self.depth };
        } else if &self.text[word] == "fn" {
            self.awaits = Awaits::Name;
        }
    }

    fn open_brace(&mut self, at: usize) {
        if let Awaits::Body { name, depth } = &self.awaits
            && *depth == self.depth
        {
            let function = Function {
                name: name.clone(),
                whole: name.start..at + 1,
                body: at + 1..at + 1,
                items: false,
            };
            self.open = Some((function, self.depth));
            self.awaits = Awaits::Nothing;
        }
        self.depth += 1;
    }

    fn close_brace(&mut self, at: usize) {
        self.depth = self.depth.saturating_sub(1);
        if self.open.as_ref().is_some_and(|(_, depth)| *depth == self.depth)
            && let Some((mut function, _)) = self.open.take()
        {
            function.body.end = at;
            function.whole.end = at;
            self.functions.push(function);
        }
    }
}

/// Whether a word begins an item.
fn declares(word: &str) -> bool {
    matches!(word, "fn" | "use" | "struct" | "enum" | "impl" | "trait" | "mod" | "type" | "macro_rules")
}

#[cfg(test)]
mod tests {
    use super::Outline;

    fn code(text: &str) -> Result<String, u32> {
        Outline::new(text).map(|outline| outline.code)
    }

    fn pruned(text: &str, wanted: &str) -> String {
        let outline = Outline::new(text).unwrap();
        outline.pruned(&|body| body.contains(wanted), &|name| name == "new")
    }

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

    #[test]
    fn bodies_that_nothing_points_at_become_spaces() {
        assert_eq!(pruned("fn a() { b(1) } fn c() { x.go() }", "go"), "fn a() {      } fn c() { x.go() }");
        assert_eq!(
            pruned("impl A {\n fn a(&self) -> [u8; { 1 }] {\n \"}\" }\n}\nfn b() { go }", "go"),
            "impl A {\n fn a(&self) -> [u8; { 1 }] {\n     }\n}\nfn b() { go }"
        );
        assert_eq!(pruned("trait A { fn a(); fn b() { 1 } }", "go"), "trait A { fn a(); fn b() {   } }");
        assert_eq!(pruned("static A: fn(u8) = { b };", "go"), "static A: fn(u8) = { b };");
    }

    #[test]
    fn callers_in_the_file_and_bodies_with_items_stay() {
        let text =
            "fn a() { b() } fn b() { c() } fn c() { go } fn d() { e() } fn new() { go } fn f() { new() }";
        let kept = text.replace("e()", "   ").replace("{ new()", "{      ");
        assert_eq!(pruned(text, "go"), kept);
        assert_eq!(pruned("fn a() { use b::c; }", "go"), "fn a() { use b::c; }");
    }
}
