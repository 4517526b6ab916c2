//! The places through which the stream of a poll can be reached: its own, and those that it was made of.

use super::{infer::Infer, polls::PollSite, value::Val};
use crate::{
    facts::Ty,
    flow::{
        graph::{Callee, End, Graph, LocalId, Op, Pattern, Place, Value},
        unpins,
    },
};

/// Each place with what it holds of the stream.
pub(super) fn handles(infer: &Infer<'_, '_>, site: &PollSite) -> Vec<(Place, Val)> {
    let graph: &Graph = infer.graph(site.function);
    let holds = |place: &Place| infer.place(site.function, place).watch().is_some();
    let mut places = vec![(site.stream.clone(), Val::Ours)];
    let mut emptied = Vec::new();
    let mut next = 0;
    while let Some((place, value)) = places.get(next).cloned() {
        next += 1;
        let mut found = Vec::new();
        for block in &graph.blocks {
            if let End::Test { value: from, pat, .. } = &block.end
                && let Some((path, value)) =
                    place.fields.is_empty().then(|| bound(pat, place.local, &value)).flatten()
            {
                let mut from = from.clone();
                from.fields.extend(path);
                found.push((from, value));
            }
            for op in block.ops.iter().filter(|op| is_part(&place, &op.to)) {
                let rest = &place.fields[op.to.fields.len()..];
                for mut from in made_of(infer, site, op, rest.is_empty()) {
                    let leads = matches!(op.value, Value::Use(_)) || borrows(infer, site, op, &from);
                    from.fields.extend(rest.iter().cloned());
                    if takes_out(op) {
                        emptied.push((from, Val::variant("None", None)));
                    } else if leads || holds(&from) {
                        found.push((from, value.clone()));
                    }
                }
            }
        }
        for (place, value) in found {
            if !places.iter().any(|(known, _)| *known == place) {
                places.push((place, value));
            }
        }
    }
    places.extend(emptied);
    places
}

/// Whether an operation leaves nothing in the `Option` that it took its value from.
fn takes_out(op: &Op) -> bool {
    matches!(&op.value, Value::Call { callee: Callee::Method { name, .. }, args, .. } if name == "take" && args.len() == 1)
}

fn is_part(place: &Place, whole: &Place) -> bool {
    place.local == whole.local && place.fields.starts_with(&whole.fields)
}

/// The places that an operation took its value from: all of it, or a projection of which only a field is wanted.
fn made_of(infer: &Infer<'_, '_>, site: &PollSite, op: &Op, whole: bool) -> Vec<Place> {
    match &op.value {
        Value::Use(from) | Value::Await(from) | Value::Ready(from) => vec![from.clone()],
        Value::Call { callee: Callee::Method { name, .. }, args, .. } => {
            let projects =
                |from: &Place| unpins(name) && matches!(infer.place(site.function, from), Ty::Local(..));
            args.iter().take(1).filter(|from| whole || projects(from)).cloned().collect()
        }
        // A wrapper is as old as what it wraps.
        Value::Call { callee: Callee::Path(_), args, .. } if whole => args.clone(),
        _ => Vec::new(),
    }
}

/// Whether a call gives what is as dead as its receiver.
fn borrows(infer: &Infer<'_, '_>, site: &PollSite, op: &Op, receiver: &Place) -> bool {
    let Value::Call { callee: Callee::Method { name, .. }, .. } = &op.value else { return false };
    let paths = infer.paths(site.function, &infer.place(site.function, receiver));
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    infer.program.known(site.function).borrows(&paths, name)
}

/// Where in a tested value the local that a pattern binds stands, and what the value is, as far as the variants around the local
/// tell.
fn bound(pat: &Pattern, local: LocalId, value: &Val) -> Option<(Vec<String>, Val)> {
    match pat {
        Pattern::Bind(bound, _) if *bound == local => Some((Vec::new(), value.clone())),
        Pattern::Bind(_, Some(sub)) => bound(sub, local, value),
        Pattern::TupleStruct(path, pats) => {
            let (at, (rest, value)) =
                pats.iter().enumerate().find_map(|(at, pat)| Some((at, bound(pat, local, value)?)))?;
            if !rest.is_empty() {
                return None;
            }
            let mut whole = Val::variant(path.last(), None);
            if let Val::Variant { fields, .. } = &mut whole {
                fields.insert(at.to_string(), value);
            }
            Some((Vec::new(), whole))
        }
        Pattern::Struct(path, pats) => {
            let (name, (rest, value)) =
                pats.iter().find_map(|(name, pat)| Some((name, bound(pat, local, value)?)))?;
            let mut fields = vec![name.clone()];
            fields.extend(rest);
            // A struct's field is a place of its own; of an enum the variant is known.
            path.segments.len().eq(&1).then_some((fields, value))
        }
        Pattern::Tuple(pats) => {
            let (at, (rest, value)) =
                pats.iter().enumerate().find_map(|(at, pat)| Some((at, bound(pat, local, value)?)))?;
            let mut fields = vec![at.to_string()];
            fields.extend(rest);
            Some((fields, value))
        }
        Pattern::Or(pats) => pats.iter().find_map(|pat| bound(pat, local, value)),
        _ => None,
    }
}
