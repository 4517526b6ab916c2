//! Generic calls whose result is told by where it goes: an annotated local, a declared return type, a field, a parameter.

use std::sync::Arc;

use rideout_rules::catalog::Meaning;

use super::{infer::chain_of, typing::Typing};
use crate::{
    facts::{Ty, ty::WatchTy},
    flow::graph::{Callee, End, Op, Pattern, Place, Value},
    syntax::tree::Path,
};

/// Most steps between a call and the place that tells its type.
const FARTHEST: usize = 8;

impl Typing<'_, '_, '_> {
    /// Gives calls of unknown result the type that is declared where the result goes.
    pub(super) fn expect_declared(&mut self) {
        let program = self.infer.program;
        let graph = self.infer.graph(self.id);
        for (at, local) in (0..).zip(&graph.locals) {
            if local.ty.is_some() {
                self.expect(&Place::local(at), &self.locals[at as usize].clone(), 0);
            }
        }
        let function = &program.functions[self.id];
        let outputs: Vec<Option<Ty>> = (0..)
            .zip(&graph.bodies)
            .map(|(at, body)| {
                let output = if at == 0 { function.output.as_ref() } else { body.output.as_ref() };
                output.map(|ty| program.ty_in(self.id, ty)).filter(|ty| ty.watch().is_some())
            })
            .collect();
        for block in &graph.blocks {
            if let End::Return(place) = &block.end
                && let Some(ty) = &outputs[block.body as usize]
            {
                self.expect(place, ty, 0);
            }
            for op in &block.ops {
                self.expect_parts(op);
            }
        }
    }

    /// Fields of a struct of the workspace, and arguments of a function of it.
    fn expect_parts(&mut self, op: &Op) {
        let infer = self.infer;
        match &op.value {
            Value::Struct { fields, .. } => {
                let Ty::Local(id, args) = self.place(&op.to) else { return };
                for (name, place) in fields {
                    self.expect(place, &infer.program.field(id, name, &args), 0);
                }
            }
            Value::Call { callee: Callee::Path(path), args, .. } => {
                let resolved = infer.program.resolve(self.id, &path.segments);
                let Some(callee) = infer.program.function_at(self.id, &resolved) else { return };
                let params = &infer.program.functions[callee].params;
                for (place, param) in args.iter().zip(params) {
                    self.expect(place, &infer.program.ty_in(callee, param), 0);
                }
            }
            _ => {}
        }
    }

    fn expect(&mut self, place: &Place, ty: &Ty, depth: usize) {
        if ty.watch().is_none() || !place.fields.is_empty() || depth > FARTHEST {
            return;
        }
        let graph = self.infer.graph(self.id);
        let next = depth + 1;
        for block in &graph.blocks {
            for op in block.ops.iter().filter(|op| op.to == *place) {
                match &op.value {
                    Value::Use(from) => self.expect(from, ty, next),
                    Value::Await(from) => self.expect(from, &Ty::Future(Box::new(ty.clone())), next),
                    Value::Call { callee, args, .. } => self.expect_call(op, callee, args, ty, next),
                    _ => {}
                }
            }
            match &block.end {
                End::Try { value, to, .. } if to == place => {
                    self.expect(value, &Ty::result(ty.clone()), next);
                }
                End::Test { value, pat: Pattern::TupleStruct(path, pats), .. }
                    if matches!(path.last(), "Ok" | "Some")
                        && matches!(pats.as_slice(), [Pattern::Bind(local, None)] if *local == place.local) =>
                {
                    self.expect(value, &Ty::result(ty.clone()), next);
                }
                _ => {}
            }
        }
    }

    fn passes_through(&self, path: &Path) -> bool {
        let program = self.infer.program;
        let joined = program.resolve(self.id, &path.segments).join("::");
        program.known(self.id).word_fn(&joined) == Some(Meaning::Same)
    }

    fn calls_workspace(&self, callee: &Callee, args: &[Place]) -> bool {
        let program = self.infer.program;
        match callee {
            Callee::Path(path) => {
                program.function_at(self.id, &program.resolve(self.id, &path.segments)).is_some()
            }
            Callee::Method { name, .. } => {
                let receiver = args.first().map_or(Ty::Unknown, |place| self.place(place));
                !self.infer.callees_of(&receiver.inner(), name, self.id).is_empty()
            }
            Callee::Place(_) => true,
        }
    }

    fn expect_call(&mut self, op: &Op, callee: &Callee, args: &[Place], ty: &Ty, depth: usize) {
        let first = args.first();
        match (callee, first) {
            (Callee::Path(path), Some(first)) if matches!(path.single(), Some("Ok" | "Some")) => {
                return self.expect(first, &ty.inner(), depth);
            }
            (Callee::Path(path), Some(first)) if self.passes_through(path) => {
                return self.expect(first, ty, depth);
            }
            (Callee::Method { name, .. }, Some(first)) => match name.as_str() {
                "unwrap" | "expect" | "unwrap_or_else" => {
                    return self.expect(first, &Ty::result(ty.clone()), depth);
                }
                "map_err" | "context" | "with_context" | "wrap_err" | "wrap_err_with" | "inspect_err"
                | "ok" | "ok_or" | "ok_or_else" => return self.expect(first, ty, depth),
                name if hands_over(name) => return,
                _ => {}
            },
            _ => {}
        }
        let known = match first {
            Some(first) => self.place(first),
            None => Ty::Unknown,
        };
        if self.place(&op.to).watch().is_some()
            || known.watch().is_some()
            || args.iter().any(|place| matches!(self.place(place), Ty::Stream | Ty::Body(..)))
            || self.calls_workspace(callee, args)
        {
            return;
        }
        let opener = Some((self.id, op.span.start, op.span.end));
        let opened = |watch: &WatchTy| WatchTy { opener, calls: chain_of(&known), ..watch.clone() };
        self.locals[op.to.local as usize] = with_watch(ty, &opened);
        self.changed = true;
    }
}

/// The type with its watch replaced.
fn with_watch(ty: &Ty, by: &dyn Fn(&WatchTy) -> WatchTy) -> Ty {
    let all = |parts: &[Ty]| parts.iter().map(|part| with_watch(part, by)).collect();
    match ty {
        Ty::Watch(watch) => Ty::Watch(Arc::new(by(watch))),
        Ty::Named { path, args, calls } => {
            Ty::Named { path: path.clone(), args: all(args), calls: calls.clone() }
        }
        Ty::Tuple(parts) => Ty::Tuple(all(parts)),
        Ty::Future(inner) => Ty::Future(Box::new(with_watch(inner, by))),
        other => other.clone(),
    }
}

/// Whether a method hands over something that was made elsewhere: out of a channel, a collection, a slot.
fn hands_over(name: &str) -> bool {
    name.contains("recv")
        || name.starts_with("get")
        || name.starts_with("pop")
        || matches!(
            name,
            "next"
                | "take"
                | "remove"
                | "replace"
                | "swap"
                | "clone"
                | "into"
                | "lock"
                | "read"
                | "write"
                | "join"
                | "iter"
                | "collect"
                | "poll_next"
                | "try_next"
                | "select_next_some"
                | "join_next"
                | "into_inner"
        )
}
