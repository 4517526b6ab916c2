//! The walk: from a poll that gives the fault, along every edge that the fault can take, to where it leads.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
};

use rideout_rules::{
    catalog::FaultFact,
    model::{Arm, Location, Outcome},
};

use super::{
    infer::Infer,
    polls::PollSite,
    state::{Frame, Phase, State, Then},
    value::{Match, Names, Val, matches},
    verdict::Verdict,
};
use crate::{
    facts::FnId,
    flow::graph::{
        ArmId, Block, BlockId, BodyKind, Callee, End, Graph, Op, Pattern, Place, SelectArm, Value,
    },
    syntax::tree::{Op as BinaryOp, Span},
};

/// Steps that the walk of one fault may take. A walk that needs more says nothing.
const BUDGET: u32 = 20_000;

/// What one operation leads to.
pub(super) enum Flow {
    Next,
    Done(Verdict),
    /// Branches that have nothing to do with the fault.
    Any(Vec<State>),
    /// Branches that the fault takes.
    All(Vec<State>),
    /// Branches on something that the fault decides in a way that cannot be told.
    Either(Vec<State>),
}

/// What the walk of an ordinary item has seen.
#[derive(Debug, Default)]
pub(super) struct Ordinary {
    /// The watch was asked again in the same activation of its function.
    pub(super) again_here: Cell<bool>,
    /// It was asked again after its function had returned.
    pub(super) again_above: Cell<bool>,
    /// The function returned the item, or something made of it.
    pub(super) returned: Cell<bool>,
}

pub(super) struct Walk<'w, 'p, 'c> {
    pub(super) infer: &'w Infer<'p, 'c>,
    pub(super) site: &'w PollSite,
    pub(super) fact: &'w FaultFact,
    /// The source's id in the catalog.
    pub(super) source: &'w str,
    /// Set to follow an ordinary item in place of the fault.
    pub(super) ordinary: Option<Ordinary>,
    budget: Cell<u32>,
    active: RefCell<HashSet<u64>>,
    memo: RefCell<HashMap<u64, Verdict>>,
}

impl<'w, 'p, 'c> Walk<'w, 'p, 'c> {
    pub(super) fn new(
        infer: &'w Infer<'p, 'c>,
        site: &'w PollSite,
        fact: &'w FaultFact,
        source: &'w str,
    ) -> Self {
        Self {
            infer,
            site,
            fact,
            source,
            ordinary: None,
            budget: Cell::new(BUDGET),
            active: RefCell::default(),
            memo: RefCell::default(),
        }
    }

    /// Whether the watch is held: asked again after an ordinary item. One whose first item is handed back to a caller that does
    /// not ask again is a wait for one event, and one whose item leads away is a signal.
    pub(super) fn stands(mut self, state: State) -> bool {
        self.ordinary = Some(Ordinary::default());
        self.budget.set(BUDGET / 4);
        self.explore(state);
        let Some(seen) = &self.ordinary else { return true };
        self.is_spent() || seen.again_above.get() || (seen.again_here.get() && !seen.returned.get())
    }

