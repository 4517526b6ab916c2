//! Errors of `async-nats`: of connecting, of requests, of the messages of a consumer.

use async_nats::{
    ConnectErrorKind, RequestErrorKind, client,
    error::Error,
    jetstream::{
        consumer::{pull, push},
        context,
    },
};

use super::Node;
use crate::classify::Verdict;

pub(super) fn verdict(node: &Node) -> Option<Verdict> {
    type Connect = Error<ConnectErrorKind>;
    if let Some(error) = node.downcast_ref::<Connect>() {
        return match error.kind() {
            ConnectErrorKind::Dns
            | ConnectErrorKind::TimedOut
            | ConnectErrorKind::Io
            | ConnectErrorKind::MaxReconnects => Some(Verdict::Transient),
            ConnectErrorKind::Tls => None,
            _ => Some(Verdict::Terminal),
        };
    }
    pull_messages(node)
        .or_else(|| push_messages(node))
        .or_else(|| ordered_pull(node))
        .or_else(|| ordered_push(node))
        .or_else(|| requests(node))
}

pub(super) fn is_timeout(node: &Node) -> bool {
    let core = node.downcast_ref::<client::RequestError>();
    let jetstream = node.downcast_ref::<context::RequestError>();
    core.is_some_and(|error| error.kind() == RequestErrorKind::TimedOut)
        || jetstream.is_some_and(|error| error.kind() == context::RequestErrorKind::TimedOut)
}

/// Nobody beats and nobody responds: the server or the leader is away. A deleted consumer is a verdict.
fn pull_messages(node: &Node) -> Option<Verdict> {
    use pull::MessagesErrorKind as Kind;
    match node.downcast_ref::<pull::MessagesError>()?.kind() {
        Kind::MissingHeartbeat | Kind::NoResponders => Some(Verdict::Transient),
        Kind::Pull | Kind::Other => None,
        _ => Some(Verdict::Terminal),
    }
}

fn push_messages(node: &Node) -> Option<Verdict> {
    use push::MessagesErrorKind as Kind;
    match node.downcast_ref::<push::MessagesError>()?.kind() {
        Kind::MissingHeartbeat => Some(Verdict::Transient),
        Kind::Other => None,
        _ => Some(Verdict::Terminal),
    }
}

fn ordered_pull(node: &Node) -> Option<Verdict> {
    use pull::OrderedErrorKind as Kind;
    match node.downcast_ref::<pull::OrderedError>()?.kind() {
        Kind::MissingHeartbeat | Kind::NoResponders | Kind::Recreate => Some(Verdict::Transient),
        Kind::Pull | Kind::Other => None,
        _ => Some(Verdict::Terminal),
    }
}

fn ordered_push(node: &Node) -> Option<Verdict> {
    use push::OrderedErrorKind as Kind;
    match node.downcast_ref::<push::OrderedError>()?.kind() {
        Kind::MissingHeartbeat | Kind::Recreate => Some(Verdict::Transient),
        Kind::Other => None,
        _ => Some(Verdict::Terminal),
    }
}

/// No responders says that nobody listens *now*: no verdict on the subject.
fn requests(node: &Node) -> Option<Verdict> {
    if let Some(error) = node.downcast_ref::<client::RequestError>() {
        return match error.kind() {
            RequestErrorKind::TimedOut | RequestErrorKind::NoResponders => Some(Verdict::Transient),
            RequestErrorKind::Other => None,
            _ => Some(Verdict::Terminal),
        };
    }
    use context::RequestErrorKind as Kind;
    match node.downcast_ref::<context::RequestError>()?.kind() {
        Kind::TimedOut | Kind::NoResponders => Some(Verdict::Transient),
        Kind::Other => None,
        _ => Some(Verdict::Terminal),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::classify::{is_no_answer_in_time, is_transient_infrastructure};

    #[test]
    fn a_missing_heartbeat_is_transient_and_a_deleted_consumer_is_not() {
        let error = pull::MessagesError::new;
        assert!(is_transient_infrastructure(&error(pull::MessagesErrorKind::MissingHeartbeat)));
        assert!(!is_transient_infrastructure(&error(pull::MessagesErrorKind::ConsumerDeleted)));
        let error = push::OrderedError::new;
        assert!(is_transient_infrastructure(&error(push::OrderedErrorKind::MissingHeartbeat)));
        assert!(!is_transient_infrastructure(&error(push::OrderedErrorKind::ConsumerDeleted)));
    }

    #[test]
    fn the_cause_of_another_error_tells() {
        let reset = io::Error::from(io::ErrorKind::ConnectionReset);
        let other = pull::MessagesError::with_source(pull::MessagesErrorKind::Other, reset);
        assert!(is_transient_infrastructure(&other));
        assert!(!is_transient_infrastructure(&pull::MessagesError::new(pull::MessagesErrorKind::Other)));
    }

    #[test]
    fn a_server_that_is_away_is_transient_and_a_refused_login_is_not() {
        let error = Error::<ConnectErrorKind>::new;
        assert!(is_transient_infrastructure(&error(ConnectErrorKind::Io)));
        assert!(!is_transient_infrastructure(&error(ConnectErrorKind::AuthorizationViolation)));
    }

    #[test]
    fn no_responders_is_no_timeout() {
        let error = client::RequestError::new;
        assert!(is_no_answer_in_time(&error(RequestErrorKind::TimedOut)));
        assert!(!is_no_answer_in_time(&error(RequestErrorKind::NoResponders)));
        assert!(is_transient_infrastructure(&error(RequestErrorKind::NoResponders)));
    }
}
