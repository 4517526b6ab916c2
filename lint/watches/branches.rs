//! Branches on a path: conditions, patterns and `?`.

use super::{
    patterns::{Match, matches},
    state::State,
    value::Val,
    walk::{Flow, Walk},
};
use crate::{
    flow::graph::{BlockId, End, Pattern, Place},
    syntax::tree::Span,
};

impl Walk<'_, '_, '_> {
    /// `if`, and guards of arms.
    pub(super) fn branch(&self, state: &mut State, cond: &Place, then: BlockId, otherwise: BlockId) -> Flow {
        self.note_end(state, cond, None);
        let value = match state.get(cond) {
            Val::Done(inner) => *inner,
            other => other,
        };
        match value {
            Val::Bool(value) => {
                self.enter(state, if value { then } else { otherwise });
                Flow::Next
            }
            Val::Singles(name, negated) => {
                let (it, other) = if negated { (otherwise, then) } else { (then, otherwise) };
                let mut transient = state.clone();
                transient.tested = true;
                transient.singles = Some(name);
                self.enter(&mut transient, it);
                let mut rest = state.clone();
                rest.tested = true;
                self.enter(&mut rest, other);
                Flow::All(vec![transient, rest])
            }
            value => {
                let carries = value.carries();
                let counts = !carries && self.is_bound(state, cond);
                let bound = counts && !self.meet(state, then, otherwise);
                let compared = if counts { self.compared(state, cond) } else { None };
                let again = compared.is_some() && state.bound.is_some() && state.bound_on == compared;
                let mut states = vec![self.to(state, then), self.to(state, otherwise)];
                for next in &mut states {
                    next.tested = carries;
                    next.forked |= !carries && state.round.is_some();
                    if bound {
                        if next.bound.is_none() {
                            next.bound_on.clone_from(&compared);
                        }
                        next.bound.get_or_insert(self.round(state));
                    }
                }
                if again {
                    return self.bound_again(states);
                }
                if state.singles.is_some() {
                    // A guard of the arm that singles out the transient fault: it may hold.
                    return Flow::All(states);
                }
                if bound {
                    self.bounded(states)
                } else if carries {
                    Flow::Either(states)
                } else {
                    Flow::Any(states)
                }
            }
        }
    }

    /// Whether two branches go on at the same place: they only choose a value.
    fn meet(&self, state: &State, then: BlockId, otherwise: BlockId) -> bool {
        let graph = self.graph(state.frame().function);
        let next = |block: BlockId| match graph.blocks[block as usize].end {
            End::Goto(next) => Some(next),
            _ => None,
        };
        next(then).is_some() && next(then) == next(otherwise)
    }

    fn to(&self, state: &State, block: BlockId) -> State {
        let mut next = state.clone();
        self.enter(&mut next, block);
        next
    }

    /// A value tested against a pattern.
    pub(super) fn test(
        &self,
        state: &mut State,
        place: &Place,
        pat: &Pattern,
        yes: BlockId,
        no: BlockId,
    ) -> Flow {
        self.note_end(state, place, Some(pat));
        let value = match state.get(place) {
            Val::Done(inner) => *inner,
            Val::Pending => return Flow::Done(self.dead(state)),
            other => other,
        };
        let carries = value.carries();
        match matches(pat, &value, &self.names()) {
            Match::No => {
                state.tested = carries;
                self.enter(state, no);
                state.tested = false;
                Flow::Next
            }
            Match::Yes(bound) => {
                state.designed |= carries && also_takes_an_item(pat);
                for (local, value) in bound.locals {
                    state.set(&Place::local(local), value);
                }
                state.tested = carries && (!pat.irrefutable() || self.is_match_arm(state, yes));
                state.singles = bound.singles.or_else(|| state.singles.take());
                self.enter(state, yes);
                Flow::Next
            }
            Match::Maybe(bound) => {
                let singles = bound.singles.is_some();
                let mut matched = state.clone();
                for (local, value) in bound.locals {
                    matched.set(&Place::local(local), value);
                }
                matched.tested = carries;
                matched.singles = bound.singles;
                let mut other = state.clone();
                other.tested = carries;
                if !carries && let Some(fits) = self.succeeds(state, pat) {
                    let (mut next, block) = if fits { (matched, yes) } else { (other, no) };
                    self.enter(&mut next, block);
                    return Flow::Any(vec![next]);
                }
                if !carries {
                    let aside = state.round.is_some();
                    // What a loop does with other items is not about the fault.
                    let iterates = self.graph(state.frame().function).blocks[state.frame().block as usize]
                        .head_of
                        .is_some();
                    matched.forked |= aside || iterates;
                    other.forked |= aside;
                    if self.runs_out(state, place) {
                        other.bound.get_or_insert(self.round(state));
                        self.enter(&mut matched, yes);
                        self.enter(&mut other, no);
                        return self.bounded(vec![matched, other]);
                    }
                    other.finite |= self.went_through_all(state);
                }
                self.enter(&mut matched, yes);
                self.enter(&mut other, no);
                other.tested = false;
                if singles {
                    Flow::All(vec![matched, other])
                } else if carries {
                    Flow::Either(vec![other, matched])
                } else {
                    Flow::Any(vec![other, matched])
                }
            }
        }
    }

    /// The caller of a job goes on: what else it does is taken to succeed. Tells whether the pattern then fits.
    fn succeeds(&self, state: &State, pat: &Pattern) -> Option<bool> {
        let job = self.ordinary.as_ref().is_some_and(|seen| seen.ends_itself.get());
        match pat {
            Pattern::TupleStruct(path, _) if job && state.ups > 0 => match path.last() {
                "Ok" => Some(true),
                "Err" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    fn is_match_arm(&self, state: &State, block: BlockId) -> bool {
        let graph = self.graph(state.frame().function);
        graph.blocks[block as usize].arm.is_some()
            && graph.blocks[block as usize].arm != graph.blocks[state.frame().block as usize].arm
    }

    /// `?`.
    pub(super) fn question(
        &self,
        state: &mut State,
        place: &Place,
        to: &Place,
        next: BlockId,
        span: Span,
    ) -> Flow {
        let value = match state.get(place) {
            Val::Done(inner) => *inner,
            other => other,
        };
        let value = match value {
            Val::Variant { ref name, .. } if matches!(name.as_str(), "Ok" | "Some") => value.payload(),
            Val::Variant { ref name, .. } if matches!(name.as_str(), "Err" | "None") => {
                if value.carries() {
                    let location = self.location(state.frame().function, span);
                    state.step(location, "`?` passes it on");
                }
                return self.give_back_early(state, value);
            }
            Val::Variant { ref name, .. } if name == "Ready" => match Self::ready_question(&value) {
                Ok(value) => value,
                Err(error) => {
                    if error.carries() {
                        let location = self.location(state.frame().function, span);
                        state.step(location, "`?` passes it on");
                    }
                    return self.give_back_early(state, error);
                }
            },
            Val::Panic => return self.panic(state),
            Val::Pending => return Flow::Done(self.dead(state)),
            Val::Fault | Val::Derived => {
                let mut failed = state.clone();
                let error = Val::variant("Err", Some(Val::Derived));
                let returned = self.give_back_early(&mut failed, error);
                let failed = self.settle(returned, &failed);
                state.set(to, Val::Derived);
                self.enter(state, next);
                return Flow::Done(failed.any(self.explore(state.clone())));
            }
            other => other,
        };
        state.set(to, value);
        self.enter(state, next);
        Flow::Next
    }

    /// `?` on an error: returns from the body; a generator yields the error and ends.
    fn give_back_early(&self, state: &mut State, value: Val) -> Flow {
        self.note_leaving(state);
        self.give_back(state, value)
    }
}

/// Whether one alternative of a pattern takes an ordinary item: the arm is the end by design.
fn also_takes_an_item(pat: &Pattern) -> bool {
    let item = |pat: &Pattern| match pat {
        Pattern::TupleStruct(path, inner) if matches!(path.last(), "Ok" | "Some") => inner
            .iter()
            .any(|pat| !matches!(pat, Pattern::Path(path) if path.last() == "None") && !is_error(pat)),
        _ => false,
    };
    matches!(pat, Pattern::Or(pats) if pats.iter().any(item))
}

fn is_error(pat: &Pattern) -> bool {
    matches!(pat, Pattern::TupleStruct(path, _) if path.last() == "Err")
}
