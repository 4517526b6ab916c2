//! One poll, judged: whether a watch stands there, and where each of its faults leads.

use std::collections::BTreeSet;

use rideout_rules::{
    catalog::{self, FaultFact, Within},
    model::{Fault, FaultPath, Location, Outcome, ShowsAs, Source, Step, Watch},
};

use super::{
    factories::Factory,
    facts::{self, Evidence},
    handles::handles,
    infer::Infer,
    made::Made,
    polls::PollSite,
    ready,
    scope::{loop_around, runs_once},
    state::{State, Trail},
    value::Env,
    verdict::{Ended, Verdict},
    walk::{Walk, first_frame},
};
use crate::{
    facts::{FnId, KnownSource},
    flow::graph::{Block, Callee, Graph, Op, Value},
    syntax::tree::Span,
};

/// One poll, judged.
pub(super) struct Judge<'j, 'p, 'c> {
    pub(super) infer: &'j Infer<'p, 'c>,
    pub(super) site: &'j PollSite,
}

impl Judge<'_, '_, '_> {
    /// The watch, if one stands here, with where each of its faults leads.
    pub(super) fn watch(&self) -> Option<Watch> {
        let program = self.infer.program;
        let known = program.known(self.site.function);
        let source = &known.sources[self.site.watch.source];
        let made = self.made(source.facts);
        let files: BTreeSet<usize> = std::iter::once(self.site.function)
            .chain(self.site.watch.opener.map(|(id, ..)| id))
            .map(|id| program.functions[id].file)
            .chain(made.files.iter().copied())
            .collect();
        let texts = files.into_iter().map(|file| &*program.files[file].text).collect();
        let evidence = Evidence { chain: &self.site.watch.calls, made: &made, texts };
        let mut faults = facts::faults(source.facts, &evidence)?;
        // An iterator over a receiver can only end where `recv` gives an error.
        if faults.iter().any(|fault| facts::shows(fault, &self.site.fact.gives)) {
            faults.retain(|fault| facts::shows(fault, &self.site.fact.gives));
        }
        if self.site.fact.none_heals {
            faults.push(facts::healing_none());
        }
        if faults.is_empty() || self.site.fact.skips || !self.may_stand() {
            return None;
        }
        let consumer = self.consumer();
        if let Some(factory) = self.site.factory {
            let paths = faults.iter().map(|fault| self.by_helper(fault, &source.facts.id, factory)).collect();
            return Some(self.found(source, consumer, paths));
        }
        let held = self.site.fact.runs || self.site.fact.callback;
        if !held
            && !Walk::new(self.infer, self.site, &faults[0], &source.facts.id).stands(self.start(consumer))
        {
            return None;
        }
        let mut paths = Vec::new();
        for fault in &faults {
            paths.extend(self.walk(fault, &source.facts.id, consumer));
        }
        // It may be one client's, whose end is nobody's loss.
        let of_one_client = || source.facts.either_side && self.infer.is_handed_in(self.site);
        if of_one_client() || self.tells_who_asks(&faults) {
            for path in paths.iter_mut().filter(|path| path.outcome == Outcome::Ends) {
                path.outcome = Outcome::Unknown;
            }
        }
        Some(self.found(source, consumer, paths))
    }

    /// Whether a connection carries the answers to requests that its loop takes.
    fn tells_who_asks(&self, faults: &[FaultFact]) -> bool {
        let of_connection =
            |fault: &FaultFact| !matches!(fault.shows_as, ShowsAs::CallError | ShowsAs::Variant);
        faults.iter().all(of_connection) && self.infer.answers_requests(self.site)
    }

    /// The watch, with where its faults lead.
    fn found(&self, source: &KnownSource<'_>, consumer: Location, faults: Vec<FaultPath>) -> Watch {
        let program = self.infer.program;
        let opener = self.site.watch.opener.map(|(id, start, end)| {
            let file = program.files[program.functions[id].file].index;
            Location { file, start, end }
        });
        Watch {
            source: Source {
                id: source.facts.id.clone(),
                package: source.package.to_owned(),
                api: source.facts.api.clone(),
                guessed: self.site.watch.guessed,
                spins_pedantic: source.facts.spins_pedantic,
                help: source.facts.help.clone(),
            },
            opener,
            opening: self.opening(),
            consumer,
            poll: self.poll(),
            item: program.item_name(self.site.function),
            faults,
        }
    }

    /// Where a fault leads that a helper receives: it calls its closure again, which opens a new stream or does not.
    fn by_helper(&self, fault: &FaultFact, source: &str, factory: Factory) -> FaultPath {
        let call = self.location(self.site.function, self.site.name_span);
        let opens = Walk::new(self.infer, self.site, fault, source).opens(factory.function, factory.body);
        let closure = self.infer.graph(factory.function).bodies[factory.body as usize].span;
        let outcome = if opens {
            Outcome::Reopens { paced: factory.paced, by: call }
        } else {
            Outcome::Stale { factory: self.location(factory.function, closure) }
        };
        FaultPath {
            fault: Fault { shows_as: fault.shows_as, text: fault.text.clone() },
            outcome,
            arm: None,
            consumer: call,
            item: self.infer.program.item_name(self.site.function),
            in_example: self.is_in_example(self.site.function),
            path: Vec::new(),
            mend: None,
        }
    }

    /// Whether a function is below a folder of examples.
    fn is_in_example(&self, id: FnId) -> bool {
        is_example(&self.infer.program.files[self.infer.program.functions[id].file].path)
    }

    /// Whether the fault comes through a file of an example.
    fn passes_example(&self, path: &[Step]) -> bool {
        let files = self.infer.program.files.iter().filter(|file| is_example(&file.path));
        let examples: Vec<_> = files.map(|file| file.index).collect();
        path.iter().any(|step| examples.contains(&step.location.file))
    }

    /// How the watch was made, if a fact of its source depends on it.
    fn made(&self, source: &catalog::Source) -> Made {
        let depends = source.whens.iter().any(|when| when.within == Within::Value)
            || source.faults.iter().any(|fault| !fault.restored_by.is_empty());
        if !depends {
            return Made::default();
        }
        let mut places = vec![(self.site.function, self.site.stream.clone())];
        // The sender that a library was given, and what it was given to.
        if let Some((id, start, end)) = self.site.watch.opener.filter(|_| self.site.watch.channel.is_some()) {
            let ops = self.infer.graph(id).blocks.iter().flat_map(|block| &block.ops);
            let opened = ops.filter(|op| (op.span.start, op.span.end) == (start, end));
            places.extend(opened.map(|op| (id, op.to.clone())));
        }
        self.infer.made(places, true)
    }

    /// The code that opened the watch, if it fits into one short line.
    fn opening(&self) -> Option<String> {
        let (id, start, end) = self.site.watch.opener?;
        let program = self.infer.program;
        let code = program.files[program.functions[id].file].text.get(start as usize..end as usize)?;
        let line = code.split_whitespace().collect::<Vec<_>>().join(" ").replace(" .", ".");
        (line.len() <= 60).then_some(line)
    }

    pub(super) fn graph(&self) -> &Graph {
        self.infer.graph(self.site.function)
    }

    fn consumer(&self) -> Location {
        let graph = self.graph();
        // Of a `poll` written by hand the line that polls says more than the loop around it, and what hands over a callback is over
        // before such a loop goes round.
        let by_hand = ready::is_poll(self.infer.program, self.site.function);
        let at_once = by_hand || self.site.fact.callback;
        let within = loop_around(graph, &graph.blocks[self.site.block as usize]).filter(|_| !at_once);
        let span = within.map_or(self.site.name_span, |id| graph.loops[id as usize].span);
        self.location(self.site.function, span)
    }

    /// The poll as it is written, up to the method's name.
    fn poll(&self) -> Location {
        let PollSite { function, block, op, name_span: name, .. } = self.site;
        let op = self.graph().blocks[*block as usize].ops.get(*op).map_or(*name, |op| op.span);
        self.location(*function, Span { start: op.start.min(name.start), end: name.end })
    }

    pub(super) fn location(&self, id: FnId, span: Span) -> Location {
        let program = self.infer.program;
        Location { file: program.files[program.functions[id].file].index, start: span.start, end: span.end }
    }

    /// Whether the watch may be held, by a quick look: polled in a loop, or for as long as a call runs.
    fn may_stand(&self) -> bool {
        let fact = &self.site.fact;
        if fact.runs || fact.callback {
            return true;
        }
        let block = &self.graph().blocks[self.site.block as usize];
        let source = self.infer.program.known(self.site.function).sources[self.site.watch.source];
        let by_call = source.facts.faults.iter().any(|fault| fault.shows_as == ShowsAs::CallError);
        let opened_here = self.site.watch.opener.is_some_and(|(by, ..)| by == self.site.function);
        let asked_once = || {
            (opened_here && runs_once(self.graph(), block)) || self.is_opened_each_time(source.facts, block)
        };
        if !by_call && asked_once() {
            // Each opening is asked for one item.
            return false;
        }
        loop_around(self.graph(), block).is_some() || self.called_in_loop(self.site.function, 0)
    }

    /// Whether each turn of the loop around the poll makes a stream of its own.
    fn is_opened_each_time(&self, source: &catalog::Source, poll: &Block) -> bool {
        let graph = self.graph();
        let by_name = |name: &str| source.open.iter().any(|opener| opener.method.as_deref() == Some(name));
        let opens = |op: &Op| match (self.site.watch.opener, &op.value) {
            (Some((_, start, end)), _) => (op.span.start, op.span.end) == (start, end),
            (None, Value::Call { callee: Callee::Method { name, .. }, .. }) => {
                op.to == self.site.stream && by_name(name)
            }
            _ => false,
        };
        let opening = graph.blocks.iter().find(|block| block.ops.iter().any(opens));
        poll.within.is_some()
            && opening.is_some_and(|block| block.within == poll.within && block.body == poll.body)
    }

    fn called_in_loop(&self, id: FnId, depth: usize) -> bool {
        if depth > 3 {
            return false;
        }
        let function = &self.infer.program.functions[id];
        if function.name.starts_with("poll") && function.of_trait.is_some() {
            return true;
        }
        let sites = self.infer.sites();
        let mut callers = sites.get(&id).into_iter().flatten();
        callers.any(|site| {
            let graph = self.infer.graph(site.function);
            graph.blocks[site.block as usize].within.is_some()
                || (site.function != id && self.called_in_loop(site.function, depth + 1))
        })
    }

    fn walk(&self, fault: &FaultFact, source: &str, consumer: Location) -> Vec<FaultPath> {
        let walk = Walk::new(self.infer, self.site, fault, source);
        let mut state = self.start(consumer);
        if let Some(future) = &self.site.future {
            // The call stands in another body, and what it gives is awaited here.
            let _ = walk.poll(&mut state, &self.site.fact, future, self.site.fact.method);
        }
        let start = state.clone();
        let mut verdict = if walk.is_request(self.site.function) {
            Verdict::new(Outcome::OneShot, &state)
        } else {
            walk.explore(state)
        };
        if walk.is_spent() || verdict.0.is_empty() {
            verdict = Verdict::new(Outcome::Unknown, &start);
        }
        let shown = Fault { shows_as: fault.shows_as, text: fault.text.clone() };
        let mut paths: Vec<FaultPath> = verdict.0.into_iter().map(|ended| self.path(&shown, ended)).collect();
        // What an example does counts where nothing else goes wrong.
        paths.sort_by_key(|path| path.in_example);
        for path in &mut paths {
            path.mend = self.mend(fault, path);
        }
        paths
    }

    /// The state in which the poll is about to give the fault.
    fn start(&self, consumer: Location) -> State {
        let body = self.graph().blocks[self.site.block as usize].body;
        let mut env = Env::default();
        for (place, value) in handles(self.infer, self.site) {
            env.set(&place, value);
        }
        State::new(first_frame(self.site, body), env, consumer)
    }

    fn path(&self, fault: &Fault, ended: Ended) -> FaultPath {
        let calls = &self.site.watch.calls;
        let called = |names: &[&str]| calls.iter().any(|call| names.contains(&call.name.as_str()));
        let outcome = match ended.outcome {
            dead if dead.is_dead() && called(&["take"]) => Outcome::OneShot,
            dead if dead.is_dead() && called(&["chain"]) => Outcome::Catches,
            other => other,
        };
        let arm_item = ended.arm.as_ref().and(ended.arm_item).unwrap_or(ended.consumer_item);
        let mut path: Vec<Step> = Vec::new();
        let mut trail = ended.trail.as_deref();
        while let Some(Trail { location, label, before }) = trail {
            path.push(Step { location: *location, label: label.clone() });
            trail = before.as_deref();
        }
        path.reverse();
        path.truncate(6);
        let mut arm = ended.arm;
        if let Some(arm) = &mut arm
            && !ended.left
        {
            arm.transient = None;
        }
        FaultPath {
            fault: fault.clone(),
            outcome,
            arm,
            consumer: ended.consumer,
            item: self.infer.program.item_name(arm_item),
            in_example: self.is_in_example(arm_item) || self.passes_example(&path),
            path,
            mend: None,
        }
    }
}

fn is_example(path: &str) -> bool {
    path.rsplit('/').skip(1).any(|folder| folder == "examples")
}
