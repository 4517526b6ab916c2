//! The adapters on the stream: what they make of an item on its way to the poll.

use super::{
    fill::{ended, shaped},
    polls,
    state::{State, Then},
    value::Val,
    walk::{Flow, Walk},
};
use crate::{facts::ty::Call, flow::graph::Place};

impl Walk<'_, '_, '_> {
    /// Passes an item through the adapters from the given one on.
    pub(super) fn adapt(
        &self,
        state: &mut State,
        item: Val,
        from: usize,
        method: &'static str,
        to: &Place,
    ) -> Flow {
        let mut item = item;
        for (at, call) in self.site.watch.calls.iter().enumerate().skip(from) {
            match adapter(&call.name) {
                Adapter::Other => {}
                Adapter::Merges => {}
                Adapter::Maps | Adapter::Filters => {
                    if let Some(name) = &call.argument
                        && call.closure.is_none()
                    {
                        match (name.as_str(), item.is_variant("Err")) {
                            ("ok", true) => return self.skip(state, method, to),
                            ("ok", false) => item = item.payload(),
                            _ => {}
                        }
                        continue;
                    }
                    if call.name == "flat_map"
                        && call.argument.as_deref() == Some("iter")
                        && item.is_variant("Err")
                    {
                        return self.skip(state, method, to);
                    }
                    if let Some((function, body)) = call.closure {
                        let then = Then::Adapter { next: at, method, to: to.clone() };
                        return self.run_body(state, function, body, state.frames[0].env, &[item], then);
                    }
                }
            }
        }
        state.set(to, shaped(method, item));
        Flow::Next
    }

    /// An adapter's closure has answered.
    pub(super) fn adapted(
        &self,
        state: &mut State,
        answer: Val,
        at: usize,
        method: &'static str,
        to: &Place,
    ) -> Flow {
        let answer = match answer {
            Val::Done(inner) => *inner,
            other => other,
        };
        let call: &Call = &self.site.watch.calls[at];
        match (call.name.as_str(), &answer) {
            ("filter_map" | "map_while" | "scan", Val::Variant { name, .. }) if name == "None" => {
                if call.name == "filter_map" {
                    return self.skip(state, method, to);
                }
                self.finish(state, method, to);
                Flow::Next
            }
            ("filter_map" | "map_while" | "scan", _) => {
                let item = if answer.is_variant("Some") { answer.payload() } else { answer };
                self.adapt(state, item, at + 1, method, to)
            }
            ("take_while" | "filter" | "skip_while", Val::Bool(false)) => {
                if call.name == "take_while" {
                    self.finish(state, method, to);
                    return Flow::Next;
                }
                self.skip(state, method, to)
            }
            ("take_while" | "filter" | "skip_while" | "inspect", _) => {
                self.adapt(state, Val::variant("Err", Some(Val::Fault)), at + 1, method, to)
            }
            ("map_err" | "inspect_err" | "map_ok", _) => {
                self.adapt(state, Val::variant("Err", Some(answer)), at + 1, method, to)
            }
            _ => self.adapt(state, answer, at + 1, method, to),
        }
    }

    /// The adapters have swallowed an item: the stream is asked once more.
    fn skip(&self, state: &mut State, method: &'static str, to: &Place) -> Flow {
        let known = self.infer.program.known(self.site.function);
        let Some(fact) = polls::poll(known, &self.site.watch, method) else { return Flow::Next };
        self.poll(state, &fact, to, method)
    }

    /// The stream's end, unless an adapter hides it.
    pub(super) fn finish(&self, state: &mut State, method: &'static str, to: &Place) {
        let merged = self.site.watch.calls.iter().any(|call| adapter(&call.name) == Adapter::Merges);
        let value = if merged { Val::Pending } else { ended(method) };
        state.set(to, value);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Adapter {
    Maps,
    Filters,
    /// Several streams in one: the end of one of them does not show.
    Merges,
    Other,
}

fn adapter(name: &str) -> Adapter {
    match name {
        "map" | "then" | "map_err" | "inspect_err" | "scan" | "flat_map" => Adapter::Maps,
        "filter_map" | "filter" | "take_while" | "map_while" | "skip_while" => Adapter::Filters,
        "select_all" | "merge" => Adapter::Merges,
        _ => Adapter::Other,
    }
}

/// Whether a method of a stream gives a stream that lives as long.
pub(super) fn adapts(name: &str) -> bool {
    adapter(name) != Adapter::Other && adapter(name) != Adapter::Merges
        || matches!(
            name,
            "enumerate"
                | "inspect"
                | "inspect_ok"
                | "map_ok"
                | "err_into"
                | "into_stream"
                | "peekable"
                | "chunks"
                | "ready_chunks"
                | "buffered"
                | "buffer_unordered"
                | "throttle"
                | "take_until"
                | "boxed"
                | "fuse"
        )
}
