//! Changes every case mechanically in ways that must not change the verdict, and asks for it again.
//!
//! Set `RIDEOUT_VARIATIONS` to a folder to keep the programs whose verdict changed, each with a `why.txt`.

mod code;
mod edits;
mod extract;
mod judge;
mod names;
mod owners;
mod rename;
mod reorder;

use judge::{Variant, judge};

#[test]
fn the_case_itself() {
    judge("as-is", |case| Some(Variant::File(case.text.clone())));
}

#[test]
fn other_names() {
    judge("rename", |case| rename::apply(case).map(Variant::File));
}

#[test]
fn another_order() {
    judge("reorder", |case| reorder::apply(&case.text).map(Variant::File));
}

#[test]
fn a_function_that_forwards() {
    judge("extract", |case| extract::apply(&case.text).map(Variant::File));
}
