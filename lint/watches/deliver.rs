//! What a poll gives after the fault, and what the adapters on the stream make of it.

use rideout_rules::{
    catalog::Shape,
    model::{Outcome, ShowsAs},
};

use super::{
    polls::PollFact,
    state::{Phase, State, Then},
    value::Val,
    walk::{Flow, Ordinary, Walk},
};
use crate::{facts::ty::Call, flow::graph::Place};

/// What the source answers to one poll.
enum Event {
    Error,
    End,
    Variant,
    /// The connection is healed, and the item says so.
    Restored,
    Heals,
    Pending,
    Dead,
}

impl Walk<'_, '_, '_> {
    /// Polls the watch: the fault for the first time, and what follows it from then on.
    pub(super) fn poll(&self, state: &mut State, fact: &PollFact, to: &Place, method: &'static str) -> Flow {
        if fact.skips {
            state.set(to, Val::Unknown);
            return Flow::Next;
        }
        let count = match state.phase {
            Phase::Polled(count) => count,
            Phase::Fresh => {
                state.phase = Phase::Polled(0);
                0
            }
        };
        if let Some((call, _)) = state.handed_over.filter(|_| count > 0) {
            return Flow::Done(super::verdict::Verdict::new(Outcome::Nests { call }, state));
        }
        if let Some(seen) = &self.ordinary {
            return self.deliver_item(seen, state, count, fact, to, method);
        }
        let event = self.event(state, count, fact, method);
        if count == 0 {
            // A source that waits before it reports the fault again has paced the next attempt.
            state.waited = self.fact.paced;
            if !state.reopened {
                state.round = None;
            }
        }
        state.phase = Phase::Polled(count.saturating_add(1));
        let item = match event {
            Event::Dead => {
                let outcome = if state.healed { Outcome::Ends } else { Outcome::Spins };
                return Flow::Done(self.dead_by(state, outcome));
            }
            // Asked again in sequence, in no circle: it may fail again, and nothing spins.
            Event::Heals if state.round.is_none() && !state.waited && count < 3 => {
                let error = match (method, self.own_item()) {
                    ("", _) => Item::Value(fill_error(&fact.gives, self.payload())),
                    (_, shape) => Item::Item(fill_error(&shape, self.payload())),
                };
                state.arm = None;
                state.arms.clear();
                error
            }
            Event::Heals => {
                let paced = state.waited || self.fact.paced || self.fact.shows_as == ShowsAs::Variant;
                let by = self.round(state);
                return Flow::Done(super::verdict::Verdict::new(Outcome::Continues { paced, by }, state));
            }
            Event::Pending => {
                state.set(to, Val::Pending);
                return Flow::Next;
            }
            Event::Restored => {
                // Only the subscription is at stake from here on.
                state.arm = None;
                state.healed = true;
                let name = self.fact.restored_on.clone().unwrap_or_default();
                Item::Value(fill_item(&fact.gives, Val::FaultItem(name)))
            }
            Event::Error => match (method, self.own_item()) {
                ("", _) => Item::Value(fill_error(&fact.gives, self.payload())),
                (_, shape) => Item::Item(fill_error(&shape, self.payload())),
            },
            Event::End => {
                if method.is_empty() {
                    Item::Value(fill_end(&fact.gives))
                } else {
                    Item::End
                }
            }
            Event::Variant => {
                let value = self.variant();
                match (method, self.fact.in_item || self.fact.announced_by.is_some()) {
                    ("", true) => Item::Value(fill_item(&fact.gives, value)),
                    ("", false) => Item::Value(fill_error(&fact.gives, value)),
                    (_, true) => Item::Item(fill_item(&self.own_item(), value)),
                    (_, false) => Item::Item(fill_error(&self.own_item(), value)),
                }
            }
        };
        match item {
            Item::Value(value) => {
                state.set(to, value);
                Flow::Next
            }
            Item::Item(value) => self.adapt(state, value, 0, method, to),
            Item::End => {
                self.finish(state, method, to);
                Flow::Next
            }
        }
    }

    /// Gives an ordinary item, once.
    fn deliver_item(
        &self,
        seen: &Ordinary,
        state: &mut State,
        count: u8,
        fact: &PollFact,
        to: &Place,
        method: &str,
    ) -> Flow {
        if count > 0 || state.reopened {
            let again = if state.ups > 0 { &seen.again_above } else { &seen.again_here };
            again.set(true);
            return Flow::Done(super::verdict::Verdict::none());
        }
        state.phase = Phase::Polled(1);
        let value = if method.is_empty() {
            fill_item(&fact.gives, Val::Derived)
        } else {
            shaped(method, fill_item(&self.own_item(), Val::Derived))
        };
        state.set(to, value);
        Flow::Next
    }

    fn event(&self, state: &State, count: u8, fact: &PollFact, method: &str) -> Event {
        // A stream can always end, also where the poll at hand then never completes.
        let has_end = !method.is_empty() || mentions(&fact.gives, "Option");
        match self.fact.shows_as {
            ShowsAs::ErrorThenEnds => match count {
                0 => Event::Error,
                1 if has_end => Event::End,
                _ => Event::Dead,
            },
            ShowsAs::ErrorLatched => {
                if count == 0 {
                    Event::Error
                } else {
                    Event::Dead
                }
            }
            ShowsAs::Ends if self.fact.announced_by.is_some() && !method.is_empty() => match count {
                0 => Event::Variant,
                1 => Event::End,
                _ => Event::Dead,
            },
            ShowsAs::Ends => match count {
                0 if has_end => Event::End,
                0 if mentions(&fact.gives, "Result") => Event::Error,
                0 => Event::Pending,
                _ => Event::Dead,
            },
            ShowsAs::Silent => Event::Pending,
            ShowsAs::Variant => match count {
                0 => Event::Variant,
                _ if self.fact.heals && self.fact.restored_by.is_empty() => Event::Heals,
                _ if state.restored => Event::Heals,
                _ => Event::Pending,
            },
            ShowsAs::ErrorHeals | ShowsAs::CallError => match count {
                0 => Event::Error,
                _ if self.fact.restored_by.is_empty() || state.restored => Event::Heals,
                // An unpaced loop is that, whatever the subscription does.
                1 if !(state.waited || self.fact.paced) => Event::Heals,
                1 => Event::Restored,
                _ => Event::Dead,
            },
        }
    }

    /// The payload of the fault's `Err`.
    fn payload(&self) -> Val {
        Val::Fault
    }

    fn variant(&self) -> Val {
        if let Some(name) = &self.fact.announced_by {
            return Val::FaultItem(name.clone());
        }
        let name = self.fact.variant.clone().unwrap_or_default();
        if name == "None" {
            return Val::end();
        }
        if self.fact.in_item {
            Val::FaultItem(name)
        } else {
            Val::variant(name.rsplit("::").next().unwrap_or(&name), Some(Val::Derived))
        }
    }

    fn own_item(&self) -> Shape {
        let known = self.infer.program.known(self.site.function);
        known.sources[self.site.watch.source].facts.item.clone().unwrap_or(Shape::Item)
    }

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
        let Some(fact) = super::polls::poll(known, self.site.watch.source, method) else { return Flow::Next };
        self.poll(state, &fact, to, method)
    }

    /// The stream's end, unless an adapter hides it.
    fn finish(&self, state: &mut State, method: &'static str, to: &Place) {
        let merged = self.site.watch.calls.iter().any(|call| adapter(&call.name) == Adapter::Merges);
        let value = if merged { Val::Pending } else { ended(method) };
        state.set(to, value);
    }
}

