//! What tells a job from a watch: a loop that ends by its own logic, at the item it waits for, at a time, or with what it has gathered.

use std::collections::HashSet;

use super::{scope::in_loop, state::State, value::Val, walk::Walk};
use crate::{
    facts::Ty,
    flow::graph::{BlockId, Callee, End, Graph, LocalId, LoopId, Op, Pattern, Place, Value},
};

/// The outermost loop around the poll, in the body that polls.
#[derive(Debug)]
pub(super) struct Round<'g> {
    graph: &'g Graph,
    id: LoopId,
    /// Its blocks from which it comes back to the poll.
    going: HashSet<BlockId>,
}

impl<'p> Walk<'_, 'p, '_> {
    fn round_of_poll(&self) -> Option<&Round<'p>> {
        self.round_of_poll.get_or_init(|| self.find_round()).as_ref()
    }

    fn find_round(&self) -> Option<Round<'p>> {
        let graph = self.graph(self.site.function);
        let poll = &graph.blocks[self.site.block as usize];
        let in_body = |id: LoopId| {
            let mut heads = graph.blocks.iter().filter(|block| block.head_of == Some(id));
            heads.any(|head| head.body == poll.body)
        };
        let mut id = poll.within.filter(|id| in_body(*id))?;
        while let Some(parent) = graph.loops[id as usize].parent.filter(|id| in_body(*id)) {
            id = parent;
        }
        let mut going = HashSet::from([self.site.block]);
        let mut more = true;
        while more {
            more = false;
            for (at, block) in (0..).zip(&graph.blocks) {
                if in_loop(graph, block.within, id)
                    && block.body == poll.body
                    && !going.contains(&at)
                    && next(&block.end).iter().any(|next| going.contains(next))
                {
                    more = going.insert(at);
                }
            }
        }
        Some(Round { graph, id, going })
    }

    /// A condition or a pattern that an ordinary item comes to: whether it may be the loop's own end, by what the item says or the
    /// time.
    pub(super) fn note_end(&self, state: &State, asked: &Place, pat: Option<&Pattern>) {
        let Some(seen) = &self.ordinary else { return };
        let frame = state.frame();
        if frame.function != self.site.function || state.ups > 0 {
            return;
        }
        let Some(round) = self.round_of_poll() else { return };
        let targets = next(&round.graph.blocks[frame.block as usize].end);
        // The last arm of a `match` leads nowhere else.
        let goes_on = round.going.contains(&frame.block) || pat.is_some_and(announces_end);
        let ruled_out = |at: &BlockId| matches!(round.graph.blocks[*at as usize].end, End::Never);
        let leaves = goes_on && targets.iter().any(|next| !round.going.contains(next) && !ruled_out(next));
        if seen.ends_itself.get() || !leaves {
            return;
        }
        let own = match pat {
            _ if round.is_counted(self.site.block) => true,
            Some(pat) if announces_disconnect(pat) && round.disconnects() => true,
            None => round.is_timed(asked) || round.says_end(asked),
            Some(pat) if announces_end(pat) => true,
            Some(pat) if pat.irrefutable() || self.tells_fault(pat) => return,
            Some(_) => false,
        };
        // A loop that only looks at its items waits for the one that it leaves at.
        let waits = || round.items(self.site.block, self.site.op).contains(&asked.local) && self.only_looks();
        seen.ends_itself.set(own || waits());
    }

    /// The function that polls is left after an ordinary item; an error that made it leave counts where items are only looked at.
    pub(super) fn note_leaving_by_item(&self, state: &State, value: &Val) {
        if let Some(seen) = &self.ordinary
            && state.ups == 0
            && state.frame().function == self.site.function
        {
            if !value.is_variant("Err") {
                seen.left.set(true);
            } else if self.only_looks() {
                seen.refused.set(true);
            }
        }
    }

    /// Whether a pattern may be that of a fault: the variants of a poll's result, and what announces the end of the source.
    fn tells_fault(&self, pat: &Pattern) -> bool {
        let known = self.infer.program.known(self.site.function);
        let faults = &known.sources[self.site.watch.source].facts.faults;
        let mut tells = false;
        pat.walk(&mut |pat| {
            if let Pattern::Path(path) | Pattern::TupleStruct(path, _) | Pattern::Struct(path, _) = pat {
                let name = path.last();
                // `Some("done")` speaks of what is inside.
                let of_inner =
                    matches!(pat, Pattern::TupleStruct(_, inner) if !inner.iter().all(Pattern::irrefutable));
                let announced = faults.iter().any(|fault| {
                    let names = [&fault.announced_by, &fault.variant];
                    names.into_iter().flatten().any(|known| known.rsplit("::").next() == Some(name))
                });
                tells |= announced
                    || matches!(name, "Err" | "None" | "Pending")
                    || (matches!(name, "Ok" | "Some" | "Ready") && !of_inner);
            }
        });
        tells
    }

    /// Whether the loop around the poll does nothing with its items but look at them and gather them.
    fn only_looks(&self) -> bool {
        *self.only_looks.get_or_init(|| self.round_of_poll().is_some_and(|round| self.is_idle(round, false)))
    }

    /// Whether the stream is read to its end for what is in it: the loop only gathers, and what it gathered is used behind it.
    pub(super) fn gathers(&self) -> bool {
        let Some(round) = self.round_of_poll() else { return false };
        let stream = &self.site.stream;
        let owned = stream.fields.is_empty() && round.graph.locals[stream.local as usize].name.is_some();
        let gathered: Vec<LocalId> = round.ops().filter_map(|op| round.gathers(op)).collect();
        owned && gathered.iter().any(|local| round.used_behind(*local)) && self.is_idle(round, true)
    }

    /// Whether a closure that the function was given answers yes or no.
    fn gives_bool(&self, closure: &Place) -> bool {
        let ty = self.infer.place(self.site.function, closure);
        matches!(ty, Ty::Callable(given) if matches!(&*given, Ty::Named { path, .. } if &**path == "bool"))
    }

    /// Whether nothing happens in a loop but that items are looked at and gathered; it may keep notes in locals of its own.
    fn is_idle(&self, round: &Round<'_>, notes: bool) -> bool {
        let known = self.infer.program.known(self.site.function);
        let items = round.items(self.site.block, self.site.op);
        let gathered = round.goes_into_gathered();
        round.ops().all(|op| {
            let name = round.graph.locals[op.to.local as usize].name.as_deref();
            let noted = notes && op.to.fields.is_empty() && name != Some("self");
            let kept = name.is_none() || noted || !round.is_outer(op.to.local);
            match &op.value {
                Value::Call { callee, args, .. } => {
                    let name = match callee {
                        Callee::Method { name, .. } => name.as_str(),
                        Callee::Path(path) => path.last(),
                        // A predicate.
                        Callee::Place(place) if self.gives_bool(place) => return kept,
                        Callee::Place(_) => return false,
                    };
                    if name.starts_with(char::is_uppercase) {
                        return kept;
                    }
                    let asks = args.first().is_some_and(|place| {
                        let ty = self.infer.place(self.site.function, place);
                        self.is_poll(self.site.function, &ty, name)
                    });
                    let receiver = usize::from(matches!(callee, Callee::Method { .. }));
                    let given = args.iter().skip(receiver).any(|place| items.contains(&place.local));
                    let waits = known.hint(name) == Some(rideout_rules::catalog::Meaning::Wait);
                    asks || waits
                        || round.gathers(op).is_some()
                        || (kept && gathered.contains(&op.to.local))
                        || (kept && round.is_read(&op.to, 4) && (!given || looks(name)))
                }
                Value::Step(..) | Value::Yield(_) | Value::Join { .. } => false,
                Value::Macro { path, .. } => {
                    !path.last().starts_with("write") && !path.last().contains("spawn")
                }
                _ => kept,
            }
        })
    }
}

