//! Conditions: `if`, `while`, `matches!`, `&&`, `||`, `!`, `let` chains.

use super::Lowering;
use crate::{
    flow::graph::{BlockId, End, Place, Value},
    syntax::tree::{Block, Expr, ExprKind, MacroKind, Op, Span},
};

impl Lowering {
    /// Goes to `then` if the condition holds, else to `otherwise`. Names bound by `let` stay in the innermost scope.
    pub(super) fn condition(&mut self, cond: &Expr, then: BlockId, otherwise: BlockId) {
        match &cond.kind {
            ExprKind::Same(inner) => self.condition(inner, then, otherwise),
            ExprKind::Not(inner) => self.condition(inner, otherwise, then),
            ExprKind::Binary(Op::And, left, right) => {
                let middle = self.new_block();
                self.condition(left, middle, otherwise);
                self.block = middle;
                self.condition(right, then, otherwise);
            }
            ExprKind::Binary(Op::Or, left, right) => {
                let middle = self.new_block();
                self.condition(left, then, middle);
                self.block = middle;
                self.condition(right, then, otherwise);
            }
            ExprKind::Macro(node) if let MacroKind::Matches { value, pat, guard } = &node.kind => {
                let value = self.expr(value);
                let pat = self.pattern(pat);
                let matched = if guard.is_some() { self.new_block() } else { then };
                self.read(&value);
                self.end(End::Test { value, pat, yes: matched, no: otherwise }, matched);
                if let Some(guard) = guard {
                    self.condition(guard, then, otherwise);
                }
            }
            ExprKind::Let(pat, value) => {
                let value = self.expr(value);
                let pat = self.pattern(pat);
                self.read(&value);
                self.end(End::Test { value, pat, yes: then, no: otherwise }, then);
            }
            _ => {
                let cond = self.expr(cond);
                self.read(&cond);
                self.end(End::Branch { cond, then, otherwise }, then);
            }
        }
    }

    /// A condition as a value.
    pub(super) fn condition_value(&mut self, cond: &Expr, span: Span) -> Place {
        let result = self.temp();
        let (then, otherwise, join) = (self.new_block(), self.new_block(), self.new_block());
        self.in_scope(|this| {
            this.condition(cond, then, otherwise);
            for (block, value) in [(then, true), (otherwise, false)] {
                this.block = block;
                this.set(result.clone(), Value::Bool(value), span);
                this.goto(join);
            }
        });
        self.block = join;
        result
    }

    pub(super) fn conditional(
        &mut self,
        cond: &Expr,
        then: &Block,
        otherwise: Option<&Expr>,
        span: Span,
    ) -> Place {
        let result = self.temp();
        let then_arm = self.new_arm(span);
        let (yes, no, join) = (self.new_block(), self.new_block(), self.new_block());
        self.in_scope(|this| {
            this.condition(cond, yes, no);
            this.block = yes;
            let value = this.in_arm(then_arm, |this| this.block(then));
            this.set(result.clone(), Value::Use(value), span);
            this.goto(join);
        });
        self.block = no;
        match otherwise {
            None => {
                let value = self.unit(span);
                self.set(result.clone(), Value::Use(value), span);
            }
            Some(expr) => {
                let arm = self.new_arm(Span { start: expr.span.start, end: expr.span.start + 1 });
                let value = self.in_arm(arm, |this| this.expr(expr));
                self.set(result.clone(), Value::Use(value), span);
            }
        }
        self.goto(join);
        self.block = join;
        result
    }
}
