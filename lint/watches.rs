//! From graphs to watches: which values are subscriptions, where they are consumed, and where each of their faults leads.
//!
//! `infer`, `typing`, `call_types`, `results`, `expected`, `feeds` and `sites` tell which place holds a watch and who calls whom (`elements` what
//! a collection holds, `fields` what is put into a field); `polls` finds where one is asked, `handles` through which places, and
//! `judge` has each of its faults walked, after `made` and `facts` have told which of them can reach it; `mend` looks for a change of the code. A walk (`walk`) carries a
//! `state` of `value`s through the graphs: `ops`, `waits`, `joins`, `branches`, `bounds`, `select` and `calls` are what it meets on
//! its way (of the calls, `asked`, `words`, `combinators`, `helpers`, `spawn`, `tasks`, `kept`, `inline`, `openings`, `ready` and
//! `outside` each know one kind), `deliver` plays the fault, and `brief`, `ends`, `guards`, `panics`, `replies`, `upward`, `scope` and `jobs` know
//! how a path goes on when a function is over. The ends of all paths make a `verdict`.

mod adapters;
mod arms;
mod asked;
mod bounds;
mod branches;
mod brief;
mod call_types;
mod calls;
mod channels;
mod combinators;
mod deliver;
mod elements;
mod ends;
mod expected;
mod factories;
mod facts;
mod feeds;
mod fields;
mod fill;
mod generics;
mod guards;
mod handles;
mod helpers;
mod infer;
mod inline;
mod jobs;
mod joins;
mod judge;
mod kept;
mod made;
mod mend;
mod openings;
mod ops;
mod origin;
mod outside;
mod panics;
mod patterns;
mod polls;
mod ready;
mod replies;
mod results;
mod scope;
mod select;
mod signals;
mod sites;
mod spawn;
mod state;
mod tasks;
mod typing;
mod upward;
mod value;
mod verdict;
mod waits;
mod walk;
mod wanted;
mod words;

use std::collections::HashSet;

use rideout_rules::{catalog, model::Watch};

pub(crate) use self::wanted::is_common;
use self::{infer::Infer, judge::Judge, polls::PollSite};
use crate::facts::Program;

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
            .filter(|id| !infer.only_drops(*id, 0))
            .filter(|id| !infer.graph(*id).blocks.is_empty())
            .flat_map(|id| {
                let graph = infer.graph(id);
                let asked = polls::find(&infer, id, graph, &infer.types(id));
                asked.into_iter().chain(factories::find(&infer, id, graph))
            })
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
    // A hook that exits makes something of every panic.
    catalog::PANIC_HOOK,
    // A parameter or a local has its type or its opener beside it.
    "for await",
    "in self",
    "in &self",
    "in &mut self",
];
