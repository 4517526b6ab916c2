//! The shape of a configuration. Everything that is not in it is a mistake.

use std::collections::BTreeMap;

use rideout_rules::catalog::{Reopen, Source, Transient, Value, Word};
use serde::Deserialize;
use toml::Spanned;

/// The tables and keys at the top.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct Tables {
    /// Globs of files that are not read.
    pub(super) exclude: Vec<Spanned<String>>,
    /// Levels by rule.
    pub(super) rules: BTreeMap<Spanned<String>, Spanned<String>>,
    pub(super) source: Vec<Spanned<Source>>,
    pub(super) value: Vec<Spanned<Value>>,
    pub(super) word: Vec<Spanned<Word>>,
    pub(super) reopen: Vec<Spanned<Reopen>>,
    pub(super) transient: Vec<Spanned<Transient>>,
}

/// As much of a `Cargo.toml` as may hold a configuration.
#[derive(Debug, Deserialize)]
pub(super) struct InManifest {
    workspace: Option<Holder>,
    #[serde(alias = "project")]
    package: Option<Holder>,
}

#[derive(Debug, Deserialize)]
struct Holder {
    metadata: Option<Metadata>,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    rideout: Option<Tables>,
}

impl InManifest {
    /// The tables that it holds.
    pub(super) fn tables(self) -> Tables {
        let tables = |holder: Option<Holder>| holder?.metadata?.rideout;
        tables(self.workspace).or_else(|| tables(self.package)).unwrap_or_default()
    }
}