    pub(super) fn graph(&self, id: FnId) -> &'p Graph {
        self.infer.graph(id)
    }

    pub(super) fn location(&self, id: FnId, span: Span) -> Location {
        let program = self.infer.program;
        let file = program.files[program.functions[id].file].index;
        Location { file, start: span.start, end: span.end }
    }

    /// Whether the budget was spent: what came out then says nothing.
    pub(super) fn is_spent(&self) -> bool {
        self.budget.get() == 0
    }

    pub(super) fn names(&self) -> Names<'_> {
        Names {
            transient: &self.fact.transient,
            others: &self.fact.others,
            variant: self.fact.variant.as_deref(),
        }
    }

    /// The loop around a block, or the given span where there is none.
    pub(super) fn consumer(&self, id: FnId, block: BlockId, span: Span) -> Location {
        let graph = self.graph(id);
        let within = graph.blocks[block as usize].within;
        self.location(id, within.map_or(span, |id| graph.loops[id as usize].span))
    }

    /// The location of the loop that a path went round, or of its consumer.
    pub(super) fn round(&self, state: &State) -> Location {
        state.round.map_or(state.consumer, |round| {
            self.location(round.function, self.graph(round.function).loops[round.id as usize].span)
        })
    }

    pub(super) fn explore(&self, mut state: State) -> Verdict {
        loop {
            let left = self.budget.get();
            if left == 0 {
                return Verdict::new(Outcome::Unknown, &state);
            }
            self.budget.set(left - 1);
            let frame = state.frame();
            let graph = self.graph(frame.function);
            let block = &graph.blocks[frame.block as usize];
            let flow = match block.ops.get(frame.op) {
                Some(op) => {
                    state.frame_mut().op += 1;
                    self.op(&mut state, op)
                }
                None => self.end(&mut state, block),
            };
            match flow {
                Flow::Next => {}
                flow => return self.settle(flow, &state),
            }
        }
    }

    /// Follows every branch.
    fn settle(&self, flow: Flow, state: &State) -> Verdict {
        let follow = |states: Vec<State>, join: fn(Verdict, Verdict) -> Verdict| {
            states.into_iter().map(|state| self.explore(state)).fold(Verdict::none(), join)
        };
        match flow {
            Flow::Next => self.explore(state.clone()),
            Flow::Done(verdict) => verdict,
            Flow::Any(states) => follow(states, Verdict::any),
            Flow::All(states) => follow(states, Verdict::all),
            Flow::Either(states) => follow(states, Verdict::either),
        }
    }

    /// Goes on at a loop's head, unless the walk is there already.
    fn head(&self, state: State) -> Flow {
        let key = state.key();
        if self.active.borrow().contains(&key) {
            return Flow::Done(self.cycle(&state));
        }
        if let Some(known) = self.memo.borrow().get(&key) {
            return Flow::Done(known.clone());
        }
        self.active.borrow_mut().insert(key);
        let verdict = self.explore(state);
        self.active.borrow_mut().remove(&key);
        self.memo.borrow_mut().insert(key, verdict.clone());
        Flow::Done(verdict)
    }

    /// A loop that goes round without asking the watch.
    fn cycle(&self, state: &State) -> Verdict {
        if let Some((call, _)) = state.handed_over {
            return Verdict::new(Outcome::Nests { call }, state);
        }
        if state.phase == Phase::Fresh {
            return Verdict::new(Outcome::Reopens { paced: true, by: self.round(state) }, state);
        }
        self.dead(state)
    }

    pub(super) fn enter(&self, state: &mut State, block: BlockId) {
        let function = state.frame().function;
        let graph = self.graph(function);
        let before = graph.blocks[state.frame().block as usize].arm;
        let after = graph.blocks[block as usize].arm;
        if state.tested && after != before && !state.healed {
            if let Some(arm) = after {
                self.enter_arm(state, function, arm);
            }
            state.tested = false;
        }
        let frame = state.frame_mut();
        frame.block = block;
        frame.op = 0;
    }

    pub(super) fn enter_arm(&self, state: &mut State, function: FnId, arm: ArmId) {
        if !state.arms.contains(&(function, arm)) {
            state.arms.push((function, arm));
        }
        let location = self.location(function, self.graph(function).arms[arm as usize].span);
        state.step(location, "the fault arrives here");
        if let Some(transient) = state.singles.take() {
            state.arm = Some(Arm { location, logs: false, transient: Some(transient) });
            state.arm_item = Some(function);
        }
    }

    /// The innermost arm around the current block that the fault entered.
    pub(super) fn fault_arm(&self, state: &State) -> Option<(FnId, ArmId)> {
        for frame in state.frames.iter().rev() {
            let graph = self.graph(frame.function);
            let mut arm = graph.blocks[frame.block as usize].arm;
            while let Some(id) = arm {
                if state.arms.contains(&(frame.function, id)) {
                    return Some((frame.function, id));
                }
                arm = graph.arms[id as usize].parent;
            }
        }
        None
    }

    pub(super) fn log(&self, state: &mut State) {
        if state.bound.is_some() {
            state.said = true;
        }
        if state.healed {
            return;
        }
        let Some((function, arm)) = self.fault_arm(state) else { return };
        let location = self.location(function, self.graph(function).arms[arm as usize].span);
        match &mut state.arm {
            None => {
                state.arm = Some(Arm { location, logs: true, transient: None });
                state.arm_item = Some(function);
            }
            Some(known) if known.location == location => known.logs = true,
            Some(_) => {}
        }
    }

    fn op(&self, state: &mut State, op: &Op) -> Flow {
        let value = match &op.value {
            Value::Use(place) => return self.store(state, op, state.get(place)),
            Value::Unit => Val::Unit,
            Value::Bool(value) => Val::Bool(*value),
            Value::Int(digits) => Val::Int(digits.clone()),
            Value::Str | Value::Range { .. } => Val::Unknown,
            Value::Never => Val::Pending,
            Value::Path(path) => {
                if path.single() == Some("None") {
                    let fault = self.fault_arm(state).is_some();
                    Val::Variant { name: "None".to_owned(), fields: std::collections::BTreeMap::new(), fault }
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
                let known = self.infer.program.known(state.frame().function);
                if known.word_macro(path.last()) == Some(rideout_rules::catalog::Meaning::Log) {
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

    /// Remembers that the path leaves from inside the arm that singled out the transient fault.
    fn note_leaving(&self, state: &mut State) {
        let inside = self
            .fault_arm(state)
            .map(|(function, arm)| self.location(function, self.graph(function).arms[arm as usize].span));
        let transient = state.arm.as_ref().filter(|arm| arm.transient.is_some()).map(|arm| arm.location);
        state.left |= transient.is_some() && inside == transient;
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

    /// `.await`.
    pub(super) fn wait_for(&self, state: &mut State, op: &Op, value: Val) -> Flow {
        let result = match value {
            Val::Future(function, args) => {
                return self.inline(state, function, args, Then::Into(op.to.clone()), op.span);
            }
            Val::Body(function, body, env) => match self.graph(function).bodies[body as usize].kind {
                BodyKind::Async => {
                    return self.run_body(state, function, body, env, &[], Then::Into(op.to.clone()));
                }
                _ => Val::Body(function, body, env),
            },
            Val::Done(inner) if *inner == Val::Panic => return self.panic(state),
            Val::Done(inner) => *inner,
            Val::Handle(inner) => {
                state.waited = true;
                state.pending_handle = false;
                match *inner {
                    Val::Panic => Val::variant("Err", Some(Val::Fault)),
                    Val::Again(call, _) => {
                        let call = self.outer_call(state, call);
                        return Flow::Done(Verdict::new(Outcome::Nests { call }, state));
                    }
                    inner => Val::variant("Ok", Some(inner)),
                }
            }
            Val::Sleep => {
                state.waited = true;
                Val::Unknown
            }
            Val::Pending => return Flow::Done(self.dead(state)),
            Val::Again(call, _) => {
                let call = self.outer_call(state, call);
                return Flow::Done(Verdict::new(Outcome::Nests { call }, state));
            }
            other => other,
        };
        state.set(&op.to, result);
        Flow::Next
    }

    fn join(&self, state: &mut State, op: &Op, futures: &[Place], fallible: bool) -> Flow {
        if let Some(flow) = self.run_waiting(state, futures.iter()) {
            return flow;
        }
        let values: Vec<Val> = futures
            .iter()
            .map(|place| match state.get(place) {
                Val::Done(inner) => *inner,
                Val::Handle(inner) => {
                    state.pending_handle = false;
                    match *inner {
                        Val::Panic => Val::variant("Err", Some(Val::Fault)),
                        inner => Val::variant("Ok", Some(inner)),
                    }
                }
                other => other,
            })
            .collect();
        let failed = values.iter().find(|value| value.is_variant("Err")).cloned();
        let result = match failed {
            Some(error) if fallible => error,
            _ if fallible => Val::variant("Ok", Some(Val::tuple(values))),
            _ => Val::tuple(values),
        };
        state.set(&op.to, result);
        Flow::Next
    }

    /// Runs the first call among these futures that was given the handle of the ended task. The operation at hand is then done again.
    fn run_waiting<'a>(
        &self,
        state: &mut State,
        mut futures: impl Iterator<Item = &'a Place>,
    ) -> Option<Flow> {
        let (place, task) = futures.find_map(|place| match state.get(place) {
            Val::Future(function, args) if args.iter().any(|arg| arg.handle().is_some()) => {
                Some((place, Err((function, args))))
            }
            Val::Body(function, body, env) if self.awaits_ended(state, function, body, env) => {
                Some((place, Ok((function, body, env))))
            }
            _ => None,
        })?;
        let frame = state.frame_mut();
        let graph = self.infer.graph(frame.function);
        let is_op = frame.op <= graph.blocks[frame.block as usize].ops.len();
        if is_op
            && graph.blocks[frame.block as usize]
                .ops
                .get(frame.op.wrapping_sub(1))
                .is_some_and(|op| matches!(op.value, Value::Join { .. }))
        {
            frame.op -= 1;
        }
        let then = Then::Ready(place.clone());
        Some(match task {
            Ok((function, body, env)) => self.run_body(state, function, body, env, &[], then),
            Err((function, args)) => self.inline(state, function, args, then, Span::default()),
        })
    }

    /// Whether an `async` block awaits what has ended.
    fn awaits_ended(&self, state: &State, function: FnId, body: u32, env: usize) -> bool {
        let graph = self.graph(function);
        let Some(env) = state.envs.get(env) else { return false };
        graph.bodies[body as usize].kind == BodyKind::Async
            && graph.blocks.iter().filter(|block| block.body == body).flat_map(|block| &block.ops).any(|op| {
                matches!(&op.value, Value::Await(place) if matches!(env.get(place), Val::Done(_) | Val::Handle(_)))
            })
    }

    fn end(&self, state: &mut State, block: &Block) -> Flow {
        match &block.end {
            End::Goto(target) => {
                state.tested = false;
                state.singles = None;
                let graph = self.graph(state.frame().function);
                let head = graph.blocks[*target as usize].head_of;
                if let Some(id) = head
                    && inside(graph, block, id)
                {
                    state.went_round(id);
                }
                self.enter(state, *target);
                if head.is_some() { self.head(state.clone()) } else { Flow::Next }
            }
            End::Branch { cond, then, otherwise } => self.branch(state, cond, *then, *otherwise),
            End::Test { value, pat, yes, no } => self.test(state, value, pat, *yes, *no),
            End::Try { value, to, next, span } => self.question(state, value, to, *next, *span),
            End::Select { arms, otherwise } => self.select(state, arms, *otherwise),
            End::Return(place) => {
                let value = state.get(place);
                self.give_back(state, value)
            }
            End::Panic => self.panic(state),
            End::Never => Flow::Done(Verdict::none()),
        }
    }

    fn to(&self, state: &State, block: BlockId) -> State {
        let mut next = state.clone();
        self.enter(&mut next, block);
        next
    }

    fn branch(&self, state: &mut State, cond: &Place, then: BlockId, otherwise: BlockId) -> Flow {
        let value = match state.get(cond) {
            Val::Done(inner) => *inner,
            other => other,
        };
        match value {
            Val::Bool(value) => {
                self.enter(state, if value { then } else { otherwise });
                Flow::Next
            }
            Val::Singles(name, negated) => {
                let (it, other) = if negated { (otherwise, then) } else { (then, otherwise) };
                let mut transient = state.clone();
                transient.tested = true;
                transient.singles = Some(name);
                self.enter(&mut transient, it);
                let mut rest = state.clone();
                rest.tested = true;
                self.enter(&mut rest, other);
                Flow::All(vec![transient, rest])
            }
            value => {
                let carries = value.carries();
                let bound = !carries && self.is_bound(state, cond);
                let mut states = vec![self.to(state, then), self.to(state, otherwise)];
                for next in &mut states {
                    next.tested = carries;
                    next.forked |= !carries && state.round.is_some();
                    if bound {
                        next.bound.get_or_insert(self.round(state));
                    }
                }
                if state.singles.is_some() {
                    // A guard of the arm that singles out the transient fault: it may hold.
                    return Flow::All(states);
                }
                if bound {
                    self.bounded(states)
                } else if carries {
                    Flow::Either(states)
                } else {
                    Flow::Any(states)
                }
            }
        }
    }

    /// A bound on attempts matters only where the other branch recovers.
    fn bounded(&self, states: Vec<State>) -> Flow {
        let verdicts: Vec<Verdict> = states.into_iter().map(|state| self.explore(state)).collect();
        let recovers = |verdict: &Verdict| !verdict.0.is_empty() && (!verdict.is_bad() || verdict.gives_up());
        let mut rest = Verdict::none();
        for (at, verdict) in verdicts.iter().enumerate() {
            let beside = verdicts.iter().enumerate().any(|(other, verdict)| other != at && recovers(verdict));
            let mut verdict = verdict.clone();
            let alone = verdicts.iter().filter(|verdict| !verdict.0.is_empty()).count() < 2;
            if !beside && !alone {
                for ended in
                    verdict.0.iter_mut().filter(|ended| matches!(ended.outcome, Outcome::GivesUp { .. }))
                {
                    ended.outcome = Outcome::Ends;
                }
            }
            rest = rest.any(verdict);
        }
        Flow::Done(rest)
    }

    /// Whether a condition compares something that counts, or a time that has passed.
    fn is_bound(&self, state: &State, cond: &Place) -> bool {
        let graph = self.graph(state.frame().function);
        let defined =
            |place: &Place| graph.blocks.iter().flat_map(|block| &block.ops).find(|op| op.to == *place);
        let counts = |place: &Place| {
            (place.fields.is_empty() && graph.locals[place.local as usize].counts)
                || graph.blocks.iter().flat_map(|block| &block.ops).any(|op| matches!(&op.value, Value::Step(to, _) if to == place))
                || defined(place).is_some_and(|op| {
                    matches!(&op.value, Value::Call { callee: Callee::Method { name, .. }, .. } if name == "elapsed")
                })
        };
        match defined(cond).map(|op| &op.value) {
            Some(Value::Compare(BinaryOp::Order | BinaryOp::Equal, left, right)) => {
                counts(left) || counts(right)
            }
            _ => false,
        }
    }

    fn test(&self, state: &mut State, place: &Place, pat: &Pattern, yes: BlockId, no: BlockId) -> Flow {
        let value = match state.get(place) {
            Val::Done(inner) => *inner,
            Val::Pending => return Flow::Done(self.dead(state)),
            other => other,
        };
        let carries = value.carries();
        match matches(pat, &value, &self.names()) {
            Match::No => {
                state.tested = carries;
                self.enter(state, no);
                state.tested = false;
                Flow::Next
            }
            Match::Yes(bound) => {
                state.designed |= carries && also_takes_an_item(pat);
                for (local, value) in bound.locals {
                    state.set(&Place::local(local), value);
                }
                state.tested = carries && !pat.irrefutable() || carries && self.is_match_arm(state, yes);
                state.singles = bound.singles.or_else(|| state.singles.take());
                self.enter(state, yes);
                Flow::Next
            }
            Match::Maybe(bound) => {
                let singles = bound.singles.is_some();
                let mut matched = state.clone();
                for (local, value) in bound.locals {
                    matched.set(&Place::local(local), value);
                }
                matched.tested = carries;
                matched.singles = bound.singles;
                let mut other = state.clone();
                other.tested = carries;
                if !carries {
                    let aside = state.round.is_some();
                    // What a loop does with other items is not about the fault.
                    let iterates = self.graph(state.frame().function).blocks[state.frame().block as usize]
                        .head_of
                        .is_some();
                    matched.forked |= aside || iterates;
                    other.forked |= aside;
                    if self.runs_out(state, place) {
                        other.bound.get_or_insert(self.round(state));
                        self.enter(&mut matched, yes);
                        self.enter(&mut other, no);
                        return self.bounded(vec![matched, other]);
                    }
                }
                self.enter(&mut matched, yes);
                self.enter(&mut other, no);
                other.tested = false;
                if singles {
                    Flow::All(vec![matched, other])
                } else if carries {
                    Flow::Either(vec![other, matched])
                } else {
                    Flow::Any(vec![other, matched])
                }
            }
        }
    }

    fn is_match_arm(&self, state: &State, block: BlockId) -> bool {
        let graph = self.graph(state.frame().function);
        graph.blocks[block as usize].arm.is_some()
            && graph.blocks[block as usize].arm != graph.blocks[state.frame().block as usize].arm
    }

    /// Whether a tested value is the next one of something that runs out: delays, attempts.
    fn runs_out(&self, state: &State, place: &Place) -> bool {
        let frame = state.frame();
        let graph = self.graph(frame.function);
        let block = &graph.blocks[frame.block as usize];
        let is_next = graph.blocks.iter().flat_map(|block| &block.ops).any(|op| {
            op.to == *place
                && matches!(&op.value, Value::Call { callee: Callee::Method { name, .. }, args, .. }
                    if matches!(name.as_str(), "next" | "next_backoff" | "next_delay")
                        && self.infer.place(frame.function, &args[0]).watch().is_none())
        });
        if !is_next {
            return false;
        }
        match block.head_of {
            Some(id) => {
                let went_round =
                    state.round.is_some_and(|round| round.id == id && round.function == frame.function);
                (graph.loops[id as usize].bounded || state.reopened) && went_round
            }
            None => true,
        }
    }

    fn question(&self, state: &mut State, place: &Place, to: &Place, next: BlockId, span: Span) -> Flow {
        let value = match state.get(place) {
            Val::Done(inner) => *inner,
            other => other,
        };
        let value = match value {
            Val::Variant { ref name, .. } if matches!(name.as_str(), "Ok" | "Some") => value.payload(),
            Val::Variant { ref name, .. } if matches!(name.as_str(), "Err" | "None") => {
                if value.carries() {
                    let location = self.location(state.frame().function, span);
                    state.step(location, "`?` passes it on");
                }
                return self.give_back_early(state, value);
            }
            Val::Panic => return self.panic(state),
            Val::Pending => return Flow::Done(self.dead(state)),
            Val::Fault | Val::Derived => {
                let mut failed = state.clone();
                let error = Val::variant("Err", Some(Val::Derived));
                let returned = self.give_back_early(&mut failed, error);
                let failed = self.settle(returned, &failed);
                state.set(to, Val::Derived);
                self.enter(state, next);
                return Flow::Done(failed.any(self.explore(state.clone())));
            }
            other => other,
        };
        state.set(to, value);
        self.enter(state, next);
        Flow::Next
    }

    /// `?` on an error: returns from the body; in a generator it yields the error and ends.
    fn give_back_early(&self, state: &mut State, value: Val) -> Flow {
        self.note_leaving(state);
        let frame = state.frame();
        let generator =
            matches!(self.graph(frame.function).bodies[frame.body as usize].kind, BodyKind::Generator { .. });
        if generator && value.carries() && !self.heals() {
            return Flow::Done(Verdict::new(Outcome::Forwards, state));
        }
        self.give_back(state, value)
    }

    /// Whether the source goes on by itself after this fault.
    pub(super) fn heals(&self) -> bool {
        use rideout_rules::model::ShowsAs;
        match self.fact.shows_as {
            ShowsAs::ErrorHeals | ShowsAs::CallError => true,
            ShowsAs::Variant => self.fact.heals,
            _ => false,
        }
    }

    fn select(&self, state: &mut State, arms: &[SelectArm], otherwise: Option<BlockId>) -> Flow {
        if let Some(flow) = self.run_waiting(state, arms.iter().map(|arm| &arm.future)) {
            return flow;
        }
        let live: Vec<&SelectArm> = arms.iter().collect();
        let ready = live.iter().position(|arm| {
            let value = state.get(&arm.future);
            value.carries() || value.handle().is_some() || matches!(value, Val::Done(_))
        });
        let Some(ready) = ready else {
            let states: Vec<State> = live.iter().filter_map(|arm| self.other_arm(state, arm)).collect();
            return self.alternatives(state, states, otherwise);
        };
        let arm = live[ready];
        let value = match state.get(&arm.future) {
            Val::Done(inner) if *inner == Val::Panic => return self.panic(state),
            Val::Done(inner) => *inner,
            Val::Handle(inner) => {
                state.pending_handle = false;
                state.waited = true;
                match *inner {
                    Val::Panic => Val::variant("Err", Some(Val::Fault)),
                    inner => Val::variant("Ok", Some(inner)),
                }
            }
            other => other,
        };
        let take = |mut next: State, locals: Vec<_>, singles| {
            for (local, value) in locals {
                next.set(&Place::local(local), value);
            }
            next.set(&arm.got, value.clone());
            next.tested = value.carries();
            next.singles = singles;
            self.enter(&mut next, arm.next);
            next
        };
        match matches(&arm.pat, &value, &self.names()) {
            Match::Yes(bound) => {
                *state = take(state.clone(), bound.locals, bound.singles);
                Flow::Next
            }
            Match::Maybe(bound) => {
                let matched = take(state.clone(), bound.locals, bound.singles);
                let mut states = vec![matched];
                states.extend(
                    live.iter()
                        .filter(|other| other.next != arm.next)
                        .filter_map(|arm| self.other_arm(state, arm)),
                );
                Flow::Any(states)
            }
            // The arm is off for this call; another one has to wake the loop.
            Match::No => {
                let others = live.iter().filter(|other| other.next != arm.next);
                let states: Vec<State> = others.filter_map(|arm| self.other_arm(state, arm)).collect();
                self.alternatives(state, states, otherwise)
            }
        }
    }

    fn alternatives(&self, state: &mut State, states: Vec<State>, otherwise: Option<BlockId>) -> Flow {
        if !states.is_empty() {
            return Flow::Any(states);
        }
        match otherwise {
            Some(block) => {
                state.tested = true;
                self.enter(state, block);
                Flow::Next
            }
            None => Flow::Done(self.dead(state)),
        }
    }

    /// The state in which another arm than the watch's completes.
    fn other_arm(&self, state: &State, arm: &SelectArm) -> Option<State> {
        let mut next = state.clone();
        next.forked = true;
        let value = state.get(&arm.future);
        let got = match value {
            Val::Pending => return None,
            Val::Sleep => {
                next.waited = true;
                Val::Unknown
            }
            Val::Future(function, args) => {
                // What the call does may matter; its result is tested against the pattern afterwards.
                self.enter(&mut next, arm.next);
                bind_unknown(&mut next, &arm.pat);
                if let Flow::Next =
                    self.inline(&mut next, function, args, Then::Into(arm.got.clone()), Span::default())
                {
                    self.bind_result(&mut next, arm);
                    return Some(next);
                }
                return None;
            }
            Val::Body(..) | Val::Unknown => Val::Unknown,
            other => other,
        };
        match matches(&arm.pat, &got, &self.names()) {
            Match::No => return None,
            Match::Yes(bound) | Match::Maybe(bound) => {
                for (local, value) in bound.locals {
                    next.set(&Place::local(local), value);
                }
            }
        }
        next.set(&arm.got, got);
        next.tested = false;
        self.enter(&mut next, arm.next);
        Some(next)
    }

    /// For an arm with a plain name the result of an inlined call is that name's value.
    fn bind_result(&self, state: &mut State, arm: &SelectArm) {
        if let Pattern::Bind(local, None) = arm.pat {
            let last = state.frames.len() - 1;
            if let Then::Into(place) = &mut state.frames[last].then {
                *place = Place::local(local);
            }
        }
    }
}

/// Whether one alternative of a pattern takes an ordinary item: the arm is the end by design.
fn also_takes_an_item(pat: &Pattern) -> bool {
    let item = |pat: &Pattern| match pat {
        Pattern::TupleStruct(path, inner) if matches!(path.last(), "Ok" | "Some") => inner
            .iter()
            .any(|pat| !matches!(pat, Pattern::Path(path) if path.last() == "None") && !is_error(pat)),
        _ => false,
    };
    matches!(pat, Pattern::Or(pats) if pats.iter().any(item))
}

fn is_error(pat: &Pattern) -> bool {
    matches!(pat, Pattern::TupleStruct(path, _) if path.last() == "Err")
}

fn bind_unknown(state: &mut State, pat: &Pattern) {
    pat.walk(&mut |pat| {
        if let Pattern::Bind(local, _) = pat {
            state.set(&Place::local(*local), Val::Unknown);
        }
    });
}

/// Whether a block is inside a loop.
fn inside(graph: &Graph, block: &Block, wanted: u32) -> bool {
    let mut within = block.within;
    while let Some(id) = within {
        if id == wanted {
            return true;
        }
        within = graph.loops[id as usize].parent;
    }
    false
}

/// Makes the frame in which a walk starts.
pub(super) fn first_frame(site: &PollSite, body: u32) -> Frame {
    Frame { function: site.function, body, block: site.block, op: site.op, env: 0, then: Then::Callers }
}
