//! Macros that hold code.

use super::Lowering;
use crate::{
    flow::graph::{BodyKind, Callee, End, Place, SelectArm, Value},
    syntax::tree::{self, Expr, ExprKind, Macro, MacroKind, Path, Span, Statement},
};

impl Lowering {
    pub(super) fn macro_value(&mut self, node: &Macro, span: Span) -> Place {
        match &node.kind {
            MacroKind::Select { arms, otherwise } => self.select(arms, otherwise.as_ref(), span),
            MacroKind::Join { futures, fallible } => {
                let futures = self.exprs(futures);
                self.put(Value::Join { futures, fallible: *fallible }, span)
            }
            MacroKind::Generator { body, fallible } => {
                let outer = self.open_body(BodyKind::Generator { fallible: *fallible }, None, span);
                let value = self.block(body);
                let body = self.close_body(outer, value, span);
                self.put(Value::Body(body), span)
            }
            MacroKind::Pin(exprs) => self.pin(exprs, span),
            MacroKind::Matches { .. } => {
                let whole = Expr { kind: ExprKind::Macro(Box::new(node.clone())), span };
                self.condition_value(&whole, span)
            }
            MacroKind::Panic(args) => {
                self.log_like(&node.path, args, span);
                let dead = self.new_block();
                self.end(End::Panic, dead);
                self.unit(span)
            }
            MacroKind::Bail(args) => {
                self.leave_with_error(args, span);
                self.unit(span)
            }
            MacroKind::Ensure(args) => {
                let Some((cond, rest)) = args.split_first() else { return self.unit(span) };
                let (fine, failed) = (self.new_block(), self.new_block());
                self.condition(cond, fine, failed);
                self.block = failed;
                self.leave_with_error(rest, span);
                self.block = fine;
                self.unit(span)
            }
            MacroKind::Ready(value) => {
                let value = self.expr(value);
                self.put(Value::Ready(value), span)
            }
            MacroKind::Plain(args) => {
                let args = self.exprs(args);
                self.put(Value::Macro { path: node.path.clone(), args }, span)
            }
        }
    }

    fn log_like(&mut self, path: &Path, args: &[Expr], span: Span) -> Place {
        let args = self.exprs(args);
        self.put(Value::Macro { path: path.clone(), args }, span)
    }

    fn leave_with_error(&mut self, args: &[Expr], span: Span) {
        let args = self.exprs(args);
        let text = self.put(Value::Opaque(args), span);
        let callee = Callee::Path(Path { segments: vec!["Err".to_owned()], arguments: Vec::new() });
        let error = self.put(Value::Call { callee, args: vec![text], name_span: span }, span);
        self.put(Value::Leave, span);
        let dead = self.new_block();
        self.read(&error);
        self.end(End::Return(error), dead);
    }

    /// `pin!(x)` gives `x`; `pin_mut!(x)` leaves the name as it is; `pin! { let x = e; }` declares.
    fn pin(&mut self, exprs: &[Expr], span: Span) -> Place {
        if let [Expr { kind: ExprKind::Block { block, .. }, .. }] = exprs
            && block.statements.iter().all(|statement| matches!(statement, Statement::Let(_)))
        {
            // The names belong to the scope around the macro.
            return self.statements(&block.statements, span);
        }
        let places = self.exprs(exprs);
        places.into_iter().next().unwrap_or_else(|| self.unit(span))
    }

    fn select(&mut self, arms: &[tree::SelectArm], otherwise: Option<&Expr>, span: Span) -> Place {
        let result = self.temp();
        let join = self.new_block();
        let mut heads = Vec::new();
        for arm in arms {
            heads.push(self.guarded_future(arm));
        }
        let before = self.block;
        let mut lowered = Vec::new();
        for (arm, future) in arms.iter().zip(heads) {
            let next = self.new_block();
            self.block = next;
            self.scopes.push(std::collections::HashMap::new());
            let pat = self.pattern(&arm.pat);
            let got = self.temp();
            self.read(&future);
            let value = if pat.irrefutable() {
                self.expr(&arm.body)
            } else {
                let id = self.new_arm(arm.head);
                self.in_arm(id, |this| this.expr(&arm.body))
            };
            self.scopes.pop();
            self.set(result.clone(), Value::Use(value), arm.span);
            self.goto(join);
            lowered.push(SelectArm { future, got, pat, next });
        }
        let fallback = otherwise.map(|expr| {
            let next = self.new_block();
            self.block = next;
            let id = self.new_arm(Span { start: expr.span.start, end: expr.span.start + 1 });
            let value = self.in_arm(id, |this| this.expr(expr));
            self.set(result.clone(), Value::Use(value), expr.span);
            self.goto(join);
            next
        });
        self.graph.blocks[before as usize].end = End::Select { arms: lowered, otherwise: fallback };
        self.block = join;
        let _ = span;
        result
    }

    /// The future of an arm, which is never polled where the arm's condition does not hold.
    fn guarded_future(&mut self, arm: &tree::SelectArm) -> Place {
        let Some(condition) = &arm.condition else { return self.expr(&arm.future) };
        let future = self.temp();
        let (on, off, join) = (self.new_block(), self.new_block(), self.new_block());
        self.condition(condition, on, off);
        self.block = on;
        let value = self.expr(&arm.future);
        self.set(future.clone(), Value::Use(value), arm.head);
        self.goto(join);
        self.block = off;
        self.set(future.clone(), Value::Never, arm.head);
        self.goto(join);
        self.block = join;
        future
    }
}
