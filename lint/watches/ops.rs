//! What one operation of a graph makes of the values that it is given.

use std::collections::BTreeMap;

use rideout_rules::{catalog::Meaning, model::Outcome};

use super::{
    state::State,
    value::Val,
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::{
    flow::graph::{Callee, End, Graph, Op, Place, Value},
    syntax::tree::Op as BinaryOp,
};

impl Walk<'_, '_, '_> {
    /// Does one operation.
    pub(super) fn op(&self, state: &mut State, op: &Op) -> Flow {
        let value = match &op.value {
            Value::Use(place) => return self.store(state, op, state.get(place)),
            Value::Unit => Val::Unit,
            // A condition that the transient fault has just met.
            Value::Bool(true) if state.singles.is_some() => {
                Val::Singles(state.singles.take().unwrap_or_default(), false)
            }
            Value::Bool(value) => Val::Bool(*value),
            Value::Int(digits) => Val::Int(digits.clone()),
            Value::Str(_) | Value::Range => Val::Unknown,
            Value::Never => Val::Pending,
            Value::Path(path) => {
                if path.single() == Some("None") {
                    let fault = self.fault_arm(state).is_some();
                    Val::Variant { name: "None".to_owned(), fields: BTreeMap::new(), fault }
                } else {
                    Val::Path(path.segments.join("::"))
                }
            }
            Value::Call { callee, args, name_span } => return self.call(state, op, callee, args, *name_span),
            Value::Ready(place) => return self.ready(state, op, state.get(place)),
            Value::Await(place) => return self.wait_for(state, op, place),
            Value::Struct { path, fields, .. } => {
                if let Some(flow) = self.construct(state, op, fields.iter().map(|(_, place)| place)) {
                    return flow;
                }
                let ty = self.infer.place(state.frame().function, &op.to);
                for (name, place) in fields {
                    let value = state.get(place);
                    self.keep_in(state, &ty, name, &value);
                }
                let fields = fields.iter().map(|(name, place)| (name.clone(), state.get(place))).collect();
                Val::Variant { name: path.last().to_owned(), fields, fault: false }
            }
            Value::Tuple(places) => Val::tuple(places.iter().map(|place| state.get(place)).collect()),
            Value::Body(body) => Val::Body(state.frame().function, *body, state.frame().env),
            Value::Not(place) => match state.get(place) {
                Val::Bool(value) => Val::Bool(!value),
                Val::Singles(name, negated) => Val::Singles(name, !negated),
                other if other.carries() => Val::Derived,
                _ => Val::Unknown,
            },
            Value::Compare(op, left, right) => self.compare(*op, &state.get(left), &state.get(right)),
            Value::Step(..) => Val::Unknown,
            Value::Macro { path, args } => {
                let function = state.frame().function;
                let resolved = self.infer.program.resolve(function, &path.segments);
                let known = self.infer.program.known(function);
                if resolved.last().and_then(|name| known.word_macro(name)) == Some(Meaning::Log) {
                    self.log(state);
                    Val::Unit
                } else if path.last().contains("spawn") {
                    let values: Vec<Val> = args.iter().map(|place| state.get(place)).collect();
                    return self.spawn(state, op, args, &values, false);
                } else if path.last() == "vec" {
                    collected(args.iter().map(|place| state.get(place)).collect())
                } else if args.iter().any(|place| state.get(place).carries()) {
                    Val::Derived
                } else {
                    Val::Unknown
                }
            }
            Value::Yield(place) => {
                if state.get(place).carries() && self.ordinary.is_none() {
                    return Flow::Done(Verdict::new(Outcome::Forwards, state));
                }
                Val::Unknown
            }
            Value::Join { futures, fallible } => return self.join(state, op, futures, *fallible),
            Value::Opaque(places) => {
                let carries = places.iter().any(|place| state.get(place).carries());
                if carries || self.fault_arm(state).is_some() { Val::Derived } else { Val::Unknown }
            }
            Value::Leave => {
                self.note_leaving(state);
                if state.bound.is_some() && !state.said && self.leaves_by_bound(state) {
                    state.bound = Some(self.location(state.frame().function, op.span));
                }
                Val::Unit
            }
        };
        state.set(&op.to, value);
        Flow::Next
    }

    fn store(&self, state: &mut State, op: &Op, value: Val) -> Flow {
        let function = state.frame().function;
        let local = &self.graph(function).locals[op.to.local as usize];
        let outlives = !op.to.fields.is_empty() && local.name.as_deref() == Some("self");
        let tells = if outlives {
            value.is_fault()
        } else {
            value.carries() && local.name.is_some() && is_guard(self.graph(function), &op.to, 0)
        };
        if tells && self.ordinary.is_none() {
            return Flow::Done(Verdict::new(Outcome::Forwards, state));
        }
        let held = state.get(&op.to).holds(&Val::Ours) && !value.holds(&Val::Ours);
        if held && (outlives || (value.is_variant("None") && self.fault_arm(state).is_some())) {
            state.released = true;
        }
        self.keep(state, &op.to, &value);
        state.set(&op.to, value);
        Flow::Next
    }

    fn compare(&self, op: BinaryOp, left: &Val, right: &Val) -> Val {
        let negated = match op {
            BinaryOp::Equal => false,
            BinaryOp::NotEqual => true,
            _ => return if left.carries() || right.carries() { Val::Derived } else { Val::Unknown },
        };
        let (fault, other) = if left.carries() { (left, right) } else { (right, left) };
        let names = other.names();
        if fault.carries() {
            if let Val::FaultItem(own) = fault {
                let own = own.rsplit("::").next().unwrap_or(own);
                return match names.iter().find(|name| *name == own) {
                    Some(name) if self.fact.transient.contains(name) => Val::Singles(name.clone(), negated),
                    Some(_) => Val::Bool(!negated),
                    None => Val::Derived,
                };
            }
            return self.kind(&names, negated);
        }
        match (left, right) {
            (Val::Bool(left), Val::Bool(right)) => Val::Bool((left == right) != negated),
            _ => Val::Unknown,
        }
    }

    /// What it says of the fault that its kind is one of these.
    pub(super) fn kind(&self, names: &[String], negated: bool) -> Val {
        if let Some(name) = names.iter().find(|name| self.fact.transient.contains(name)) {
            return Val::Singles(name.clone(), negated);
        }
        let is_other = !names.is_empty() && names.iter().any(|name| self.fact.others.contains(name));
        if is_other { Val::Bool(negated) } else { Val::Derived }
    }
}

