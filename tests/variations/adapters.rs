//! Takes `Result` and `Option` apart in another way with the same meaning.

use syn::{
    Arm, Block, Expr, Pat, Stmt,
    visit::{self, Visit},
};

use super::{
    code,
    edits::{Edits, range},
    reorder::line_end,
};

/// What is written in another way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Adapter {
    /// `if let Err(e) = v { .. }` as `let _ = v.map_err(|e| { .. });`
    MapErr,
    /// `if let Err(e) = v { .. }` as `let _ = v.inspect_err(|e| { .. });`
    InspectErr,
    /// `Ok(Some(x)) = v` as `Some(x) = v.ok().flatten()`, and its like.
    Flatten,
    /// `Some(Ok(x))`, `Some(Err(e))` and `None` as a `match` in a `match`.
    Nest,
}

pub(super) fn apply(text: &str, adapter: Adapter) -> Option<String> {
    let file = code::open(text);
    let mut found = Rewrite { text, adapter, edits: Edits::default() };
    found.visit_file(&file);
    (!found.edits.is_empty()).then(|| found.edits.apply(text))
}

struct Rewrite<'t> {
    text: &'t str,
    adapter: Adapter,
    edits: Edits,
}

/// Whether a closure may hold the block: nothing in it waits or leaves.
fn plain(block: &Block) -> bool {
    struct Plain(bool);
    impl<'a> Visit<'a> for Plain {
        fn visit_expr(&mut self, node: &'a Expr) {
            let leaves = matches!(
                node,
                Expr::Await(_) | Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) | Expr::Try(_)
            );
            self.0 &= !leaves;
            visit::visit_expr(self, node);
        }
    }
    let mut found = Plain(true);
    found.visit_block(block);
    found.0
}

/// The only argument of a tuple pattern with this name.
fn inside<'p>(pat: &'p Pat, name: &str) -> Option<&'p Pat> {
    let Pat::TupleStruct(node) = pat else { return None };
    (node.path.is_ident(name) && node.elems.len() == 1).then(|| &node.elems[0])
}

impl Rewrite<'_> {
    fn of(&self, node: &impl syn::spanned::Spanned) -> &str {
        &self.text[range(node)]
    }

    /// `if let Err(e) = v { .. }` that stands as a statement.
    fn log_only(&mut self, node: &syn::ExprIf) -> bool {
        let method = match self.adapter {
            Adapter::MapErr => "map_err",
            Adapter::InspectErr => "inspect_err",
            _ => return false,
        };
        let Expr::Let(head) = &*node.cond else { return false };
        let Some(error @ Pat::Ident(_)) = inside(&head.pat, "Err") else { return false };
        if node.else_branch.is_some() || !plain(&node.then_branch) {
            return false;
        }
        let (error, value) = (self.of(error), self.of(&*head.expr));
        let begin = format!("let _ = {value}.{method}(|{error}|");
        self.edits.replace(range(&node.if_token).start..range(head).end, begin);
        self.edits.insert(range(&node.then_branch).end, ");");
        true
    }

    fn flatten(&mut self, pat: &Pat, value: &Expr) {
        if self.adapter != Adapter::Flatten {
            return;
        }
        let (inner, adapter) = if let Some(inner) = inside(pat, "Ok") {
            match inside(inner, "Some") {
                Some(inner) => (inner, ".ok().flatten()"),
                None => (inner, ".ok()"),
            }
        } else if let Some(inner) = inside(pat, "Some").and_then(|inner| inside(inner, "Ok")) {
            (inner, ".and_then(Result::ok)")
        } else {
            return;
        };
        self.edits.replace(range(pat), format!("Some({})", self.of(inner)));
        self.edits.insert(range(value).end, adapter);
    }

    /// The arms of the constructor that has two or more move into a `match` of their own.
    fn nest(&mut self, node: &syn::ExprMatch) {
        let catches = |arm: &Arm| {
            let pat = if let Pat::Guard(guarded) = &arm.pat { &*guarded.pat } else { &arm.pat };
            matches!(pat, Pat::Wild(_) | Pat::Ident(_) | Pat::Or(_))
                && !matches!(pat, Pat::Ident(binding) if binding.ident == "None")
        };
        if self.adapter != Adapter::Nest || node.arms.iter().any(catches) {
            return;
        }
        for name in ["Some", "Ok"] {
            let pat = |arm: &'_ Arm| match &arm.pat {
                Pat::Guard(guarded) => inside(&guarded.pat, name).map(range),
                pat => inside(pat, name).map(range),
            };
            let whole = |arm: &'_ Arm| match &arm.pat {
                Pat::Guard(guarded) => range(&*guarded.pat),
                pat => range(pat),
            };
            let first = node.arms.iter().position(|arm| pat(arm).is_some());
            let last = node.arms.iter().rposition(|arm| pat(arm).is_some());
            let (Some(first), Some(last)) = (first, last) else { continue };
            let group = &node.arms[first..=last];
            if first == last || group.iter().any(|arm| pat(arm).is_none()) {
                continue;
            }
            self.edits.insert(range(&group[0]).start, format!("{name}(item) => match item {{\n"));
            for arm in group {
                let inner = pat(arm).map(|inner| self.text[inner].to_owned()).unwrap_or_default();
                self.edits.replace(whole(arm), inner);
            }
            self.edits.insert(line_end(self.text, range(&group[group.len() - 1]).end), "}\n");
            return;
        }
    }
}

impl<'a> Visit<'a> for Rewrite<'_> {
    fn visit_expr_let(&mut self, node: &'a syn::ExprLet) {
        self.flatten(&node.pat, &node.expr);
        visit::visit_expr_let(self, node);
    }

    fn visit_local(&mut self, node: &'a syn::Local) {
        if let Some(init) = node.init.as_ref().filter(|init| init.diverge.is_some()) {
            self.flatten(&node.pat, &init.expr);
        }
        visit::visit_local(self, node);
    }

    fn visit_expr_match(&mut self, node: &'a syn::ExprMatch) {
        self.nest(node);
        visit::visit_expr_match(self, node);
    }

    fn visit_block(&mut self, node: &'a Block) {
        for stmt in &node.stmts {
            match stmt {
                Stmt::Expr(Expr::If(inner), _) if self.log_only(inner) => {
                    self.visit_block(&inner.then_branch)
                }
                stmt => self.visit_stmt(stmt),
            }
        }
    }
}
