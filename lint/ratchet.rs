//! What a finding is recognised by from one run to the next, and what is let pass.

mod fingerprint;
mod suppress;

pub(crate) use fingerprint::fingerprint;
pub(crate) use suppress::{Comments, suppress};
