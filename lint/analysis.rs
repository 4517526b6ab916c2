//! What one run has found, before the ratchet and the report look at it.

use std::sync::Arc;

use rideout_rules::model::{Finding, Location, Watch};

/// One analysed or unread file.
#[derive(Clone, Debug)]
pub(crate) struct FileText {
    /// Path relative to the root of the run, with forward slashes.
    pub(crate) path: String,
    /// Its text; a byte-order mark is part of it.
    pub(crate) text: Arc<str>,
}

/// A file in scope that could not be read or parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unread {
    /// Path relative to the root of the run, with forward slashes.
    pub(crate) path: String,
    /// Why, in one clause without a final dot.
    pub(crate) reason: String,
    /// Line from 1, if known.
    pub(crate) line: Option<u32>,
}

/// One rule of a comment that allows findings at its place.
#[derive(Clone, Debug)]
pub(crate) struct Suppression {
    /// The comment.
    pub(crate) location: Location,
    /// Id of the rule.
    pub(crate) rule: &'static str,
    /// Why, in the words of the one who wrote it.
    pub(crate) reason: String,
    /// The code in which a finding must begin to be allowed.
    pub(crate) covers: Vec<Location>,
    /// What it has suppressed, both levels, with the fingerprints.
    pub(crate) findings: Vec<(Finding, String)>,
}

/// A suppression comment with a mistake.
#[derive(Clone, Debug)]
pub(crate) struct Invalid {
    /// The comment.
    pub(crate) location: Location,
    /// The mistake, in one clause without a final dot.
    pub(crate) reason: String,
}

/// The result of analysing a workspace. `Location::file` of the model indexes `files`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Analysis {
    /// The files that watches and findings point into.
    pub(crate) files: Vec<FileText>,
    /// Every standing watch of the reported files, in order of file and place.
    pub(crate) watches: Vec<Watch>,
    /// Every finding of the reported files that no comment suppresses, both levels, in order of file and place, with its fingerprint.
    pub(crate) findings: Vec<(Finding, String)>,
    /// The findings of files that are not reported on, as far as they were seen on the way, whether a comment suppresses them or not.
    pub(crate) elsewhere: Vec<(Finding, String)>,
    /// Files that could not be read or parsed.
    pub(crate) unread: Vec<Unread>,
    /// The suppressions of the reported files, in order of file and place.
    pub(crate) suppressions: Vec<Suppression>,
    /// The suppression comments that suppress nothing because of a mistake.
    pub(crate) invalid: Vec<Invalid>,
}
