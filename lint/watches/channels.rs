//! A task that ends drops its sender: whoever receives from the channel is told.

use rideout_rules::catalog::Meaning;

use super::{kept::behind, state::State, walk::Walk};
use crate::{
    facts::FnId,
    flow::graph::{BodyId, Callee, End, Graph, LocalId, Op, Pattern, Place, Value},
};

/// Who is told that a channel's only sender is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Nobody,
    InView,
    /// Whoever calls a function that nobody in view calls.
    OutOfView,
}

impl Walk<'_, '_, '_> {
    /// Who is told when the task that is spawned here drops the only sender of a channel: whoever holds the receiver in this
    /// function, or in one that handed the sender in.
    pub(super) fn told_by_sender(&self, state: &State, task: &Place) -> Told {
        let frame = state.frame();
        let graph = self.graph(frame.function);
        let Some(made_by) = self.made_by(frame.function, task) else { return Told::Nobody };
        let told = self.owns_only_sender(frame.function, frame.body, made_by);
        if told != Told::Nobody {
            return told;
        }
        // The sender came in as a parameter, by value, and goes down with the task.
        let sites = self.infer.sites();
        let params = &graph.bodies[0].params;
        let mut callers = sites.get(&frame.function).into_iter().flatten().map(|site| {
            let caller = self.graph(site.function);
            let block = &caller.blocks[site.block as usize];
            let call = &block.ops[site.op];
            let Value::Call { args, .. } = &call.value else { return Told::Nobody };
            let given = params.iter().zip(args).any(|(param, _)| {
                graph.blocks.iter().any(|block| {
                    block.body != frame.body
                        && block
                            .ops
                            .iter()
                            .any(|op| uses_param(self, frame.function, op, *param) && sends(op))
                })
            });
            if given { self.owns_only_sender(site.function, block.body, call) } else { Told::Nobody }
        });
        callers.find(|told| *told != Told::Nobody).unwrap_or(Told::Nobody)
    }

    /// Whether a function, or one that it gives the sender to, sends something.
    fn is_sent(&self, function: FnId, sender: LocalId, depth: usize) -> bool {
        let graph = self.graph(function);
        let own = |place: &Place| graph.bound_from(place.local) == graph.bound_from(sender);
        depth > 4
            || graph.blocks.iter().flat_map(|block| &block.ops).any(|op| {
                let Value::Call { callee, args, .. } = &op.value else { return false };
                let Some(at) = args.iter().position(own) else { return false };
                (at == 0 && sends(op))
                    || self.infer.callees(function, callee, args).into_iter().any(|callee| {
                        let param = self.graph(callee).bodies[0].params.get(at).copied();
                        param.is_some_and(|param| self.is_sent(callee, param, depth + 1))
                    })
            })
    }

    /// The operation that made a value, seen through plain bindings and what passes it on.
    fn made_by(&self, function: FnId, place: &Place) -> Option<&Op> {
        let known = self.infer.program.known(function);
        let graph = self.graph(function);
        let mut place = place;
        for _ in 0..6 {
            let op = graph.blocks.iter().flat_map(|block| &block.ops).find(|op| op.to == *place)?;
            let means = match &op.value {
                Value::Call { callee: Callee::Method { name, .. }, .. } => known.word_method(&[], name),
                Value::Call { callee: Callee::Path(path), .. } => {
                    known.word_fn(&self.infer.program.resolve(function, &path.segments).join("::"))
                }
                _ => None,
            };
            place = match &op.value {
                Value::Use(from) => from,
                Value::Call { args, .. } if means == Some(Meaning::Same) => args.first()?,
                _ => return Some(op),
            };
        }
        None
    }

    /// Who is told if a call or a task is given the only sender of a channel that its function makes.
    fn owns_only_sender(&self, function: FnId, body: BodyId, given_to: &Op) -> Told {
        let graph = self.graph(function);
        let mut channels = graph.blocks.iter().map(|block| {
            let End::Test { value, pat: Pattern::Tuple(pats), .. } = &block.end else { return Told::Nobody };
            let [Pattern::Bind(sender, None), Pattern::Bind(receiver, None)] = pats.as_slice() else {
                return Told::Nobody;
            };
            let ops = || graph.blocks.iter().flat_map(|block| &block.ops);
            let is_channel = graph.made_by(value).is_some_and(|op| match &op.value {
                Value::Call { callee: Callee::Path(path), .. } => {
                    let resolved = self.infer.program.resolve(function, &path.segments);
                    resolved.last().is_some_and(|name| makes_channel(name))
                }
                _ => false,
            });
            let received = ops().any(|op| {
                matches!(&op.value, Value::Call { callee: Callee::Method { name, .. }, args, .. }
                    if receives(name) && args.first().is_some_and(|place| place.local == *receiver))
            });
            let has_callers = || {
                let facts = &self.infer.program.functions[function];
                let called = self.infer.sites().get(&function).is_some_and(|sites| !sites.is_empty());
                called || facts.of_trait.is_some()
            };
            let sender = &self.only_clone(graph, *sender).unwrap_or(*sender);
            let given = match &given_to.value {
                Value::Call { .. } => uses(given_to, *sender),
                // A capture: the sender is used inside and nowhere else.
                Value::Body(_) => graph
                    .blocks
                    .iter()
                    .filter(|block| block.body != body)
                    .any(|block| block.ops.iter().any(|op| uses(op, *sender))),
                _ => false,
            };
            let kept = graph
                .blocks
                .iter()
                .filter(|block| block.body == body)
                .any(|block| block.ops.iter().any(|op| uses(op, *sender) && !std::ptr::eq(given_to, op)));
            // A oneshot's receiver is a future, which tells of the drop unless something is sent before.
            let told = || is_awaited(graph, *receiver) && !self.is_sent(function, *sender, 0);
            if !is_channel || !given || kept {
                return Told::Nobody;
            }
            let returned = is_returned(graph, *receiver);
            let by_methods = || {
                self.is_read_by_methods(graph, *receiver) || self.is_kept_by_self(function, graph, *receiver)
            };
            if received || (returned && has_callers()) || by_methods() || told() {
                Told::InView
            } else if returned {
                Told::OutOfView
            } else {
                Told::Nobody
            }
        });
        channels.find(|told| *told != Told::Nobody).unwrap_or(Told::Nobody)
    }

    /// The clone that a sender is good for alone, if nothing else is done with it.
    fn only_clone(&self, graph: &Graph, sender: LocalId) -> Option<LocalId> {
        let mut users = graph.blocks.iter().flat_map(|block| &block.ops).filter(|op| uses(op, sender));
        let (Some(op), None) = (users.next(), users.next()) else { return None };
        let Value::Call { callee: Callee::Method { name, .. }, .. } = &op.value else { return None };
        let bound = graph.blocks.iter().flat_map(|block| &block.ops).find(
            |bound| matches!(&bound.value, Value::Use(from) if *from == op.to && bound.to.fields.is_empty()),
        );
        (name == "clone").then(|| bound.map_or(op.to.local, |bound| bound.to.local))
    }

    /// Whether a method puts the receiver into `self`, where methods of the same type receive from it.
    fn is_kept_by_self(&self, function: FnId, graph: &Graph, receiver: LocalId) -> bool {
        let parts = wholes(graph, receiver);
        let is_self = |place: &Place| graph.locals[place.local as usize].name.as_deref() == Some("self");
        let of_self = |place: &Place| {
            behind(graph, place).is_some_and(|field| {
                // `let mut inner = self.inner.write().await; inner.receiver = ..`
                is_self(&field)
                    || behind(graph, &Place::local(field.local)).is_some_and(|outer| is_self(&outer))
            })
        };
        let kept = graph.blocks.iter().flat_map(|block| &block.ops).any(|op| {
            matches!(&op.value, Value::Use(from) if parts.contains(&from.local)) && of_self(&op.to)
        });
        let functions = &self.infer.program.functions;
        let owner = &functions[function].owner;
        let own = |id: &FnId| owner.is_some() && functions[*id].owner == *owner;
        kept && (0..functions.len()).filter(own).any(|id| receives_any(self.graph(id)))
    }

    /// Whether a receiver goes into a field of a struct whose methods receive from that field.
    fn is_read_by_methods(&self, graph: &Graph, receiver: LocalId) -> bool {
        let parts = wholes(graph, receiver);
        let structs = graph.blocks.iter().flat_map(|block| &block.ops).filter_map(|op| match &op.value {
            Value::Struct { fields, .. } => {
                let (name, _) = fields.iter().find(|(_, place)| parts.contains(&place.local))?;
                Some((op, name))
            }
            _ => None,
        });
        let functions = &self.infer.program.functions;
        structs.into_iter().any(|(op, field)| {
            let Value::Struct { path, .. } = &op.value else { return false };
            let own = |owner: &str| owner == path.last() || path.last() == "Self";
            let mut methods = (0..functions.len())
                .filter(|id| functions[*id].owner.as_deref().is_some_and(own))
                .map(|id| self.graph(id));
            methods.clone().any(|graph| uses_field(graph, field)) && methods.any(receives_any)
        })
    }
}

