//! Handles of tasks that are kept in a field: which functions read it, and what they make of the task's end.

use std::rc::Rc;

use rideout_rules::model::Outcome;

use super::{
    infer::Infer,
    sites::Site,
    state::{Frame, State, Then},
    value::{Env, Val},
    verdict::Verdict,
    walk::{Flow, Walk},
};
use crate::{
    facts::{FnId, Ty},
    flow::graph::{Callee, End, Graph, Op, Pattern, Place, Value},
};

/// A field of a struct of the workspace, by the struct's index.
pub(super) type Field = (usize, String);

/// A handle that was put into a field.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    field: Field,
    value: Val,
}

/// Who reads a field.
#[derive(Debug, Default)]
pub(super) struct Readers {
    /// Functions that are given the struct, with the place of the field.
    through: Vec<(FnId, Place)>,
    /// Functions that read it in another way.
    others: Vec<FnId>,
}

impl Walk<'_, '_, '_> {
    /// Remembers the field that a handle is put into.
    pub(super) fn keep(&self, state: &mut State, place: &Place, value: &Val) {
        if value.handle().is_none() {
            return;
        }
        let function = state.frame().function;
        let Some(place) = behind(self.graph(function), place) else { return };
        let Some((field, rest)) = place.fields.split_last() else { return };
        let base = Place { local: place.local, fields: rest.to_vec() };
        self.keep_in(state, &self.infer.place(function, &base), field, value);
    }

    /// Remembers the field of a struct that is made with a handle in it.
    pub(super) fn keep_in(&self, state: &mut State, ty: &Ty, field: &str, value: &Val) {
        if let Ty::Local(at, _) = ty
            && value.handle().is_some()
        {
            state.kept = Some(Kept { field: (*at, field.to_owned()), value: value.clone() });
        }
    }

    /// A handle that nobody has looked at is left in a field: the walk goes on where the field is read.
    pub(super) fn left_in_field(&self, state: &State) -> Option<Flow> {
        let kept = state.kept.as_ref().filter(|_| state.pending_handle && self.ordinary.is_none())?;
        let (at, field) = &kept.field;
        if !self.infer.program.types[*at].private.contains(field) {
            return Some(Flow::Done(Verdict::new(Outcome::Unknown, state)));
        }
        let readers = self.infer.readers(*at, field);
        let on_the_way =
            |id: FnId| state.frames[0].function == id || state.chain.iter().any(|site| site.function == id);
        if readers.others.iter().any(|id| !on_the_way(*id)) {
            return Some(Flow::Done(Verdict::new(Outcome::Unknown, state)));
        }
        let states: Vec<State> = readers
            .through
            .iter()
            .filter(|(id, _)| !on_the_way(*id))
            .map(|(id, place)| self.reader(state, *id, place, &kept.value))
            .collect();
        Some(if states.is_empty() { Flow::Done(self.dead(state)) } else { Flow::Any(states) })
    }

    /// The state in which a function that reads the field begins.
    fn reader(&self, state: &State, function: FnId, place: &Place, held: &Val) -> State {
        let mut next = state.clone();
        let mut env = Env::default();
        env.set(place, held.clone());
        let block = self.graph(function).bodies[0].entry;
        next.kept = None;
        next.ups += 1;
        next.chain.push(Site { function, block, op: 0 });
        next.envs = vec![env];
        next.frames = vec![Frame { function, body: 0, block, op: 0, env: 0, then: Then::Callers }];
        next
    }
}