enum Item {
    /// The poll's whole result.
    Value(Val),
    /// An item of the stream, before its adapters.
    Item(Val),
    End,
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

fn shaped(method: &str, item: Val) -> Val {
    let ready = |value| if method.contains("poll") { Val::variant("Ready", Some(value)) } else { value };
    match method {
        "try_next" if item.is_variant("Err") => item,
        "try_next" => Val::variant("Ok", Some(Val::variant("Some", Some(item.payload())))),
        "select_next_some" => item,
        _ => ready(Val::variant("Some", Some(item))),
    }
}

fn ended(method: &str) -> Val {
    match method {
        "try_next" => Val::variant("Ok", Some(Val::end())),
        "select_next_some" => Val::Pending,
        _ if method.contains("poll") => Val::variant("Ready", Some(Val::end())),
        _ => Val::end(),
    }
}

pub(super) fn mentions(shape: &Shape, wanted: &str) -> bool {
    match shape {
        Shape::Named(name, args) => name == wanted || args.iter().any(|arg| mentions(arg, wanted)),
        Shape::Tuple(parts) => parts.iter().any(|part| mentions(part, wanted)),
        Shape::Item | Shape::Watch => false,
    }
}

/// A value of this shape with the error in its innermost `Result`.
fn fill_error(shape: &Shape, payload: Val) -> Val {
    match shape {
        Shape::Named(name, args) => match args.first() {
            Some(inner) if mentions(inner, "Result") => {
                Val::variant(some_of(name), Some(fill_error(inner, payload)))
            }
            _ if name == "Result" => Val::variant("Err", Some(payload)),
            Some(inner) => Val::variant(some_of(name), Some(fill_error(inner, payload))),
            None => payload,
        },
        _ => payload,
    }
}

/// A value of this shape with the end in its innermost `Option`.
fn fill_end(shape: &Shape) -> Val {
    match shape {
        Shape::Named(name, args) => match args.first() {
            Some(inner) if mentions(inner, "Option") => Val::variant(some_of(name), Some(fill_end(inner))),
            _ if name == "Option" => Val::end(),
            Some(inner) => Val::variant(some_of(name), Some(fill_end(inner))),
            None => Val::end(),
        },
        _ => Val::end(),
    }
}

/// A value of this shape with the given item.
fn fill_item(shape: &Shape, item: Val) -> Val {
    match shape {
        Shape::Named(name, args) if matches!(name.as_str(), "Result" | "Option" | "Poll") => {
            let inner = args.first().map_or_else(|| item.clone(), |inner| fill_item(inner, item.clone()));
            // The item itself may be an `Option` whose `None` is the fault.
            if name == "Option" && args.first() == Some(&Shape::Item) && item == Val::end() {
                inner
            } else {
                Val::variant(some_of(name), Some(inner))
            }
        }
        _ => item,
    }
}

fn some_of(name: &str) -> &'static str {
    match name {
        "Result" => "Ok",
        "Poll" => "Ready",
        _ => "Some",
    }
}
