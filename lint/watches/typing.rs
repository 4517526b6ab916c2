//! The types of one function's locals: its graph is read until they settle.

use std::{cell::Cell, sync::Arc};

use super::{
    elements::{held, is_map},
    infer::{Infer, Types, in_answer},
};
use crate::{
    facts::{FnId, Ty},
    flow::graph::{BodyId, BodyKind, Callee, End, Pattern, Place, Value},
    syntax::tree::{Path, Span, Type},
};

/// How often a graph is read before its types are taken as settled.
const ROUNDS: usize = 6;

/// The types of one function, on the way.
pub(super) struct Typing<'i, 'p, 'c> {
    pub(super) infer: &'i Infer<'p, 'c>,
    pub(super) id: FnId,
    pub(super) locals: Vec<Ty>,
    pub(super) changed: bool,
    /// Whether a method's name may tell where the type of its receiver does not: once everything else is known.
    pub(super) guesses: bool,
    /// Whether it was not asked.
    pub(super) withheld: Cell<bool>,
}

impl<'i, 'p, 'c> Typing<'i, 'p, 'c> {
    /// Types that nothing is known of.
    pub(super) fn new(infer: &'i Infer<'p, 'c>, id: FnId, locals: Vec<Ty>) -> Self {
        Self { infer, id, locals, changed: false, guesses: false, withheld: Cell::new(false) }
    }
}

