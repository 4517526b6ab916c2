//! Question two: is this fault transient infrastructure?

use std::{error::Error, io};

use super::{
    Classify, MAX_NODES, Nature, Verdict,
    chain::{Below, below},
    drivers, is_transient_io,
    typed::nature_of,
};

/// Transient if the network, the database or the broker failed, and not what was asked of it. The default of a standing watch.
///
/// The outermost error of the chain that is known decides:
///
/// - an I/O error of a connection ([`is_transient_io`]), at any depth;
/// - an error of a driver whose feature is on, as the table below says;
/// - a [`TypedFault`](super::TypedFault) that is [`Nature::Unavailable`], and the stall of a watch or of a fan-in;
/// - an [`Aggregate`](super::Aggregate): transient only if every branch is.
///
/// All else is terminal: a bare timeout (nobody knows what it waited for), a verdict, a promise, a decoding defect, an error of
/// an unknown type without a known cause.
///
/// | feature | transient |
/// |---|---|
/// | `sqlx`, `tokio-postgres` | [`TRANSIENT_SQLSTATES`](super::TRANSIENT_SQLSTATES); a closed connection; a pool or a server that did not answer in time |
/// | `tonic` | `Unavailable`, `DeadlineExceeded`, and a status that was made of a broken connection |
/// | `kube` | 410, 429 and 5xx of the API server; a broken connection |
/// | `async-nats` | a missing heartbeat, no responders, a request or a connection that timed out, a server that is away |
/// | `redis` | a dropped or refused connection; loading, failing over, cluster down |
/// | `broadcast` | `Lagged` |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Infrastructure;

impl<E: Error + 'static> Classify<E> for Infrastructure {
    fn classify(&self, fault: &E) -> Verdict {
        is_transient_infrastructure(fault).into()
    }
}

impl Classify<dyn Error> for Infrastructure {
    fn classify(&self, fault: &(dyn Error + 'static)) -> Verdict {
        is_transient_infrastructure(fault).into()
    }
}

/// What [`Infrastructure`] asks, as a function.
#[must_use]
pub fn is_transient_infrastructure(fault: &(dyn Error + 'static)) -> bool {
    walk(fault, &mut MAX_NODES.clone()).is_transient()
}

fn walk(fault: &(dyn Error + 'static), left: &mut usize) -> Verdict {
    let mut node = fault;
    loop {
        let Some(rest) = left.checked_sub(1) else { return Verdict::Terminal };
        *left = rest;
        if let Some(verdict) = known(node) {
            return verdict;
        }
        match below(node) {
            Below::Nothing => return Verdict::Terminal,
            Below::Cause(cause) => node = cause,
            Below::Branches(aggregate) => {
                let mut some = false;
                let all = aggregate.branches().all(|branch| {
                    some = true;
                    walk(branch, left).is_transient()
                });
                return (some && all).into();
            }
        }
    }
}

/// The verdict on `node` by its type, or `None` to look below it.
fn known(node: &(dyn Error + 'static)) -> Option<Verdict> {
    if let Some(nature) = nature_of(node) {
        return Some((nature == Nature::Unavailable).into());
    }
    if let Some(verdict) = drivers::verdict(node) {
        return Some(verdict);
    }
    let io = node.downcast_ref::<io::Error>()?;
    is_transient_io(io).then_some(Verdict::Transient)
}

#[cfg(test)]
mod tests {
    use std::{fmt, sync::Arc};

    use super::*;
    use crate::classify::{Aggregate, Compose, TypedFault, is_no_answer_in_time, is_promise};

    /// An error of a type that nobody knows.
    #[derive(Debug)]
    struct Wrapped<E>(E);

    impl<E> fmt::Display for Wrapped<E> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("exception while reading from stream")
        }
    }

    impl<E: Error + 'static> Error for Wrapped<E> {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    fn reset() -> io::Error {
        io::ErrorKind::ConnectionReset.into()
    }

    fn transient(fault: &(dyn Error + 'static)) -> bool {
        is_transient_infrastructure(fault)
    }

    #[test]
    fn the_chain_of_the_incident_is_transient() {
        // A driver's error, around an I/O error, around error 104.
        assert!(transient(&Wrapped(io::Error::other(Wrapped(reset())))));
        assert!(transient(&Wrapped(Arc::new(reset()))));
        let shared: Arc<dyn Error + Send + Sync> = Arc::new(reset());
        assert!(transient(&Wrapped(shared)));
    }

    #[test]
    fn what_nobody_knows_is_terminal() {
        assert!(!transient(&fmt::Error));
        assert!(!transient(&Wrapped(io::Error::from(io::ErrorKind::InvalidData))));
        assert!(!transient(&Wrapped(TypedFault::verdict("absent").caused_by(reset()))));
        assert!(!transient(&TypedFault::promise("shutting down")));
        assert!(!transient(&TypedFault::no_answer("no reply")));
        assert!(transient(&Wrapped(TypedFault::unavailable("out of reach"))));
    }

    #[cfg(feature = "tokio")]
    #[tokio::test(start_paused = true)]
    async fn a_bare_timeout_is_terminal() {
        let waited =
            tokio::time::timeout(std::time::Duration::from_secs(1), std::future::pending::<()>()).await;
        assert!(!transient(&waited.unwrap_err()));
    }

    #[test]
    fn an_aggregate_is_transient_only_if_every_branch_is() {
        let of = |branches| Aggregate::new(branches);
        assert!(transient(&of(vec![reset().into(), Box::new(Wrapped(reset()))])));
        assert!(!transient(&of(vec![reset().into(), Box::new(fmt::Error)])));
        assert!(!transient(&of(vec![])));
        assert!(transient(&Wrapped(of(vec![Box::new(of(vec![reset().into()]))]))));
    }

    /// An error that is its own cause.
    #[derive(Debug)]
    struct Ring;

    impl fmt::Display for Ring {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("ring")
        }
    }

    impl Error for Ring {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&Ring)
        }
    }

    #[test]
    fn a_ring_ends_all_three_walks() {
        assert!(!transient(&Ring));
        assert!(!is_promise(&Ring));
        assert!(!is_no_answer_in_time(&Ring));
        let rings = Aggregate::new((0..1_000).map(|_| Ring.into()).collect());
        assert!(!transient(&rings));
        assert!(!is_no_answer_in_time(&rings));
    }

    #[test]
    fn the_walk_looks_at_256_nodes() {
        let chain = |wraps: usize| (1..wraps).fold(reset(), |inner, _| io::Error::other(inner));
        assert!(transient(&chain(MAX_NODES)));
        assert!(!transient(&chain(MAX_NODES + 1)));
    }

    #[test]
    fn an_erased_error_is_asked_like_any_other() {
        let boxed: Box<dyn Error + Send + Sync> = Box::new(Wrapped(reset()));
        assert!(Infrastructure.erased().classify(&boxed).is_transient());
        let shared: Arc<dyn Error> = Arc::new(fmt::Error);
        assert!(!Infrastructure.erased().classify(&shared).is_transient());
    }
}
