//! What one run has found, before the ratchet and the report look at it.

use std::sync::Arc;

use rideout_rules::model::{Finding, Watch};

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

/// The result of analysing a workspace. `Location::file` of the model indexes `files`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Analysis {
    /// The files that watches and findings point into.
    pub(crate) files: Vec<FileText>,
    /// Every standing watch of the reported files, in order of file and place.
    pub(crate) watches: Vec<Watch>,
    /// Every finding of the reported files, both levels, in order of file and place, with its fingerprint.
    pub(crate) findings: Vec<(Finding, String)>,
    /// Files that could not be read or parsed.
    pub(crate) unread: Vec<Unread>,
}
