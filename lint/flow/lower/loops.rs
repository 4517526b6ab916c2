//! Loops, and the methods that are loops in disguise (`for_each`, `try_for_each`, `fold`).

use super::{Lowering, Target};
use crate::{
    flow::graph::{BlockId, BodyKind, Callee, End, Pattern, Place, Value},
    syntax::tree::{Block, Expr, ExprKind, Pat, Path, Span},
};

/// Where the blocks of a loop are.
struct Frame {
    head: BlockId,
    exit: BlockId,
    result: Place,
}

impl Lowering {
    /// Opens a loop and goes to its head.
    fn open_loop(&mut self, label: Option<&String>, span: Span, bounded: bool) -> Frame {
        let result = self.temp();
        let exit = self.new_block();
        let id = self.new_loop(span, bounded);
        self.within = Some(id);
        let head = self.new_block();
        self.graph.blocks[head as usize].head_of = Some(id);
        self.end(End::Goto(head), head);
        self.targets.push(Target { label: label.cloned(), head: Some(head), exit, result: result.clone() });
        Frame { head, exit, result }
    }

    /// Jumps back and goes on behind the loop.
    fn close_loop(&mut self, frame: Frame) -> Place {
        self.goto(frame.head);
        self.targets.pop();
        self.within = self.within.and_then(|id| self.graph.loops[id as usize].parent);
        self.block = frame.exit;
        frame.result
    }

    pub(super) fn endless(&mut self, label: Option<&String>, body: &Block, span: Span) -> Place {
        let frame = self.open_loop(label, span, false);
        self.block(body);
        self.close_loop(frame)
    }

    pub(super) fn while_loop(
        &mut self,
        label: Option<&String>,
        cond: &Expr,
        body: &Block,
        span: Span,
    ) -> Place {
        let frame = self.open_loop(label, span, false);
        let inside = self.new_block();
        self.in_scope(|this| {
            this.condition(cond, inside, frame.exit);
            this.block = inside;
            this.block(body);
        });
        let result = self.close_loop(frame);
        self.set(result.clone(), Value::Unit, span);
        result
    }

    pub(super) fn for_loop(
        &mut self,
        label: Option<&String>,
        pat: &Pat,
        iter: &Expr,
        body: &Block,
        span: Span,
    ) -> Place {
        if let ExprKind::Range { parts, bounded: false } = &peel(iter).kind {
            self.exprs(parts);
            return self.counting_loop(label, pat, body, span);
        }
        let bounded = matches!(&peel(iter).kind, ExprKind::Range { bounded: true, .. });
        let items = self.expr(iter);
        let frame = self.open_loop(label, span, bounded);
        if let Some(id) = self.within {
            self.graph.loops[id as usize].finite = !bounded && !is_endless(iter);
        }
        self.in_scope(|this| {
            let item = this.next(&items, span);
            let pat = this.pattern(pat);
            this.take_some(item, pat, frame.exit);
            this.block(body);
        });
        let result = self.close_loop(frame);
        self.set(result.clone(), Value::Unit, span);
        result
    }

    /// `for n in 0..` never ends.
    fn counting_loop(&mut self, label: Option<&String>, pat: &Pat, body: &Block, span: Span) -> Place {
        let frame = self.open_loop(label, span, false);
        self.in_scope(|this| {
            this.pattern(pat);
            this.block(body);
        });
        self.close_loop(frame)
    }

    /// Asks `items` for its next item.
    fn next(&mut self, items: &Place, span: Span) -> Place {
        let callee = Callee::Method { name: "next".to_owned(), turbofish: Vec::new() };
        self.put(Value::Call { callee, args: vec![items.clone()], name_span: span }, span)
    }

    fn take_some(&mut self, item: Place, pat: Pattern, exit: BlockId) {
        let some = self.new_block();
        self.read(&item);
        self.end(End::Test { value: item, pat: wrap("Some", pat), yes: some, no: exit }, some);
    }