impl Round<'_> {
    /// What is done before the poll is asked again.
    fn ops(&self) -> impl Iterator<Item = &Op> {
        let blocks = (0..).zip(&self.graph.blocks);
        blocks.filter(|(at, _)| self.going.contains(at)).flat_map(|(_, block)| &block.ops)
    }

    /// Whether a local is made outside of the loop.
    fn is_outer(&self, local: LocalId) -> bool {
        let outside = |block: &&crate::flow::graph::Block| !in_loop(self.graph, block.within, self.id);
        self.graph.bodies.iter().any(|body| body.params.contains(&local))
            || self.graph.blocks.iter().filter(outside).any(|block| {
                block.ops.iter().any(|op| op.to.local == local)
                    || matches!(&block.end, End::Test { pat, .. } if binds(pat).contains(&local))
                    || matches!(&block.end, End::Try { to, .. } if to.local == local)
            })
    }

    /// The locals that hold an item or something of one.
    fn items(&self, block: BlockId, op: usize) -> HashSet<LocalId> {
        let mut items = HashSet::from([self.graph.blocks[block as usize].ops[op].to.local]);
        let mut before = 0;
        while before < items.len() {
            before = items.len();
            for (_, block) in (0..).zip(&self.graph.blocks).filter(|(at, _)| self.going.contains(at)) {
                for op in &block.ops {
                    if used(&op.value).iter().any(|place| items.contains(&place.local))
                        && !self.is_outer(op.to.local)
                    {
                        items.insert(op.to.local);
                    }
                }
                match &block.end {
                    End::Test { value, pat, .. } if items.contains(&value.local) => items.extend(binds(pat)),
                    End::Try { value, to, .. } if items.contains(&value.local) => {
                        items.insert(to.local);
                    }
                    End::Select { arms, .. } => {
                        for arm in arms {
                            if items.contains(&arm.future.local) {
                                items.extend(binds(&arm.pat));
                                items.insert(arm.got.local);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        items
    }

    /// The collection of its own that an operation of the loop puts something into.
    fn gathers(&self, op: &Op) -> Option<LocalId> {
        let Value::Call { callee: Callee::Method { name, .. }, args, .. } = &op.value else { return None };
        let place = args.first().filter(|place| place.fields.is_empty())?;
        let collects = matches!(
            name.as_str(),
            "push"
                | "push_back"
                | "push_str"
                | "insert"
                | "extend"
                | "extend_from_slice"
                | "append"
                | "put"
                | "put_slice"
        );
        let named = self.graph.locals[place.local as usize].name.as_deref();
        let starts_task = |arg: &Place| {
            self.graph.made_by(arg).is_some_and(|op| match &op.value {
                Value::Call { callee: Callee::Path(path), .. } => path.last().contains("spawn"),
                Value::Call { callee: Callee::Method { name, .. }, .. } => name.contains("spawn"),
                _ => false,
            })
        };
        let own = collects && named.is_some_and(|name| name != "self") && self.is_outer(place.local);
        (own && !args.iter().skip(1).any(starts_task)).then_some(place.local)
    }

    /// What the loop makes what it gathers of.
    fn goes_into_gathered(&self) -> HashSet<LocalId> {
        let gathering = self.ops().filter(|op| self.gathers(op).is_some());
        let mut locals: HashSet<LocalId> =
            gathering.flat_map(|op| used(&op.value).into_iter().skip(1)).map(|place| place.local).collect();
        let mut before = 0;
        while before < locals.len() {
            before = locals.len();
            for op in self.ops().filter(|op| !self.is_outer(op.to.local)) {
                if locals.contains(&op.to.local) {
                    locals.extend(used(&op.value).iter().map(|place| place.local));
                }
            }
        }
        locals
    }

    /// Whether a collection is handed on or given back behind the loop.
    fn used_behind(&self, local: LocalId) -> bool {
        self.graph.blocks.iter().filter(|block| !in_loop(self.graph, block.within, self.id)).any(|block| {
            let returned = matches!(&block.end, End::Return(place) if place.local == local);
            returned
                || block.ops.iter().any(|op| match &op.value {
                    Value::Call { callee: Callee::Method { .. }, args, .. } => {
                        let receives = args.first().is_some_and(|place| place.local == local);
                        args.iter().skip(1).any(|place| place.local == local)
                            || (receives && self.is_given_back(&op.to))
                    }
                    value => used(value).iter().any(|place| place.local == local),
                })
        })
    }

    /// Whether a value is returned, alone or in a struct or a variant.
    fn is_given_back(&self, place: &Place) -> bool {
        self.graph.blocks.iter().any(|block| {
            matches!(&block.end, End::Return(value) if value.local == place.local)
                || block.ops.iter().any(|op| match &op.value {
                    Value::Struct { fields, .. } => {
                        fields.iter().any(|(_, value)| value.local == place.local)
                    }
                    Value::Call { callee: Callee::Path(path), args, .. } => {
                        matches!(path.last(), "Ok" | "Some")
                            && args.iter().any(|arg| arg.local == place.local)
                    }
                    _ => false,
                })
        })
    }

    /// Whether somebody looks at a value: it is tested, or something is made of it that is.
    fn is_read(&self, place: &Place, depth: usize) -> bool {
        if depth == 0 {
            return true;
        }
        self.graph.blocks.iter().any(|block| {
            let tested = match &block.end {
                End::Branch { cond, .. } => cond.local == place.local,
                End::Test { value, .. } => value.local == place.local,
                End::Return(value) => value.local == place.local,
                End::Try { value, to, .. } => value.local == place.local && self.is_read(to, depth - 1),
                End::Select { arms, .. } => arms.iter().any(|arm| arm.future.local == place.local),
                _ => false,
            };
            tested
                || block.ops.iter().any(|op| match &op.value {
                    Value::Await(from) | Value::Use(from) => {
                        from.local == place.local && self.is_read(&op.to, depth - 1)
                    }
                    value => used(value).iter().any(|from| from.local == place.local),
                })
        })
    }

    /// Whether the loop disconnects its client itself, and goes on.
    fn disconnects(&self) -> bool {
        self.ops().any(|op| {
            matches!(&op.value, Value::Call { callee: Callee::Method { name, .. }, args, .. }
                if name == "disconnect" && args.len() == 1)
        })
    }

    /// Whether a loop of a number of turns asks for one item in each.
    fn is_counted(&self, poll: BlockId) -> bool {
        let within = self.graph.blocks[poll as usize].within;
        within.is_some_and(|id| self.graph.loops[id as usize].bounded)
    }

    /// Whether a condition compares the time with something that the loop leaves alone.
    fn is_timed(&self, cond: &Place) -> bool {
        let Some(Value::Compare(_, left, right)) = self.graph.made_by(cond).map(|op| &op.value) else {
            return false;
        };
        let moves = |place: &Place| {
            self.ops().any(|op| op.to.local == place.local && !op.to.fields.is_empty())
                || (self.graph.locals[place.local as usize].name.is_some()
                    && self.ops().any(|op| op.to.local == place.local))
        };
        let pair = |time: &Place, other: &Place| match self.graph.made_by(time).map(|op| &op.value) {
            Some(Value::Call { callee: Callee::Path(path), .. }) => path.last() == "now" && !moves(other),
            Some(Value::Call { callee: Callee::Method { name, .. }, args, .. }) => {
                name == "elapsed" && args.first().is_some_and(|start| !moves(start))
            }
            _ => false,
        };
        pair(left, right) || pair(right, left)
    }

    /// Whether a condition asks if something has come to its end.
    fn says_end(&self, cond: &Place) -> bool {
        let said = |name: &str| {
            matches!(
                name,
                "finished"
                    | "done"
                    | "is_done"
                    | "complete"
                    | "completed"
                    | "is_complete"
                    | "is_completed"
                    | "is_last"
            )
        };
        cond.fields.last().is_some_and(|field| said(field))
            || match self.graph.made_by(cond).map(|op| &op.value) {
                Some(Value::Call { callee: Callee::Method { name, .. }, .. }) => said(name),
                _ => false,
            }
    }
}

/// Whether a pattern is that of an item after which no more come.
fn announces_end(pat: &Pattern) -> bool {
    let ends = ["Complete", "Completed", "Done", "EndOfFile", "EndOfStream", "Eof", "Finished", "Last"];
    names(pat, &ends)
}

/// Whether a pattern is that of an item that says that the client has disconnected.
fn announces_disconnect(pat: &Pattern) -> bool {
    names(pat, &["Disconnect", "Disconnected"])
}

/// Whether a variant of one of these names is in a pattern.
fn names(pat: &Pattern, wanted: &[&str]) -> bool {
    let mut found = false;
    pat.walk(&mut |pat| {
        if let Pattern::Path(path) | Pattern::TupleStruct(path, _) | Pattern::Struct(path, _) = pat {
            found |= wanted.contains(&path.last());
        }
    });
    found
}

/// Where a block goes on.
pub(super) fn next(end: &End) -> Vec<BlockId> {
    match end {
        End::Goto(next) | End::Try { next, .. } => vec![*next],
        End::Branch { then, otherwise, .. } => vec![*then, *otherwise],
        End::Test { yes, no, .. } => vec![*yes, *no],
        End::Select { arms, otherwise } => arms.iter().map(|arm| arm.next).chain(*otherwise).collect(),
        End::Return(_) | End::Panic | End::Never => Vec::new(),
    }
}

fn binds(pat: &Pattern) -> Vec<LocalId> {
    let mut locals = Vec::new();
    pat.walk(&mut |pat| {
        if let Pattern::Bind(local, _) = pat {
            locals.push(*local);
        }
    });
    locals
}

/// The places that an operation reads.
pub(super) fn used(value: &Value) -> Vec<&Place> {
    match value {
        Value::Use(place) | Value::Await(place) | Value::Not(place) | Value::Yield(place) => vec![place],
        Value::Call { args, .. } | Value::Tuple(args) | Value::Opaque(args) | Value::Macro { args, .. } => {
            args.iter().collect()
        }
        Value::Struct { fields, rest, .. } => fields.iter().map(|(_, place)| place).chain(rest).collect(),
        Value::Compare(_, left, right) | Value::Step(left, right) => vec![left, right],
        Value::Join { futures, .. } => futures.iter().collect(),
        _ => Vec::new(),
    }
}

/// Whether a function of this name looks at what it is given, or makes another value of it.
fn looks(name: &str) -> bool {
    ["is_", "has_", "contains", "matches", "from", "try_from", "parse", "decode", "deserialize", "timeout"]
        .iter()
        .any(|start| name.starts_with(start))
        || matches!(name, "eq" | "ne" | "cmp" | "starts_with" | "ends_with" | "get" | "new" | "pin")
}