fn uses_field(graph: &Graph, field: &str) -> bool {
    let of_field = |place: &Place| place.fields.first().is_some_and(|first| first == field);
    graph.blocks.iter().flat_map(|block| &block.ops).any(|op| match &op.value {
        Value::Call { args, .. } => args.iter().any(of_field),
        Value::Use(place) => of_field(place),
        _ => false,
    })
}

fn receives_any(graph: &Graph) -> bool {
    graph.blocks.iter().flat_map(|block| &block.ops).any(
        |op| matches!(&op.value, Value::Call { callee: Callee::Method { name, .. }, .. } if receives(name)),
    )
}

/// Whether a local is awaited, or selected on.
fn is_awaited(graph: &Graph, local: LocalId) -> bool {
    graph.blocks.iter().any(|block| {
        let selected = match &block.end {
            End::Select { arms, .. } => arms.iter().any(|arm| leads_to(graph, &arm.future, local)),
            _ => false,
        };
        selected
            || block.ops.iter().any(|op| matches!(&op.value, Value::Await(place) if place.local == local))
    })
}

/// Whether a place is a local, maybe under another name.
fn leads_to(graph: &Graph, place: &Place, local: LocalId) -> bool {
    place.local == local
        || graph
            .blocks
            .iter()
            .flat_map(|block| &block.ops)
            .any(|op| op.to == *place && matches!(&op.value, Value::Use(from) if from.local == local))
}