impl Typing<'_, '_, '_> {
    /// Reads the graph until nothing changes.
    pub(super) fn settle(mut self) -> Types {
        let graph = self.infer.graph(self.id);
        for (at, local) in graph.locals.iter().enumerate() {
            if let Some(ty) = &local.ty {
                self.locals[at] = self.infer.program.ty_in(self.id, ty);
            }
        }
        if let Some(own) = self.infer.program.self_type(self.id)
            && let Some(first) = graph.bodies.first().and_then(|body| body.params.first())
        {
            let slot = &mut self.locals[*first as usize];
            if matches!(slot, Ty::Watch(_)) {
                *slot = own;
            }
        }
        self.params_from_callers();
        self.rounds();
        if self.withheld.get() {
            self.guesses = true;
            self.rounds();
        }
        Types { locals: self.locals }
    }

    fn rounds(&mut self) {
        let graph = self.infer.graph(self.id);
        for _ in 0..ROUNDS {
            self.changed = false;
            for block in &graph.blocks {
                for op in &block.ops {
                    let ty = match &op.value {
                        Value::Call { callee, .. } if self.place(&op.to).watch().is_none() => {
                            let fed = self.infer.fed(self.id, callee, &op.to, &|place| self.place(place));
                            fed.map(|watch| Ty::Tuple(vec![Ty::Unknown, Ty::Watch(Arc::new(watch))]))
                        }
                        _ => None,
                    };
                    let ty = ty.unwrap_or_else(|| self.value(&op.value, op.span));
                    self.assign(&op.to, ty);
                }
                match &block.end {
                    End::Test { value, pat, .. } => {
                        let ty = self.place(value);
                        self.bind(pat, &ty);
                    }
                    End::Try { value, to, .. } => {
                        let ty = match self.place(value) {
                            Ty::Named { path, args, .. } if &*path == "Poll" => {
                                Ty::named("Poll", args.iter().map(Ty::inner).collect())
                            }
                            ty => ty.inner(),
                        };
                        self.assign(to, ty);
                    }
                    End::Select { arms, .. } => {
                        for arm in arms {
                            let ty = self.place(&arm.future).awaited();
                            self.assign(&arm.got, ty.clone());
                            self.bind(&arm.pat, &ty);
                        }
                    }
                    _ => {}
                }
            }
            self.expect_declared();
            if !self.changed {
                break;
            }
        }
    }

    /// A parameter whose declared type does not tell is what its callers hand in.
    fn params_from_callers(&mut self) {
        let graph = self.infer.graph(self.id);
        let Some(body) = graph.bodies.first() else { return };
        let opaque: Vec<(usize, u32)> = body
            .params
            .iter()
            .copied()
            .enumerate()
            .filter(|(at, local)| {
                let ty = &self.locals[*local as usize];
                let by_item = !matches!(self.infer.program.functions[self.id].params.get(*at), Some(Type::Path(path)) if path.segments.len() > 1 || !path.arguments.is_empty());
                (ty.watch().is_none() && (ty.opaque() || ty.receives())) || (by_item && ty.watch().is_some())
            })
            .collect();
        if opaque.is_empty() {
            return;
        }
        if self.infer.sites.borrow().is_none() {
            self.infer.depends_on_callers();
            return;
        }
        let sites = self.infer.sites();
        for site in sites.get(&self.id).into_iter().flatten() {
            let caller = self.infer.graph(site.function);
            let Value::Call { args, .. } = &caller.blocks[site.block as usize].ops[site.op].value else {
                continue;
            };
            for (at, local) in &opaque {
                let Some(arg) = args.get(*at) else { continue };
                let ty = self.infer.place(site.function, arg);
                if self.infer.polls_of(&ty, "next").is_some() {
                    self.locals[*local as usize] = ty;
                    continue;
                }
                let slot = &mut self.locals[*local as usize];
                match (slot.watch(), ty.watch()) {
                    // Told by the item type so far: the caller's value has its builder calls too. The barest one counts.
                    (Some(known), Some(new)) => {
                        let first = known.opener.is_none() && known.calls.is_empty();
                        if first || new.calls.len() < known.calls.len() {
                            let plain = matches!(slot, Ty::Watch(_));
                            *slot = if plain { Ty::Watch(Arc::clone(new)) } else { ty };
                        }
                    }
                    (_, Some(_)) => *slot = ty,
                    _ if matches!(ty, Ty::Body(..)) => self.assign(&Place::local(*local), ty),
                    _ => {}
                }
            }
        }
    }

    pub(super) fn place(&self, place: &Place) -> Ty {
        self.infer.project(self.locals[place.local as usize].clone(), &place.fields)
    }

    fn assign(&mut self, to: &Place, ty: Ty) {
        if !to.fields.is_empty() || ty.is_unknown() {
            return;
        }
        let slot = &mut self.locals[to.local as usize];
        // What is collected goes into the collection that was declared.
        let ty = match (&*slot, ty) {
            (Ty::Named { path, .. }, Ty::Named { path: made, args, calls }) if &*made == "Vec" => {
                Ty::Named { path: path.clone(), args, calls }
            }
            (_, ty) => ty,
        };
        let better = slot.is_unknown()
            || (slot.watch().is_none() && slot.opaque() && (ty.watch().is_some() || !ty.opaque()));
        // `None` says less than `Some(stream)`.
        let fuller =
            slot.watch().is_none() && ty.watch().is_some() && matches!(slot, Ty::Named { .. } | Ty::Tuple(_));
        // A declared type says less than the call that opened it.
        let opened = matches!((&*slot, &ty), (Ty::Watch(told), Ty::Watch(made))
            if told.source == made.source && told.opener.is_none() && told.calls.is_empty() && made.opener.is_some());
        if better || fuller || opened {
            if *slot != ty {
                self.changed = true;
            }
            *slot = ty;
        }
    }

    fn bind(&mut self, pat: &Pattern, ty: &Ty) {
        match pat {
            Pattern::Bind(local, sub) => {
                self.assign(&Place::local(*local), ty.clone());
                if let Some(sub) = sub {
                    self.bind(sub, ty);
                }
            }
            Pattern::TupleStruct(path, pats) => {
                let name = path.last();
                for (at, pat) in pats.iter().enumerate() {
                    let part = match (name, ty) {
                        ("Err", _) => Ty::Unknown,
                        ("Ok" | "Some" | "Ready", _) => ty.inner(),
                        (_, Ty::Local(id, args)) => self.variant_field(*id, args, path, &at.to_string()),
                        _ => Ty::Unknown,
                    };
                    self.bind(pat, &part);
                }
            }
            Pattern::Struct(path, fields) => {
                for (name, pat) in fields {
                    let part = match ty {
                        Ty::Local(id, args) => self.variant_field(*id, args, path, name),
                        ty => in_answer(ty),
                    };
                    self.bind(pat, &part);
                }
            }
            Pattern::Tuple(pats) => {
                for (at, pat) in pats.iter().enumerate() {
                    let part = match ty {
                        Ty::Tuple(parts) => parts.get(at).cloned().unwrap_or_default(),
                        _ => Ty::Unknown,
                    };
                    self.bind(pat, &part);
                }
            }
            Pattern::Or(pats) => pats.iter().for_each(|pat| self.bind(pat, ty)),
            _ => {}
        }
    }

    fn variant_field(&self, id: usize, args: &[Ty], path: &Path, field: &str) -> Ty {
        let program = self.infer.program;
        if program.types[id].variants.is_empty() {
            self.infer.field(id, field, args)
        } else {
            self.infer.program.field(id, &format!("{}.{field}", path.last()), args)
        }
    }

    fn value(&mut self, value: &Value, span: Span) -> Ty {
        match value {
            Value::Use(place) => self.place(place),
            Value::Await(place) => self.awaited(place),
            Value::Ready(place) => self.place(place).inner(),
            Value::Macro { path, args } if path.last() == "vec" => {
                let mut parts = args.iter().map(|place| self.place(place));
                Ty::named("Vec", vec![parts.find(|ty| !ty.is_unknown()).unwrap_or_default()])
            }
            Value::Path(path) => self.path(path),
            Value::Tuple(places) => Ty::Tuple(places.iter().map(|place| self.place(place)).collect()),
            Value::Body(body) => Ty::Body(self.id, *body),
            Value::Struct { path, .. } => self.constructed(path, span),
            Value::Call { callee, args, .. } => match callee {
                Callee::Path(path) => self.call_path(path, args, span),
                Callee::Method { name, turbofish } => self.call_method(name, turbofish, args, span),
                Callee::Place(place) => self.call_place(place, args),
            },
            Value::Join { futures, fallible } => {
                let parts = Ty::Tuple(futures.iter().map(|place| self.awaited(place).inner()).collect());
                if *fallible { Ty::result(parts) } else { parts }
            }
            _ => Ty::Unknown,
        }
    }

    pub(super) fn awaited(&self, place: &Place) -> Ty {
        match self.place(place).awaited() {
            Ty::Body(id, body) => match self.infer.graph(id).bodies[body as usize].kind {
                BodyKind::Async => self.called(id, body),
                _ => Ty::Body(id, body),
            },
            ty => ty,
        }
    }

    fn path(&self, path: &Path) -> Ty {
        let program = self.infer.program;
        let resolved = program.resolve(self.id, &path.segments);
        if let Some(id) = program.function_at(self.id, &resolved) {
            return Ty::Function(id);
        }
        let mut owner = path.clone();
        owner.segments.pop();
        if owner.segments.is_empty() { Ty::Unknown } else { self.local_only(&owner) }
    }

    /// The type a path names, if it is one of the workspace.
    fn local_only(&self, path: &Path) -> Ty {
        match self.infer.program.ty_in(self.id, &Type::Path(path.clone())) {
            local @ Ty::Local(..) => local,
            _ => Ty::Unknown,
        }
    }

    /// `Type { .. }`, `Enum::Variant { .. }`.
    pub(super) fn constructed(&self, path: &Path, span: Span) -> Ty {
        let whole = self.infer.program.ty_in(self.id, &Type::Path(path.clone()));
        match &whole {
            Ty::Local(..) => return whole,
            // A watch that the workspace defines itself.
            Ty::Watch(watch) => {
                return Ty::Watch(Arc::new(self.opened(watch.source, Vec::new(), span, false)));
            }
            _ => {}
        }
        let mut owner = path.clone();
        owner.segments.pop();
        if owner.segments.is_empty() { Ty::Unknown } else { self.local_only(&owner) }
    }

    /// A closure's parameters are what it is called with, if they are declared nowhere.
    pub(super) fn bind_params(&mut self, id: FnId, body: BodyId, args: &[Place]) {
        if id != self.id {
            return;
        }
        let params = self.infer.graph(id).bodies[body as usize].params.clone();
        for (param, arg) in params.into_iter().zip(args) {
            let ty = self.place(arg);
            self.assign(&Place::local(param), ty);
        }
    }

    pub(super) fn bind_param_ty(&mut self, closure: &Ty, ty: &Ty) {
        if let Ty::Body(id, body) = closure
            && *id == self.id
            && let Some(param) = self.infer.graph(*id).bodies[*body as usize].params.first()
        {
            self.assign(&Place::local(*param), ty.clone());
        }
    }

    /// A container takes on what is put into it: a collection as what it holds, anything else as the watch itself.
    pub(super) fn hold(&mut self, place: &Place, container: &Ty, put: Ty) {
        if !place.fields.is_empty() {
            return;
        }
        let held = match container {
            Ty::Named { path, args, calls } if held(container).is_some() => {
                if args.last().is_some_and(|known| !known.is_unknown()) {
                    return;
                }
                let mut args = args.clone();
                args.resize(args.len().max(usize::from(is_map(path)) + 1), Ty::Unknown);
                if let Some(last) = args.last_mut() {
                    *last = put;
                }
                Ty::Named { path: path.clone(), args, calls: calls.clone() }
            }
            _ if put.watch().is_some() => put,
            _ => return,
        };
        let slot = &mut self.locals[place.local as usize];
        if *slot != held {
            *slot = held;
            self.changed = true;
        }
    }

    /// The path that a place holds.
    pub(super) fn path_at(&self, place: &Place) -> Option<String> {
        let graph = self.infer.graph(self.id);
        let mut ops = graph.blocks.iter().flat_map(|block| &block.ops);
        ops.find(|op| op.to == *place).and_then(|op| match &op.value {
            Value::Path(path) => Some(path.segments.join("::")),
            _ => None,
        })
    }

    /// The text of a literal or path that a place holds.
    pub(super) fn literal(&self, place: &Place) -> Option<String> {
        let graph = self.infer.graph(self.id);
        graph.blocks.iter().flat_map(|block| &block.ops).find(|op| op.to == *place).and_then(|op| {
            match &op.value {
                Value::Bool(value) => Some(value.to_string()),
                Value::Int(digits) => Some(digits.clone()),
                Value::Str(text) => Some(text.clone()),
                Value::Path(path) => Some(path.last().to_owned()),
                _ => None,
            }
        })
    }

    /// What a body of the function at hand gives: from the types found so far, since asking for all would come back here.
    pub(super) fn called(&self, id: FnId, body: BodyId) -> Ty {
        if id != self.id {
            return self.infer.called(id, body);
        }
        let graph = self.infer.graph(id);
        let facts = &graph.bodies[body as usize];
        if matches!(facts.kind, BodyKind::Generator { .. }) {
            return Ty::Body(id, body);
        }
        let mut found = Ty::Unknown;
        for block in graph.blocks.iter().filter(|block| block.body == body) {
            if let End::Return(place) = &block.end {
                let ty = self.place(place);
                if ty.watch().is_some() {
                    found = ty;
                    break;
                }
                if found.is_unknown() {
                    found = ty;
                }
            }
        }
        if let Some(output) = &facts.output
            && found.watch().is_none()
        {
            found = self.infer.program.ty_in(id, output);
        }
        match facts.kind {
            BodyKind::Closure { is_async: true } => Ty::Future(Box::new(found)),
            _ => found,
        }
    }
}
