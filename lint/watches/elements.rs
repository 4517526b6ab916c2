//! Collections and iterators: the types of what they hold.

use super::typing::Typing;
use crate::{facts::Ty, flow::graph::Place};

/// What a collection or an iterator holds, by its type: what going through it gives, and what a key leads to.
pub(super) struct Held {
    item: Ty,
    value: Ty,
    is_map: bool,
    is_vec: bool,
}

/// What a type holds, if it is a collection or an iterator.
pub(super) fn held(ty: &Ty) -> Option<Held> {
    let Ty::Named { path, args, .. } = ty else { return None };
    let last = path.rsplit("::").next().unwrap_or(path);
    let at = |index: usize| args.get(index).cloned().unwrap_or_default();
    match last {
        "Vec" | "VecDeque" | "LinkedList" | "BinaryHeap" | "HashSet" | "BTreeSet" | "IndexSet"
        | "SmallVec" | ITERATOR => {
            Some(Held { item: at(0), value: at(0), is_map: false, is_vec: last == "Vec" })
        }
        _ if is_map(path) => {
            let item = Ty::Tuple(vec![at(0), at(1)]);
            Some(Held { item, value: at(1), is_map: true, is_vec: false })
        }
        _ => None,
    }
}

/// Whether a collection leads from keys to values.
pub(super) fn is_map(path: &str) -> bool {
    let last = path.rsplit("::").next().unwrap_or(path);
    matches!(last, "HashMap" | "BTreeMap" | "IndexMap" | "DashMap" | "FxHashMap" | "AHashMap")
}

/// What indexing a type gives: itself, if it is no collection.
pub(super) fn indexed(ty: Ty) -> Ty {
    held(&ty).map_or(ty, |held| held.value)
}

/// The name under which every iterator goes.
const ITERATOR: &str = "Iterator";

fn iterator(item: Ty) -> Ty {
    Ty::named(ITERATOR, vec![item])
}

impl Typing<'_, '_, '_> {
    /// What a method of a collection or an iterator gives. Nothing for methods that have nothing to do with what it holds.
    pub(super) fn collection_method(&mut self, receiver: &Ty, name: &str, rest: &[Place]) -> Option<Ty> {
        let Held { item, value, is_map, is_vec } = held(receiver)?;
        Some(match name {
            "iter" | "iter_mut" | "into_iter" | "drain" | "rev" | "skip" | "take" | "step_by" | "chain"
            | "cloned" | "copied" | "by_ref" | "peekable" | "into_par_iter" | "par_iter" | "split_off" => {
                iterator(item)
            }
            "filter" | "inspect" | "take_while" | "skip_while" | "sorted_by_key" => {
                self.bind_closure(rest, &item);
                iterator(item)
            }
            "values" | "values_mut" | "into_values" => iterator(value),
            "enumerate" => iterator(Ty::Tuple(vec![Ty::Unknown, item])),
            "zip" => {
                let other = rest.first().map_or(Ty::Unknown, |place| self.place(place));
                let other = held(&other).map_or(other, |held| held.item);
                iterator(Ty::Tuple(vec![item, other]))
            }
            "map" => iterator(self.bind_closure(rest, &item)?),
            "filter_map" | "flat_map" => iterator(self.bind_closure(rest, &item)?.inner()),
            "collect" => Ty::named("Vec", vec![item]),
            "remove" if is_vec => item,
            "swap_remove" if !is_map => item,
            "get" | "get_mut" | "remove" | "insert" | "swap_remove" | "shift_remove" => Ty::option(value),
            "next" | "next_back" | "nth" | "pop" | "pop_front" | "pop_back" | "pop_first" | "pop_last"
            | "first" | "first_mut" | "last" | "last_mut" | "front" | "front_mut" | "back" | "back_mut"
            | "peek" | "find" | "min_by_key" | "max_by_key" => Ty::option(item),
            "entry" => Ty::named("Entry", vec![value]),
            _ => return None,
        })
    }

    /// Gives a closure its parameter's type, and tells what calling it gives.
    fn bind_closure(&mut self, rest: &[Place], item: &Ty) -> Option<Ty> {
        let closure = rest.first().map(|place| self.place(place))?;
        self.bind_param_ty(&closure, item);
        match closure {
            Ty::Body(id, body) => Some(self.called(id, body)),
            Ty::Function(id) => Some(self.infer.output(id)),
            _ => None,
        }
    }
}
