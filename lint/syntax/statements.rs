//! Which statement each byte of a text belongs to, told by brackets alone: a statement is what begins after `{`, `;`, `}` or a comma
//! between braces, so that an arm of a `match` is one too.

use std::ops::Range;

use super::{scanner::Scanner, tree::Span};

/// The statements of a text.
pub(super) struct Statements {
    /// From this byte up to the next one of the list, the innermost statement is the one that begins there. In order.
    changes: Vec<(usize, usize)>,
    length: usize,
}

/// What the next byte of code is, between two braces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The start of a statement.
    Start,
    /// After a closing brace: the start of a statement, unless it cannot be.
    Either,
    /// More of the same.
    More,
}

/// An open bracket.
struct Open {
    /// Where the statement around what comes next begins.
    start: usize,
    /// None between round and square brackets, where no statement begins.
    next: Option<Next>,
}

impl Statements {
    pub(super) fn of(text: &str) -> Self {
        let mut changes = vec![(0, 0)];
        let mut open = Vec::new();
        let mut top = Open { start: 0, next: Some(Next::Start) };
        let mut scanner = Scanner::new(text);
        while let Some(byte) = scanner.next_code() {
            let at = scanner.at - 1;
            if byte.is_ascii_whitespace() {
                continue;
            }
            if starts(top.next, &text.as_bytes()[at..]) {
                top.start = at;
                changes.push((at, at));
            }
            top.next = top.next.map(|_| Next::More);
            match byte {
                b'{' | b'(' | b'[' => {
                    let next = (byte == b'{').then_some(Next::Start);
                    let inner = Open { start: top.start, next };
                    open.push(std::mem::replace(&mut top, inner));
                }
                b'}' | b')' | b']' => {
                    top = open.pop().unwrap_or(top);
                    if byte == b'}' {
                        changes.push((at, top.start));
                        top.next = top.next.map(|_| Next::Either);
                    }
                }
                b';' | b',' => top.next = top.next.map(|_| Next::Start),
                _ => {}
            }
        }
        Self { changes, length: text.len() }
    }

    /// The parts of the innermost statement around `at` that begin at `at` or later, without the statements inside it.
    pub(super) fn rest(&self, at: usize) -> impl Iterator<Item = Span> {
        let first = self.changes.partition_point(|(from, _)| *from <= at).saturating_sub(1);
        let statement = self.changes.get(first).map_or(0, |(_, start)| *start);
        let ends = self.changes.iter().skip(first + 1).map(|(from, _)| *from).chain([self.length]);
        self.changes[first..]
            .iter()
            .zip(ends)
            .filter(move |((_, start), _)| *start == statement)
            .map(move |((from, _), end)| span((*from).max(at)..end))
    }
}

/// Whether a statement begins with the first of these bytes.
fn starts(next: Option<Next>, rest: &[u8]) -> bool {
    match next {
        Some(Next::Start) => true,
        Some(Next::Either) => {
            !(rest.starts_with(b"else")
                || matches!(rest.first(), Some(b'.' | b'?' | b'=' | b';' | b',' | b'}')))
        }
        Some(Next::More) | None => false,
    }
}

pub(super) fn span(range: Range<usize>) -> Span {
    let place = |byte: usize| u32::try_from(byte).unwrap_or(u32::MAX);
    Span { start: place(range.start), end: place(range.end) }
}

#[cfg(test)]
mod tests {
    use super::Statements;

    /// The rest of the statement around the first `@`, without the white space that stands where inner ones were.
    fn rest(text: &str) -> String {
        let statements = Statements::of(text);
        let parts = statements.rest(text.find('@').unwrap());
        parts
            .map(|part| &text[part.start as usize..part.end as usize])
            .collect::<String>()
            .replace("{ }", "{}")
    }

    #[test]
    fn a_statement_ends_where_the_next_one_begins() {
        assert_eq!(rest("fn f() { a; let @b = c\n.d(|e| f, g)\n.h(); i }"), "@b = c\n.d(|e| f, g)\n.h(); ");
        assert_eq!(rest("fn f() { @a }"), "@a ");
        assert_eq!(rest("fn f() { while @a {} b }"), "@a {} ");
        assert_eq!(rest("fn f() { @a[\";}\"; 2] /* ; */; b"), "@a[\";}\"; 2] /* ; */; ");
    }

    #[test]
    fn a_block_inside_is_left_out() {
        assert_eq!(rest("{ @spawn(async { b; c }).d(); e }"), "@spawn(async {}).d(); ");
        assert_eq!(rest("{ a(async { b; @c }).d(); e }"), "@c ");
        assert_eq!(rest("{ @if a { b } else { c } d }"), "@if a {} else {} ");
        assert_eq!(rest("{ let @a = match b { c => d }.e(); f }"), "@a = match b {}.e(); ");
    }

    #[test]
    fn an_arm_is_a_statement() {
        assert_eq!(rest("match a { B => {} @C(d) => { e } F => g }"), "@C(d) => {} ");
        assert_eq!(rest("match a { B => c, @D => e.f(), G => h }"), "@D => e.f(), ");
        assert_eq!(rest("match a { @B { c } => d, E => f }"), "@B {} => d, ");
    }

    #[test]
    fn brackets_that_do_not_match_do_no_harm() {
        assert_eq!(rest("} ) @a; ]"), "@a; ");
        assert_eq!(rest("@"), "@");
    }
}
