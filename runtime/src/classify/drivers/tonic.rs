//! The status of a gRPC call, of `tonic`.

use tonic::{Code, Status};

use super::Node;
use crate::classify::Verdict;

pub(super) fn verdict(node: &Node) -> Option<Verdict> {
    match node.downcast_ref::<Status>()?.code() {
        Code::Unavailable | Code::DeadlineExceeded => Some(Verdict::Transient),
        // Said by the server, they are verdicts. Made here of a connection that broke, the cause below tells.
        Code::Unknown | Code::Internal | Code::Cancelled | Code::ResourceExhausted => None,
        _ => Some(Verdict::Terminal),
    }
}

pub(super) fn is_timeout(node: &Node) -> bool {
    node.downcast_ref::<Status>().is_some_and(|status| status.code() == Code::DeadlineExceeded)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::classify::{is_no_answer_in_time, is_transient_infrastructure};

    #[test]
    fn unavailable_is_transient_and_verdicts_are_not() {
        assert!(is_transient_infrastructure(&Status::unavailable("going away")));
        for status in [
            Status::not_found("no"),
            Status::permission_denied("no"),
            Status::unauthenticated("no"),
            Status::invalid_argument("no"),
            Status::unimplemented("no"),
            Status::internal("a defect of the server"),
            Status::unknown("a defect of the server"),
            Status::cancelled("by this side"),
        ] {
            assert!(!is_transient_infrastructure(&status), "{status}");
        }
    }

    #[test]
    fn a_status_made_of_a_broken_connection_is_transient() {
        let broken = Status::from_error(Box::new(io::Error::from(io::ErrorKind::ConnectionReset)));
        assert!(is_transient_infrastructure(&broken), "{broken:?}");
    }

    #[test]
    fn a_deadline_means_that_nobody_answered() {
        assert!(is_no_answer_in_time(&Status::deadline_exceeded("late")));
        assert!(!is_no_answer_in_time(&Status::unavailable("going away")));
    }
}
