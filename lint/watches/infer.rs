//! Types of places, by following values through graphs, remembered for each function.

use std::{
    cell::{OnceCell, RefCell},
    collections::{HashMap, HashSet},
    rc::Rc,
    sync::Arc,
};

use rideout_rules::catalog::Shape;

use super::{
    elements::indexed,
    fields::Puts,
    kept::{Field, Readers},
    polls,
    sites::Sites,
    typing::Typing,
};
use crate::{
    facts::{
        FnId, Known, Program, Ty,
        ty::{Call, WatchTy},
    },
    flow::graph::{Body, BodyId, BodyKind, End, Graph, Place, Value},
};

/// The types of one function.
#[derive(Debug, Default)]
pub(super) struct Types {
    pub(super) locals: Vec<Ty>,
}

/// Infers types on demand and remembers them.
pub(super) struct Infer<'p, 'c> {
    pub(super) program: &'p Program<'c>,
    types: RefCell<HashMap<FnId, Rc<Types>>>,
    /// The declared types of results, as far as asked.
    outputs: RefCell<HashMap<FnId, Ty>>,
    busy: RefCell<Vec<FnId>>,
    /// Functions whose types will change when it is known who calls whom.
    early: RefCell<HashSet<FnId>>,
    pub(super) sites: RefCell<Option<Rc<Sites>>>,
    pub(super) puts: RefCell<Option<Rc<Puts>>>,
    /// Types of fields that are told by what is put there, as far as asked.
    pub(super) fields: RefCell<HashMap<(usize, String), Ty>>,
    /// Which functions serve one request, as far as asked.
    pub(super) requests: RefCell<HashMap<FnId, bool>>,
    /// The same with their callers, by how far up they were asked.
    pub(super) serving: RefCell<HashMap<(FnId, usize), bool>>,
    /// Who reads which field, as far as asked.
    pub(super) readers: RefCell<HashMap<Field, Rc<Readers>>>,
    /// The functions that set a hook by which a panic ends the process, once asked.
    pub(super) hooks: OnceCell<Vec<FnId>>,
}

impl<'p, 'c> Infer<'p, 'c> {
    /// Finds who calls whom, and from then on lets callers tell the types of parameters.
    pub(super) fn new(program: &'p Program<'c>) -> Self {
        let infer = Self {
            program,
            types: RefCell::default(),
            outputs: RefCell::default(),
            busy: RefCell::default(),
            early: RefCell::default(),
            sites: RefCell::default(),
            puts: RefCell::default(),
            fields: RefCell::default(),
            requests: RefCell::default(),
            serving: RefCell::default(),
            readers: RefCell::default(),
            hooks: OnceCell::new(),
        };
        infer.sites();
        let early = infer.early.take();
        infer.types.borrow_mut().retain(|id, _| !early.contains(id));
        infer.renew_sites(&early);
        infer
    }

    /// Notes that the types on the way depend on callers that are not known yet.
    pub(super) fn depends_on_callers(&self) {
        self.early.borrow_mut().extend(self.busy.borrow().iter().copied());
    }

