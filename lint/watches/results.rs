//! What the code around a call says of its result.

use crate::flow::graph::{Callee, End, Graph, Op, Pattern, Place, Value};

/// Methods that only `Result` and `Option` have.
const OF_RESULTS: &[&str] = &[
    "and_then",
    "context",
    "expect",
    "inspect_err",
    "is_err",
    "is_ok",
    "map_err",
    "ok",
    "ok_or_else",
    "or_else",
    "unwrap",
    "unwrap_or",
    "unwrap_or_default",
    "unwrap_or_else",
    "with_context",
];

/// Whether the code takes what a call gave into this place, or what awaiting it gives, for a `Result`.
pub(super) fn is_taken_for_result(graph: &Graph, to: &Place) -> bool {
    let mut places = vec![to];
    let mut next = 0;
    while let Some(place) = places.get(next).copied() {
        next += 1;
        for block in &graph.blocks {
            for op in &block.ops {
                match &op.value {
                    Value::Use(from)
                    | Value::Await(from)
                    | Value::Call { callee: Callee::Place(from), .. }
                        if from == place && !places.contains(&&op.to) =>
                    {
                        places.push(&op.to);
                    }
                    Value::Call { callee: Callee::Method { name, .. }, args, .. }
                        if args.first() == Some(place) && OF_RESULTS.contains(&name.as_str()) =>
                    {
                        return true;
                    }
                    _ => {}
                }
            }
            // A closure or an `async` block gives it on.
            if matches!(&block.end, End::Return(given) if given == place) {
                let makes = |op: &&Op| matches!(op.value, Value::Body(body) if body == block.body);
                let made = graph.blocks.iter().flat_map(|block| &block.ops).find(makes);
                places.extend(made.map(|op| &op.to).filter(|to| !places.contains(to)));
            }
            let asks = match &block.end {
                End::Try { value, .. } => value == place,
                End::Test { value, pat: Pattern::TupleStruct(path, _), .. } => {
                    value == place && matches!(path.last(), "Ok" | "Err")
                }
                _ => false,
            };
            if asks {
                return true;
            }
        }
    }
    false
}
