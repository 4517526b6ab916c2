//! `self` behind a pin: what hand-written `poll` functions call it.

use crate::syntax::tree::{Expr, ExprKind, Statement};

/// `self`, if an expression is another name for all of it and no copy: `&mut *self`, and behind a pin `self.project()`,
/// `Pin::get_mut(self)`.
pub(super) fn whole(expr: &Expr, pinned: bool) -> Option<&str> {
    match &expr.kind {
        ExprKind::Same(inner) => whole(inner, pinned),
        ExprKind::Path(path) => path.single().filter(|name| *name == "self"),
        ExprKind::Method { receiver, name, args, .. } if pinned && args.is_empty() && unpins(name) => {
            whole(receiver, pinned)
        }
        ExprKind::Call { callee, args } if pinned => match (&callee.kind, args.as_slice()) {
            (ExprKind::Path(path), [arg]) if path.segments.iter().any(|name| name == "Pin") => {
                whole(arg, pinned).filter(|_| unpins(path.last()))
            }
            _ => None,
        },
        ExprKind::Block { label: None, block } if pinned => match block.statements.as_slice() {
            [Statement::Expr { expr, semi: false }] => whole(expr, pinned),
            _ => None,
        },
        _ => None,
    }
}

/// Methods of a pin that give what it holds, as a whole or projected.
pub(crate) fn unpins(name: &str) -> bool {
    matches!(
        name,
        "project"
            | "project_ref"
            | "get_mut"
            | "get_ref"
            | "get_unchecked_mut"
            | "as_mut"
            | "as_ref"
            | "into_ref"
            | "into_inner"
    )
}
