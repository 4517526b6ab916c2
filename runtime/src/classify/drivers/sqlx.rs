//! Errors of `sqlx`.

use sqlx::Error;

use super::Node;
use crate::classify::{Verdict, is_transient_sqlstate};

pub(super) fn verdict(node: &Node) -> Option<Verdict> {
    match node.downcast_ref::<Error>()? {
        Error::Database(database) => {
            Some(database.code().is_some_and(|code| is_transient_sqlstate(&code)).into())
        }
        // No connection could be had: the pool waited for one, and saw only faults.
        Error::PoolTimedOut => Some(Verdict::Transient),
        // What these wrap says whether the connection or the request is to blame.
        Error::Io(_) | Error::Tls(_) | Error::AnyDriverError(_) => None,
        _ => Some(Verdict::Terminal),
    }
}

#[cfg(test)]
mod tests {
    use std::{borrow::Cow, error::Error as StdError, fmt, io};

    use sqlx::error::{DatabaseError, ErrorKind};

    use super::*;
    use crate::classify::is_transient_infrastructure;

    #[derive(Debug)]
    struct Answer(&'static str);

    impl fmt::Display for Answer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl StdError for Answer {}

    impl DatabaseError for Answer {
        fn message(&self) -> &str {
            self.0
        }

        fn code(&self) -> Option<Cow<'_, str>> {
            Some(self.0.into())
        }

        fn as_error(&self) -> &(dyn StdError + Send + Sync + 'static) {
            self
        }

        fn as_error_mut(&mut self) -> &mut (dyn StdError + Send + Sync + 'static) {
            self
        }

        fn into_error(self: Box<Self>) -> Box<dyn StdError + Send + Sync + 'static> {
            self
        }

        fn kind(&self) -> ErrorKind {
            ErrorKind::Other
        }
    }

    #[test]
    fn the_driver_error_that_wraps_a_reset_is_transient() {
        let reset = io::Error::from(io::ErrorKind::ConnectionReset);
        assert!(is_transient_infrastructure(&Error::Io(reset)));
        assert!(is_transient_infrastructure(&Error::Tls(Box::new(io::Error::from(
            io::ErrorKind::BrokenPipe
        )))));
        assert!(is_transient_infrastructure(&Error::PoolTimedOut));
    }

    #[test]
    fn codes_of_the_database_decide() {
        let answer = |code| Error::Database(Box::new(Answer(code)));
        for code in ["57P01", "08006", "53300"] {
            assert!(is_transient_infrastructure(&answer(code)), "{code}");
        }
        for code in ["42P01", "23505", "40001", "40P01"] {
            assert!(!is_transient_infrastructure(&answer(code)), "{code}");
        }
    }

    #[test]
    fn a_defect_is_terminal_whatever_stands_below_it() {
        let decode = Error::Decode(Box::new(io::Error::from(io::ErrorKind::ConnectionReset)));
        assert!(!is_transient_infrastructure(&decode));
        for error in [Error::RowNotFound, Error::PoolClosed, Error::Protocol("what".into())] {
            assert!(!is_transient_infrastructure(&error), "{error}");
        }
    }
}
