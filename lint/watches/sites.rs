//! Who calls whom in the workspace.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use super::{infer::Infer, polls::stream_method};
use crate::{
    facts::{FnId, Ty},
    flow::graph::{Callee, Graph, Place, Value},
};

/// A call of a function of the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Site {
    pub(super) function: FnId,
    pub(super) block: u32,
    pub(super) op: usize,
}

/// The calls of each function.
pub(super) type Sites = HashMap<FnId, Vec<Site>>;

impl Infer<'_, '_> {
    /// Every call of each function of the workspace.
    pub(super) fn sites(&self) -> Rc<Sites> {
        if let Some(sites) = &*self.sites.borrow() {
            return Rc::clone(sites);
        }
        let mut sites: Sites = HashMap::new();
        self.program.live().for_each(|caller| self.add_calls(&mut sites, caller));
        let sites = Rc::new(sites);
        *self.sites.borrow_mut() = Some(Rc::clone(&sites));
        sites
    }

    /// Asks again whom these functions call: with the types that their callers tell, it may be others.
    pub(super) fn renew_sites(&self, callers: &HashSet<FnId>) {
        let mut sites = (*self.sites()).clone();
        sites.values_mut().for_each(|sites| sites.retain(|site| !callers.contains(&site.function)));
        let mut callers: Vec<FnId> = callers.iter().copied().collect();
        callers.sort_unstable();
        callers.into_iter().for_each(|caller| self.add_calls(&mut sites, caller));
        *self.sites.borrow_mut() = Some(Rc::new(sites));
    }

    fn add_calls(&self, sites: &mut Sites, caller: FnId) {
        for (block, op, value) in values(self.graph(caller)) {
            match value {
                Value::Call { callee, args, .. } => {
                    for callee in self.callees(caller, callee, args) {
                        sites.entry(callee).or_default().push(Site { function: caller, block, op });
                    }
                }
                // A function handed over by its path: `.and_then(Self::run)`.
                Value::Path(path) => {
                    if let Some(callee) =
                        self.program.function_at(caller, &self.program.resolve(caller, &path.segments))
                    {
                        sites.entry(callee).or_default().push(Site { function: caller, block, op });
                    }
                }
                _ => {}
            }
        }
    }

    /// The functions of the workspace that a call may mean.
    pub(super) fn callees(&self, caller: FnId, callee: &Callee, args: &[Place]) -> Vec<FnId> {
        match callee {
            Callee::Path(path) => {
                let resolved = self.program.resolve(caller, &path.segments);
                match self.program.function_at(caller, &resolved) {
                    Some(callee) => vec![callee],
                    None => self.program.through_trait(caller, &path.segments),
                }
            }
            Callee::Method { name, .. } => {
                if self.program.named(name).is_empty() && stream_method(name).is_none() {
                    return Vec::new();
                }
                let receiver = args.first().map_or(Ty::Unknown, |place| self.place(caller, place));
                self.callees_of(&receiver.inner(), name, caller)
            }
            Callee::Place(place) => match self.place(caller, place) {
                Ty::Function(id) => vec![id],
                _ => Vec::new(),
            },
        }
    }

    /// The methods of the workspace that a name may mean on a receiver.
    pub(super) fn callees_of(&self, receiver: &Ty, name: &str, from: FnId) -> Vec<FnId> {
        let own = if self.program.named(name).is_empty() {
            Vec::new()
        } else {
            self.program.methods(receiver, name, from)
        };
        if own.is_empty() { self.polls_of(receiver, name).into_iter().collect() } else { own }
    }

    /// The `poll_next` that a method of `Stream` calls on a type of the workspace.
    pub(super) fn polls_of(&self, receiver: &Ty, name: &str) -> Option<FnId> {
        stream_method(name).and_then(|_| self.program.poll_next(receiver))
    }
}

/// Every value of a graph with its place.
fn values(graph: &Graph) -> impl Iterator<Item = (u32, usize, &Value)> {
    graph.blocks.iter().enumerate().flat_map(|(block, facts)| {
        let block = u32::try_from(block).unwrap_or(u32::MAX);
        facts.ops.iter().enumerate().map(move |(op, facts)| (block, op, &facts.value))
    })
}
