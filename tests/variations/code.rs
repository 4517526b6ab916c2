//! A case as syn sees it, with the bodies of macros opened so that a visitor meets their code.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Block, Expr, Pat, Stmt, Token,
    parse::{ParseStream, Parser},
    parse_quote,
    punctuated::Punctuated,
    spanned::Spanned,
    visit::Visit,
    visit_mut::{self, VisitMut},
};

/// Parses a case and opens its macros. The result is good for looking and for spans; it is not the same program.
pub(super) fn open(text: &str) -> syn::File {
    let mut file = syn::parse_file(text).unwrap();
    Open.visit_file_mut(&mut file);
    file
}

struct Open;

impl VisitMut for Open {
    fn visit_expr_mut(&mut self, node: &mut Expr) {
        if let Expr::Macro(found) = node {
            *node = opened(&found.mac);
        }
        visit_mut::visit_expr_mut(self, node);
    }

    fn visit_stmt_mut(&mut self, node: &mut Stmt) {
        if let Stmt::Macro(found) = node {
            *node = Stmt::Expr(opened(&found.mac), found.semi_token);
        }
        visit_mut::visit_stmt_mut(self, node);
    }
}

/// The code in a macro: a block whose first statement is the macro's path.
fn opened(mac: &syn::Macro) -> Expr {
    let path = &mac.path;
    let name = path.segments.last().unwrap().ident.to_string();
    let body = mac.tokens.clone();
    let inner: Vec<Stmt> = match name.as_str() {
        "select" => select.parse2(body).unwrap(),
        "stream" | "try_stream" => {
            let stmts = Block::parse_within.parse2(body).unwrap();
            vec![Stmt::Expr(parse_quote!(async move { #(#stmts)* }), None)]
        }
        "matches" => {
            let read = |input: ParseStream<'_>| {
                let value: Expr = input.parse()?;
                input.parse::<Token![,]>()?;
                let pat = guarded(input)?;
                input.parse::<Option<Token![,]>>()?;
                Ok(vec![arm(&value, &pat, &parse_quote!({}))])
            };
            read.parse2(body).unwrap()
        }
        _ => arguments(body).into_iter().map(|expr| Stmt::Expr(expr, Some(Default::default()))).collect(),
    };
    let mut block: Block = parse_quote!({ #path; #(#inner)* });
    block.brace_token = syn::token::Brace(mac.span());
    Expr::Block(syn::ExprBlock { attrs: Vec::new(), label: None, block })
}

/// The first segment of the macro's path, where a block is an opened macro.
pub(super) fn macro_name(block: &Block) -> Option<String> {
    match block.stmts.first()? {
        Stmt::Expr(Expr::Path(node), Some(_)) => Some(node.path.segments[0].ident.to_string()),
        _ => None,
    }
}

/// A pattern and its guard, if any.
fn guarded(input: ParseStream<'_>) -> syn::Result<Pat> {
    let pat = Pat::parse_multi_with_leading_vert(input)?;
    if input.parse::<Option<Token![if]>>()?.is_none() {
        return Ok(pat);
    }
    let guard: Expr = input.parse()?;
    Ok(Pat::Guard(syn::PatGuard {
        attrs: Vec::new(),
        pat: Box::new(pat),
        if_token: Default::default(),
        guard: Box::new(guard),
    }))
}

fn arm(value: &Expr, pat: &Pat, body: &Expr) -> Stmt {
    let body = syn::Arm {
        attrs: Vec::new(),
        pat: pat.clone(),
        fat_arrow_token: Default::default(),
        body: Box::new(body.clone()),
        comma: None,
    };
    Stmt::Expr(
        Expr::Match(syn::ExprMatch {
            attrs: Vec::new(),
            match_token: Default::default(),
            expr: Box::new(value.clone()),
            brace_token: Default::default(),
            arms: vec![body],
        }),
        None,
    )
}

/// The arms of `select!`, each as a `match` of its future.
fn select(input: ParseStream<'_>) -> syn::Result<Vec<Stmt>> {
    let mut arms = Vec::new();
    if input.peek(syn::Ident) && input.peek2(Token![;]) {
        input.parse::<syn::Ident>()?;
        input.parse::<Token![;]>()?;
    }
    while !input.is_empty() {
        let otherwise = input.peek(Token![else]) || input.peek(syn::Ident) && input.peek2(Token![=>]);
        let mut head = None;
        if otherwise {
            input.parse::<TokenTree>()?;
        } else {
            let pat = Pat::parse_multi_with_leading_vert(input)?;
            input.parse::<Token![=]>()?;
            head = Some((pat, input.parse::<Expr>()?));
            if input.parse::<Option<Token![,]>>()?.is_some() {
                input.parse::<Token![if]>()?;
                arms.push(Stmt::Expr(input.parse()?, Some(Default::default())));
            }
        }
        input.parse::<Token![=>]>()?;
        let body = Expr::parse_with_earlier_boundary_rule(input)?;
        input.parse::<Option<Token![,]>>()?;
        arms.push(match head {
            Some((pat, future)) => arm(&future, &pat, &body),
            None => Stmt::Expr(body, Some(Default::default())),
        });
    }
    Ok(arms)
}

/// Comma-separated expressions, without the field names and sigils of log macros, and the keys of JSON objects.
fn arguments(body: TokenStream) -> Vec<Expr> {
    if let Ok(list) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(body.clone()) {
        let plain = |expr| if let Expr::Assign(node) = expr { *node.right } else { expr };
        return list.into_iter().map(plain).collect();
    }
    let mut parts = vec![Vec::new()];
    for token in body {
        if is_punct(&token, ',') || is_punct(&token, ';') {
            parts.push(Vec::new());
        } else {
            parts.last_mut().unwrap().push(token);
        }
    }
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    let read = |part: Vec<TokenTree>| match (syn::parse2(bare(part.clone())), part.as_slice()) {
        (Ok(expr), _) => vec![expr],
        (Err(_), [TokenTree::Group(group)]) => arguments(group.stream()),
        (Err(error), _) => panic!("{error}: {part:?}"),
    };
    parts.flat_map(read).collect()
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// What is logged by `name = %value`, `target: value` or `?value`.
fn bare(mut part: Vec<TokenTree>) -> TokenStream {
    let named = part.iter().position(|token| is_punct(token, '=') || is_punct(token, ':'));
    let name = |token: &TokenTree| {
        matches!(token, TokenTree::Ident(_) | TokenTree::Literal(_)) || is_punct(token, '.')
    };
    let longer = |at: usize| part.get(at + 1).is_some_and(|next| is_punct(next, '=') || is_punct(next, ':'));
    if let Some(at) = named.filter(|at| *at > 0 && !longer(*at) && part[..*at].iter().all(name)) {
        part.drain(..=at);
    }
    if is_punct(&part[0], '%') || is_punct(&part[0], '?') {
        part.remove(0);
    }
    part.into_iter().collect()
}

/// The first segments of all paths of a case that name a crate.
pub(super) fn roots(text: &str) -> BTreeSet<String> {
    struct Roots(BTreeSet<String>);
    impl<'a> Visit<'a> for Roots {
        fn visit_path(&mut self, node: &'a syn::Path) {
            if node.segments.len() > 1 {
                self.0.insert(node.segments[0].ident.to_string());
            }
            syn::visit::visit_path(self, node);
        }
        fn visit_use_path(&mut self, node: &'a syn::UsePath) {
            self.0.insert(node.ident.to_string());
        }
    }
    let mut found = Roots(BTreeSet::new());
    let file = open(text);
    found.visit_file(&file);
    let imported: BTreeSet<String> =
        super::names::imports(&file).into_iter().map(|import| import.name).collect();
    let is_crate = |name: &String| {
        name.starts_with(char::is_lowercase)
            && !matches!(name.as_str(), "crate" | "self" | "super")
            && !imported.contains(name)
    };
    found.0.into_iter().filter(is_crate).collect()
}
