//! What a run has found, for people and for machines. One file a format; nothing here judges.

mod cargo;
mod diff;
mod explain;
mod fingerprints;
mod github;
mod gitlab;
mod head;
mod human;
mod json;
mod list;
mod look;
mod rdjson;
mod repository;
mod rows;
mod sarif;
mod short;
mod sources;
mod standing;
mod stats;
mod table;
#[cfg(test)]
mod testing;

pub(crate) use cargo::cargo;
pub(crate) use diff::{diff, diff_json, diff_markdown};
pub(crate) use explain::explain;
pub(crate) use github::github;
pub(crate) use gitlab::gitlab;
pub(crate) use human::human;
pub(crate) use json::json;
pub(crate) use list::{list, list_json};
pub(crate) use look::{Color, Look};
pub(crate) use rdjson::rdjson;
use rows::severity;
pub(crate) use rows::{Report, Row};
pub(crate) use sarif::sarif;
pub(crate) use short::short;
pub(crate) use stats::{stats, stats_json};
