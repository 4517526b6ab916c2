//! Errors of `redis`.

use redis::{ErrorKind, RedisError, ServerErrorKind};

use super::Node;
use crate::classify::Verdict;

pub(super) fn verdict(node: &Node) -> Option<Verdict> {
    let error = node.downcast_ref::<RedisError>()?;
    if error.is_connection_dropped() || error.is_connection_refusal() || error.is_timeout() {
        return Some(Verdict::Transient);
    }
    match error.kind() {
        // Loading, failing over, or without a node to ask: it comes back.
        ErrorKind::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::TryAgain
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown,
        )
        | ErrorKind::ClusterConnectionNotFound
        | ErrorKind::NoValidReplicasFoundBySentinel => Some(Verdict::Transient),
        ErrorKind::Io => None,
        _ => Some(Verdict::Terminal),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::classify::is_transient_infrastructure;

    #[test]
    fn a_dropped_connection_is_transient() {
        for kind in [
            io::ErrorKind::ConnectionReset,
            io::ErrorKind::ConnectionRefused,
            io::ErrorKind::UnexpectedEof,
            io::ErrorKind::TimedOut,
            io::ErrorKind::HostUnreachable,
        ] {
            assert!(is_transient_infrastructure(&RedisError::from(io::Error::from(kind))), "{kind}");
        }
        assert!(is_transient_infrastructure(&RedisError::from((ErrorKind::Io, "the driver is gone"))));
    }

    #[test]
    fn the_server_tells_what_passes_and_what_does_not() {
        let told = |kind| RedisError::from((ErrorKind::Server(kind), "told"));
        assert!(is_transient_infrastructure(&told(ServerErrorKind::BusyLoading)));
        assert!(is_transient_infrastructure(&told(ServerErrorKind::MasterDown)));
        assert!(!is_transient_infrastructure(&told(ServerErrorKind::NoPerm)));
        let login = RedisError::from((ErrorKind::AuthenticationFailed, "told"));
        assert!(!is_transient_infrastructure(&login));
    }
}
