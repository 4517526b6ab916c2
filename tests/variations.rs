//! Changes every case mechanically in ways that must not change the verdict, and asks for it again.
//!
//! Set `RIDEOUT_VARIATIONS` to a folder to keep the programs whose verdict changed, each with a `why.txt`.

mod adapters;
mod arc;
mod bindings;
mod code;
mod edits;
mod extract;
mod imports;
mod judge;
mod known;
mod names;
mod opener;
mod owners;
mod rename;
mod reorder;
mod split;
mod wrap;

use adapters::Adapter;
use arc::{Pointer, Receiver};
use bindings::Form;
use imports::Spelling;
use judge::{Variant, judge};
use opener::Place;
use split::{Choice, Imports};
use wrap::Layer;

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
    judge("extract", |case| extract::apply(&case.text, "inner").map(Variant::File));
}

#[test]
fn functions_that_forward_twice() {
    judge("extract-twice", |case| {
        extract::apply(&extract::apply(&case.text, "inner")?, "deep").map(Variant::File)
    });
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
        split::other_file(&extract::apply(&case.text, "inner")?, Choice::Alternate, Imports::Names)
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

#[test]
fn imports_under_other_names() {
    judge("alias", |case| imports::apply(&case.text, Spelling::Alias).map(Variant::File));
}

#[test]
fn imported_macros_under_other_names() {
    judge("macro-alias", |case| imports::apply(&case.text, Spelling::MacroAlias).map(Variant::File));
}

#[test]
fn full_paths_in_place_of_imports() {
    judge("full-path", |case| imports::apply(&case.text, Spelling::Full).map(Variant::File));
}

#[test]
fn modules_in_place_of_imports() {
    judge("by-module", |case| imports::apply(&case.text, Spelling::Module).map(Variant::File));
}

#[test]
fn loops_with_let_else() {
    judge("let-else", |case| bindings::apply(&case.text, Form::LetElse).map(Variant::File));
}

#[test]
fn loops_with_match() {
    judge("loop-match", |case| bindings::apply(&case.text, Form::LoopMatch).map(Variant::File));
}

#[test]
fn match_in_place_of_if_let() {
    judge("if-match", |case| bindings::apply(&case.text, Form::IfMatch).map(Variant::File));
}

#[test]
fn match_in_place_of_let_else() {
    judge("else-match", |case| bindings::apply(&case.text, Form::ElseMatch).map(Variant::File));
}

#[test]
fn match_in_place_of_a_question_mark() {
    judge("question-match", |case| bindings::apply(&case.text, Form::Question).map(Variant::File));
}

#[test]
fn results_in_locals() {
    judge("local-result", |case| bindings::apply(&case.text, Form::Result).map(Variant::File));
}

#[test]
fn futures_in_locals() {
    judge("local-future", |case| bindings::apply(&case.text, Form::Future).map(Variant::File));
}

#[test]
fn errors_in_map_err() {
    judge("map-err", |case| adapters::apply(&case.text, Adapter::MapErr).map(Variant::File));
}

#[test]
fn errors_in_inspect_err() {
    judge("inspect-err", |case| adapters::apply(&case.text, Adapter::InspectErr).map(Variant::File));
}

#[test]
fn patterns_flattened() {
    judge("flatten", |case| adapters::apply(&case.text, Adapter::Flatten).map(Variant::File));
}

#[test]
fn patterns_nested() {
    judge("nest", |case| adapters::apply(&case.text, Adapter::Nest).map(Variant::File));
}

#[test]
fn tasks_in_a_block() {
    judge("task-block", |case| wrap::spawned(&case.text, Layer::Block).map(Variant::File));
}

#[test]
fn tasks_in_a_span() {
    judge("task-span", |case| wrap::spawned(&case.text, Layer::Method).map(Variant::File));
}

#[test]
fn tasks_in_a_span_by_function() {
    judge("task-span-function", |case| wrap::spawned(&case.text, Layer::Function).map(Variant::File));
}

#[test]
fn tasks_in_a_local() {
    judge("task-local", |case| wrap::spawned(&case.text, Layer::Local).map(Variant::File));
}

#[test]
fn methods_of_a_borrowed_arc() {
    judge("arc-borrowed", |case| arc::receivers(&case.text, Receiver::Borrowed).map(Variant::File));
}

#[test]
fn methods_of_an_owned_arc() {
    judge("arc-owned", |case| arc::receivers(&case.text, Receiver::Owned).map(Variant::File));
}

#[test]
fn fields_in_an_arc() {
    judge("arc-fields", |case| arc::fields(&case.text, Pointer::Arc).map(Variant::File));
}

#[test]
fn fields_in_a_box() {
    judge("box-fields", |case| arc::fields(&case.text, Pointer::Box).map(Variant::File));
}

#[test]
fn openers_in_a_block() {
    judge("opener-block", |case| opener::apply(&case.text, Place::Block).map(Variant::File));
}

#[test]
fn openers_in_a_closure() {
    judge("opener-closure", |case| opener::apply(&case.text, Place::Closure).map(Variant::File));
}

#[test]
fn openers_in_a_function() {
    judge("opener-function", |case| opener::apply(&case.text, Place::Function).map(Variant::File));
}
