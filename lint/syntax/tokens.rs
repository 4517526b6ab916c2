//! Code as a row of tokens: what is left of it when layout and comments are gone.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The tokens of a piece of code. A comma before a closing bracket is layout too. None if it has no tokens of its own, such as half a
/// bracket.
pub(crate) fn tokens(code: &str) -> Option<Vec<String>> {
    let stream: TokenStream = code.parse().ok()?;
    let mut tokens = Vec::new();
    add(stream, &mut tokens);
    Some(tokens)
}

fn add(stream: TokenStream, tokens: &mut Vec<String>) {
    for tree in stream {
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                tokens.push(open.to_owned());
                add(group.stream(), tokens);
                if tokens.last().is_some_and(|last| last == ",") {
                    tokens.pop();
                }
                tokens.push(close.to_owned());
            }
            other => tokens.push(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn layout_is_gone_and_strings_are_whole() {
        let wide = tokens("feed.filter(\n    \"a  // b\", // no more\n    c, /* d */\n)").unwrap();
        assert_eq!(Some(wide), tokens("feed . filter(\"a  // b\", c)"));
        assert_ne!(tokens("a(b)"), tokens("ab"));
        assert_eq!(tokens("a("), None);
    }
}