    /// `stream.for_each(f)` and its kin become an `async` block around a loop. Gives nothing for another method.
    pub(super) fn consuming_method(
        &mut self,
        receiver: &Place,
        name: &str,
        args: &[(Place, bool)],
        name_span: Span,
    ) -> Option<Place> {
        let fallible = match name {
            "for_each" | "for_each_concurrent" | "fold" => false,
            "try_for_each" | "try_for_each_concurrent" | "try_fold" => true,
            _ => return None,
        };
        let (closure, true) = args.last()?.clone() else { return None };
        let outer = self.open_body(BodyKind::Async, None, name_span);
        let frame = self.open_loop(None, name_span, false);
        let item = self.next(receiver, name_span);
        let bound = self.new_local(None, None);
        let handler = self.new_block();
        if fallible {
            // Whatever the stream could still give, the first error ends it.
            let error = self.new_local(None, None);
            let failed = self.new_block();
            let fine = self.new_block();
            self.read(&item);
            let pat = wrap("Some", wrap("Err", Pattern::Bind(error, None)));
            self.end(End::Test { value: item.clone(), pat, yes: failed, no: fine }, failed);
            let result = self.construct("Err", Place::local(error), name_span);
            self.read(&result);
            self.end(End::Return(result), fine);
            let plain = self.new_block();
            let pat = wrap("Some", wrap("Ok", Pattern::Bind(bound, None)));
            self.end(End::Test { value: item.clone(), pat, yes: handler, no: plain }, plain);
        }
        let some = self.new_block();
        let pat = wrap("Some", Pattern::Bind(bound, None));
        self.read(&item);
        self.end(End::Test { value: item, pat, yes: some, no: frame.exit }, some);
        self.end(End::Goto(handler), handler);
        let call = Value::Call { callee: Callee::Place(closure), args: vec![Place::local(bound)], name_span };
        let called = self.put(call, name_span);
        let done = self.put(Value::Await(called), name_span);
        if fallible {
            let next = self.new_block();
            let to = self.temp();
            self.read(&done);
            self.end(End::Try { value: done, to, next, span: name_span }, next);
        }
        let result = self.close_loop(frame);
        self.set(result.clone(), Value::Unit, name_span);
        let result = if fallible { self.construct("Ok", result, name_span) } else { result };
        let body = self.close_body(outer, result, name_span);
        Some(self.put(Value::Body(body), name_span))
    }

    /// `stream::unfold(state, f)`: a generator that yields what `f` gives until it gives `None`.
    pub(super) fn unfold(&mut self, state: &Place, step: &Place, fallible: bool, span: Span) -> Place {
        let current = self.temp();
        self.set(current.clone(), Value::Use(state.clone()), span);
        let outer = self.open_body(BodyKind::Generator { fallible }, None, span);
        let frame = self.open_loop(None, span, false);
        let call =
            Value::Call { callee: Callee::Place(step.clone()), args: vec![current.clone()], name_span: span };
        let called = self.put(call, span);
        let mut given = self.put(Value::Await(called), span);
        if fallible {
            let next = self.new_block();
            let to = self.temp();
            self.read(&given);
            self.end(End::Try { value: given, to: to.clone(), next, span }, next);
            given = to;
        }
        let item = self.new_local(None, None);
        let pair = Pattern::Tuple(vec![Pattern::Bind(item, None), Pattern::Bind(current.local, None)]);
        self.take_some(given, pair, frame.exit);
        self.put(Value::Yield(Place::local(item)), span);
        let result = self.close_loop(frame);
        self.set(result.clone(), Value::Unit, span);
        let body = self.close_body(outer, result, span);
        self.put(Value::Body(body), span)
    }

    /// A call of a variant such as `Ok(place)`.
    pub(super) fn construct(&mut self, variant: &str, place: Place, span: Span) -> Place {
        let callee = Callee::Path(name_path(variant));
        self.put(Value::Call { callee, args: vec![place], name_span: span }, span)
    }
}

fn name_path(name: &str) -> Path {
    Path { segments: vec![name.to_owned()], arguments: Vec::new() }
}

fn wrap(variant: &str, pat: Pattern) -> Pattern {
    Pattern::TupleStruct(name_path(variant), vec![pat])
}

/// Whether an iterator is made to give items for ever.
fn is_endless(iter: &Expr) -> bool {
    match &iter.kind {
        ExprKind::Same(inner) => is_endless(inner),
        ExprKind::Method { receiver, name, .. } => name == "cycle" || is_endless(receiver),
        ExprKind::Call { callee, .. } => {
            matches!(&callee.kind, ExprKind::Path(path) if matches!(path.last(), "repeat" | "repeat_with" | "from_fn" | "successors"))
        }
        _ => false,
    }
}

/// An expression without parentheses and references.
fn peel(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Same(inner) => peel(inner),
        ExprKind::Method { receiver, name, .. } if matches!(name.as_str(), "rev" | "into_iter" | "iter") => {
            peel(receiver)
        }
        _ => expr,
    }
}
