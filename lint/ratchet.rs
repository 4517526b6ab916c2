//! What a finding is recognised by from one run to the next, and what is let pass.

mod entry;
mod fingerprint;
mod suppress;
mod verdict;

pub(crate) use entry::Entry;
pub(crate) use fingerprint::fingerprint;
pub(crate) use suppress::{Comments, suppress};
pub(crate) use verdict::{Count, Raise, Stale, State, Verdict};
