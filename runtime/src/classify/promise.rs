//! Question one: is this answer a promise?

use std::error::Error;

use super::{Classify, MAX_NODES, Nature, Verdict, chain::any_until, typed::nature_of};

/// Transient if the answer promises that the address may come back ([`Nature::Promise`]), and terminal for all else.
///
/// Not part of [`Infrastructure`](super::Infrastructure): compose the two where a watch must ride out both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Promise;

impl<E: Error + 'static> Classify<E> for Promise {
    fn classify(&self, fault: &E) -> Verdict {
        is_promise(fault).into()
    }
}

impl Classify<dyn Error> for Promise {
    fn classify(&self, fault: &(dyn Error + 'static)) -> Verdict {
        is_promise(fault).into()
    }
}

/// Whether the outermost answer in the chain of `fault` is a promise.
#[must_use]
pub fn is_promise(fault: &(dyn Error + 'static)) -> bool {
    let ask = &mut |node: &(dyn Error + 'static)| Some(nature_of(node)? == Nature::Promise);
    any_until(fault, &mut MAX_NODES.clone(), ask).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::classify::TypedFault;

    #[test]
    fn a_promise_is_found_at_any_depth_and_a_verdict_above_it_hides_it() {
        let wrapped = io::Error::other(io::Error::other(TypedFault::promise("shutting down")));
        assert!(is_promise(&wrapped));
        let failed = TypedFault::verdict("the work broke").caused_by(TypedFault::promise("shutting down"));
        assert!(!is_promise(&failed));
    }

    #[test]
    fn no_other_nature_is_a_promise() {
        for nature in [Nature::Verdict, Nature::Unavailable, Nature::NoAnswerInTime, Nature::Flattened] {
            assert!(!is_promise(&TypedFault::new(nature, "Hub a is shutting down")), "{nature:?}");
        }
        assert!(!is_promise(&io::Error::from(io::ErrorKind::ConnectionReset)));
    }
}
