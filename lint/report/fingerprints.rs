//! Fingerprints for servers that show two findings with the same one as one.

use std::collections::HashMap;

use super::Row;
use crate::ratchet::fingerprint;

/// What has been counted so far.
#[derive(Debug, Default)]
pub(super) struct Fingerprints(HashMap<String, usize>);

impl Fingerprints {
    /// One for a row in the file at `path`: the same in the next run, and no other row's.
    pub(super) fn of(&mut self, row: &Row, path: &str) -> String {
        let finding = &row.finding;
        let code = if row.fingerprint.is_empty() {
            fingerprint(&[&finding.message])
        } else {
            row.fingerprint.clone()
        };
        let place = fingerprint(&[path, finding.rule, &finding.item]);
        let key = format!("{place}{code}");
        let count = self.0.entry(key.clone()).or_default();
        *count += 1;
        format!("{key}:{count}")
    }
}
