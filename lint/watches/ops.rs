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
    flow::graph::{Op, Value},
    syntax::tree::Op as BinaryOp,
};

impl Walk<'_, '_, '_> {
    /// Does one operation.
    pub(super) fn op(&self, state: &mut State, op: &Op) -> Flow {
        let value = match &op.value {
            Value::Use(place) => return self.store(state, op, state.get(place)),
            Value::Unit => Val::Unit,
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
            Value::Await(place) => return self.wait_for(state, op, state.get(place)),
            Value::Struct { path, fields, .. } => {
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
                if let Some(bound) = &mut state.bound
                    && !state.said
                {
                    *bound = self.location(state.frames[state.frames.len() - 1].function, op.span);
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
        if outlives && value.is_fault() && self.ordinary.is_none() {
            return Flow::Done(Verdict::new(Outcome::Forwards, state));
        }
        let held = state.get(&op.to).holds(&Val::Ours) && !value.holds(&Val::Ours);
        if held && (outlives || (value.is_variant("None") && self.fault_arm(state).is_some())) {
            state.released = true;
        }
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
        let name = match other {
            Val::Path(path) => path.rsplit("::").next().unwrap_or(path).to_owned(),
            Val::Int(digits) => digits.clone(),
            Val::Variant { name, .. } => name.clone(),
            _ => String::new(),
        };
        if fault.carries() {
            if let Val::FaultItem(own) = fault {
                let own = own.rsplit("::").next().unwrap_or(own);
                if own == name && self.fact.transient.contains(&name) {
                    return Val::Singles(name, negated);
                }
                return Val::Derived;
            }
            if self.fact.transient.contains(&name) {
                return Val::Singles(name, negated);
            }
            if self.fact.others.contains(&name) {
                return Val::Bool(negated);
            }
            return Val::Derived;
        }
        match (left, right) {
            (Val::Bool(left), Val::Bool(right)) => Val::Bool((left == right) != negated),
            _ => Val::Unknown,
        }
    }
}
