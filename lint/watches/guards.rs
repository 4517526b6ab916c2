//! Guards whose drop tells somebody: a body that ends with one of them in it has told of its end.

use rideout_rules::catalog::Meaning;

use super::walk::Walk;
use crate::{
    facts::{FnId, Ty},
    flow::graph::{BodyId, Callee, Graph, Op, Place, Value},
    syntax::tree::Receiver,
};

impl Walk<'_, '_, '_> {
    /// Whether a body that returns drops a guard: one in `self`, a parameter, or one that it took over from somebody else's token.
    pub(super) fn drops_guard(&self, id: FnId, body: BodyId) -> bool {
        let function = &self.infer.program.functions[id];
        let is_given = body == 0
            && ((function.receiver == Receiver::Value && self.self_holds_guard(id))
                || function.params.iter().any(|ty| self.is_guard(id, &self.infer.program.ty_in(id, ty))));
        let graph = self.graph(id);
        is_given
            || graph.blocks.iter().filter(|block| block.body == body).flat_map(|block| &block.ops).any(|op| {
                matches!(op.value, Value::Use(_) | Value::Call { .. })
                    && self.is_guard(id, &self.infer.place(id, &op.to))
                    && !made_here(graph, body, op)
            })
    }

    fn is_guard(&self, id: FnId, ty: &Ty) -> bool {
        matches!(ty, Ty::Named { path, .. }
            if self.infer.program.known(id).word_type(path) == Some(Meaning::Guard))
    }

    fn self_holds_guard(&self, id: FnId) -> bool {
        let program = self.infer.program;
        let Some(own) = program.functions[id].outer.self_type.as_ref() else { return false };
        let Ty::Local(at, _) = program.ty_in(id, own) else { return false };
        program.types[at].fields.keys().any(|field| self.is_guard(id, &program.field(at, field, &[])))
    }
}

/// Whether a guard's token was made in the body itself: it stops the body's own tasks and tells nobody else.
fn made_here(graph: &Graph, body: BodyId, op: &Op) -> bool {
    let mut value = &op.value;
    for _ in 0..6 {
        let from = match value {
            Value::Call { callee: Callee::Method { name, .. }, .. } if name == "child_token" => return true,
            Value::Call { callee: Callee::Method { .. }, args, .. } => args.first(),
            Value::Use(from) => Some(from),
            Value::Call { .. } => return true,
            _ => None,
        };
        match from.and_then(|from| made_by(graph, body, from)) {
            Some(op) => value = &op.value,
            None => return false,
        }
    }
    false
}

fn made_by<'g>(graph: &'g Graph, body: BodyId, place: &Place) -> Option<&'g Op> {
    let own = graph.blocks.iter().filter(|block| block.body == body);
    own.flat_map(|block| &block.ops).find(|op| op.to == *place)
}
