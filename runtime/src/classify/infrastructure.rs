//! Question two: is this fault transient infrastructure?

use std::{error::Error, io};

use super::{
    Classify, MAX_NODES, Nature, Verdict,
    chain::{Below, below},
    is_transient_io,
    typed::nature_of,
};

/// Transient if the network, the database or the broker failed, and not what was asked of it. The default of a standing watch.
///
/// The outermost error of the chain that is known decides:
///
/// - an I/O error of a connection ([`is_transient_io`]), at any depth;
/// - an error of a driver whose feature is on: its own rules, such as the SQLSTATE list;
/// - a [`TypedFault`](super::TypedFault) that is [`Nature::Unavailable`], and the stall of a watch or of a fan-in;
/// - an [`Aggregate`](super::Aggregate): transient only if every branch is.
///
/// All else is terminal: a bare timeout (nobody knows what it waited for), a verdict, a promise, a decoding defect, an error of
/// an unknown type without a known cause.
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
    let io = node.downcast_ref::<io::Error>()?;
    is_transient_io(io).then_some(Verdict::Transient)
}
