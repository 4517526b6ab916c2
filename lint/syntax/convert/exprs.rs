//! Expressions, statements and blocks.

use super::{Context, name};
use crate::syntax::{
    macros,
    tree::{Arm, Block, Expr, ExprKind, Let, Macro, MacroKind, Op, Pat, Path, Span, Statement, Type},
};

impl Context {
    pub(in crate::syntax) fn block(self, block: &syn::Block) -> Block {
        Block { statements: self.statements(&block.stmts), span: self.block_span(block) }
    }

    pub(in crate::syntax) fn statements(self, statements: &[syn::Stmt]) -> Vec<Statement> {
        statements.iter().filter_map(|statement| self.statement(statement)).collect()
    }

    fn statement(self, statement: &syn::Stmt) -> Option<Statement> {
        Some(match statement {
            syn::Stmt::Local(node) => {
                let ty = match &node.pat {
                    syn::Pat::Type(typed) => Some(self.ty(&typed.ty)),
                    _ => None,
                };
                Statement::Let(Box::new(Let {
                    pat: self.pat(&node.pat),
                    ty,
                    init: node.init.as_ref().map(|init| self.expr(&init.expr)),
                    diverge: node.init.as_ref().and_then(|init| Some(self.expr(&init.diverge.as_ref()?.1))),
                    span: self.token_span(node.let_token.span).to(self.token_span(node.semi_token.span)),
                }))
            }
            syn::Stmt::Item(item) => Statement::Item(Box::new(self.item(item)?)),
            syn::Stmt::Expr(expr, semi) => Statement::Expr { expr: self.expr(expr), semi: semi.is_some() },
            syn::Stmt::Macro(node) => Statement::Expr {
                expr: self.macro_expr(&node.mac, self.span(node)),
                semi: node.semi_token.is_some(),
            },
        })
    }

    pub(in crate::syntax) fn macro_expr(self, mac: &syn::Macro, span: Span) -> Expr {
        let path = self.path(&mac.path);
        let kind = macros::read(self, mac);
        Expr { kind: ExprKind::Macro(Box::new(crate::syntax::tree::Macro { path, kind })), span }
    }

    fn boxed(self, expr: &syn::Expr) -> Box<Expr> {
        Box::new(self.expr(expr))
    }

    fn option(self, expr: Option<&syn::Expr>) -> Option<Box<Expr>> {
        expr.map(|expr| self.boxed(expr))
    }

    pub(in crate::syntax) fn expr(self, expr: &syn::Expr) -> Expr {
        let span = self.expr_span(expr);
        Expr { kind: self.kind(expr, span), span }
    }

