//! Expressions.

use super::{Lowering, Target, counters::steps};
use crate::{
    flow::graph::{BodyKind, Callee, End, Place, Value},
    syntax::tree::{self, Expr, ExprKind, Op, Path, Span},
};

impl Lowering {
    pub(super) fn exprs(&mut self, exprs: &[Expr]) -> Vec<Place> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    /// Lowers an expression and gives the place of its value.
    pub(super) fn expr(&mut self, expr: &Expr) -> Place {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Path(path) => self.path(path, span),
            ExprKind::Bool(value) => self.put(Value::Bool(*value), span),
            ExprKind::Int(digits) => self.put(Value::Int(digits.clone()), span),
            ExprKind::Str(text) => self.put(Value::Str(text.clone()), span),
            ExprKind::Same(inner) => self.expr(inner),
            ExprKind::Call { callee, args } => self.call(callee, args, span),
            ExprKind::Method { receiver, name, name_span, turbofish, args } => {
                self.method(receiver, name, *name_span, turbofish, args, span)
            }
            ExprKind::Field(base, name) => self.expr(base).field(name),
            ExprKind::Index(base, at) => {
                let base = self.expr(base);
                self.expr(at);
                base.field("[]")
            }
            ExprKind::Await(inner) => {
                let future = self.expr(inner);
                self.put(Value::Await(future), span)
            }
            ExprKind::Try(inner) => {
                let value = self.expr(inner);
                let to = self.temp();
                let next = self.new_block();
                self.read(&value);
                self.end(End::Try { value, to: to.clone(), next, span }, next);
                to
            }
            ExprKind::Not(inner) => {
                if is_condition(inner) {
                    return self.condition_value(expr, span);
                }
                let value = self.expr(inner);
                self.put(Value::Not(value), span)
            }
            ExprKind::Binary(Op::And | Op::Or, ..) | ExprKind::Let(..) => self.condition_value(expr, span),
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.expr(left), self.expr(right));
                self.put(Value::Compare(*op, left, right), span)
            }
            ExprKind::Assign(left, right) => {
                self.note_step(left, right);
                let value = self.expr(right);
                self.assign(left, value, span);
                self.unit(span)
            }
            ExprKind::AssignOp(left, right) => {
                let right = self.expr(right);
                let left = self.expr(left);
                self.graph.locals[left.local as usize].counts = true;
                self.set(left.clone(), Value::Step(left, right), span);
                self.unit(span)
            }
            ExprKind::Tuple(elems) => {
                let elems = self.exprs(elems);
                self.put(Value::Tuple(elems), span)
            }
            ExprKind::Struct { path, fields, rest } => {
                let fields = fields.iter().map(|(name, expr)| (name.clone(), self.expr(expr))).collect();
                let rest = rest.as_ref().map(|rest| self.expr(rest));
                self.put(Value::Struct { path: path.clone(), fields, rest }, span)
            }
            ExprKind::Range { parts, .. } => {
                self.exprs(parts);
                self.put(Value::Range, span)
            }
            ExprKind::Block { label, block } => self.labelled(label.as_ref(), block),
            ExprKind::Async(block) => {
                let outer = self.open_body(BodyKind::Async, None, span);
                let value = self.block(block);
                let body = self.close_body(outer, value, span);
                self.put(Value::Body(body), span)
            }
            ExprKind::If { cond, then, otherwise } => {
                self.conditional(cond, then, otherwise.as_deref(), head_of(span, then.span))
            }
            ExprKind::Match { scrutinee, arms } => self.matching(scrutinee, arms, span),
            ExprKind::Loop { label, body } => self.endless(label.as_ref(), body, head_of(span, body.span)),
            ExprKind::While { label, cond, body } => {
                self.while_loop(label.as_ref(), cond, body, head_of(span, body.span))
            }
            ExprKind::For { label, pat, iter, body } => {
                self.for_loop(label.as_ref(), pat, iter, body, head_of(span, body.span))
            }
            ExprKind::Break { label, value } => self.leave_block(label.as_ref(), value.as_deref(), span),
            ExprKind::Continue { label } => {
                if let Some(head) = self.target(label.as_ref(), true).and_then(|target| target.head) {
                    self.goto(head);
                }
                self.unit(span)
            }
            ExprKind::Return(value) => {
                let value = match value {
                    Some(value) => self.expr(value),
                    None => self.unit(span),
                };
                self.put(Value::Leave, span);
                let dead = self.new_block();
                self.read(&value);
                self.end(End::Return(value), dead);
                self.unit(span)
            }
            ExprKind::Yield(value) => {
                let value = match value {
                    Some(value) => self.expr(value),
                    None => self.unit(span),
                };
                self.put(Value::Yield(value), span)
            }
            ExprKind::Closure { params, is_async, output, body } => {
                self.closure(params, *is_async, output.clone(), body, span)
            }
            ExprKind::Macro(node) => self.macro_value(node, span),
            ExprKind::Other(parts) => {
                let parts = self.exprs(parts);
                self.put(Value::Opaque(parts), span)
            }
        }
    }

    fn path(&mut self, path: &Path, span: Span) -> Place {
        match path.single().and_then(|name| self.resolve(name)) {
            Some(local) => Place::local(local),
            None => self.put(Value::Path(path.clone()), span),
        }
    }

    fn call(&mut self, callee: &Expr, args: &[Expr], span: Span) -> Place {
        let callee_place = match &callee.kind {
            ExprKind::Path(path) => match path.single().and_then(|name| self.resolve(name)) {
                Some(local) => Callee::Place(Place::local(local)),
                None => Callee::Path(path.clone()),
            },
            _ => Callee::Place(self.expr(callee)),
        };
        let args = self.exprs(args);
        let callee_place = match callee_place {
            Callee::Path(path) if !args.is_empty() && names_a_trait_method(&path) => {
                Callee::Method { name: path.last().to_owned(), turbofish: Vec::new() }
            }
            other => other,
        };
        if let (Callee::Path(path), [state, step]) = (&callee_place, args.as_slice())
            && matches!(path.last(), "unfold" | "try_unfold")
        {
            return self.unfold(state, step, path.last() == "try_unfold", span);
        }
        self.put(Value::Call { callee: callee_place, args, name_span: callee.span }, span)
    }

    fn method(
        &mut self,
        receiver: &Expr,
        name: &str,
        name_span: Span,
        turbofish: &[tree::Type],
        args: &[Expr],
        span: Span,
    ) -> Place {
        let receiver = self.expr(receiver);
        let mut places = Vec::new();
        for arg in args {
            let callable = matches!(arg.kind, ExprKind::Closure { .. } | ExprKind::Path(_));
            places.push((self.expr(arg), callable));
        }
        if let Some(loops) = self.consuming_method(&receiver, name, &places, name_span) {
            return loops;
        }
        let args = std::iter::once(receiver).chain(places.into_iter().map(|(place, _)| place)).collect();
        let callee = Callee::Method { name: name.to_owned(), turbofish: turbofish.to_vec() };
        self.put(Value::Call { callee, args, name_span }, span)
    }

    fn assign(&mut self, target: &Expr, value: Place, span: Span) {
        match &target.kind {
            ExprKind::Same(inner) => self.assign(inner, value, span),
            ExprKind::Tuple(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    self.assign(part, value.field(&index.to_string()), span);
                }
            }
            ExprKind::Path(path) if path.single() == Some("_") => {}
            _ => {
                let to = self.expr(target);
                self.set(to, Value::Use(value), span);
            }
        }
    }

    /// `x = x + 1` counts as `x += 1` does, and so does `x = if fine { 0 } else { x + 1 }`.
    fn note_step(&mut self, left: &Expr, right: &Expr) {
        if let ExprKind::Path(target) = &left.kind
            && steps(right, target)
            && let Some(local) = target.single().and_then(|name| self.resolve(name))
        {
            self.graph.locals[local as usize].counts = true;
        }
    }

    fn labelled(&mut self, label: Option<&String>, block: &tree::Block) -> Place {
        let Some(label) = label else { return self.block(block) };
        let exit = self.new_block();
        let result = self.temp();
        self.targets.push(Target { label: Some(label.clone()), head: None, exit, result: result.clone() });
        let value = self.block(block);
        self.targets.pop();
        self.set(result.clone(), Value::Use(value), block.span);
        self.goto(exit);
        self.block = exit;
        result
    }

    fn target(&self, label: Option<&String>, needs_head: bool) -> Option<&Target> {
        self.targets
            .iter()
            .rev()
            .find(|target| match label {
                Some(label) => target.label.as_ref() == Some(label),
                None => target.head.is_some(),
            })
            .filter(|target| !needs_head || target.head.is_some())
    }

    fn leave_block(&mut self, label: Option<&String>, value: Option<&Expr>, span: Span) -> Place {
        let value = value.map(|value| self.expr(value));
        let target = self.target(label, false).map(|target| (target.exit, target.result.clone()));
        if let Some((exit, result)) = target {
            if let Some(value) = value {
                self.set(result, Value::Use(value), span);
            }
            self.put(Value::Leave, span);
            self.goto(exit);
        }
        self.unit(span)
    }

    fn matching(&mut self, scrutinee: &Expr, arms: &[tree::Arm], span: Span) -> Place {
        let value = self.expr(scrutinee);
        let result = self.temp();
        let join = self.new_block();
        for arm in arms {
            let id = self.new_arm(arm.head);
            let (matched, otherwise) = (self.new_block(), self.new_block());
            self.in_scope(|this| {
                let pat = this.pattern(&arm.pat);
                this.read(&value);
                this.end(End::Test { value: value.clone(), pat, yes: matched, no: otherwise }, matched);
                if let Some(guard) = &arm.guard {
                    let body = this.new_block();
                    this.condition(guard, body, otherwise);
                    this.block = body;
                }
                let value = this.in_arm(id, |this| this.expr(&arm.body));
                this.set(result.clone(), Value::Use(value), arm.span);
                this.goto(join);
            });
            self.block = otherwise;
        }
        // No arm matches: the compiler rules it out.
        self.block = join;
        let _ = span;
        result
    }

    fn closure(
        &mut self,
        params: &[(tree::Pat, Option<tree::Type>)],
        is_async: bool,
        output: Option<tree::Type>,
        body: &Expr,
        span: Span,
    ) -> Place {
        self.scopes.push(std::collections::HashMap::new());
        let arm = self.new_arm(Span { start: span.start, end: body.span.start.max(span.start) });
        let outer = self.open_body(BodyKind::Closure { is_async }, output, span);
        let id = self.body;
        self.graph.bodies[id as usize].arm = Some(arm);
        let value = self.in_arm(arm, |this| {
            for (pat, ty) in params {
                let local = this.new_local(None, ty.clone());
                this.graph.bodies[id as usize].params.push(local);
                this.bind_irrefutable(pat, Place::local(local), span);
            }
            this.expr(body)
        });
        let body = self.close_body(outer, value, span);
        self.scopes.pop();
        self.put(Value::Body(body), span)
    }
}

/// What stands before a body.
fn head_of(whole: Span, body: Span) -> Span {
    Span { start: whole.start, end: body.start.saturating_sub(1).max(whole.start) }
}

/// `StreamExt::next(&mut stream)` is `stream.next()`, `Option::take(&mut slot)` is `slot.take()`.
fn names_a_trait_method(path: &Path) -> bool {
    let method = path.last().starts_with(char::is_lowercase) && !matches!(path.last(), "from" | "default");
    let owner = path.segments.iter().rev().nth(1);
    method
        && owner.is_some_and(|owner| {
            let owner = owner.as_str();
            matches!(owner, "Stream" | "StreamExt" | "TryStream" | "TryStreamExt" | "Option" | "Result")
                || matches!(owner, "Future" | "FutureExt" | "TryFutureExt")
        })
}

fn is_condition(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Same(inner) | ExprKind::Not(inner) => is_condition(inner),
        ExprKind::Binary(Op::And | Op::Or, ..) | ExprKind::Let(..) => true,
        _ => false,
    }
}
