//! Numbers that count: what gives the next one.

use crate::syntax::tree::{Block, Expr, ExprKind, Op, Path, Statement};

/// Whether an expression may give the next number after `target`.
pub(super) fn steps(expr: &Expr, target: &Path) -> bool {
    let last = |block: &Block| match block.statements.last() {
        Some(Statement::Expr { expr, semi: false }) => steps(expr, target),
        _ => false,
    };
    match &expr.kind {
        ExprKind::Same(inner) => steps(inner, target),
        ExprKind::Binary(Op::Other, operand, _) => {
            matches!(&operand.kind, ExprKind::Path(source) if source == target)
        }
        ExprKind::Method { receiver, name, .. } if name.ends_with("_add") => {
            matches!(&receiver.kind, ExprKind::Path(source) if source == target)
        }
        ExprKind::Block { block, .. } => last(block),
        ExprKind::If { then, otherwise, .. } => {
            last(then) || otherwise.as_ref().is_some_and(|otherwise| steps(otherwise, target))
        }
        ExprKind::Match { arms, .. } => arms.iter().any(|arm| steps(&arm.body, target)),
        _ => false,
    }
}
