//! Reading types as they are written: aliases, generics, bounds, containers of streams.

use std::sync::Arc;

use super::{
    known::SourceId,
    program::{AliasFacts, FnId, OuterFacts, Program, is_inner},
    ty::{Ty, WatchTy},
};
use crate::syntax::tree::{self, Bound, Generics, Type};

/// Where a type is read: its file, module, and the generics in force.
#[derive(Clone, Copy)]
pub(crate) struct At<'p> {
    pub(crate) file: usize,
    pub(crate) scope: usize,
    pub(crate) generics: &'p [&'p Generics],
    /// What the parameters of the first of them stand for, as far as known.
    pub(crate) given: &'p [Ty],
    pub(crate) outer: Option<&'p OuterFacts>,
}

impl Program<'_> {
    pub(crate) fn at(&self, id: FnId) -> (usize, usize, Arc<Generics>, Arc<OuterFacts>) {
        let function = &self.functions[id];
        (function.file, function.scope, Arc::clone(&function.generics), Arc::clone(&function.outer))
    }

    /// Reads a type as written in a function.
    pub(crate) fn ty_in(&self, id: FnId, ty: &Type) -> Ty {
        self.ty_given(id, ty, &[])
    }

    /// The same where it is known what the function's own type parameters stand for.
    pub(crate) fn ty_given(&self, id: FnId, ty: &Type, given: &[Ty]) -> Ty {
        let (file, scope, generics, outer) = self.at(id);
        self.ty(
            ty,
            At { file, scope, generics: &[&generics, &outer.generics], given, outer: Some(&outer) },
            0,
        )
    }

    /// The type of a field of a struct of the workspace.
    pub(crate) fn field(&self, id: usize, field: &str, args: &[Ty]) -> Ty {
        let facts = &self.types[id];
        let Some(ty) = facts.fields.get(field) else { return Ty::Unknown };
        let generics: &[&Generics] = &[&facts.generics];
        self.ty(ty, At { file: facts.file, scope: facts.scope, generics, given: args, outer: None }, 0)
    }

    /// Each `type` of the workspace without generics: its name, its file, and what it stands for.
    pub(crate) fn aliases(&self) -> impl Iterator<Item = (&str, usize, Ty)> {
        let plain = |alias: &&AliasFacts| alias.generics.is_empty();
        self.aliases.iter().flat_map(move |(name, aliases)| {
            aliases.iter().filter(plain).map(move |alias| {
                let at = At { file: alias.file, scope: alias.scope, generics: &[], given: &[], outer: None };
                (name.as_str(), alias.file, self.ty(&alias.ty, at, 0))
            })
        })
    }

    /// Reads a type. Deeper than a dozen levels it says nothing.
    pub(crate) fn ty(&self, ty: &Type, at: At<'_>, depth: usize) -> Ty {
        if depth > 12 {
            return Ty::Unknown;
        }
        match ty {
            Type::Path(path) => self.path_ty(path, at, depth),
            Type::Associated(name) => self.associated(name, at, depth),
            Type::Tuple(parts) => Ty::Tuple(parts.iter().map(|part| self.ty(part, at, depth + 1)).collect()),
            Type::Bounds(bounds) => self.bounds_ty(bounds, at, depth),
            Type::Function(output) => Ty::Callable(Box::new(
                output.as_ref().map_or_else(Ty::default, |output| self.ty(output, at, depth + 1)),
            )),
            Type::Unknown => Ty::Unknown,
        }
    }

    fn path_ty(&self, path: &tree::Path, at: At<'_>, depth: usize) -> Ty {
        let argument = |index: usize| {
            path.arguments.get(index).map_or_else(Ty::default, |ty| self.ty(ty, at, depth + 1))
        };
        let name = path.last();
        if path.single() == Some("Self") {
            return at.outer.and_then(|outer| outer.self_type.as_ref()).map_or(Ty::Unknown, |ty| match ty {
                Type::Path(own) if own.single() == Some("Self") => Ty::Unknown,
                ty => self.ty(ty, at, depth + 1),
            });
        }
        if path.segments.len() == 2 && path.segments[0] == "Self" {
            return self.associated(name, at, depth);
        }
        if let Some(single) = path.single()
            && at.generics.iter().any(|generics| generics.names.iter().any(|generic| generic == single))
        {
            return self.generic(single, at, depth);
        }
        let resolved = self.resolve_in(at.file, at.scope, &path.segments);
        // A wrapper may go by another name here.
        match resolved.last().map_or(name, String::as_str) {
            "Box" | "Arc" | "Rc" | "Pin" | "Mutex" | "RwLock" | "RefCell" | "Cell" | "Cow" | "Weak"
            | "OnceCell" | "Fuse" | "MutexGuard" | "OwnedMutexGuard" | "RwLockWriteGuard"
            | "ManuallyDrop" | "Instrumented"
                if !path.arguments.is_empty() =>
            {
                return argument(0);
            }
            "BoxStream" | "LocalBoxStream" => {
                return path.arguments.first().map_or(Ty::Stream, |item| self.stream_ty(item, at, depth));
            }
            "BoxFuture" | "LocalBoxFuture" => return Ty::Future(Box::new(argument(0))),
            _ => {}
        }
        if let Some(watch) = self.own_watch(path, at) {
            return watch;
        }
        if let Some(alias) =
            self.alias(name, at).filter(|_| path.single().is_some() || is_inner(&path.segments[0]))
        {
            // Arguments are put in where the alias names its parameters plainly.
            let ty = substitute(&alias.ty, &alias.generics, &path.arguments);
            return self.ty(&ty, At { file: alias.file, scope: alias.scope, ..at }, depth + 1);
        }
        let known = &self.files[at.file].known;
        let joined = resolved.join("::");
        let own_name =
            |path: &tree::Path| self.resolve_in(at.file, at.scope, &path.segments).pop().unwrap_or_default();
        if let Some(source) = known.source_of(&joined, &path.arguments, &own_name) {
            // One type for several sources of its crate: the item tells which.
            let of_crate = |other: &usize| known.sources[*other].package == known.sources[source].package;
            let by_item = path.arguments.iter().find_map(|item| self.item_source(item, at, depth));
            return watch_ty(by_item.filter(of_crate).unwrap_or(source));
        }
        if let Some(id) = self.local_type(at.file, &resolved) {
            return Ty::Local(id, path.arguments.iter().map(|ty| self.ty(ty, at, depth + 1)).collect());
        }
        if let Some(channel) = known.channel_type(&joined)
            && let Some(source) = path.arguments.first().and_then(|item| self.channel_source(item, at, depth))
        {
            return Ty::Watch(Arc::new(WatchTy { channel: Some(channel), ..WatchTy::told(source) }));
        }
        let last = resolved.last().map_or("", String::as_str);
        let args: Vec<Ty> = path.arguments.iter().map(|ty| self.ty(ty, at, depth + 1)).collect();
        match last {
            "Result" | "Option" | "Poll" => Ty::named(last, args),
            _ if last.ends_with("Result") && !args.is_empty() => Ty::named("Result", args),
            // A stream of streams is as good as what it holds, if that is a watch.
            "FuturesUnordered" | "SelectAll" | "StreamMap" | "SplitStream" | "ReusableBoxFuture"
            | "Peekable" | "Take" | "Skip" | "TakeUntil" | "Map" | "Throttle" | "Response"
            | "StreamReader"
                if args.iter().any(|arg| arg.watch().is_some()) =>
            {
                args.into_iter().find(|arg| arg.watch().is_some()).unwrap_or_default()
            }
            _ => Ty::Named { path: joined.into(), args, calls: Vec::new() },
        }
    }

    /// The watch that a type is, if the user says so.
    fn own_watch(&self, path: &tree::Path, at: At<'_>) -> Option<Ty> {
        let known = &self.files[at.file].known;
        if known.own.is_empty() {
            return None;
        }
        let resolved = self.resolve_in(at.file, at.scope, &path.segments);
        let joined = resolved.join("::");
        let own = if known.own.has(&joined) { &joined } else { self.own_type(at.file, &resolved)? };
        known.source_of_type(own).map(watch_ty)
    }

    fn associated(&self, name: &str, at: At<'_>, depth: usize) -> Ty {
        let found = at.outer.and_then(|outer| outer.types.iter().find(|(known, _)| known == name));
        found.map_or(Ty::Unknown, |(_, ty)| self.ty(ty, at, depth + 1))
    }

    fn generic(&self, name: &str, at: At<'_>, depth: usize) -> Ty {
        let place =
            at.generics.first().and_then(|first| first.names.iter().position(|generic| generic == name));
        if let Some(given) = place.and_then(|place| at.given.get(place)) {
            return given.clone();
        }
        let bounds: Vec<Bound> = at
            .generics
            .iter()
            .flat_map(|generics| &generics.bounds)
            .filter(|(generic, _)| generic == name)
            .flat_map(|(_, bounds)| bounds.clone())
            .collect();
        self.bounds_ty(&bounds, at, depth + 1)
    }

    fn bounds_ty(&self, bounds: &[Bound], at: At<'_>, depth: usize) -> Ty {
        for bound in bounds {
            let associated = |name: &str| {
                let found = bound.associated.iter().find(|(known, _)| known == name);
                found.map(|(_, ty)| ty)
            };
            let resolved = self.resolve_in(at.file, at.scope, &bound.path.segments);
            match resolved.last().map_or("", String::as_str) {
                "Stream" | "FusedStream" | "TryStream" | "IntoStream" => {
                    return associated("Item").map_or(Ty::Stream, |item| self.stream_ty(item, at, depth));
                }
                "Iterator" | "IntoIterator" => {
                    return associated("Item").map_or(Ty::Unknown, |item| {
                        match self.stream_ty(item, at, depth) {
                            Ty::Stream => Ty::named("Iterator", vec![self.ty(item, at, depth + 1)]),
                            watch => watch,
                        }
                    });
                }
                "Future" | "IntoFuture" => {
                    let output =
                        associated("Output").map_or_else(Ty::default, |ty| self.ty(ty, at, depth + 1));
                    return Ty::Future(Box::new(output));
                }
                "Fn" | "FnMut" | "FnOnce" | "AsyncFn" | "AsyncFnMut" | "AsyncFnOnce" => {
                    let output =
                        associated("Output").map_or_else(Ty::default, |ty| self.ty(ty, at, depth + 1));
                    return Ty::Callable(Box::new(output));
                }
                _ => {}
            }
        }
        let is_own = |bound: &&Bound| {
            let path = self.resolve_in(at.file, at.scope, &bound.path.segments);
            self.is_trait(bound.path.last()) && !self.is_foreign(&path)
        };
        if let Some(bound) = bounds.iter().find(is_own) {
            return Ty::Dyn(bound.path.last().into());
        }
        // A trait that the catalog knows: `impl Client`.
        let known = &self.files[at.file].known;
        bounds
            .iter()
            .map(|bound| self.resolve_in(at.file, at.scope, &bound.path.segments).join("::"))
            .find(|path| known.has(path))
            .map_or(Ty::Unknown, |path| match known.source_of_type(&path) {
                Some(source) => Ty::Watch(Arc::new(WatchTy::told(source))),
                None => Ty::named(&path, Vec::new()),
            })
    }

    pub(super) fn is_trait(&self, name: &str) -> bool {
        self.traits.contains(name)
    }

    /// A stream with this item: a source, if the catalog knows a type in it.
    fn stream_ty(&self, item: &Type, at: At<'_>, depth: usize) -> Ty {
        self.item_source(item, at, depth).map_or(Ty::Stream, watch_ty)
    }

    /// The source whose items a channel of these carries.
    fn channel_source(&self, item: &Type, at: At<'_>, depth: usize) -> Option<usize> {
        let known = &self.files[at.file].known;
        self.item_source(item, at, depth).filter(|source| known.sources[*source].facts.channel)
    }

    fn item_source(&self, item: &Type, at: At<'_>, depth: usize) -> Option<usize> {
        if depth > 12 {
            return None;
        }
        let known = &self.files[at.file].known;
        match item {
            Type::Path(path) => {
                let resolved = self.resolve_in(at.file, at.scope, &path.segments);
                let resolved = match self.own_type(at.file, &resolved) {
                    Some(own) => own.to_owned(),
                    None => resolved.join("::"),
                };
                // Of a `Result`, the error type tells best.
                let of_arguments =
                    || path.arguments.iter().rev().find_map(|arg| self.item_source(arg, at, depth + 1));
                known.source_of_item(&resolved).or_else(of_arguments).or_else(|| {
                    let alias = self.alias(path.last(), at)?;
                    self.item_source(&alias.ty, At { file: alias.file, scope: alias.scope, ..at }, depth + 1)
                })
            }
            Type::Tuple(parts) => parts.iter().find_map(|part| self.item_source(part, at, depth + 1)),
            _ => None,
        }
    }

    fn alias(&self, name: &str, at: At<'_>) -> Option<&AliasFacts> {
        let candidates = self.aliases.get(name)?;
        candidates
            .iter()
            .find(|alias| alias.scope == at.scope)
            .or_else(|| candidates.iter().find(|alias| self.same_package(alias.file, at.file)))
    }
}

/// A watch of which nothing but the source is known.
fn watch_ty(source: SourceId) -> Ty {
    Ty::Watch(Arc::new(WatchTy::told(source)))
}

fn substitute(ty: &Type, generics: &[String], arguments: &[Type]) -> Type {
    match ty {
        Type::Path(path) => {
            if let Some(at) =
                path.single().and_then(|name| generics.iter().position(|generic| generic == name))
            {
                return arguments.get(at).cloned().unwrap_or(Type::Unknown);
            }
            let replaced = path.arguments.iter().map(|ty| substitute(ty, generics, arguments)).collect();
            Type::Path(tree::Path { segments: path.segments.clone(), arguments: replaced })
        }
        Type::Tuple(parts) => {
            Type::Tuple(parts.iter().map(|part| substitute(part, generics, arguments)).collect())
        }
        Type::Bounds(bounds) => Type::Bounds(
            bounds
                .iter()
                .map(|bound| Bound {
                    path: bound.path.clone(),
                    associated: bound
                        .associated
                        .iter()
                        .map(|(name, ty)| (name.clone(), substitute(ty, generics, arguments)))
                        .collect(),
                })
                .collect(),
        ),
        other => other.clone(),
    }
}
