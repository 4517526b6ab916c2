//! Errors of the HTTP connection below gRPC and kube: of `hyper` and `h2`, which hide what broke them from `source`.

use super::Node;
use crate::classify::{Verdict, is_transient_io};

pub(super) fn verdict(node: &Node) -> Option<Verdict> {
    if let Some(error) = node.downcast_ref::<h2::Error>() {
        let io = error.get_io().is_some_and(is_transient_io);
        // The peer goes away, or drops this stream: its affair, and another connection may be served.
        let peer = error.is_go_away() || (error.is_reset() && error.is_remote());
        return Some((io || peer).into());
    }
    let error = node.downcast_ref::<hyper::Error>()?;
    let cut = error.is_incomplete_message() || error.is_closed() || error.is_canceled() || error.is_timeout();
    cut.then_some(Verdict::Transient)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::is_transient_infrastructure;

    #[test]
    fn a_stream_that_this_side_reset_is_terminal() {
        // An error made of a reason alone is one of the library's user.
        assert!(!is_transient_infrastructure(&h2::Error::from(h2::Reason::PROTOCOL_ERROR)));
        assert_eq!(verdict(&std::fmt::Error), None);
    }
}
