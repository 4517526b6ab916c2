//! The places where a watch is asked for its next item.

use std::sync::Arc;

use rideout_rules::catalog::Shape;

use super::{
    factories::Factory,
    fill::mentions,
    infer::{Infer, Types},
};
use crate::{
    facts::{FnId, Known, Ty, ty::WatchTy},
    flow::graph::{BodyId, Callee, Graph, Op, Place, Value},
    syntax::tree::Span,
};

/// What a polling method gives.
#[derive(Clone, Debug)]
pub(super) struct PollFact {
    pub(super) gives: Shape,
    /// The method that hands an item over and that adapters stand before. Empty for the source's own, which give all in one.
    pub(super) method: &'static str,
    pub(super) runs: bool,
    pub(super) callback: bool,
    /// Which argument after the receiver the callback is.
    pub(super) closure: Option<usize>,
    /// What the callback returns to end the watch.
    pub(super) stops: Vec<String>,
    pub(super) skips: bool,
    pub(super) none_heals: bool,
}

impl PollFact {
    /// What a helper asks for that reads the stream itself.
    pub(super) fn of_helper() -> Self {
        Self {
            gives: Shape::Item,
            method: "next",
            runs: true,
            callback: false,
            closure: None,
            stops: Vec::new(),
            skips: false,
            none_heals: false,
        }
    }
}

/// The poll that a method is on a watch: one of its source's own, of its channel's, or of `Stream` and `Iterator`.
pub(super) fn poll(known: &Known<'_>, watch: &WatchTy, name: &str) -> Option<PollFact> {
    if let Some(own) = known.poll(watch.source, name) {
        return Some(PollFact {
            gives: own.gives.clone(),
            method: "",
            runs: own.runs,
            callback: own.callback,
            closure: own.closure,
            stops: own.stops.clone(),
            skips: own.skips,
            none_heals: own.none_heals,
        });
    }
    let item = known.sources[watch.source].facts.item.clone()?;
    let plain = |gives, method| PollFact {
        gives,
        method,
        runs: false,
        callback: false,
        closure: None,
        stops: Vec::new(),
        skips: false,
        none_heals: false,
    };
    if let Some(poll) = watch.channel.and_then(|channel| known.channel_poll(channel, name)) {
        let method = if mentions(&poll.gives, "Result") { RECEIVED } else { "next" };
        return Some(plain(with_item(&poll.gives, &item), method));
    }
    let method = stream_method(name)?;
    let wrap = |name: &str, inner: Shape| Shape::Named(name.to_owned(), vec![inner]);
    let gives = match method {
        "try_next" => {
            let inner = match item {
                Shape::Named(name, mut args) if name == "Result" => args.pop().unwrap_or(Shape::Item),
                other => other,
            };
            wrap("Result", wrap("Option", inner))
        }
        "select_next_some" => item,
        _ => wrap("Option", item),
    };
    Some(plain(gives, method))
}

/// The poll of a source that is a future.
pub(super) const AWAITED: &str = "await";

/// What hands an item over in a `Result` whose `Err` is the end of the channel.
pub(super) const RECEIVED: &str = "recv";

/// The polling methods of `Stream` and `Iterator`, as names that live long enough.
pub(super) fn stream_method(name: &str) -> Option<&'static str> {
    [
        "next",
        "try_next",
        "select_next_some",
        "poll_next",
        "poll_next_unpin",
        "try_poll_next",
        "try_poll_next_unpin",
        "next_back",
    ]
    .into_iter()
    .find(|known| *known == name)
}

fn with_item(shape: &Shape, item: &Shape) -> Shape {
    match shape {
        Shape::Item => item.clone(),
        Shape::Named(name, args) => {
            Shape::Named(name.clone(), args.iter().map(|arg| with_item(arg, item)).collect())
        }
        other => other.clone(),
    }
}

/// One poll of one watch.
#[derive(Clone, Debug)]
pub(super) struct PollSite {
    pub(super) function: FnId,
    pub(super) block: u32,
    pub(super) op: usize,
    /// The place of the stream.
    pub(super) stream: Place,
    pub(super) watch: Arc<WatchTy>,
    pub(super) fact: PollFact,
    pub(super) name_span: Span,
    /// The future of a call that runs, where another body awaits it: the site is there.
    pub(super) future: Option<Place>,
    /// The helper's closure, where a helper reads what that gives.
    pub(super) factory: Option<Factory>,
}

/// Every poll in a function.
pub(super) fn find(infer: &Infer<'_, '_>, id: FnId, graph: &Graph, types: &Types) -> Vec<PollSite> {
    let known = infer.program.known(id);
    let mut sites = Vec::new();
    for (block, facts) in graph.blocks.iter().enumerate() {
        for (op, Op { value, to, span }) in facts.ops.iter().enumerate() {
            let (name, stream, name_span) = match value {
                Value::Call { callee: Callee::Method { name, .. }, args, name_span } => match args.first() {
                    Some(stream) => (name.as_str(), stream, name_span),
                    None => continue,
                },
                Value::Await(stream) => (AWAITED, stream, span),
                _ => continue,
            };
            let may_be = !types.locals[stream.local as usize].is_unknown();
            let Some(Ty::Watch(watch)) = may_be.then(|| infer.place(id, stream)) else { continue };
            let Some(fact) = poll(known, &watch, name) else { continue };
            let moved = if fact.runs { awaited_elsewhere(graph, facts.body, to) } else { None };
            let (block, op, future) = match moved {
                Some((block, op, future)) => (block, op, Some(future)),
                None => (block, op, None),
            };
            sites.push(PollSite {
                function: id,
                block: u32::try_from(block).unwrap_or(u32::MAX),
                op,
                future,
                stream: stream.clone(),
                watch,
                fact,
                name_span: *name_span,
                factory: None,
            });
        }
    }
    sites
}

/// Where another body than this one awaits a future that was kept in a local.
fn awaited_elsewhere(graph: &Graph, body: BodyId, made: &Place) -> Option<(usize, usize, Place)> {
    let ops = || {
        graph.blocks.iter().enumerate().flat_map(|(block, facts)| {
            facts.ops.iter().enumerate().map(move |(op, facts_op)| (block, op, facts.body, facts_op))
        })
    };
    let mut kept = vec![made.clone()];
    while let Some(next) = ops().find_map(|(.., op)| match &op.value {
        Value::Use(from) if kept.contains(from) && op.to.fields.is_empty() && !kept.contains(&op.to) => {
            Some(op.to.clone())
        }
        _ => None,
    }) {
        kept.push(next);
    }
    ops().find_map(|(block, op, by, facts)| match &facts.value {
        Value::Await(place) if kept.contains(place) && by != body => Some((block, op, place.clone())),
        _ => None,
    })
}
