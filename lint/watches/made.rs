//! How a value was made: every call on its way, and on what it was made of, wherever in the program that stands.

use std::collections::{BTreeSet, HashSet, VecDeque};

use super::infer::Infer;
use crate::{
    facts::{FnId, Ty},
    flow::graph::{BodyId, Callee, End, LocalId, Op, Pattern, Place, Value},
    syntax::tree::Path,
};

/// Most places that are looked at for one value.
const MOST: usize = 600;

/// What is known of a value's making.
#[derive(Debug, Default)]
pub(super) struct Made {
    pub(super) calls: Vec<Step>,
    /// Whether some of it comes from where it cannot be seen.
    pub(super) open: bool,
    /// The files in which it was looked at.
    pub(super) files: BTreeSet<usize>,
}

/// A call, a field of a struct literal or one that is assigned.
#[derive(Debug)]
pub(super) struct Step {
    /// A method's or field's name, or a function's path.
    name: String,
    /// The first argument or the field's value, if it is a literal, a path or a call by path.
    argument: Option<String>,
}

/// Whether something was done to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Yes,
    No,
    /// With an argument that cannot be told.
    Perhaps,
    /// Not in view, and some of the value's making is out of view.
    Unseen,
}

impl Made {
    /// Whether a call or field with one of these names, or one with such an argument, is in view. `a: b` is a call or field `a` with `b`.
    pub(super) fn mentions(&self, names: &[String]) -> Found {
        let mut found = if self.open { Found::Unseen } else { Found::No };
        for name in names {
            let one = match name.split_once(": ") {
                Some((field, value)) => self.has(&[field.to_owned()], Some(value)),
                None if self
                    .calls
                    .iter()
                    .any(|call| call.argument.as_ref().is_some_and(|text| is_end(text, name))) =>
                {
                    Found::Yes
                }
                None => self.has(std::slice::from_ref(name), None),
            };
            match one {
                Found::Yes => return one,
                Found::Perhaps => found = one,
                _ => {}
            }
        }
        found
    }

    /// Whether one of these calls was made, with this argument if one is asked for.
    pub(super) fn has(&self, names: &[String], argument: Option<&str>) -> Found {
        let called = || self.calls.iter().filter(|call| names.iter().any(|name| is_part(&call.name, name)));
        let fits = |call: &Step| {
            argument.is_none_or(|wanted| call.argument.as_ref().is_some_and(|text| is_end(text, wanted)))
        };
        if called().any(fits) {
            Found::Yes
        } else if argument.is_some() && called().any(|call| call.argument.is_none()) {
            Found::Perhaps
        } else if self.open {
            Found::Unseen
        } else {
            Found::No
        }
    }
}

/// Whether a name is a run of whole segments of a path.
fn is_part(path: &str, name: &str) -> bool {
    format!("::{path}::").contains(&format!("::{name}::"))
}

fn is_end(path: &str, name: &str) -> bool {
    path == name || path.ends_with(&format!("::{name}"))
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Node {
    /// A value, back to what it was made of.
    Back(FnId, Place),
    /// A local, on to what is done with it.
    Fore(FnId, LocalId),
    /// A field of a type of the workspace.
    Field(usize, String),
    /// What a body returns.
    Returned(FnId, BodyId),
}

struct Maker<'i, 'p, 'c> {
    infer: &'i Infer<'p, 'c>,
    seen: HashSet<Node>,
    todo: VecDeque<Node>,
    /// Whether a clone is the same thing: it is of a handle, not of a policy.
    clones: bool,
    made: Made,
}

impl<'p, 'c> Infer<'p, 'c> {
    /// How the values at these places were made. `clones`: what is done to a clone is done to the value.
    pub(super) fn made(&self, places: impl IntoIterator<Item = (FnId, Place)>, clones: bool) -> Made {
        let mut maker = Maker {
            infer: self,
            seen: HashSet::new(),
            todo: places.into_iter().map(|(id, place)| Node::Back(id, place)).collect(),
            clones,
            made: Made::default(),
        };
        while let Some(node) = maker.todo.pop_front() {
            if maker.seen.len() >= MOST {
                maker.made.open = true;
                break;
            }
            if maker.seen.insert(node.clone()) {
                maker.visit(&node);
            }
        }
        maker.made
    }
}

