//! What a pattern says about a value: whether it matches, what it binds, which fault it singles out.

use super::value::{PARTLY, Val};
use crate::flow::graph::{LocalId, Pattern};

/// What a pattern says about a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Match {
    No,
    Yes(Bound),
    /// It may match.
    Maybe(Bound),
}

/// What a match binds and finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) locals: Vec<(LocalId, Val)>,
    /// The transient fault that the pattern singles out.
    pub(super) singles: Option<String>,
}

/// Names that decide what a pattern singles out.
pub(super) struct Names<'a> {
    pub(super) transient: &'a [String],
    pub(super) others: &'a [String],
    /// Whether the name is a unit struct, variant or constant; a lone capitalised name always is.
    pub(super) variant: Option<&'a str>,
}

impl Names<'_> {
    fn is_transient(&self, name: &str) -> bool {
        self.transient.iter().any(|known| known == name)
    }
}

/// Matches a value against a pattern.
pub(super) fn matches(pat: &Pattern, value: &Val, names: &Names<'_>) -> Match {
    let mut bound = Bound::default();
    match step(pat, value, names, &mut bound) {
        Answer::No => Match::No,
        Answer::Yes => Match::Yes(bound),
        Answer::Maybe => Match::Maybe(bound),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    No,
    Yes,
    Maybe,
}

impl Answer {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Yes, Self::Yes) => Self::Yes,
            _ => Self::Maybe,
        }
    }
}

fn step(pat: &Pattern, value: &Val, names: &Names<'_>, bound: &mut Bound) -> Answer {
    match pat {
        Pattern::Wild | Pattern::Rest => Answer::Yes,
        Pattern::Bind(local, sub) => {
            bound.locals.push((*local, value.clone()));
            sub.as_ref().map_or(Answer::Yes, |sub| step(sub, value, names, bound))
        }
        Pattern::Or(pats) => {
            let mut best = Answer::No;
            for pat in pats {
                let mut own = Bound::default();
                match step(pat, value, names, &mut own) {
                    Answer::Yes => {
                        *bound = merge(bound, own);
                        return Answer::Yes;
                    }
                    Answer::Maybe if best == Answer::No => {
                        *bound = merge(bound, own);
                        best = Answer::Maybe;
                    }
                    _ => {}
                }
            }
            best
        }
        Pattern::Bool(wanted) => match value {
            Val::Bool(value) if value == wanted => Answer::Yes,
            Val::Bool(_) => Answer::No,
            _ => unknown(pat, value, bound),
        },
        Pattern::Int(wanted) => match value {
            Val::Int(value) if value == wanted => Answer::Yes,
            Val::Int(_) => Answer::No,
            Val::Fault | Val::Derived if names.is_transient(wanted) => {
                bound.singles = Some(wanted.clone());
                Answer::Yes
            }
            _ => unknown(pat, value, bound),
        },
        Pattern::Tuple(pats) => parts(pats, value, names, bound),
        Pattern::Path(path) => named(path.segments.as_slice(), &[], value, names, bound),
        Pattern::TupleStruct(path, pats) => {
            let fields: Vec<(String, &Pattern)> = indexed(pats);
            named(path.segments.as_slice(), &fields, value, names, bound)
        }
        Pattern::Struct(path, pats) => {
            let fields: Vec<(String, &Pattern)> =
                pats.iter().map(|(name, pat)| (name.clone(), pat)).collect();
            named(path.segments.as_slice(), &fields, value, names, bound)
        }
        Pattern::Other(_) => unknown(pat, value, bound),
    }
}

fn merge(left: &Bound, mut right: Bound) -> Bound {
    let mut locals = left.locals.clone();
    locals.append(&mut right.locals);
    Bound { locals, singles: right.singles.or_else(|| left.singles.clone()) }
}

fn indexed(pats: &[Pattern]) -> Vec<(String, &Pattern)> {
    pats.iter().enumerate().map(|(at, pat)| (at.to_string(), pat)).collect()
}

fn parts(pats: &[Pattern], value: &Val, names: &Names<'_>, bound: &mut Bound) -> Answer {
    let mut answer = Answer::Yes;
    for (at, pat) in pats.iter().enumerate() {
        answer = answer.and(step(pat, &value.field(&at.to_string()), names, bound));
    }
    answer
}

/// Binds every name of a pattern to something unknown (or made of the fault).
fn unknown(pat: &Pattern, value: &Val, bound: &mut Bound) -> Answer {
    let inner = if value.carries() { Val::Derived } else { Val::Unknown };
    pat.walk(&mut |pat| {
        if let Pattern::Bind(local, _) = pat {
            bound.locals.push((*local, inner.clone()));
        }
    });
    if pat.irrefutable() { Answer::Yes } else { Answer::Maybe }
}

