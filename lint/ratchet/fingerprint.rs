//! A short number for the code of a finding, which layout and comments do not change.

/// The fingerprint of a piece of code: 32 bits of FNV-1a over its text without white space and line comments, as eight digits.
pub(crate) fn fingerprint(code: &str) -> String {
    let mut hash = 0x811c_9dc5_u32;
    for line in code.lines() {
        let line = line.split("//").next().unwrap_or(line);
        for byte in line.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
            hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }
    format!("{hash:08x}")
}

#[cfg(test)]
mod tests {
    use super::fingerprint;

    #[test]
    fn layout_and_comments_change_nothing() {
        let plain = fingerprint("while let Some(x) = s.next().await");
        assert_eq!(plain, fingerprint("while let Some(x) =\n    s.next() // a comment\n    .await"));
        assert_ne!(plain, fingerprint("while let Some(y) = s.next().await"));
    }
}
