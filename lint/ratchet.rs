//! What a finding is recognised by from one run to the next, and what is let pass.
//!
//! `read` makes a baseline of a text and `document` writes it, `edit` changes it; `pairs` says which entry stands for which finding,
//! and `compare` what that means for a run.

mod base;
mod ceiling;
mod compare;
mod cursor;
mod document;
mod edit;
mod entry;
mod fingerprint;
mod git;
mod guard;
mod history;
#[cfg(test)]
mod laws;
mod pairs;
mod place;
mod read;
mod resolve;
mod save;
mod suppress;
mod verdict;

pub(crate) use base::{AUTO, Base, find as base};
pub(crate) use ceiling::Ceiling;
pub(crate) use compare::{Comparison, Homes, found, outside};
pub(crate) use document::Document;
pub(crate) use entry::Entry;
pub(crate) use fingerprint::fingerprint;
pub(crate) use git::Git;
pub(crate) use guard::{Admitted, Change};
pub(crate) use history::{History, Point};
pub(crate) use place::{Place, is_blank, parsed};
pub(crate) use resolve::Sides;
pub(crate) use save::save;
pub(crate) use suppress::{Comments, suppress};
pub(crate) use verdict::{Count, State, Verdict};
