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

use self::{infer::Infer, judge::Judge};
use crate::facts::{FnId, Program};

/// Every standing watch of a program, in order of file and place.
pub(crate) fn find(program: &Program<'_>) -> Vec<Watch> {
    let mut infer = Infer::new(program);
    infer.prepare();
    let mut watches = Vec::new();
    let mut seen = HashSet::new();
    for id in 0..program.functions.len() {
        let graph = infer.graph(id);
        if graph.blocks.is_empty() {
            continue;
        }
        let types = infer.types(id);
        for site in polls::find(&infer, id, graph, &types) {
            let Some(watch) = Judge { infer: &infer, site: &site }.watch() else { continue };
            if seen.insert((watch.consumer, watch.source.id.clone())) {
                watches.push(watch);
            }
        }
    }
    watches.sort_by(|left, right| (left.consumer, &left.source.id).cmp(&(right.consumer, &right.source.id)));
    watches
}

/// The names of the functions whose callers decide about a watch: those that poll one or hand one out, and those that call them.
pub(crate) fn wanted(program: &Program<'_>) -> BTreeSet<String> {
    let mut infer = Infer::new(program);
    infer.prepare();
    let mut todo: Vec<FnId> = Vec::new();
    for id in 0..program.functions.len() {
        let graph = infer.graph(id);
        let polls = !graph.blocks.is_empty() && !polls::find(&infer, id, graph, &infer.types(id)).is_empty();
        if polls || infer.output(id).watch().is_some() {
            todo.push(id);
        }
    }
    let sites = infer.sites();
    let mut seen: HashSet<FnId> = todo.iter().copied().collect();
    let mut names = BTreeSet::new();
    while let Some(id) = todo.pop() {
        let name = &program.functions[id].name;
        if name.len() > 2 && !COMMON.contains(&name.as_str()) {
            names.insert(name.clone());
        }
        for site in sites.get(&id).into_iter().flatten() {
            if seen.insert(site.function) {
                todo.push(site.function);
            }
        }
    }
    names
}

/// Names that every other file calls: searching for them finds nothing in particular.
const COMMON: &[&str] =
    &["main", "new", "default", "from", "into", "fmt", "drop", "clone", "poll", "next", "get", "build"];
