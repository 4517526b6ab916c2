//! Types of a function's locals, by following values through its graph.

use std::{cell::RefCell, collections::HashMap, rc::Rc, sync::Arc};

use rideout_rules::catalog::{Meaning, Shape};

use crate::{
    facts::{
        FnId, Known, Program, Ty,
        ty::{Call, WatchTy},
    },
    flow::graph::{Body, BodyId, BodyKind, Callee, End, Graph, Pattern, Place, Value},
    syntax::tree::{Path, Span, Type},
};

/// How often a graph is read before its types are taken as settled.
const ROUNDS: usize = 4;

/// The types of one function.
#[derive(Debug, Default)]
pub(super) struct Types {
    pub(super) locals: Vec<Ty>,
}

/// A call of a function of the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Site {
    pub(super) function: FnId,
    pub(super) block: u32,
    pub(super) op: usize,
}

/// Infers types on demand and remembers them.
pub(super) struct Infer<'p, 'c> {
    pub(super) program: &'p Program<'c>,
    types: RefCell<HashMap<FnId, Rc<Types>>>,
    busy: RefCell<Vec<FnId>>,
    sites: RefCell<Option<Rc<HashMap<FnId, Vec<Site>>>>>,
    /// Which functions serve one request, as far as asked.
    pub(super) requests: RefCell<HashMap<FnId, bool>>,
}

impl<'p, 'c> Infer<'p, 'c> {
    pub(super) fn new(program: &'p Program<'c>) -> Self {
        Self {
            program,
            types: RefCell::default(),
            busy: RefCell::default(),
            sites: RefCell::default(),
            requests: RefCell::default(),
        }
    }

    /// Finds who calls whom, then lets types be inferred anew, with parameters told by their callers.
    pub(super) fn prepare(&mut self) {
        self.sites();
        self.types.borrow_mut().clear();
    }

