//! From graphs to watches: which values are subscriptions, where they are consumed, and where each of their faults leads.
//!
//! `infer`, `typing`, `call_types` and `sites` tell which place holds a watch and who calls whom; `polls` finds where one is asked,
//! and `judge` has each of its faults walked. A walk (`walk`) carries a `state` of `value`s through the graphs: `ops`, `waits`,
//! `branches`, `bounds`, `select` and `calls` are what it meets on its way (of the calls, `asked`, `words`, `combinators`, `helpers`,
//! `spawn`, `inline`, `openings` and `outside` each know one kind), `deliver` plays the fault, and `ends`, `upward` and `scope` know
//! how a path goes on when a function is over. The ends of all paths make a `verdict`.

mod adapters;
mod arms;
mod asked;
mod bounds;
mod branches;
mod call_types;
mod calls;
mod channels;
mod combinators;
mod deliver;
mod ends;
mod facts;
mod fill;
mod helpers;
mod infer;
mod inline;
mod judge;
mod openings;
mod ops;
mod outside;
mod patterns;
mod polls;
mod scope;
mod select;
mod sites;
mod spawn;
mod state;
mod typing;
mod upward;
mod value;
mod verdict;
mod waits;
mod walk;
mod words;

use std::collections::{BTreeSet, HashSet};

use rideout_rules::model::Watch;

use self::{infer::Infer, judge::Judge, polls::PollSite};
use crate::{
    facts::{FnId, Program},
    syntax::tree::Receiver,
};

/// What is known about the watches of a program before any fault is walked.
pub(crate) struct Survey<'p, 'c> {
    infer: Infer<'p, 'c>,
    polls: Vec<PollSite>,
}

impl<'p, 'c> Survey<'p, 'c> {
    /// Infers types and finds every poll.
    pub(crate) fn new(program: &'p Program<'c>) -> Self {
        let infer = Infer::new(program);
        let polls = program
            .live()
            .filter(|id| !infer.graph(*id).blocks.is_empty())
            .flat_map(|id| polls::find(&infer, id, infer.graph(id), &infer.types(id)))
            .collect();
        Self { infer, polls }
    }

    /// Every standing watch, in order of file and place.
    pub(crate) fn watches(&self) -> Vec<Watch> {
        let mut seen = HashSet::new();
        let mut watches: Vec<Watch> = self
            .polls
            .iter()
            .filter_map(|site| Judge { infer: &self.infer, site }.watch())
            .filter(|watch| seen.insert((watch.consumer, watch.source.id.clone())))
            .collect();
        watches
            .sort_by(|left, right| (left.consumer, &left.source.id).cmp(&(right.consumer, &right.source.id)));
        watches
    }

    /// The names of the functions whose callers decide about a watch: those that poll one or hand one out, and those that call them.
    /// For a name that many functions have, the type that it belongs to.
    pub(crate) fn wanted(&self) -> BTreeSet<String> {
        let functions = &self.infer.program.functions;
        let opening = (0..functions.len()).filter(|id| self.infer.output(*id).watch().is_some());
        let mut todo: Vec<FnId> = self.polls.iter().map(|site| site.function).chain(opening).collect();
        let sites = self.infer.sites();
        let mut seen: HashSet<FnId> = todo.iter().copied().collect();
        let mut names = BTreeSet::new();
        while let Some(id) = todo.pop() {
            let function = &functions[id];
            if !is_common(&function.name) {
                names.insert(function.name.clone());
            } else if let Some(owner) = &function.owner {
                // The name says nothing, its type's does.
                names.insert(match function.receiver {
                    Receiver::None => format!("{owner}::{}", function.name),
                    _ => owner.clone(),
                });
            }
            for site in sites.get(&id).into_iter().flatten() {
                if seen.insert(site.function) {
                    todo.push(site.function);
                }
            }
        }
        names
    }
}

/// What a body must hold to ask a stream or an iterator, whatever its source, for items.
pub(crate) const ASKING: &[&str] = &[
    ".next",
    ".next_back",
    ".poll_next",
    ".poll_next_unpin",
    ".try_next",
    ".try_poll_next",
    ".try_poll_next_unpin",
    ".select_next_some",
    ".for_each",
    ".for_each_concurrent",
    ".fold",
    ".try_for_each",
    ".try_for_each_concurrent",
    ".try_fold",
    // A parameter or a local has its type or its opener beside it.
    "in self",
    "in &self",
    "in &mut self",
];

/// Whether every other file calls a function of this name: searching for it finds nothing in particular.
pub(crate) fn is_common(name: &str) -> bool {
    name.len() < 3 || COMMON.contains(&name)
}

const COMMON: &[&str] =
    &["main", "new", "default", "from", "into", "fmt", "drop", "clone", "poll", "next", "get", "build"];