/// A collection of values: as good as the ended task in it, if there is one.
fn collected(values: Vec<Val>) -> Val {
    let task = |value: &&Val| matches!(value, Val::Done(_)) || value.handle().is_some();
    match values.iter().find(task) {
        Some(task) => task.clone(),
        None if values.iter().any(Val::carries) => Val::Derived,
        None => Val::tuple(values),
    }
}

/// Whether a place is the guard of a lock: what is put there others see.
fn is_guard(graph: &Graph, place: &Place, depth: usize) -> bool {
    if depth > 5 || !place.fields.is_empty() {
        return false;
    }
    let from = |op: &Op| match &op.value {
        Value::Use(from) | Value::Await(from) => is_guard(graph, from, depth + 1),
        Value::Call { callee: Callee::Method { name, .. }, args, .. } => match name.as_str() {
            "lock" | "write" | "borrow_mut" | "blocking_lock" | "blocking_write" => true,
            "unwrap" | "expect" | "into_inner" | "unwrap_or_else" => {
                args.first().is_some_and(|from| is_guard(graph, from, depth + 1))
            }
            _ => false,
        },
        _ => false,
    };
    graph.blocks.iter().any(|block| {
        let bound = match &block.end {
            End::Test { value, pat, .. } => pat.binds(place.local).then_some(value),
            _ => None,
        };
        bound.is_some_and(|value| is_guard(graph, value, depth + 1))
            || block.ops.iter().any(|op| op.to == *place && from(op))
    })
}