impl Maker<'_, '_, '_> {
    fn visit(&mut self, node: &Node) {
        match node {
            Node::Back(id, place) => self.back(*id, place),
            Node::Fore(id, local) => self.fore(*id, *local),
            Node::Field(ty, field) => self.field(*ty, field),
            Node::Returned(id, body) => {
                let graph = self.infer.graph(*id);
                for block in graph.blocks.iter().filter(|block| block.body == *body) {
                    if let End::Return(place) = &block.end {
                        self.todo.push_back(Node::Back(*id, place.clone()));
                    }
                }
            }
        }
    }

    fn go_back(&mut self, id: FnId, places: &[Place]) {
        self.todo.extend(places.iter().map(|place| Node::Back(id, place.clone())));
    }

    fn note(&mut self, id: FnId, name: String, value: Option<&Place>) {
        let argument = value.and_then(|place| self.text(id, place));
        self.made.calls.push(Step { name, argument });
    }

    /// What a literal, a path or a call by path is written like.
    fn text(&self, id: FnId, place: &Place) -> Option<String> {
        let mut ops = self.infer.graph(id).blocks.iter().flat_map(|block| &block.ops);
        match &ops.find(|op| op.to == *place)?.value {
            Value::Bool(value) => Some(value.to_string()),
            Value::Int(digits) => Some(digits.clone()),
            Value::Path(path) if !is_constant(path) || path.segments.len() > 1 => {
                Some(path.segments.join("::"))
            }
            Value::Call { callee: Callee::Path(path), args, .. } => match (path.single(), args.first()) {
                (Some("Some"), Some(_)) => Some("Some".to_owned()),
                _ => Some(path.segments.join("::")),
            },
            _ => None,
        }
    }

    /// Back from a value to what it was made of.
    fn back(&mut self, id: FnId, place: &Place) {
        let infer = self.infer;
        let graph = infer.graph(id);
        self.made.files.insert(infer.program.functions[id].file);
        self.todo.push_back(Node::Fore(id, place.local));
        if let [.., field] = place.fields.as_slice() {
            let owner = Place { local: place.local, fields: place.fields[..place.fields.len() - 1].to_vec() };
            if let Ty::Local(ty, _) = infer.place(id, &owner) {
                self.todo.push_back(Node::Field(ty, field.clone()));
                return;
            }
        }
        let mut told = false;
        for block in &graph.blocks {
            for op in block.ops.iter().filter(|op| op.to.local == place.local) {
                told = true;
                self.origin(id, op);
            }
            match &block.end {
                End::Try { value, to, .. } if to.local == place.local => {
                    told = true;
                    self.go_back(id, std::slice::from_ref(value));
                }
                End::Test { value, pat, .. } if binds(pat, place.local) => {
                    told = true;
                    self.go_back(id, std::slice::from_ref(value));
                }
                End::Select { arms, .. } => {
                    for arm in
                        arms.iter().filter(|arm| arm.got.local == place.local || binds(&arm.pat, place.local))
                    {
                        told = true;
                        self.go_back(id, std::slice::from_ref(&arm.future));
                    }
                }
                _ => {}
            }
        }
        if let Some(at) =
            graph.bodies.first().and_then(|body| body.params.iter().position(|param| *param == place.local))
        {
            told |= self.callers(id, at);
        }
        self.made.open |= !told;
    }

    /// On to the arguments that the callers of a function give.
    fn callers(&mut self, id: FnId, at: usize) -> bool {
        let sites = self.infer.sites();
        let mut told = false;
        for site in sites.get(&id).into_iter().flatten() {
            let block = &self.infer.graph(site.function).blocks[site.block as usize];
            if let Value::Call { args, .. } = &block.ops[site.op].value
                && let Some(arg) = args.get(at)
            {
                told = true;
                self.go_back(site.function, std::slice::from_ref(arg));
            }
        }
        told
    }

    /// What one operation makes a value of.
    fn origin(&mut self, id: FnId, op: &Op) {
        match &op.value {
            Value::Use(from) | Value::Await(from) => {
                if let Some(field) = op.to.fields.last() {
                    self.note(id, field.clone(), Some(from));
                }
                self.go_back(id, std::slice::from_ref(from));
            }
            Value::Tuple(places) | Value::Join { futures: places, .. } => self.go_back(id, places),
            Value::Struct { path, fields, rest } => {
                self.note(id, path.segments.join("::"), None);
                for (name, place) in fields {
                    self.note(id, name.clone(), Some(place));
                    self.go_back(id, std::slice::from_ref(place));
                }
                self.go_back(id, rest.as_slice());
            }
            Value::Body(body) => self.todo.push_back(Node::Returned(id, *body)),
            Value::Path(path) => self.made.open |= is_constant(path),
            Value::Call { callee, args, .. } => self.call(id, callee, args),
            _ => {}
        }
    }

    fn call(&mut self, id: FnId, callee: &Callee, args: &[Place]) {
        let infer = self.infer;
        let callees = infer.callees(id, callee, args);
        let seen = callees.iter().any(|callee| infer.program.functions[*callee].has_body);
        self.todo.extend(callees.into_iter().map(|callee| Node::Returned(callee, 0)));
        match callee {
            Callee::Path(path) => {
                let resolved = infer.program.resolve(id, &path.segments);
                self.made.open |= !seen && infer.program.is_inside(id, &resolved) && !is_type(path);
                self.note(id, resolved.join("::"), args.first());
                self.go_back(id, args);
            }
            Callee::Method { name, .. } => {
                let receiver = args.first().map_or(Ty::Unknown, |place| infer.place(id, place));
                self.made.open |= !seen && matches!(receiver.inner(), Ty::Local(..) | Ty::Dyn(_));
                self.note(id, name.clone(), args.get(1));
                self.go_back(id, args);
            }
            Callee::Place(place) => self.go_back(id, std::slice::from_ref(place)),
        }
    }

    /// On from a local to what is called on it, here and where it is handed to.
    fn fore(&mut self, id: FnId, local: LocalId) {
        let infer = self.infer;
        let is_it = |place: &Place| place.local == local && place.fields.is_empty();
        for op in infer.graph(id).blocks.iter().flat_map(|block| &block.ops) {
            match &op.value {
                Value::Use(from) if is_it(from) && op.to.fields.is_empty() => {
                    self.todo.push_back(Node::Fore(id, op.to.local));
                }
                Value::Call { callee, args, .. } if args.iter().any(is_it) => {
                    if let Callee::Method { name, .. } = callee
                        && args.first().is_some_and(is_it)
                    {
                        self.note(id, name.clone(), args.get(1));
                        if name == "clone" && self.clones {
                            self.todo.push_back(Node::Fore(id, op.to.local));
                        }
                    }
                    for callee in infer.callees(id, callee, args) {
                        let params = infer.graph(callee).bodies.first().map_or(&[][..], |body| &body.params);
                        for (arg, param) in args.iter().zip(params) {
                            if is_it(arg) {
                                self.made.files.insert(infer.program.functions[callee].file);
                                self.todo.push_back(Node::Fore(callee, *param));
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Back from a field to what it is given, wherever the type is made, and on to what is called on it.
    fn field(&mut self, ty: usize, field: &str) {
        let infer = self.infer;
        let of_type =
            |id: FnId, place: &Place| matches!(infer.place(id, place), Ty::Local(at, _) if at == ty);
        let mut told = false;
        for id in infer.program.live() {
            for op in infer.graph(id).blocks.iter().flat_map(|block| &block.ops) {
                let owner = |place: &Place| {
                    let [rest @ .., last] = place.fields.as_slice() else { return false };
                    last == field && of_type(id, &Place { local: place.local, fields: rest.to_vec() })
                };
                match &op.value {
                    Value::Struct { fields, .. } => {
                        let Some((_, place)) = fields.iter().find(|(name, _)| name == field) else {
                            continue;
                        };
                        if of_type(id, &op.to) {
                            told = true;
                            self.go_back(id, std::slice::from_ref(place));
                        }
                    }
                    Value::Use(from) if owner(&op.to) => {
                        told = true;
                        self.go_back(id, std::slice::from_ref(from));
                    }
                    Value::Use(from) if owner(from) => self.todo.push_back(Node::Fore(id, op.to.local)),
                    Value::Call { callee: Callee::Method { name, .. }, args, .. }
                        if args.first().is_some_and(owner) =>
                    {
                        self.note(id, name.clone(), args.get(1));
                    }
                    Value::Call { callee: Callee::Path(path), args, .. }
                        if is_type(path) && of_type(id, &op.to) =>
                    {
                        if let Some(place) = field.parse::<usize>().ok().and_then(|at| args.get(at)) {
                            told = true;
                            self.go_back(id, std::slice::from_ref(place));
                        }
                    }
                    _ => {}
                }
            }
        }
        self.made.open |= !told;
    }
}

fn binds(pat: &Pattern, local: LocalId) -> bool {
    let mut found = false;
    pat.walk(&mut |pat| found |= matches!(pat, Pattern::Bind(bound, _) if *bound == local));
    found
}

/// Whether a path is that of a constant, whose value is somewhere else.
fn is_constant(path: &Path) -> bool {
    let last = path.last();
    last.len() > 1 && last.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// Whether a path is that of a type or a variant.
fn is_type(path: &Path) -> bool {
    path.last().starts_with(char::is_uppercase)
}
