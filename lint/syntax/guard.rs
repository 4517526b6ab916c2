//! Looks at a file's text before the parser does: a parser that recurses must not meet a hundred thousand parentheses.

/// Deepest nesting of brackets that is handed to the parser.
const DEEPEST: usize = 200;

/// The line (from 1) on which the nesting of brackets gets too deep, if it does. Brackets in strings and comments count too: the
/// bound is far above what people write.
pub(super) fn too_deep(text: &str) -> Option<u32> {
    let mut depth = 0_usize;
    let mut line = 1;
    for byte in text.bytes() {
        match byte {
            b'\n' => line += 1,
            b'(' | b'[' | b'{' => {
                depth += 1;
                if depth > DEEPEST {
                    return Some(line);
                }
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::too_deep;

    #[test]
    fn depth_is_bounded_with_its_line() {
        assert_eq!(too_deep("fn main() { ((())) }"), None);
        assert_eq!(too_deep(&format!("\n\n{}", "(".repeat(100_000))), Some(3));
    }
}
