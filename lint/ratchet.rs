//! What a finding is recognised by from one run to the next.

mod fingerprint;

pub(crate) use fingerprint::fingerprint;
