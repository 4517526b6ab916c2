//! Patterns: names become locals.

use super::Lowering;
use crate::{
    flow::graph::{End, Pattern, Place, Value},
    syntax::tree::{Pat, Span},
};

impl Lowering {
    /// Declares the pattern's names in the innermost scope.
    pub(super) fn pattern(&mut self, pat: &Pat) -> Pattern {
        match pat {
            Pat::Wild => Pattern::Wild,
            Pat::Rest => Pattern::Rest,
            Pat::Bind { name, sub } => {
                let sub = sub.as_ref().map(|sub| Box::new(self.pattern(sub)));
                // The alternatives of `A(x) | B(x)` share one local.
                let local = match self.scopes.last().and_then(|scope| scope.get(name)) {
                    Some(local) if self.in_alternative => *local,
                    _ => self.declare(name, None),
                };
                Pattern::Bind(local, sub)
            }
            Pat::Path(path) => Pattern::Path(path.clone()),
            Pat::TupleStruct(path, pats) => Pattern::TupleStruct(path.clone(), self.patterns(pats)),
            Pat::Struct(path, fields) => Pattern::Struct(
                path.clone(),
                fields.iter().map(|(name, pat)| (name.clone(), self.pattern(pat))).collect(),
            ),
            Pat::Tuple(pats) => Pattern::Tuple(self.patterns(pats)),
            Pat::Or(pats) => {
                let mut lowered = Vec::new();
                for (index, pat) in pats.iter().enumerate() {
                    let before = self.in_alternative;
                    self.in_alternative |= index > 0;
                    lowered.push(self.pattern(pat));
                    self.in_alternative = before;
                }
                Pattern::Or(lowered)
            }
            Pat::Bool(value) => Pattern::Bool(*value),
            Pat::Int(digits) => Pattern::Int(digits.clone()),
            Pat::Other(pats) => Pattern::Other(self.patterns(pats)),
        }
    }

    fn patterns(&mut self, pats: &[Pat]) -> Vec<Pattern> {
        pats.iter().map(|pat| self.pattern(pat)).collect()
    }

    /// Binds where the pattern cannot fail: `let`, parameters.
    pub(super) fn bind_irrefutable(&mut self, pat: &Pat, value: Place, span: Span) {
        match pat {
            Pat::Wild | Pat::Rest => {}
            Pat::Bind { name, sub: None } => {
                let local = self.declare(name, None);
                self.set(Place::local(local), Value::Use(value), span);
            }
            _ => {
                let pattern = self.pattern(pat);
                let yes = self.new_block();
                let no = self.new_block();
                self.read(&value);
                self.end(End::Test { value, pat: pattern, yes, no }, yes);
            }
        }
    }
}
