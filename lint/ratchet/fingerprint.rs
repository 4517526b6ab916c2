//! A short number for the code that consumes a watch, which layout and comments do not change.

use crate::syntax;

/// The fingerprint of pieces of code: 32 bits of FNV-1a over their tokens, as eight digits.
pub(crate) fn fingerprint(pieces: &[&str]) -> String {
    let mut hash = 0x811c_9dc5_u32;
    let mut add = |byte: u8| hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    for piece in pieces {
        let tokens = syntax::tokens(piece)
            .unwrap_or_else(|| piece.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        for token in tokens {
            token.bytes().chain([0]).for_each(&mut add);
        }
        add(1);
    }
    format!("{hash:08x}")
}

#[cfg(test)]
mod tests {
    use super::fingerprint;

    #[test]
    fn layout_and_comments_change_nothing() {
        let plain = fingerprint(&["while let Some(x) = s.next().await"]);
        assert_eq!(plain, fingerprint(&["while let Some(x) =\n    s.next() // a comment\n    .await"]));
        assert_ne!(plain, fingerprint(&["while let Some(y) = s.next().await"]));
    }

    #[test]
    fn each_piece_counts() {
        assert_ne!(fingerprint(&["loop", "a.next"]), fingerprint(&["loop", "b.next"]));
        assert_ne!(fingerprint(&["a b"]), fingerprint(&["a", "b"]));
        assert_eq!(fingerprint(&["|item|"]).len(), 8);
    }
}
