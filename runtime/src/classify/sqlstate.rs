//! The codes with which a database says that the connection, not the statement, failed.

/// The transient SQLSTATE codes: the connection exceptions (class 08) save the two that are about the protocol and the
/// transaction, the shutdowns of a server (57P01 to 57P03), and the two that say it is full (53300, 53400).
///
/// Not among them: 40001 and 40P01, which ask to run the *transaction* again, and every verdict on a statement.
pub const TRANSIENT_SQLSTATES: [&str; 10] =
    ["08000", "08001", "08003", "08004", "08006", "57P01", "57P02", "57P03", "53300", "53400"];

/// Whether `code` is one of [`TRANSIENT_SQLSTATES`].
#[must_use]
pub fn is_transient_sqlstate(code: &str) -> bool {
    TRANSIENT_SQLSTATES.contains(&code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_on_a_statement_are_not_transient() {
        assert!(TRANSIENT_SQLSTATES.iter().all(|code| is_transient_sqlstate(code)));
        for code in ["42P01", "23505", "40001", "40P01", "08007", "08P01", "57014", "53100", "28P01", ""] {
            assert!(!is_transient_sqlstate(code), "{code}");
        }
    }
}
