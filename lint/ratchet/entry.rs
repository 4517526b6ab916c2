//! One entry of the baseline: a finding that was there when the gate was turned on, or that a comment allows.

/// What a finding is recognised by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Entry {
    /// Path relative to the folder of the baseline, with forward slashes.
    pub(crate) file: String,
    /// Whether a comment in the code allows it.
    pub(crate) allowed: bool,
    /// Id of the rule.
    pub(crate) rule: &'static str,
    /// The function, as `Type::name` or `name`.
    pub(crate) item: String,
    /// The number of the code that consumes the watch.
    pub(crate) fingerprint: String,
}
