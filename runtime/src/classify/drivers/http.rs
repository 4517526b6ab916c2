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

    type Connection = h2::server::Connection<tokio::io::DuplexStream, hyper::body::Bytes>;

    /// The error of a request to a peer that does `what` with it.
    async fn request(what: impl AsyncFnOnce(Connection) + Send + 'static) -> h2::Error {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let peer = async move { what(h2::server::handshake(far).await.unwrap()).await };
        let client = async move {
            let (mut send, connection) = h2::client::handshake(near).await.unwrap();
            let request = hyper::Request::builder().uri("http://peer/").body(()).unwrap();
            let (response, _) = send.send_request(request, true).unwrap();
            let driver = tokio::spawn(connection);
            let error = response.await.unwrap_err();
            driver.abort();
            error
        };
        tokio::join!(peer, client).1
    }

    #[tokio::test]
    async fn a_peer_that_cuts_the_connection_or_drops_the_stream_is_transient() {
        let cut = request(async |mut connection| drop(connection.accept().await)).await;
        assert!(is_transient_infrastructure(&cut), "{cut:?}");
        let refused = request(async |mut connection| {
            let (_, mut respond) = connection.accept().await.unwrap().unwrap();
            respond.send_reset(h2::Reason::REFUSED_STREAM);
            while connection.accept().await.is_some() {}
        })
        .await;
        assert!(refused.is_reset() && refused.is_remote(), "{refused:?}");
        assert!(is_transient_infrastructure(&refused), "{refused:?}");
    }
}
