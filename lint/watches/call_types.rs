//! The types that calls give: functions, closures, and methods by their receiver.

use std::sync::Arc;

use rideout_rules::catalog::{Meaning, Shape};

use super::{
    adapters::adapts, calls::makes_future_of_poll, combinators::combinator_at, infer::chain_of, polls, ready,
    results, typing::Typing,
};
use crate::{
    facts::{
        FnId, Ty,
        ty::{Call, WatchTy},
    },
    flow::{
        graph::{BodyId, Callee, Place, Value},
        unpins,
    },
    syntax::tree::{Path, Span, Type},
};

impl Typing<'_, '_, '_> {
    /// What a call by path gives.
    pub(super) fn call_path(&mut self, path: &Path, args: &[Place], span: Span) -> Ty {
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
        if exchanges(&joined) {
            return first;
        }
        if let Some((source, opener)) = known.open_fn(&joined, |text| self.has_literal(args, text)) {
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
            return self.output_with(id, args);
        }
        let last = path.last();
        if matches!(last, "select_all" | "merge" | "select" | "zip" | "select_with_strategy")
            && let Some(watch) = args.iter().find_map(|arg| self.place(arg).watch().cloned())
        {
            return with_call(&watch, Call { name: "select_all".to_owned(), argument: None, closure: None });
        }
        if makes_future_of_poll(&resolved)
            && let Ty::Body(id, body) = &first
        {
            return Ty::Future(Box::new(self.called(*id, *body).inner()));
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
                let ty = program.ty_in(self.id, &Type::Path(owner_path));
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
            return self.constructed(path, span);
        }
        Ty::Unknown
    }

    /// Whether one of the arguments is this literal, or a path that ends with it.
    fn has_literal(&self, args: &[Place], text: &str) -> bool {
        args.iter().any(|place| self.literal(place).as_deref() == Some(text))
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
                        Ty::Watch(watch) => polls::poll(known, &watch, name).map(|_| watch),
                        _ => None,
                    }
                }
                _ => None,
            }
        })
    }

    /// What a call of a closure gives.
    pub(super) fn call_place(&mut self, place: &Place, args: &[Place]) -> Ty {
        match self.place(place) {
            Ty::Callable(output) => *output,
            Ty::Function(id) => self.infer.output(id),
            Ty::Body(id, body) => {
                self.bind_params(id, body, args);
                self.called(id, body)
            }
            _ => Ty::Unknown,
        }
    }

    /// What a method gives.
    pub(super) fn call_method(&mut self, name: &str, turbofish: &[Type], args: &[Place], span: Span) -> Ty {
        let infer = self.infer;
        let Some((receiver_place, rest)) = args.split_first() else { return Ty::Unknown };
        let receiver = self.place(receiver_place);
        // What is put into a collection tells what it holds.
        if name != "insert"
            && let Some(ty) = self.collection_method(&receiver, name, rest)
        {
            return ty;
        }
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
            Ty::Named { path, args: inner, .. }
                if name == "next" && inner.iter().any(|ty| matches!(ty, Ty::Local(..) | Ty::Dyn(_))) =>
            {
                return element(path, inner);
            }
            Ty::Named { path, .. } if path.ends_with("Response") && name == "into_inner" => {
                return receiver.inner();
            }
            Ty::Future(inner) if name == "now_or_never" => return Ty::option((**inner).clone()),
            Ty::Future(inner) if matches!(name, "poll" | "poll_unpin" | "try_poll" | "try_poll_unpin") => {
                return Ty::named("Poll", vec![(**inner).clone()]);
            }
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
        let is_local = matches!(receiver, Ty::Local(..) | Ty::Dyn(_))
            && !infer.program.describes(self.id, &receiver, name);
        if !is_local && !is_plain(name) {
            if let Some(shape) = known.value_method(&paths, name) {
                return with_calls(infer.shape(shape, known, None), chain_of(&receiver), call());
            }
            let opening = known.open_method(&paths, name, || self.wants_result(span));
            if opening.is_some_and(|(.., guessed)| guessed) {
                self.withheld.set(true);
            }
            if let Some((source, opener, guessed)) = opening.filter(|(.., guessed)| self.guesses || !guessed)
            {
                let mut calls = chain_of(&receiver);
                calls.push(call());
                let watch = self.opened(source, calls, span, guessed);
                let shape = opener.gives.clone().unwrap_or(Shape::Watch);
                return infer.shape(&shape, known, Some(&watch));
            }
        }
        if let Ty::Named { path, args, .. } = &receiver
            && &**path == "Entry"
            && name.starts_with("or_")
        {
            return args.first().cloned().unwrap_or_default();
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
        if let Some(poll) = infer.polls_of(&receiver, name).filter(|poll| callees == [*poll]) {
            return ready::polled_ty(name, &infer.output(poll));
        }
        let is_own = callees.is_empty() && matches!(receiver, Ty::Local(..));
        if is_own && (unpins(name) || (adapts(name) && infer.is_stream(&receiver))) {
            return receiver;
        }
        if is_own && let Some(ty) = self.derived(&receiver, name, rest) {
            return ty;
        }
        if let Some(first) = callees.first() {
            let outputs = callees.iter().map(|id| infer.output(*id));
            return outputs
                .into_iter()
                .find(|ty| ty.watch().is_some())
                .unwrap_or_else(|| infer.output(*first));
        }
        // A container that holds a watch is as good as the watch.
        if matches!(name, "push" | "push_back" | "insert" | "extend" | "replace") {
            let put = rest.last().map(|place| self.place(place)).filter(|ty| !ty.is_unknown());
            if let Some(put) = put
                && receiver.watch().is_none()
            {
                self.hold(receiver_place, &receiver, put);
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

    /// What a method gives that a derive makes of a type's fields: a step of its builder, or the value of a field.
    fn derived(&self, receiver: &Ty, name: &str, rest: &[Place]) -> Option<Ty> {
        let Ty::Local(id, args) = receiver else { return None };
        let is_field = self.infer.program.types[*id].fields.contains_key(name);
        match rest {
            [] if name == "build" => Some(receiver.clone()),
            [] if is_field => Some(self.infer.field(*id, name, args)),
            [_] if is_field => Some(receiver.clone()),
            _ => None,
        }
    }

    /// Whether the code takes what the call at this place gives for a `Result`.
    fn wants_result(&self, span: Span) -> bool {
        let graph = self.infer.graph(self.id);
        let is_call = |value: &Value| matches!(value, Value::Call { callee: Callee::Method { .. }, .. });
        let mut calls = graph.blocks.iter().flat_map(|block| &block.ops);
        calls
            .find(|op| op.span == span && is_call(&op.value))
            .is_some_and(|op| results::is_taken_for_result(graph, &op.to))
    }

    /// A method of a watch: a poll, another source's opener, a method that gives a plain value, or an adapter.
    fn watch_method(&self, watch: &Arc<WatchTy>, name: &str, call: Call) -> Ty {
        let known = self.infer.program.known(self.id);
        let paths: Vec<&str> = known.sources[watch.source].facts.type_names().collect();
        if let Some(poll) = polls::poll(known, watch, name) {
            return self.infer.shape(&poll.gives, known, None);
        }
        let own = if paths.is_empty() { None } else { known.open_method(&paths, name, || false) };
        if let Some((source, opener, _)) = own {
            let mut calls = watch.calls.clone();
            calls.push(call);
            let opener_at = watch.opener;
            // A step that stays with a type of several sources stays with its own.
            let stays = known.sources[source].facts.type_names().any(|name| paths.contains(&name));
            let source = if stays { watch.source } else { source };
            let next = WatchTy { calls, opener: opener_at, guessed: watch.guessed, ..WatchTy::told(source) };
            let shape = opener.gives.clone().unwrap_or(Shape::Watch);
            return self.infer.shape(&shape, known, Some(&next));
        }
        if let Some(shape) = known.value_method(&paths, name) {
            return self.infer.shape(shape, known, None);
        }
        match name {
            // What else a receiver can be asked for gives items, or says how it is.
            _ if watch.channel.is_some() && (name.contains("recv") || name.starts_with("is_")) => Ty::Unknown,
            // Of a receiver: only what is there already.
            "try_iter" => Ty::Unknown,
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
                let by_path = rest.first().and_then(|place| self.path_at(place));
                let given = match &closure {
                    _ if let Some(name) = by_path.as_deref().and_then(combinator_at)
                        && let Ty::Named { path, args, .. } = &inside =>
                    {
                        self.combinator(name, path, args, &inside, &[])
                    }
                    Ty::Body(id, body) => self.called(*id, *body),
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

    pub(super) fn opened(&self, source: usize, calls: Vec<Call>, span: Span, guessed: bool) -> WatchTy {
        WatchTy { calls, opener: Some((self.id, span.start, span.end)), guessed, ..WatchTy::told(source) }
    }
}

fn with_call(watch: &Arc<WatchTy>, call: Call) -> Ty {
    let mut next = (**watch).clone();
    next.calls.push(call);
    Ty::Watch(Arc::new(next))
}

/// What going through a collection gives, one at a time.
fn element(path: &str, args: &[Ty]) -> Ty {
    match path.rsplit("::").next().unwrap_or(path) {
        "Vec" | "VecDeque" | "HashSet" | "BTreeSet" | "SmallVec" => {
            Ty::option(args.first().cloned().unwrap_or_default())
        }
        "HashMap" | "BTreeMap" | "IndexMap" => Ty::option(Ty::Tuple(args.to_vec())),
        _ => Ty::Unknown,
    }
}

fn with_calls(ty: Ty, mut chain: Vec<Call>, call: Call) -> Ty {
    chain.push(call);
    match ty {
        Ty::Named { path, args, .. } => Ty::Named { path, args, calls: chain },
        other => other,
    }
}

/// Whether a function gives what was in a place, and puts something else there.
pub(super) fn exchanges(path: &str) -> bool {
    matches!(path, "std::mem::replace" | "std::mem::take" | "core::mem::replace" | "core::mem::take")
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
