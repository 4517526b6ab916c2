//! Errors of `tokio-postgres`.

use tokio_postgres::error::{DbError, Error};

use super::Node;
use crate::classify::{Verdict, is_transient_sqlstate};

pub(super) fn verdict(node: &Node) -> Option<Verdict> {
    if let Some(answer) = node.downcast_ref::<DbError>() {
        return Some(is_transient_sqlstate(answer.code().code()).into());
    }
    let error = node.downcast_ref::<Error>()?;
    (error.is_closed() || is_timeout(node)).then_some(Verdict::Transient)
}

/// The driver's own bound on connecting. It has no public kind; the text is the whole of the error.
pub(super) fn is_timeout(node: &Node) -> bool {
    node.downcast_ref::<Error>().is_some_and(|error| error.to_string() == "timeout waiting for server")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::{is_no_answer_in_time, is_transient_infrastructure};

    #[test]
    fn a_timeout_of_the_driver_is_transient_and_nobody_answered() {
        let error = Error::__private_api_timeout();
        assert!(is_transient_infrastructure(&error));
        assert!(is_no_answer_in_time(&error));
    }

    #[tokio::test]
    async fn a_refused_connection_is_transient_and_a_bad_configuration_is_not() {
        let nowhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let connect = |config: String| async move {
            tokio_postgres::connect(&config, tokio_postgres::NoTls).await.err().unwrap()
        };
        let refused = connect(format!("host=127.0.0.1 port={} user=a", nowhere.port())).await;
        assert!(is_transient_infrastructure(&refused), "{refused:?}");
        let bad = connect(String::from("host=127.0.0.1 port=none")).await;
        assert!(!is_transient_infrastructure(&bad), "{bad:?}");
    }

    /// A server that accepts and closes: the driver reads an end where an answer should be.
    #[tokio::test]
    async fn a_connection_that_closes_is_transient() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = tokio::spawn(async move { drop(listener.accept().await) });
        let config = format!("host=127.0.0.1 port={port} user=a");
        let error = tokio_postgres::connect(&config, tokio_postgres::NoTls).await.err().unwrap();
        server.await.unwrap();
        assert!(is_transient_infrastructure(&error), "{error:?}");
    }
}
