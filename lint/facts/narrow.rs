//! Catalog entries that hold with certain arguments only: a type's, or a function's.

use rideout_rules::catalog::{Opener, Shape};

use super::known::{PathPattern, SourceId};
use crate::syntax::tree::{Path, Type};

/// Types that are a source with some arguments, and functions that are openers with some.
#[derive(Debug, Default)]
pub(super) struct Narrow<'c> {
    types: Vec<(PathPattern, Vec<Shape>, SourceId)>,
    fns: Vec<(PathPattern, &'c str, SourceId, &'c Opener)>,
}

impl<'c> Narrow<'c> {
    pub(super) fn add_type(&mut self, paths: Vec<PathPattern>, arguments: &[Shape], id: SourceId) {
        self.types.extend(paths.into_iter().map(|path| (path, arguments.to_vec(), id)));
    }

    pub(super) fn add_fn(
        &mut self,
        paths: Vec<PathPattern>,
        argument: &'c str,
        id: SourceId,
        opener: &'c Opener,
    ) {
        self.fns.extend(paths.into_iter().map(|path| (path, argument, id, opener)));
    }

    /// The source that a type with these arguments is. `name` tells the own name of what a path names.
    pub(super) fn source(
        &self,
        path: &str,
        arguments: &[Type],
        name: &dyn Fn(&Path) -> String,
    ) -> Option<SourceId> {
        let is = |(pattern, shapes, _): &&(PathPattern, Vec<Shape>, SourceId)| {
            pattern.matches(path) && fit(arguments, shapes, name)
        };
        self.types.iter().find(is).map(|(_, _, id)| *id)
    }

    /// The opener that a function is if one of its arguments `is` the given text.
    pub(super) fn opener(&self, path: &str, is: impl Fn(&str) -> bool) -> Option<(SourceId, &'c Opener)> {
        let found = self.fns.iter().find(|(pattern, argument, ..)| pattern.matches(path) && is(argument));
        found.map(|(_, _, id, opener)| (*id, *opener))
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.types.iter().any(|(pattern, ..)| pattern.matches(path))
            || self.fns.iter().any(|(pattern, ..)| pattern.matches(path))
    }
}

/// Whether types are of these shapes, by their last names.
fn fit(types: &[Type], shapes: &[Shape], name: &dyn Fn(&Path) -> String) -> bool {
    shapes.iter().zip(types).filter(|(shape, ty)| fits(ty, shape, name)).count() == shapes.len()
}

fn fits(ty: &Type, shape: &Shape, name: &dyn Fn(&Path) -> String) -> bool {
    match (shape, ty) {
        (Shape::Item, _) => true,
        (Shape::Named(wanted, arguments), Type::Path(path)) => {
            wanted.rsplit("::").next() == Some(&name(path)) && fit(&path.arguments, arguments, name)
        }
        (Shape::Tuple(shapes), Type::Tuple(types)) => shapes.len() == types.len() && fit(types, shapes, name),
        _ => false,
    }
}
