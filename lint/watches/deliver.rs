//! What a poll gives after the fault.

use rideout_rules::{
    catalog::Shape,
    model::{Outcome, ShowsAs},
};

use super::{
    fill::{fill_end, fill_error, fill_item, mentions, shaped},
    polls::PollFact,
    state::{Phase, State},
    value::Val,
    verdict::Verdict,
    walk::{Flow, Ordinary, Walk},
};
use crate::flow::graph::Place;

/// Places of which it is remembered that they asked an ended stream.
const MOST_ASKED: usize = 4;

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
                // The new stream's own fault: what became of the old one's is told.
                state.singles = None;
                state.left = false;
                state.phase = Phase::Polled(0);
                state.forget_arms();
                0
            }
        };
        if let Some((call, _)) = state.handed_over.filter(|_| count > 0) {
            return Flow::Done(Verdict::new(Outcome::Nests { call }, state));
        }
        if let Some(seen) = &self.ordinary {
            return self.deliver_item(seen, state, count, fact, to, method);
        }
        let frame = state.frame();
        let place = (frame.function, frame.block, frame.op);
        let event = match self.event(state, count, fact, method) {
            // Whoever else asks a stream that is over is told so too.
            Event::Dead if self.ends(fact, method) && !state.asked_at.contains(&place) => Event::End,
            event => event,
        };
        if count == 0 {
            state.asked_at.clear();
        }
        if state.asked_at.len() < MOST_ASKED {
            state.asked_at.push(place);
        }
        if count == 0 {
            // A source that waits before it reports the fault again has paced the next attempt.
            state.waited = self.fact.paced;
            if !state.reopened {
                state.round = None;
            }
        }
        // A bound that let the watch be asked again was not reached.
        state.bound = None;
        state.phase = Phase::Polled(count.saturating_add(1));
        let item = match event {
            Event::Dead => {
                let outcome = if state.healed { Outcome::Ends } else { Outcome::Spins };
                return Flow::Done(self.dead_by(state, outcome));
            }
            // Asked again in sequence, in no circle: it may fail again, and nothing spins.
            Event::Heals if state.round.is_none() && !state.waited && count < 3 => {
                state.arm = None;
                state.arms.clear();
                self.error(fact, method)
            }
            Event::Heals => {
                let paced = state.waited || self.fact.paced || self.fact.shows_as == ShowsAs::Variant;
                let by = self.round(state);
                return Flow::Done(Verdict::new(Outcome::Continues { paced, by }, state));
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
                Given::Whole(fill_item(&fact.gives, Val::FaultItem(name)))
            }
            Event::Error => self.error(fact, method),
            Event::End => {
                if method.is_empty() {
                    Given::Whole(fill_end(&fact.gives))
                } else {
                    Given::End
                }
            }
            Event::Variant => {
                let value = self.variant();
                match (method, self.fact.in_item || self.fact.announced_by.is_some()) {
                    ("", true) => Given::Whole(fill_item(&fact.gives, value)),
                    ("", false) => Given::Whole(fill_error(&fact.gives, value)),
                    (_, true) => Given::Item(fill_item(&self.own_item(), value)),
                    (_, false) => Given::Item(fill_error(&self.own_item(), value)),
                }
            }
        };
        match item {
            Given::Whole(value) => {
                state.set(to, value);
                Flow::Next
            }
            Given::Item(value) => self.adapt(state, value, 0, method, to),
            Given::End => {
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
            // Opened once more further on, in no loop: two waits, one after the other. Or another watch on the source.
            let elsewhere = || state.frame().function != self.site.function;
            let once_more = state.ups > 0 && state.reopened && (!state.in_round() || elsewhere());
            let again = if state.ups > 0 { &seen.again_above } else { &seen.again_here };
            again.set(again.get() || !once_more);
            return Flow::Done(Verdict::none());
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
            ShowsAs::Ends if self.fact.announced_by.is_some() => match count {
                0 => Event::Variant,
                1 if has_end => Event::End,
                1 => Event::Error,
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

    /// Whether the source ends after the fault, and a poll that gives this shows it.
    fn ends(&self, fact: &PollFact, method: &str) -> bool {
        let shows = !method.is_empty() || mentions(&fact.gives, "Option");
        shows && matches!(self.fact.shows_as, ShowsAs::Ends | ShowsAs::ErrorThenEnds)
    }

    /// The fault as an `Err`.
    fn error(&self, fact: &PollFact, method: &str) -> Given {
        if method.is_empty() {
            Given::Whole(fill_error(&fact.gives, Val::Fault))
        } else {
            Given::Item(fill_error(&self.own_item(), Val::Fault))
        }
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
}

/// What a poll gives.
enum Given {
    /// The poll's whole result.
    Whole(Val),
    /// An item of the stream, before its adapters.
    Item(Val),
    End,
}
