//! The types of one function's locals: its graph is read until they settle.

use std::sync::Arc;

use super::infer::{Infer, Types};
use crate::{
    facts::{FnId, Ty},
    flow::graph::{BodyId, BodyKind, Callee, End, Pattern, Place, Value},
    syntax::tree::{Path, Span, Type},
};

/// How often a graph is read before its types are taken as settled.
const ROUNDS: usize = 4;

/// The types of one function, on the way.
pub(super) struct Typing<'i, 'p, 'c> {
    pub(super) infer: &'i Infer<'p, 'c>,
    pub(super) id: FnId,
    pub(super) locals: Vec<Ty>,
    pub(super) changed: bool,
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
        self.params_from_callers();
        for _ in 0..ROUNDS {
            self.changed = false;
            for block in &graph.blocks {
                for op in &block.ops {
                    let ty = self.value(&op.value, op.span);
                    self.assign(&op.to, ty);
                }
                match &block.end {
                    End::Test { value, pat, .. } => {
                        let ty = self.place(value);
                        self.bind(pat, &ty);
                    }
                    End::Try { value, to, .. } => {
                        let ty = self.place(value).inner();
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
            if !self.changed {
                break;
            }
        }
        Types { locals: self.locals }
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
                (ty.watch().is_none() && ty.opaque()) || (by_item && ty.watch().is_some())
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
        let better = slot.is_unknown()
            || (slot.watch().is_none() && slot.opaque() && (ty.watch().is_some() || !ty.opaque()));
        // `None` says less than `Some(stream)`.
        let fuller = slot.watch().is_none() && ty.watch().is_some() && matches!(slot, Ty::Named { .. });
        if better || fuller {
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
                        _ => Ty::Unknown,
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
            program.field(id, field, args)
        } else {
            program.field(id, &format!("{}.{field}", path.last()), args)
        }
    }

    fn value(&mut self, value: &Value, span: Span) -> Ty {
        match value {
            Value::Use(place) => self.place(place),
            Value::Await(place) => self.awaited(place),
            Value::Path(path) => self.path(path),
            Value::Tuple(places) => Ty::Tuple(places.iter().map(|place| self.place(place)).collect()),
            Value::Body(body) => Ty::Body(self.id, *body),
            Value::Struct { path, .. } => self.constructed(path),
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
    pub(super) fn constructed(&self, path: &Path) -> Ty {
        let whole = self.infer.program.ty_in(self.id, &Type::Path(path.clone()));
        if matches!(whole, Ty::Local(..)) {
            return whole;
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

    /// A container takes on what is put into it.
    pub(super) fn hold(&mut self, place: &Place, held: Ty) {
        if place.fields.is_empty() {
            let slot = &mut self.locals[place.local as usize];
            if slot.watch().is_none() {
                *slot = held;
                self.changed = true;
            }
        }
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
