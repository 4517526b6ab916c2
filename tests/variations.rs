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
mod split;

use judge::{Variant, judge};
use split::{Choice, Imports};

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

#[test]
fn in_a_package() {
    judge("package", |case| Some(split::package(&case.text)));
}

#[test]
fn types_in_another_file() {
    judge("types-file", |case| split::other_file(&case.text, Choice::Types, Imports::Names));
}

#[test]
fn half_in_another_file() {
    judge("half-file", |case| split::other_file(&case.text, Choice::Alternate, Imports::Globs));
}

#[test]
fn half_in_another_file_by_name() {
    judge("half-file-names", |case| split::other_file(&case.text, Choice::Alternate, Imports::Names));
}

#[test]
fn half_of_the_forwarding_functions_in_another_file() {
    judge("extract-file", |case| {
        split::other_file(&extract::apply(&case.text)?, Choice::Alternate, Imports::Names)
    });
}

#[test]
fn types_in_an_inline_module() {
    judge("types-module", |case| split::inline(&case.text, Choice::Types, Imports::Globs));
}

#[test]
fn half_in_an_inline_module() {
    judge("half-module", |case| split::inline(&case.text, Choice::Alternate, Imports::Globs));
}

#[test]
fn half_in_an_inline_module_by_name() {
    judge("half-module-names", |case| split::inline(&case.text, Choice::Alternate, Imports::Names));
}
