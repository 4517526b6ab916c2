//! What the errors of drivers say, each behind the feature with the driver's name.
//!
//! A driver's answer on its own error is final. Where it has none, the walk goes on below.

use std::error::Error;

use super::Verdict;

#[cfg(feature = "async-nats")]
mod async_nats;
#[cfg(feature = "broadcast")]
mod broadcast;
#[cfg(any(feature = "tonic", feature = "kube"))]
mod http;
#[cfg(feature = "kube")]
mod kube;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "sqlx")]
mod sqlx;
#[cfg(feature = "tokio-postgres")]
mod tokio_postgres;
#[cfg(feature = "tonic")]
mod tonic;

type Node = dyn Error + 'static;

/// Question two: the verdict on `node` by its type, or `None` to look below it.
pub(super) fn verdict(node: &Node) -> Option<Verdict> {
    let all: &[fn(&Node) -> Option<Verdict>] = &[
        #[cfg(feature = "sqlx")]
        sqlx::verdict,
        #[cfg(feature = "tokio-postgres")]
        tokio_postgres::verdict,
        #[cfg(feature = "tonic")]
        tonic::verdict,
        #[cfg(feature = "kube")]
        kube::verdict,
        #[cfg(any(feature = "tonic", feature = "kube"))]
        http::verdict,
        #[cfg(feature = "async-nats")]
        async_nats::verdict,
        #[cfg(feature = "redis")]
        redis::verdict,
        #[cfg(feature = "broadcast")]
        broadcast::verdict,
    ];
    all.iter().find_map(|verdict| verdict(node))
}

/// Question three: whether `node` by its type says that nobody answered in time.
pub(super) fn is_timeout(node: &Node) -> bool {
    let all: &[fn(&Node) -> bool] = &[
        #[cfg(feature = "tokio-postgres")]
        tokio_postgres::is_timeout,
        #[cfg(feature = "tonic")]
        tonic::is_timeout,
        #[cfg(feature = "async-nats")]
        async_nats::is_timeout,
    ];
    all.iter().any(|is_timeout| is_timeout(node))
}