/// Whether a local is what the function returns, or a part of it.
fn is_returned(graph: &Graph, local: LocalId) -> bool {
    let parts = wholes(graph, local);
    graph.blocks.iter().any(|block| {
        block.body == 0 && matches!(&block.end, End::Return(place) if parts.contains(&place.local))
    })
}

/// A local, and what it is put into.
fn wholes(graph: &Graph, local: LocalId) -> Vec<LocalId> {
    let mut parts = vec![local];
    for _ in 0..4 {
        let wholes: Vec<LocalId> = graph
            .blocks
            .iter()
            .flat_map(|block| &block.ops)
            .filter(|op| {
                let builds = match &op.value {
                    Value::Call { callee: Callee::Path(path), .. } => {
                        path.last().starts_with(char::is_uppercase) || path.last() == "new"
                    }
                    Value::Call { callee: Callee::Method { .. }, .. } => false,
                    _ => true,
                };
                builds && parts.iter().any(|part| uses(op, *part))
            })
            .map(|op| op.to.local)
            .collect();
        parts.extend(wholes);
        parts.sort_unstable();
        parts.dedup();
    }
    parts
}

fn uses(op: &Op, local: LocalId) -> bool {
    match &op.value {
        Value::Call { args, .. } | Value::Tuple(args) => args.iter().any(|place| place.local == local),
        Value::Use(place) => place.local == local,
        Value::Struct { fields, .. } => fields.iter().any(|(_, place)| place.local == local),
        _ => false,
    }
}

/// Whether an operation uses a parameter, under the name it was bound to.
fn uses_param(walk: &Walk<'_, '_, '_>, function: FnId, op: &Op, param: LocalId) -> bool {
    let Value::Call { args, .. } = &op.value else { return false };
    args.first().is_some_and(|place| walk.param_of(function, place.local) == param)
}

fn sends(op: &Op) -> bool {
    matches!(&op.value, Value::Call { callee: Callee::Method { name, .. }, .. } if name.starts_with("send") || name == "try_send")
}

fn makes_channel(name: &str) -> bool {
    matches!(name, "channel" | "unbounded_channel" | "unbounded" | "bounded" | "sync_channel")
}

fn receives(name: &str) -> bool {
    matches!(name, "recv" | "changed" | "next" | "recv_async" | "wait_for" | "blocking_recv" | "recv_many")
}