impl Infer<'_, '_> {
    /// The functions that read a private field.
    fn readers(&self, at: usize, field: &str) -> Rc<Readers> {
        let key = (at, field.to_owned());
        if let Some(known) = self.readers.borrow().get(&key) {
            return Rc::clone(known);
        }
        let mut found = Readers::default();
        let program = self.program;
        let own = program.types[at].file;
        let inside = module_folder(&program.files[own].path);
        let ids = (0..program.functions.len()).filter(|id| {
            let file = program.functions[*id].file;
            file == own || (program.same_package(file, own) && program.files[file].path.starts_with(&inside))
        });
        for id in ids {
            let graph = self.graph(id);
            if takes_apart(graph, &program.types[at].name, field) {
                found.others.push(id);
            }
            for place in reads(graph) {
                let Some(depth) = place.fields.iter().position(|name| name == field) else { continue };
                let base = Place { local: place.local, fields: place.fields[..depth].to_vec() };
                match self.place(id, &base) {
                    Ty::Local(own, _) if own != at => {}
                    Ty::Local(..) if is_param(graph, place.local) => {
                        let param = Place { local: graph.bound_from(place.local), ..base };
                        let place = param.field(field);
                        if !found.through.contains(&(id, place.clone())) {
                            found.through.push((id, place));
                        }
                    }
                    Ty::Local(..) | Ty::Unknown => found.others.push(id),
                    _ => {}
                }
            }
        }
        let found = Rc::new(found);
        self.readers.borrow_mut().insert(key, Rc::clone(&found));
        found
    }
}

/// Where the files of a file's child modules are, which see its private fields.
fn module_folder(path: &str) -> String {
    let (folder, file) = path.split_at(path.rfind('/').map_or(0, |slash| slash + 1));
    match file {
        "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
        _ => format!("{}/", path.strip_suffix(".rs").unwrap_or(path)),
    }
}

/// The field behind locks and other wrappers: `self.task.lock().await` is `self.task`.
pub(super) fn behind(graph: &Graph, place: &Place) -> Option<Place> {
    let mut place = place.clone();
    for _ in 0..6 {
        if !place.fields.is_empty() {
            return Some(place);
        }
        let op = graph.blocks.iter().flat_map(|block| &block.ops).find(|op| op.to == place)?;
        place = match &op.value {
            Value::Use(from) | Value::Await(from) => from.clone(),
            Value::Call { callee: Callee::Method { name, .. }, args, .. } if opens_wrapper(name) => {
                args.first()?.clone()
            }
            _ => return None,
        };
    }
    None
}

fn opens_wrapper(name: &str) -> bool {
    matches!(
        name,
        "lock"
            | "write"
            | "borrow_mut"
            | "get_mut"
            | "as_mut"
            | "unwrap"
            | "expect"
            | "unwrap_or_else"
            | "blocking_lock"
            | "deref_mut"
    )
}

fn is_param(graph: &Graph, local: u32) -> bool {
    graph.bodies[0].params.contains(&graph.bound_from(local))
}

/// Whether a pattern takes a struct apart and names this field of it.
fn takes_apart(graph: &Graph, name: &str, field: &str) -> bool {
    let mut found = false;
    for block in &graph.blocks {
        if let End::Test { pat, .. } = &block.end {
            pat.walk(&mut |pat| {
                if let Pattern::Struct(path, fields) = pat {
                    found |= (path.last() == name || path.last() == "Self")
                        && fields.iter().any(|(own, _)| own == field);
                }
            });
        }
    }
    found
}

/// Every place that a graph reads.
fn reads(graph: &Graph) -> impl Iterator<Item = &Place> {
    graph.blocks.iter().flat_map(|block| {
        let ends: Vec<&Place> = match &block.end {
            End::Branch { cond, .. } => vec![cond],
            End::Test { value, .. } | End::Try { value, .. } => vec![value],
            End::Select { arms, .. } => arms.iter().map(|arm| &arm.future).collect(),
            End::Return(place) => vec![place],
            _ => Vec::new(),
        };
        block.ops.iter().flat_map(read_by).chain(ends)
    })
}

fn read_by(op: &Op) -> Vec<&Place> {
    match &op.value {
        Value::Use(place) | Value::Await(place) | Value::Not(place) | Value::Yield(place) => vec![place],
        Value::Call { args, .. }
        | Value::Tuple(args)
        | Value::Macro { args, .. }
        | Value::Opaque(args)
        | Value::Join { futures: args, .. } => args.iter().collect(),
        Value::Struct { fields, rest, .. } => fields.iter().map(|(_, place)| place).chain(rest).collect(),
        Value::Compare(_, left, right) | Value::Step(left, right) => vec![left, right],
        _ => Vec::new(),
    }
}
