//! Errors of `kube`: of a watcher, of the client, of the API server.

use kube::{Error, core::Status, runtime::watcher};

use super::Node;
use crate::classify::Verdict;

pub(super) fn verdict(node: &Node) -> Option<Verdict> {
    if let Some(error) = node.downcast_ref::<watcher::Error>() {
        return match error {
            watcher::Error::NoResourceVersion => Some(Verdict::Terminal),
            watcher::Error::WatchError(status) => Some(answered(status)),
            watcher::Error::InitialListFailed(_)
            | watcher::Error::WatchStartFailed(_)
            | watcher::Error::WatchFailed(_) => None,
        };
    }
    match node.downcast_ref::<Error>()? {
        Error::Api(status) => Some(answered(status)),
        // What these wrap is of the connection, if it is an I/O error at all.
        Error::HyperError(_) | Error::Service(_) | Error::ReadEvents(_) | Error::Auth(_) => None,
        _ => Some(Verdict::Terminal),
    }
}

/// 410 asks to list again, 429 to come later, and 5xx says that the server could not answer. All else is a verdict.
fn answered(status: &Status) -> Verdict {
    matches!(status.code, 410 | 429 | 500..=599).into()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::classify::is_transient_infrastructure;

    fn api(code: u16) -> Error {
        Error::Api(Status::failure("told", "Reason").with_code(code).boxed())
    }

    #[test]
    fn an_expired_version_is_transient_and_a_forbidden_one_is_not() {
        for code in [410, 429, 500, 503, 504] {
            assert!(is_transient_infrastructure(&api(code)), "{code}");
        }
        for code in [400, 401, 403, 404, 409, 422] {
            assert!(!is_transient_infrastructure(&api(code)), "{code}");
        }
    }

    #[test]
    fn a_watcher_is_judged_by_what_failed_in_it() {
        assert!(is_transient_infrastructure(&watcher::Error::WatchFailed(api(503))));
        assert!(!is_transient_infrastructure(&watcher::Error::InitialListFailed(api(403))));
        assert!(!is_transient_infrastructure(&watcher::Error::NoResourceVersion));
        let gone = Status::failure("too old resource version", "Expired").with_code(410).boxed();
        assert!(is_transient_infrastructure(&watcher::Error::WatchError(gone)));
    }

    #[test]
    fn a_cut_connection_is_transient_at_any_depth() {
        let reset = || io::Error::from(io::ErrorKind::ConnectionReset);
        assert!(is_transient_infrastructure(&Error::ReadEvents(reset())));
        assert!(is_transient_infrastructure(&watcher::Error::WatchFailed(Error::Service(Box::new(reset())))));
        assert!(!is_transient_infrastructure(&Error::TlsRequired));
    }
}