    pub(super) fn graph(&self, id: FnId) -> &'p Graph {
        &self.program.functions[id].graph
    }

    /// The types of a function's locals. Inside a cycle of functions that need each other: what is declared.
    pub(super) fn types(&self, id: FnId) -> Rc<Types> {
        if let Some(types) = self.types.borrow().get(&id) {
            return Rc::clone(types);
        }
        let declared = || Types { locals: self.graph(id).locals.iter().map(|_| Ty::Unknown).collect() };
        if self.busy.borrow().contains(&id) || self.busy.borrow().len() > 40 {
            return Rc::new(declared());
        }
        self.busy.borrow_mut().push(id);
        let types = Rc::new(Round { infer: self, id, locals: declared().locals, changed: false }.settle());
        self.busy.borrow_mut().pop();
        self.types.borrow_mut().insert(id, Rc::clone(&types));
        types
    }

    pub(super) fn place(&self, id: FnId, place: &Place) -> Ty {
        let types = self.types(id);
        self.project(types.locals[place.local as usize].clone(), &place.fields)
    }

    fn project(&self, base: Ty, fields: &[String]) -> Ty {
        fields.iter().fold(base, |ty, field| match &ty {
            _ if field == "[]" => ty,
            Ty::Local(id, args) => self.program.field(*id, field, args),
            Ty::Tuple(parts) => {
                field.parse::<usize>().ok().and_then(|at| parts.get(at).cloned()).unwrap_or_default()
            }
            _ => Ty::Unknown,
        })
    }

    /// What calling the function gives, before any `.await`.
    pub(super) fn output(&self, id: FnId) -> Ty {
        let function = &self.program.functions[id];
        let declared =
            function.output.as_ref().map_or_else(|| Ty::Tuple(Vec::new()), |ty| self.program.ty_in(id, ty));
        let declared = match declared {
            // A generator, or a stream whose opening is in the body, says more than its item type.
            declared if function.has_body && declared.watch().is_some_and(|watch| watch.opener.is_none()) => {
                let body = self.returned(id, 0);
                let tells =
                    body.watch().is_some_and(|watch| watch.opener.is_some() || !watch.calls.is_empty());
                if tells || matches!(body.inner(), Ty::Body(..)) { body } else { declared }
            }
            declared if declared.watch().is_none() && declared.opaque() && function.has_body => {
                let body = self.returned(id, 0);
                if body.watch().is_some() || matches!(body.inner(), Ty::Body(..)) { body } else { declared }
            }
            declared => declared,
        };
        if function.is_async { Ty::Future(Box::new(declared)) } else { declared }
    }

    /// The type that a body returns: the first that says something.
    pub(super) fn returned(&self, id: FnId, body: BodyId) -> Ty {
        let graph = self.graph(id);
        let mut found = Ty::Unknown;
        for block in graph.blocks.iter().filter(|block| block.body == body) {
            if let End::Return(place) = &block.end {
                let ty = self.place(id, place);
                if ty.watch().is_some() || found.is_unknown() {
                    let done = ty.watch().is_some();
                    found = ty;
                    if done {
                        break;
                    }
                }
            }
        }
        found
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

    /// Every call of each function of the workspace.
    pub(super) fn sites(&self) -> Rc<HashMap<FnId, Vec<Site>>> {
        if let Some(sites) = &*self.sites.borrow() {
            return Rc::clone(sites);
        }
        let mut sites: HashMap<FnId, Vec<Site>> = HashMap::new();
        for caller in 0..self.program.functions.len() {
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
        let sites = Rc::new(sites);
        *self.sites.borrow_mut() = Some(Rc::clone(&sites));
        sites
    }

    /// The functions of the workspace that a call may mean.
    pub(super) fn callees(&self, caller: FnId, callee: &Callee, args: &[Place]) -> Vec<FnId> {
        match callee {
            Callee::Path(path) => {
                let resolved = self.program.resolve(caller, &path.segments);
                self.program.function_at(caller, &resolved).into_iter().collect()
            }
            Callee::Method { name, .. } => {
                if self.program.named(name).is_empty() {
                    return Vec::new();
                }
                let receiver = args.first().map_or(Ty::Unknown, |place| self.place(caller, place));
                self.program.methods(&receiver.inner(), name, caller)
            }
            Callee::Place(place) => match self.place(caller, place) {
                Ty::Function(id) => vec![id],
                _ => Vec::new(),
            },
        }
    }

    /// The catalog paths of a receiver's type.
    pub(super) fn paths(&self, id: FnId, ty: &Ty) -> Vec<String> {
        match ty {
            Ty::Named { path, .. } => vec![path.to_string()],
            Ty::Watch(watch) => self.program.known(id).sources[watch.source].facts.types.clone(),
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
                Ty::Watch(Arc::new(WatchTy { source, calls: Vec::new(), opener: None, guessed: false }))
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

/// Every value of a graph with its place.
pub(super) fn values(graph: &Graph) -> impl Iterator<Item = (u32, usize, &Value)> {
    graph.blocks.iter().enumerate().flat_map(|(block, facts)| {
        let block = u32::try_from(block).unwrap_or(u32::MAX);
        facts.ops.iter().enumerate().map(move |(op, facts)| (block, op, &facts.value))
    })
}

struct Round<'i, 'p, 'c> {
    infer: &'i Infer<'p, 'c>,
    id: FnId,
    locals: Vec<Ty>,
    changed: bool,
}

impl Round<'_, '_, '_> {
    fn settle(mut self) -> Types {
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
        if opaque.is_empty() || self.infer.sites.borrow().is_none() {
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
                            *slot = ty;
                        }
                    }
                    (_, Some(_)) => *slot = ty,
                    _ if matches!(ty, Ty::Body(..)) => self.assign(&Place::local(*local), ty),
                    _ => {}
                }
            }
        }
    }

    fn place(&self, place: &Place) -> Ty {
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

    fn awaited(&self, place: &Place) -> Ty {
        match self.place(place).awaited() {
            Ty::Body(id, body) => match self.infer.graph(id).bodies[body as usize].kind {
                BodyKind::Async => self.infer.called_if_known(self, id, body),
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
        match self.infer.program.ty_in(self.id, &crate::syntax::tree::Type::Path(path.clone())) {
            local @ Ty::Local(..) => local,
            _ => Ty::Unknown,
        }
    }

    /// `Type { .. }`, `Enum::Variant { .. }`.
    fn constructed(&self, path: &Path) -> Ty {
        let whole = self.infer.program.ty_in(self.id, &crate::syntax::tree::Type::Path(path.clone()));
        if matches!(whole, Ty::Local(..)) {
            return whole;
        }
        let mut owner = path.clone();
        owner.segments.pop();
        if owner.segments.is_empty() { Ty::Unknown } else { self.local_only(&owner) }
    }

    fn opened(&self, source: usize, calls: Vec<Call>, span: Span, guessed: bool) -> WatchTy {
        WatchTy { source, calls, opener: Some((self.id, span.start, span.end)), guessed }
    }

    fn call_path(&mut self, path: &Path, args: &[Place], span: Span) -> Ty {
        let infer = self.infer;
        let program = infer.program;
        let known = program.known(self.id);
        let first = args.first().map_or(Ty::Unknown, |place| self.place(place));
        match path.single() {
            Some("Ok") => return Ty::result(first),
            Some("Some") => return Ty::option(first),
            Some("Err") => return Ty::Unknown,
            _ => {}
        }
        let resolved = program.resolve(self.id, &path.segments);
        let joined = resolved.join("::");
        if let Some((source, opener)) = known.open_fn(&joined) {
            let calls = args.iter().flat_map(|arg| chain_of(&self.place(arg))).collect();
            let watch = self.opened(source, calls, span, false);
            let shape = opener.gives.clone().unwrap_or(Shape::Watch);
            return infer.shape(&shape, known, Some(&watch));
        }
        if let Some(shape) = known.value_fn(&joined) {
            return infer.shape(shape, known, None);
        }
        match known.word_fn(&joined) {
            Some(Meaning::Same) => return first,
            Some(Meaning::Timeout) => {
                let inner = args.get(1).map_or(Ty::Unknown, |place| self.place(place));
                return Ty::Future(Box::new(Ty::result(inner.awaited())));
            }
            Some(Meaning::Spawn) => {
                let task = args.first().map_or(Ty::Unknown, |place| self.awaited(place));
                return Ty::named("JoinHandle", vec![task]);
            }
            _ => {}
        }
        if let Some(id) = program.function_at(self.id, &resolved) {
            return self.infer.output(id);
        }
        let last = path.last();
        if matches!(last, "select_all" | "merge" | "select" | "zip" | "select_with_strategy")
            && let Some(watch) = args.iter().find_map(|arg| self.place(arg).watch().cloned())
        {
            return with_call(&watch, Call { name: "select_all".to_owned(), argument: None, closure: None });
        }
        if last == "poll_fn"
            && let Ty::Body(id, body) = &first
            && let Some(watch) = self.polled_in(*id, *body)
        {
            return with_call(&watch, Call { name: last.to_owned(), argument: None, closure: None });
        }
        if let [.., owner, _] = resolved.as_slice() {
            let mut owner_path = path.clone();
            owner_path.segments.pop();
            if owner == "Self" || owner.starts_with(char::is_uppercase) {
                if matches!(
                    owner.as_str(),
                    "Box" | "Arc" | "Rc" | "Pin" | "Some" | "Mutex" | "RwLock" | "RefCell" | "Cow"
                ) {
                    return first;
                }
                // An external constructor gives its type, whatever it is called.
                let ty = program.ty_in(self.id, &crate::syntax::tree::Type::Path(owner_path));
                return match ty {
                    // An associated function of a watch type that the catalog does not list opens nothing known.
                    Ty::Watch(watch) => Ty::Watch(Arc::new(WatchTy {
                        opener: Some((self.id, span.start, span.end)),
                        ..(*watch).clone()
                    })),
                    ty => ty,
                };
            }
        }
        if last.starts_with(char::is_uppercase) {
            return self.constructed(path);
        }
        Ty::Unknown
    }

    /// The watch that a body polls.
    fn polled_in(&self, id: FnId, body: BodyId) -> Option<Arc<WatchTy>> {
        if id != self.id {
            return None;
        }
        let known = self.infer.program.known(id);
        let graph = self.infer.graph(id);
        graph.blocks.iter().filter(|block| block.body == body).flat_map(|block| &block.ops).find_map(|op| {
            match &op.value {
                Value::Call { callee: Callee::Method { name, .. }, args, .. } => {
                    match self.place(args.first()?) {
                        Ty::Watch(watch) => super::polls::poll(known, watch.source, name).map(|_| watch),
                        _ => None,
                    }
                }
                _ => None,
            }
        })
    }

    fn call_place(&mut self, place: &Place, args: &[Place]) -> Ty {
        match self.place(place) {
            Ty::Callable(output) => *output,
            Ty::Function(id) => self.infer.output(id),
            Ty::Body(id, body) => {
                self.bind_params(id, body, args);
                self.infer.called_if_known(self, id, body)
            }
            _ => Ty::Unknown,
        }
    }

    /// A closure's parameters are what it is called with, if they are declared nowhere.
    fn bind_params(&mut self, id: FnId, body: BodyId, args: &[Place]) {
        if id != self.id {
            return;
        }
        let params = self.infer.graph(id).bodies[body as usize].params.clone();
        for (param, arg) in params.into_iter().zip(args) {
            let ty = self.place(arg);
            self.assign(&Place::local(param), ty);
        }
    }

    fn bind_param_ty(&mut self, closure: &Ty, ty: &Ty) {
        if let Ty::Body(id, body) = closure
            && *id == self.id
            && let Some(param) = self.infer.graph(*id).bodies[*body as usize].params.first()
        {
            self.assign(&Place::local(*param), ty.clone());
        }
    }

    fn call_method(
        &mut self,
        name: &str,
        turbofish: &[crate::syntax::tree::Type],
        args: &[Place],
        span: Span,
    ) -> Ty {
        let infer = self.infer;
        let Some((receiver_place, rest)) = args.split_first() else { return Ty::Unknown };
        let receiver = self.place(receiver_place);
        let known = infer.program.known(self.id);
        let call = || Call {
            name: name.to_owned(),
            argument: rest.first().and_then(|place| self.literal(place)),
            closure: rest.iter().find_map(|place| match self.place(place) {
                Ty::Body(id, body) => Some((id, body)),
                _ => None,
            }),
        };
        // A turbofish that names a watch type: `config.create::<StreamConsumer>()`.
        if let Some(ty) = turbofish.first().map(|ty| infer.program.ty_in(self.id, ty))
            && let Ty::Watch(watch) = &ty
            && !matches!(receiver, Ty::Watch(_))
        {
            let calls = chain_of(&receiver);
            return Ty::Watch(Arc::new(WatchTy {
                calls,
                opener: Some((self.id, span.start, span.end)),
                ..(**watch).clone()
            }));
        }
        match &receiver {
            Ty::Named { path, args: inner, .. } if matches!(&**path, "Result" | "Option" | "Poll") => {
                return self.combinator(name, path, inner, &receiver, rest);
            }
            Ty::Named { path, .. } if path.ends_with("Response") && name == "into_inner" => {
                return receiver.inner();
            }
            Ty::Future(inner) if name == "now_or_never" => return Ty::option((**inner).clone()),
            Ty::Tuple(_) | Ty::Future(_) | Ty::Body(..) | Ty::Function(_) | Ty::Callable(_) => {
                if known.word_method(&[], name) == Some(Meaning::Spawn) {
                    return Ty::named("JoinHandle", vec![receiver.awaited()]);
                }
                return receiver;
            }
            _ => {}
        }
        if let Ty::Watch(watch) = &receiver {
            return self.watch_method(watch, name, call());
        }
        let paths = infer.paths(self.id, &receiver);
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let is_local = matches!(receiver, Ty::Local(..) | Ty::Dyn(_));
        if !is_local && !is_plain(name) {
            if let Some(shape) = known.value_method(&paths, name) {
                return with_calls(infer.shape(shape, known, None), chain_of(&receiver), call());
            }
            if let Some((source, opener, guessed)) = known.open_method(&paths, name) {
                let mut calls = chain_of(&receiver);
                calls.push(call());
                let watch = self.opened(source, calls, span, guessed);
                let shape = opener.gives.clone().unwrap_or(Shape::Watch);
                return infer.shape(&shape, known, Some(&watch));
            }
        }
        match name {
            "clone" | "as_mut" | "as_ref" | "borrow" | "borrow_mut" | "lock" | "read" | "write"
            | "to_owned" | "by_ref" | "into_inner" | "get_mut" | "iter_mut" | "as_deref_mut" | "as_deref"
            | "blocking_lock" | "into_iter" | "iter" | "boxed" | "boxed_local" | "fuse" | "instrument"
            | "in_current_span" | "into_future" | "unwrap" | "expect" | "drain" | "values_mut" | "values"
                if !receiver.is_unknown() && self.infer.callees_of(&receiver, name, self.id).is_empty() =>
            {
                return receiver;
            }
            _ => {}
        }
        let callees = infer.callees_of(&receiver, name, self.id);
        if let Some(first) = callees.first() {
            let outputs = callees.iter().map(|id| infer.output(*id));
            return outputs
                .into_iter()
                .find(|ty| ty.watch().is_some())
                .unwrap_or_else(|| infer.output(*first));
        }
        // A container that holds a watch is as good as the watch.
        if matches!(name, "push" | "push_back" | "insert" | "extend" | "replace") {
            let held = rest.iter().map(|place| self.place(place)).find(|ty| ty.watch().is_some());
            if let Some(held) = held
                && receiver.watch().is_none()
            {
                self.hold(receiver_place, held);
            }
            return Ty::Unknown;
        }
        if known.word_method(&paths, name) == Some(Meaning::Spawn) {
            let task = rest.first().map_or(Ty::Unknown, |place| self.awaited(place));
            return Ty::named("JoinHandle", vec![task]);
        }
        if let Ty::Named { path, args, .. } = &receiver
            && is_builder(path)
        {
            let mut calls = chain_of(&receiver);
            calls.push(call());
            return Ty::Named { path: path.clone(), args: args.clone(), calls };
        }
        Ty::Unknown
    }

    fn hold(&mut self, place: &Place, held: Ty) {
        if place.fields.is_empty() {
            let slot = &mut self.locals[place.local as usize];
            if slot.watch().is_none() {
                *slot = held;
                self.changed = true;
            }
        }
    }

    /// A method of a watch: a poll, another source's opener, a method that gives a plain value, or an adapter.
    fn watch_method(&self, watch: &Arc<WatchTy>, name: &str, call: Call) -> Ty {
        let known = self.infer.program.known(self.id);
        let types = &known.sources[watch.source].facts.types;
        let paths: Vec<&str> = types.iter().map(String::as_str).collect();
        if let Some(poll) = super::polls::poll(known, watch.source, name) {
            return self.infer.shape(&poll.gives, known, None);
        }
        if let Some((source, opener, _)) = known.open_method(&paths, name).filter(|_| !paths.is_empty()) {
            let mut calls = watch.calls.clone();
            calls.push(call);
            let opener_at = watch.opener;
            let next = WatchTy { source, calls, opener: opener_at, guessed: watch.guessed };
            let shape = opener.gives.clone().unwrap_or(Shape::Watch);
            return self.infer.shape(&shape, known, Some(&next));
        }
        if let Some(shape) = known.value_method(&paths, name) {
            return self.infer.shape(shape, known, None);
        }
        match name {
            "collect" | "count" | "size_hint" | "len" | "is_empty" | "is_closed" | "is_terminated"
            | "try_collect" => Ty::Unknown,
            _ => with_call(watch, call),
        }
    }

    fn combinator(&mut self, name: &str, path: &str, inner: &[Ty], receiver: &Ty, rest: &[Place]) -> Ty {
        let inside = inner.first().cloned().unwrap_or_default();
        let closure = rest.first().map(|place| self.place(place));
        match name {
            "unwrap" | "expect" | "unwrap_or" | "unwrap_or_default" | "unwrap_or_else" => inside,
            "ok" => Ty::option(inside),
            "ok_or" | "ok_or_else" => Ty::result(inside),
            "map" | "and_then" => {
                let Some(closure) = closure else { return Ty::Unknown };
                self.bind_param_ty(&closure, &inside);
                let given = match &closure {
                    Ty::Body(id, body) => self.infer.called_if_known(self, *id, *body),
                    Ty::Function(id) => self.infer.output(*id),
                    _ => Ty::Unknown,
                };
                if name == "map" { Ty::named(path, vec![given]) } else { given }
            }
            "transpose" => match &inside {
                Ty::Named { path: other, args, .. } => Ty::named(other, vec![Ty::named(path, args.clone())]),
                _ => Ty::Unknown,
            },
            "iter" | "into_iter" | "is_some" | "is_none" | "is_ok" | "is_err" | "err" => Ty::Unknown,
            _ => receiver.clone(),
        }
    }

    /// The text of a literal or path that a place holds.
    fn literal(&self, place: &Place) -> Option<String> {
        let graph = self.infer.graph(self.id);
        graph.blocks.iter().flat_map(|block| &block.ops).find(|op| op.to == *place).and_then(|op| {
            match &op.value {
                Value::Bool(value) => Some(value.to_string()),
                Value::Int(digits) => Some(digits.clone()),
                Value::Path(path) => Some(path.last().to_owned()),
                _ => None,
            }
        })
    }
}

impl Infer<'_, '_> {
    /// What a body of the function at hand gives: from the types found so far, since asking for all would come back here.
    fn called_if_known(&self, round: &Round<'_, '_, '_>, id: FnId, body: BodyId) -> Ty {
        if id != round.id {
            return self.called(id, body);
        }
        let graph = self.graph(id);
        let facts = &graph.bodies[body as usize];
        if matches!(facts.kind, BodyKind::Generator { .. }) {
            return Ty::Body(id, body);
        }
        let mut found = Ty::Unknown;
        for block in graph.blocks.iter().filter(|block| block.body == body) {
            if let End::Return(place) = &block.end {
                let ty = round.place(place);
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
            found = self.program.ty_in(id, output);
        }
        match facts.kind {
            BodyKind::Closure { is_async: true } => Ty::Future(Box::new(found)),
            _ => found,
        }
    }

    pub(super) fn callees_of(&self, receiver: &Ty, name: &str, from: FnId) -> Vec<FnId> {
        if self.program.named(name).is_empty() {
            Vec::new()
        } else {
            self.program.methods(receiver, name, from)
        }
    }
}

fn with_call(watch: &Arc<WatchTy>, call: Call) -> Ty {
    let mut next = (**watch).clone();
    next.calls.push(call);
    Ty::Watch(Arc::new(next))
}

fn with_calls(ty: Ty, mut chain: Vec<Call>, call: Call) -> Ty {
    chain.push(call);
    match ty {
        Ty::Named { path, args, .. } => Ty::Named { path, args, calls: chain },
        other => other,
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

/// Methods that any type may have, and that open nothing.
fn is_plain(name: &str) -> bool {
    matches!(
        name,
        "clone"
            | "as_ref"
            | "as_mut"
            | "borrow"
            | "borrow_mut"
            | "lock"
            | "read"
            | "write"
            | "to_owned"
            | "unwrap"
            | "expect"
            | "into"
            | "deref"
            | "fmt"
            | "eq"
    )
}

/// Whether unknown methods of a type give the type again.
fn is_builder(path: &str) -> bool {
    let last = path.rsplit("::").next().unwrap_or(path);
    ["Builder", "Config", "Options", "Backoff", "Policy", "Strategy", "Interval", "Params", "Request"]
        .iter()
        .any(|end| last.ends_with(end))
}