    fn kind(self, expr: &syn::Expr, span: Span) -> ExprKind {
        match expr {
            syn::Expr::Path(node) => ExprKind::Path(self.path(&node.path)),
            syn::Expr::Lit(node) => match &node.lit {
                syn::Lit::Bool(lit) => ExprKind::Bool(lit.value),
                syn::Lit::Int(lit) => ExprKind::Int(lit.base10_digits().to_owned()),
                syn::Lit::Str(lit) => ExprKind::Str(lit.value()),
                _ => ExprKind::Str(String::new()),
            },
            syn::Expr::Call(node) => ExprKind::Call {
                callee: self.boxed(&node.func),
                args: node.args.iter().map(|arg| self.expr(arg)).collect(),
            },
            syn::Expr::MethodCall(node) => ExprKind::Method {
                receiver: self.boxed(&node.receiver),
                name: name(&node.method),
                name_span: self.ident_span(&node.method),
                turbofish: self.turbofish(node.turbofish.as_ref()),
                args: node.args.iter().map(|arg| self.expr(arg)).collect(),
            },
            syn::Expr::Field(node) => {
                let field = match &node.member {
                    syn::Member::Named(ident) => name(ident),
                    syn::Member::Unnamed(index) => index.index.to_string(),
                };
                ExprKind::Field(self.boxed(&node.base), field)
            }
            syn::Expr::Index(node) => ExprKind::Index(self.boxed(&node.expr), self.boxed(&node.index)),
            syn::Expr::Await(node) => ExprKind::Await(self.boxed(&node.base)),
            syn::Expr::Try(node) => ExprKind::Try(self.boxed(&node.expr)),
            syn::Expr::Unary(node) => match node.op {
                syn::UnOp::Not(_) => ExprKind::Not(self.boxed(&node.expr)),
                _ => ExprKind::Same(self.boxed(&node.expr)),
            },
            syn::Expr::Paren(node) => ExprKind::Same(self.boxed(&node.expr)),
            syn::Expr::Group(node) => ExprKind::Same(self.boxed(&node.expr)),
            syn::Expr::Reference(node) => ExprKind::Same(self.boxed(&node.expr)),
            syn::Expr::RawAddr(node) => ExprKind::Same(self.boxed(&node.expr)),
            syn::Expr::Cast(node) => ExprKind::Same(self.boxed(&node.expr)),
            syn::Expr::Binary(node) => self.binary(node),
            syn::Expr::Assign(node) => ExprKind::Assign(self.boxed(&node.left), self.boxed(&node.right)),
            syn::Expr::Tuple(node) => {
                ExprKind::Tuple(node.elems.iter().map(|elem| self.expr(elem)).collect())
            }
            syn::Expr::Array(node) => list(node.elems.iter().map(|elem| self.expr(elem)).collect()),
            syn::Expr::Repeat(node) => ExprKind::Other(vec![self.expr(&node.expr)]),
            syn::Expr::Struct(node) => ExprKind::Struct {
                path: self.path(&node.path),
                fields: node
                    .fields
                    .iter()
                    .map(|field| {
                        let key = match &field.member {
                            syn::Member::Named(ident) => name(ident),
                            syn::Member::Unnamed(index) => index.index.to_string(),
                        };
                        (key, self.expr(&field.expr))
                    })
                    .collect(),
                rest: self.option(node.rest.as_deref()),
            },
            syn::Expr::Range(node) => ExprKind::Range {
                parts: [&node.start, &node.end].into_iter().flatten().map(|part| self.expr(part)).collect(),
                bounded: node.end.is_some(),
            },
            syn::Expr::Block(node) => {
                ExprKind::Block { label: node.label.as_ref().map(label), block: self.block(&node.block) }
            }
            syn::Expr::Unsafe(node) => ExprKind::Block { label: None, block: self.block(&node.block) },
            syn::Expr::Const(node) => ExprKind::Block { label: None, block: self.block(&node.block) },
            syn::Expr::Async(node) => ExprKind::Async(self.block(&node.block)),
            syn::Expr::If(node) => ExprKind::If {
                cond: self.boxed(&node.cond),
                then: self.block(&node.then_branch),
                otherwise: node.else_branch.as_ref().map(|(_, expr)| self.boxed(expr)),
            },
            syn::Expr::Let(node) => ExprKind::Let(Box::new(self.pat(&node.pat)), self.boxed(&node.expr)),
            syn::Expr::Match(node) => ExprKind::Match {
                scrutinee: self.boxed(&node.expr),
                arms: node.arms.iter().map(|arm| self.arm(arm)).collect(),
            },
            syn::Expr::Loop(node) => {
                ExprKind::Loop { label: node.label.as_ref().map(label), body: self.block(&node.body) }
            }
            syn::Expr::While(node) => ExprKind::While {
                label: node.label.as_ref().map(label),
                cond: self.boxed(&node.cond),
                body: self.block(&node.body),
            },
            syn::Expr::ForLoop(node) => ExprKind::For {
                label: node.label.as_ref().map(label),
                pat: Box::new(self.pat(&node.pat)),
                iter: self.boxed(&node.expr),
                body: self.block(&node.body),
            },
            syn::Expr::Break(node) => ExprKind::Break {
                label: node.label.as_ref().map(lifetime),
                value: self.option(node.expr.as_deref()),
            },
            syn::Expr::Continue(node) => ExprKind::Continue { label: node.label.as_ref().map(lifetime) },
            syn::Expr::Return(node) => ExprKind::Return(self.option(node.expr.as_deref())),
            syn::Expr::Yield(node) => ExprKind::Yield(self.option(node.expr.as_deref())),
            syn::Expr::Closure(node) => ExprKind::Closure {
                params: node.inputs.iter().map(|pat| self.closure_param(pat)).collect(),
                is_async: node.asyncness.is_some(),
                output: self.output(&node.output),
                body: self.boxed(&node.body),
            },
            syn::Expr::Macro(node) => self.macro_expr(&node.mac, span).kind,
            _ => ExprKind::Other(Vec::new()),
        }
    }

    fn closure_param(self, pat: &syn::Pat) -> (Pat, Option<Type>) {
        match pat {
            syn::Pat::Type(typed) => (self.pat(&typed.pat), Some(self.ty(&typed.ty))),
            _ => (self.pat(pat), None),
        }
    }

    fn arm(self, arm: &syn::Arm) -> Arm {
        let guard = match &arm.pat {
            syn::Pat::Guard(node) => Some(self.expr(&node.guard)),
            _ => None,
        };
        let head = self.span(&arm.pat);
        Arm {
            pat: self.pat(&arm.pat),
            guard,
            body: self.expr(&arm.body),
            head,
            span: head.to(self.expr_span(&arm.body)),
        }
    }

    fn binary(self, node: &syn::ExprBinary) -> ExprKind {
        use syn::BinOp;
        let (left, right) = (self.boxed(&node.left), self.boxed(&node.right));
        let op = match node.op {
            BinOp::And(_) => Op::And,
            BinOp::Or(_) => Op::Or,
            BinOp::Eq(_) => Op::Equal,
            BinOp::Ne(_) => Op::NotEqual,
            BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => Op::Order,
            BinOp::Add(_)
            | BinOp::Sub(_)
            | BinOp::Mul(_)
            | BinOp::Div(_)
            | BinOp::Rem(_)
            | BinOp::BitXor(_)
            | BinOp::BitAnd(_)
            | BinOp::BitOr(_)
            | BinOp::Shl(_)
            | BinOp::Shr(_) => Op::Other,
            _ => return ExprKind::AssignOp(left, right),
        };
        ExprKind::Binary(op, left, right)
    }
}

fn label(label: &syn::Label) -> String {
    lifetime(&label.name)
}

fn lifetime(lifetime: &syn::Lifetime) -> String {
    lifetime.ident.to_string()
}

impl Span {
    /// From the start of one span to the end of another.
    pub(crate) fn to(self, end: Span) -> Span {
        Span { start: self.start, end: end.end.max(self.end) }
    }
}

/// An array is as good as a `vec![..]`.
fn list(elems: Vec<Expr>) -> ExprKind {
    let path = Path { segments: vec!["vec".to_owned()], arguments: Vec::new() };
    ExprKind::Macro(Box::new(Macro { path, kind: MacroKind::Plain(elems) }))
}