fn named(
    path: &[String],
    fields: &[(String, &Pattern)],
    value: &Val,
    names: &Names<'_>,
    bound: &mut Bound,
) -> Answer {
    let name = path.last().map_or("", String::as_str);
    match value {
        Val::Variant { name: own, .. } => {
            if own.is_empty() {
                return Answer::No;
            }
            if own == PARTLY {
                for (field, pat) in fields {
                    let _ = step(pat, &value.field(field), names, bound);
                }
                return Answer::Maybe;
            }
            if own != name {
                // `Self { .. }` and a struct's alias name the same thing; variants of the language do not.
                let plain = matches!(own.as_str(), "Ok" | "Err" | "Some" | "None" | "Ready");
                let foreign = !matches!(name, "Ok" | "Err" | "Some" | "None" | "Ready" | "Pending") && !plain;
                return if foreign && name == "Self" { Answer::Maybe } else { Answer::No };
            }
            if names.is_transient(name) && (value.carries() || names.variant == Some(name)) {
                bound.singles = Some(name.to_owned());
            }
            fields.iter().fold(Answer::Yes, |answer, (field, pat)| {
                answer.and(step(pat, &value.field(field), names, bound))
            })
        }
        Val::Path(own) => {
            let same = own.rsplit("::").next() == Some(name);
            if same { Answer::Yes } else { Answer::No }
        }
        Val::Fault => {
            if names.is_transient(name) {
                bound.singles = Some(name.to_owned());
                bind_all(fields, &Val::Derived, bound);
                return Answer::Maybe;
            }
            let nested = mentioned(fields, names.transient);
            if let Some(inner) = nested {
                bound.singles = Some(inner);
                bind_all(fields, &Val::Derived, bound);
                return Answer::Maybe;
            }
            // A kind that the catalog does not call transient is another error than the fault at hand, unless it wraps it.
            if names.others.iter().any(|known| known == name)
                || fields.iter().all(|(_, pat)| !pat.irrefutable())
            {
                return Answer::No;
            }
            bind_all(fields, &Val::Fault, bound);
            Answer::Maybe
        }
        Val::FaultItem(own) => fault_item(own, path, fields, names, bound),
        Val::Derived if names.is_transient(name) => {
            bound.singles = Some(name.to_owned());
            bind_all(fields, &Val::Derived, bound);
            Answer::Maybe
        }
        Val::Derived if names.others.iter().any(|known| known == name) => Answer::No,
        Val::Derived if matches!(name, "Some" | "Ok") && mentioned(fields, names.transient).is_some() => {
            bound.singles = mentioned(fields, names.transient);
            bind_all(fields, &Val::Derived, bound);
            Answer::Maybe
        }
        Val::Derived if matches!(name, "Some" | "Ok") && mentioned(fields, names.others).is_some() => {
            Answer::No
        }
        Val::Unknown | Val::Derived => {
            let inner = if matches!(value, Val::Derived) { Val::Derived } else { Val::Unknown };
            bind_all(fields, &inner, bound);
            Answer::Maybe
        }
        // `None` and `Err(_)` never match a value that is there.
        Val::Ours
        | Val::Fresh
        | Val::Sleep
        | Val::Handle(_)
        | Val::Running(_)
        | Val::Set(_)
        | Val::Future(..)
        | Val::Body(..) => {
            if matches!(name, "None" | "Err" | "Pending") {
                return Answer::No;
            }
            fields.iter().fold(Answer::Yes, |answer, (_, pat)| answer.and(step(pat, value, names, bound)))
        }
        _ => {
            bind_all(fields, &Val::Unknown, bound);
            Answer::Maybe
        }
    }
}

/// A value of an enum that says the fault by its variant: `Event::Init`, `SessionState::Disconnected`.
fn fault_item(
    own: &str,
    path: &[String],
    fields: &[(String, &Pattern)],
    names: &Names<'_>,
    bound: &mut Bound,
) -> Answer {
    let name = path.last().map_or("", String::as_str);
    let (own_enum, own_name) =
        own.rsplit_once("::").map_or((None, own), |(head, name)| (head.rsplit("::").next(), name));
    if name == own_name {
        if names.is_transient(own_name) {
            bound.singles = Some(own_name.to_owned());
        }
        bind_all(fields, &Val::Derived, bound);
        return Answer::Yes;
    }
    let mut found = false;
    for (_, pat) in fields {
        pat.walk(&mut |pat| {
            if let Pattern::Path(path) | Pattern::TupleStruct(path, _) | Pattern::Struct(path, _) = pat {
                found |= path.last() == own_name;
            }
        });
    }
    let value = Val::FaultItem(own.to_owned());
    if found {
        for (_, pat) in fields {
            let _ = step(pat, &value, names, bound);
        }
        return Answer::Yes;
    }
    let same_enum = path.len() > 1 && own_enum == path.get(path.len() - 2).map(String::as_str);
    if same_enum || fields.is_empty() || path.len() == 1 && own_enum.is_none() {
        return Answer::No;
    }
    if fields.iter().any(|(_, pat)| !pat.irrefutable()) {
        return Answer::No;
    }
    bind_all(fields, &value, bound);
    Answer::Maybe
}

/// The first of `wanted` that a path in the patterns names.
fn mentioned(fields: &[(String, &Pattern)], wanted: &[String]) -> Option<String> {
    let mut found = None;
    for (_, pat) in fields {
        pat.walk(&mut |pat| {
            let name = match pat {
                Pattern::Path(path) | Pattern::TupleStruct(path, _) | Pattern::Struct(path, _) => path.last(),
                Pattern::Int(digits) => digits,
                _ => return,
            };
            if wanted.iter().any(|known| known == name) {
                found.get_or_insert_with(|| name.to_owned());
            }
        });
    }
    found
}

fn bind_all(fields: &[(String, &Pattern)], value: &Val, bound: &mut Bound) {
    for (_, pat) in fields {
        pat.walk(&mut |pat| {
            if let Pattern::Bind(local, _) = pat {
                bound.locals.push((*local, value.clone()));
            }
        });
    }
}