    pub(super) fn graph(&self, id: FnId) -> &'p Graph {
        self.program.graph(id)
    }

    /// The types of a function's locals. Inside a cycle of functions that need each other: what is declared.
    pub(super) fn types(&self, id: FnId) -> Rc<Types> {
        if let Some(types) = self.types.borrow().get(&id) {
            if self.early.borrow().contains(&id) {
                self.depends_on_callers();
            }
            return Rc::clone(types);
        }
        let declared = || Types { locals: self.graph(id).locals.iter().map(|_| Ty::Unknown).collect() };
        if self.busy.borrow().contains(&id) || self.busy.borrow().len() > 40 {
            return Rc::new(declared());
        }
        self.busy.borrow_mut().push(id);
        let types = Rc::new(Typing::new(self, id, declared().locals).settle());
        self.busy.borrow_mut().pop();
        self.types.borrow_mut().insert(id, Rc::clone(&types));
        types
    }

    /// The type of a place.
    pub(super) fn place(&self, id: FnId, place: &Place) -> Ty {
        let types = self.types(id);
        self.project(types.locals[place.local as usize].clone(), &place.fields)
    }

    /// The type of a field of a field, from a type on.
    pub(super) fn project(&self, base: Ty, fields: &[String]) -> Ty {
        fields.iter().fold(base, |ty, field| match &ty {
            _ if field == "[]" => indexed(ty),
            Ty::Local(id, args) => self.field(*id, field, args),
            Ty::Tuple(parts) => {
                field.parse::<usize>().ok().and_then(|at| parts.get(at).cloned()).unwrap_or_default()
            }
            _ => in_answer(&ty),
        })
    }

    /// The type that a function is declared to return.
    fn declared(&self, id: FnId) -> Ty {
        if let Some(ty) = self.outputs.borrow().get(&id) {
            return ty.clone();
        }
        let output = self.program.functions[id].output.as_ref();
        let ty = output.map_or_else(|| Ty::Tuple(Vec::new()), |ty| self.program.ty_in(id, ty));
        self.outputs.borrow_mut().insert(id, ty.clone());
        ty
    }

    /// What calling the function gives, before any `.await`.
    pub(super) fn output(&self, id: FnId) -> Ty {
        let function = &self.program.functions[id];
        let declared = match self.declared(id) {
            // A generator, or a stream whose opening is in the body, says more than its item type.
            declared if function.has_body && declared.watch().is_some_and(|watch| watch.opener.is_none()) => {
                let body = self.returned(id, 0);
                let tells =
                    body.watch().is_some_and(|watch| watch.opener.is_some() || !watch.calls.is_empty());
                if tells || self.is_made_here(&body.inner()) { body } else { declared }
            }
            declared if self.asks_by_trait(id, &declared) => declared,
            declared
                if declared.watch().is_none()
                    && (declared.opaque() || declared.receives())
                    && function.has_body =>
            {
                let body = self.returned(id, 0);
                let told = !body.is_unknown() && !body.opaque();
                if told || body.watch().is_some() || self.is_made_here(&body.inner()) {
                    body
                } else {
                    declared
                }
            }
            declared => declared,
        };
        if function.is_async { Ty::Future(Box::new(declared)) } else { declared }
    }

    /// Whether a function gives a watch behind a trait of the workspace by whose own methods it is asked: `impl Receiver<T>`.
    fn asks_by_trait(&self, id: FnId, declared: &Ty) -> bool {
        let Ty::Dyn(name) = declared.inner() else { return false };
        if !self.program.functions[id].has_body {
            return false;
        }
        let body = self.returned(id, 0);
        let Some(watch) = body.watch() else { return false };
        let known = self.program.known(id);
        self.program.functions.iter().any(|method| {
            method.in_trait
                && method.of_trait.as_deref() == Some(&*name)
                && polls::poll(known, watch, &method.name).is_some()
        })
    }

    /// Whether a type is a watch, or a hand-written stream of the workspace.
    pub(super) fn is_stream(&self, ty: &Ty) -> bool {
        ty.watch().is_some() || self.polls_of(ty, "next").is_some()
    }

    /// Whether a type is a generator, a closure or a hand-written stream of the workspace.
    fn is_made_here(&self, ty: &Ty) -> bool {
        matches!(ty, Ty::Body(..)) || self.polls_of(ty, "next").is_some()
    }

    /// The type that a body returns: the first that says something, unless it gives several types of the workspace.
    fn returned(&self, id: FnId, body: BodyId) -> Ty {
        let graph = self.graph(id);
        let mut found = Ty::Unknown;
        let mut own = HashSet::new();
        for block in graph.blocks.iter().filter(|block| block.body == body) {
            if let End::Return(place) = &block.end {
                let ty = self.place(id, place);
                if ty.watch().is_some() {
                    return ty;
                }
                own.extend(self.given(id, body, place).iter().filter_map(in_view));
                if found.is_unknown() {
                    found = ty;
                }
            }
        }
        if own.len() > 1 { Ty::Unknown } else { found }
    }

    /// The types of what each branch puts into a place.
    fn given(&self, id: FnId, body: BodyId, place: &Place) -> Vec<Ty> {
        let blocks = self.graph(id).blocks.iter().filter(|block| block.body == body);
        let ops = blocks.flat_map(|block| &block.ops).filter(|op| op.to == *place);
        ops.filter_map(|op| match &op.value {
            Value::Use(from) => Some(self.place(id, from)),
            _ => None,
        })
        .collect()
    }

    /// What running a closure, `async` block or generator gives when it is called.
    pub(super) fn called(&self, id: FnId, body: BodyId) -> Ty {
        let facts: &Body = &self.graph(id).bodies[body as usize];
        let returned = || match &facts.output {
            Some(output) => {
                let declared = self.program.ty_in(id, output);
                if declared.watch().is_none() && declared.opaque() {
                    self.returned(id, body)
                } else {
                    declared
                }
            }
            None => self.returned(id, body),
        };
        match facts.kind {
            BodyKind::Closure { is_async: true } => Ty::Future(Box::new(returned())),
            BodyKind::Generator { .. } => Ty::Body(id, body),
            _ => returned(),
        }
    }

    /// The catalog paths of a receiver's type.
    pub(super) fn paths(&self, id: FnId, ty: &Ty) -> Vec<String> {
        match ty {
            ty if let Some(own) = self.program.own_receiver(id, ty) => vec![own.to_owned()],
            Ty::Named { path, .. } => vec![path.to_string()],
            Ty::Watch(watch) => {
                let types = self.program.known(id).sources[watch.source].facts.type_names();
                types.map(str::to_owned).collect()
            }
            Ty::Local(at, _) => vec![self.program.types[*at].name.clone()],
            Ty::Dyn(name) => vec![name.to_string()],
            _ => Vec::new(),
        }
    }

    /// The shape that the catalog writes, as a type.
    pub(super) fn shape(&self, shape: &Shape, known: &Known<'_>, watch: Option<&WatchTy>) -> Ty {
        match shape {
            Shape::Item => Ty::Unknown,
            Shape::Watch => watch.map_or(Ty::Stream, |watch| Ty::Watch(Arc::new(watch.clone()))),
            Shape::Named(name, _) if let Some(source) = known.source_of_type(name) => {
                Ty::Watch(Arc::new(WatchTy::told(source)))
            }
            Shape::Named(name, args) => {
                Ty::named(name, args.iter().map(|arg| self.shape(arg, known, watch)).collect())
            }
            Shape::Tuple(parts) => {
                Ty::Tuple(parts.iter().map(|part| self.shape(part, known, watch)).collect())
            }
        }
    }
}

/// The type of the workspace that a result holds.
fn in_view(ty: &Ty) -> Option<usize> {
    match ty.inner() {
        Ty::Local(id, _) => Some(id),
        _ => None,
    }
}

/// The calls that made a value.
pub(super) fn chain_of(ty: &Ty) -> Vec<Call> {
    match ty {
        Ty::Named { calls, .. } => calls.clone(),
        Ty::Watch(watch) => watch.calls.clone(),
        _ => Vec::new(),
    }
}

/// What a field of another crate's answer holds: the watch, if there is one in it.
pub(super) fn in_answer(ty: &Ty) -> Ty {
    match ty {
        Ty::Named { path, args, .. } if !matches!(&**path, "Result" | "Option" | "Poll") => {
            args.iter().find(|arg| matches!(arg, Ty::Watch(_))).cloned().unwrap_or_default()
        }
        _ => Ty::Unknown,
    }
}
