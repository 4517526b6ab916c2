//! First and last token of an expression. The general way writes every token of the expression out to look at two of them, which
//! costs as much as parsing; here the common shapes are looked at directly.

use proc_macro2::Span;
use syn::{Expr, Member, spanned::Spanned};

/// The spans of the first and the last token, attributes aside.
pub(super) fn ends(expr: &Expr) -> (Span, Span) {
    match (first(expr), last(expr)) {
        (Some(first), Some(last)) => (first, last),
        _ => {
            let whole = expr.span();
            (whole, whole)
        }
    }
}

fn first(expr: &Expr) -> Option<Span> {
    match expr {
        Expr::Array(node) => Some(node.bracket_token.span.open()),
        Expr::Assign(node) => first(&node.left),
        Expr::Async(node) => Some(node.async_token.span),
        Expr::Await(node) => first(&node.base),
        Expr::Binary(node) => first(&node.left),
        Expr::Block(node) => Some(labelled(node.label.as_ref(), node.block.brace_token.span.open())),
        Expr::Break(node) => Some(node.break_token.span),
        Expr::Call(node) => first(&node.func),
        Expr::Cast(node) => first(&node.expr),
        Expr::Continue(node) => Some(node.continue_token.span),
        Expr::Field(node) => first(&node.base),
        Expr::ForLoop(node) => Some(labelled(node.label.as_ref(), node.for_token.span)),
        Expr::If(node) => Some(node.if_token.span),
        Expr::Index(node) => first(&node.expr),
        Expr::Let(node) => Some(node.let_token.span),
        Expr::Lit(node) => Some(node.lit.span()),
        Expr::Loop(node) => Some(labelled(node.label.as_ref(), node.loop_token.span)),
        Expr::Macro(node) => path_start(&node.mac.path),
        Expr::Match(node) => Some(node.match_token.span),
        Expr::MethodCall(node) => first(&node.receiver),
        Expr::Paren(node) => Some(node.paren_token.span.open()),
        Expr::Path(node) if node.qself.is_none() => path_start(&node.path),
        Expr::Reference(node) => Some(node.and_token.span),
        Expr::Return(node) => Some(node.return_token.span),
        Expr::Struct(node) if node.qself.is_none() => path_start(&node.path),
        Expr::Try(node) => first(&node.expr),
        Expr::Tuple(node) => Some(node.paren_token.span.open()),
        Expr::Unary(node) => match &node.op {
            syn::UnOp::Deref(token) => Some(token.span),
            syn::UnOp::Not(token) => Some(token.span),
            syn::UnOp::Neg(token) => Some(token.span),
            _ => None,
        },
        Expr::Unsafe(node) => Some(node.unsafe_token.span),
        Expr::While(node) => Some(labelled(node.label.as_ref(), node.while_token.span)),
        Expr::Closure(node) if node.lifetimes.is_none() && node.constness.is_none() => Some(
            node.asyncness
                .map(|token| token.span)
                .or(node.capture.map(|token| token.span))
                .unwrap_or(node.inputs_begin.span),
        ),
        _ => None,
    }
}

fn last(expr: &Expr) -> Option<Span> {
    match expr {
        Expr::Array(node) => Some(node.bracket_token.span.close()),
        Expr::Assign(node) => last(&node.right),
        Expr::Async(node) => Some(node.block.brace_token.span.close()),
        Expr::Await(node) => Some(node.await_token.span),
        Expr::Binary(node) => last(&node.right),
        Expr::Block(node) => Some(node.block.brace_token.span.close()),
        Expr::Break(node) => match (&node.expr, &node.label) {
            (Some(expr), _) => last(expr),
            (None, Some(label)) => Some(label.span()),
            (None, None) => Some(node.break_token.span),
        },
        Expr::Call(node) => Some(node.paren_token.span.close()),
        Expr::Closure(node) => last(&node.body),
        Expr::Continue(node) => {
            Some(node.label.as_ref().map_or(node.continue_token.span, syn::Lifetime::span))
        }
        Expr::Field(node) => Some(match &node.member {
            Member::Named(ident) => ident.span(),
            Member::Unnamed(index) => index.span,
        }),
        Expr::ForLoop(node) => Some(node.body.brace_token.span.close()),
        Expr::If(node) => match &node.else_branch {
            Some((_, branch)) => last(branch),
            None => Some(node.then_branch.brace_token.span.close()),
        },
        Expr::Index(node) => Some(node.bracket_token.span.close()),
        Expr::Let(node) => last(&node.expr),
        Expr::Lit(node) => Some(node.lit.span()),
        Expr::Loop(node) => Some(node.body.brace_token.span.close()),
        Expr::Macro(node) => Some(node.mac.delimiter.span().close()),
        Expr::Match(node) => Some(node.brace_token.span.close()),
        Expr::MethodCall(node) => Some(node.paren_token.span.close()),
        Expr::Paren(node) => Some(node.paren_token.span.close()),
        Expr::Path(node) if node.qself.is_none() => {
            let end = node.path.segments.last()?;
            end.arguments.is_none().then(|| end.ident.span())
        }
        Expr::Reference(node) => last(&node.expr),
        Expr::Return(node) => node.expr.as_ref().map_or(Some(node.return_token.span), |expr| last(expr)),
        Expr::Struct(node) => Some(node.brace_token.span.close()),
        Expr::Try(node) => Some(node.question_token.span),
        Expr::Tuple(node) => Some(node.paren_token.span.close()),
        Expr::Unary(node) => last(&node.expr),
        Expr::Unsafe(node) => Some(node.block.brace_token.span.close()),
        Expr::While(node) => Some(node.body.brace_token.span.close()),
        _ => None,
    }
}

fn labelled(label: Option<&syn::Label>, token: Span) -> Span {
    label.map_or(token, |label| label.name.span())
}

fn path_start(path: &syn::Path) -> Option<Span> {
    match path.leading_colon {
        Some(colon) => Some(colon.spans[0]),
        None => Some(path.segments.first()?.ident.span()),
    }
}

#[cfg(test)]
mod tests {
    use syn::{Expr, spanned::Spanned};

    use super::ends;

    /// Every expression of a text agrees with the span that its tokens give.
    #[test]
    fn the_direct_way_agrees_with_the_general_one() {
        let shapes = [
            "[a, b]",
            "a = b.c",
            "async move { a }",
            "a.b.await",
            "!a && -b < *c",
            "'l: { break 'l }",
            "break a.b",
            "::a::b(c)",
            "a as u8",
            "continue 'l",
            "a.0.b",
            "'l: for a in b {}",
            "if let Some(a) = b {} else if c {} else { d }",
            "a[b]",
            "\"text\"",
            "'l: loop {}",
            "a::b![c]",
            "match a { b => c }",
            "a.b::<C>(d)",
            "(a)",
            "a::<B>",
            "<A as B>::c",
            "&mut a",
            "return",
            "return a?",
            "A { b, ..c }",
            "()",
            "unsafe { a }",
            "'l: while a {}",
            "async move |a| b",
            "move |a| -> b { c }",
            "a..=b",
            "..",
            "const { a }",
        ];
        for shape in shapes {
            let expr: Expr = syn::parse_str(shape).unwrap_or_else(|error| panic!("{shape}: {error}"));
            let (first, last) = ends(&expr);
            let tokens = expr.span().byte_range();
            assert_eq!(first.byte_range().start..last.byte_range().end, tokens, "{shape}");
        }
    }
}
