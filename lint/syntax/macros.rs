//! Macros whose bodies hold code.

use proc_macro2::{TokenStream, TokenTree};
use syn::{
    Token,
    parse::{ParseStream, Parser},
    punctuated::Punctuated,
    token,
};

use super::{
    convert::Context,
    tree::{Block, Expr, ExprKind, MacroKind, Path, SelectArm, Span},
};

/// Reads a macro's body by the macro's name. A body that does not read as the macro's own syntax is kept as plain arguments.
pub(super) fn read(context: Context, mac: &syn::Macro) -> MacroKind {
    let name = mac.path.segments.last().map_or_else(String::new, |segment| segment.ident.to_string());
    let body = &mac.tokens;
    special(context, &name, body).unwrap_or_else(|| MacroKind::Plain(arguments(context, body.clone())))
}

fn special(context: Context, name: &str, body: &TokenStream) -> Option<MacroKind> {
    let arguments = || arguments(context, body.clone());
    Some(match name {
        "select" | "select_biased" => {
            let (arms, otherwise) =
                (|input: ParseStream<'_>| select(context, input)).parse2(body.clone()).ok()?;
            MacroKind::Select { arms, otherwise }
        }
        "stream" | "try_stream" | "gen_stream" => {
            let statements = syn::Block::parse_within.parse2(without_for_await(body.clone())).ok()?;
            let span = Span::default();
            let body = Block { statements: context.statements(&statements), span };
            MacroKind::Generator { body, fallible: name == "try_stream" }
        }
        "join" => MacroKind::Join { futures: arguments(), fallible: false },
        "try_join" => MacroKind::Join { futures: arguments(), fallible: true },
        "pin" | "pin_mut" => MacroKind::Pin(pinned(context, body)),
        "matches" => (|input: ParseStream<'_>| matches(context, input)).parse2(body.clone()).ok()?,
        "panic" | "unreachable" | "todo" | "unimplemented" => MacroKind::Panic(arguments()),
        "bail" => MacroKind::Bail(arguments()),
        "ensure" => MacroKind::Ensure(arguments()),
        "ready" => MacroKind::Ready(arguments().into_iter().next()?),
        _ => return None,
    })
}

/// `pin!(a)`, `pin_mut!(a, b)`, and tokio's `pin! { let a = expr; }`, whose bindings read as a block.
fn pinned(context: Context, body: &TokenStream) -> Vec<Expr> {
    let args = arguments(context, body.clone());
    if !args.is_empty() {
        return args;
    }
    let statements = syn::Block::parse_within.parse2(body.clone()).unwrap_or_default();
    let block = Block { statements: context.statements(&statements), span: Span::default() };
    vec![Expr { kind: ExprKind::Block { label: None, block }, span: Span::default() }]
}

fn matches(context: Context, input: ParseStream<'_>) -> syn::Result<MacroKind> {
    let value = context.expr(&input.parse()?);
    input.parse::<Token![,]>()?;
    let pat = context.pat(&syn::Pat::parse_multi_with_leading_vert(input)?);
    let guard = match input.parse::<Option<Token![if]>>()? {
        Some(_) => Some(context.expr(&input.parse()?)),
        None => None,
    };
    input.parse::<Option<Token![,]>>()?;
    Ok(MacroKind::Matches { value, pat, guard })
}

fn select(context: Context, input: ParseStream<'_>) -> syn::Result<(Vec<SelectArm>, Option<Expr>)> {
    let mut arms = Vec::new();
    let mut otherwise = None;
    if input.peek(syn::Ident) && input.peek2(Token![;]) {
        input.parse::<syn::Ident>()?;
        input.parse::<Token![;]>()?;
    }
    while !input.is_empty() {
        let marker = input.peek(syn::Ident) && input.peek2(Token![=>]);
        if input.peek(Token![else]) || marker {
            // `else`, and the `complete` and `default` of the futures crate.
            input.parse::<TokenTree>()?;
            input.parse::<Token![=>]>()?;
            otherwise = Some(handler(context, input)?);
            continue;
        }
        let pat = syn::Pat::parse_multi_with_leading_vert(input)?;
        let head = context.span(&pat);
        let pat = context.pat(&pat);
        input.parse::<Token![=]>()?;
        let future = context.expr(&input.parse()?);
        let mut condition = None;
        if input.peek(Token![,]) && input.peek2(Token![if]) {
            input.parse::<Token![,]>()?;
            input.parse::<Token![if]>()?;
            condition = Some(context.expr(&input.parse()?));
        }
        input.parse::<Token![=>]>()?;
        let body = handler(context, input)?;
        let span = head.to(body.span);
        let head = head.to(future.span);
        arms.push(SelectArm { pat, future, condition, body, head, span });
    }
    Ok((arms, otherwise))
}

/// What stands after `=>`: a block, whose comma may be missing, or an expression.
fn handler(context: Context, input: ParseStream<'_>) -> syn::Result<Expr> {
    let body = if input.peek(token::Brace) && block_stands_alone(input) {
        let block: syn::Block = input.parse()?;
        let span = context.block_span(&block);
        Expr { kind: ExprKind::Block { label: None, block: context.block(&block) }, span }
    } else {
        context.expr(&input.parse()?)
    };
    input.parse::<Option<Token![,]>>()?;
    Ok(body)
}

/// Whether the block at hand is the whole handler and not the start of `{ .. }.method()`.
fn block_stands_alone(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.parse::<syn::Block>().is_ok() && !ahead.peek(Token![.]) && !ahead.peek(Token![?])
}

/// Comma-separated arguments that read as expressions; `name = value` counts as its value, `%x` and `?x` (of log macros) as `x`.
/// Names that a format string captures (`"lost {error}"`) come last.
fn arguments(context: Context, body: TokenStream) -> Vec<Expr> {
    let mut captured = Vec::new();
    for token in body.clone() {
        if let TokenTree::Literal(literal) = &token {
            let span = context.token_span(literal.span());
            captured.extend(captures(&literal.to_string()).into_iter().map(|name| {
                let path = Path { segments: vec![name], arguments: Vec::new() };
                Expr { kind: ExprKind::Path(path), span }
            }));
        }
    }
    let mut found = plain_arguments(context, body);
    found.append(&mut captured);
    found
}

/// The names in the braces of a string literal.
fn captures(literal: &str) -> Vec<String> {
    if !literal.contains('"') {
        return Vec::new();
    }
    let text = literal.replace("{{", "");
    let name = |part: &str| {
        let name = part.split(['}', ':']).next().unwrap_or_default();
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        is_name.then(|| name.to_owned())
    };
    text.split('{').skip(1).filter_map(name).collect()
}

fn plain_arguments(context: Context, body: TokenStream) -> Vec<Expr> {
    let whole = Punctuated::<syn::Expr, Token![,]>::parse_terminated.parse2(body.clone());
    if let Ok(list) = whole {
        return list.iter().map(|expr| argument(context, expr)).collect();
    }
    split(body)
        .into_iter()
        .filter_map(strip_field)
        .flat_map(|part| match (syn::parse2(part.clone()), group(part)) {
            (Ok(expr), _) => vec![argument(context, &expr)],
            // `{ "pages": pages }`
            (Err(_), Some(inner)) => plain_arguments(context, inner),
            (Err(_), None) => Vec::new(),
        })
        .collect()
}

/// What stands in the brackets that are all of an argument.
fn group(part: TokenStream) -> Option<TokenStream> {
    let mut tokens = part.into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(group)), None) => Some(group.stream()),
        _ => None,
    }
}

fn argument(context: Context, expr: &syn::Expr) -> Expr {
    match expr {
        syn::Expr::Assign(node) => context.expr(&node.right),
        _ => context.expr(expr),
    }
}

fn split(body: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![Vec::new()];
    for token in body {
        match &token {
            TokenTree::Punct(punct) if matches!(punct.as_char(), ',' | ';') => parts.push(Vec::new()),
            _ => {
                if let Some(part) = parts.last_mut() {
                    part.push(token);
                }
            }
        }
    }
    parts
}

/// Drops a field name (`name =`, `target:`) and the sigils of a log macro.
fn strip_field(mut part: Vec<TokenTree>) -> Option<TokenStream> {
    let equals =
        part.iter().position(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '='));
    if let Some(at) = equals.filter(|at| *at > 0) {
        part.drain(..=at);
    }
    if part.len() > 2 && matches!(part.get(1), Some(TokenTree::Punct(punct)) if punct.as_char() == ':') {
        part.drain(..2);
    }
    while matches!(part.first(), Some(TokenTree::Punct(punct)) if matches!(punct.as_char(), '%' | '?')) {
        part.remove(0);
    }
    (!part.is_empty()).then(|| part.into_iter().collect())
}

/// Turns `for await` into `for`, at any depth: an async iteration walks like any other.
fn without_for_await(body: TokenStream) -> TokenStream {
    let mut previous_is_for = false;
    body.into_iter()
        .filter_map(|token| {
            let is = |word: &str| matches!(&token, TokenTree::Ident(ident) if ident == word);
            if previous_is_for && is("await") {
                return None;
            }
            previous_is_for = is("for");
            Some(match token {
                TokenTree::Group(group) => {
                    let mut inner =
                        proc_macro2::Group::new(group.delimiter(), without_for_await(group.stream()));
                    inner.set_span(group.span());
                    TokenTree::Group(inner)
                }
                other => other,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::syntax::{
        Interest, parse,
        tree::{ExprKind, Item, MacroKind, Statement},
    };

    fn first_macro(text: &str) -> MacroKind {
        let file = parse(&format!("async fn f() {{ {text} }}"), &Interest::ALL).unwrap();
        let Some(Item::Function(function)) = file.items.into_iter().next() else { panic!("no function") };
        match function.body.unwrap().statements.into_iter().next() {
            Some(Statement::Expr { expr, .. }) => match expr.kind {
                ExprKind::Macro(node) => node.kind,
                kind => panic!("{kind:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn select_reads_arms_guards_and_else() {
        let text = "tokio::select! { biased; _ = stop.cancelled() => break, Some(x) = s.next(), if on => { go(x) } \
                    y = async { 1 } => {} else => return }";
        let MacroKind::Select { arms, otherwise } = first_macro(text) else { panic!("no select") };
        assert_eq!(arms.len(), 3);
        assert!(arms[1].condition.is_some());
        assert!(otherwise.is_some());
    }

    #[test]
    fn the_futures_select_has_complete_and_default() {
        let text = "select! { a = x.next() => a, complete => break, default => {} }";
        let MacroKind::Select { arms, otherwise } = first_macro(text) else { panic!("no select") };
        assert_eq!((arms.len(), otherwise.is_some()), (1, true));
    }

    #[test]
    fn generators_take_for_await() {
        let text = "stream! { loop { for await x in s { yield x; } } }";
        assert!(matches!(first_macro(text), MacroKind::Generator { fallible: false, .. }));
    }

    #[test]
    fn log_macros_keep_their_values() {
        let MacroKind::Plain(args) = first_macro("warn!(%error, ?delay, attempt = n, \"lost {}\", why);")
        else {
            panic!("not plain")
        };
        assert_eq!(args.len(), 5);
    }

    #[test]
    fn objects_keep_their_values() {
        let text = "json!({ \"pages\": pages, \"by\": [{ \"name\": page.name(), \"no\": null }] });";
        let MacroKind::Plain(args) = first_macro(text) else { panic!("not plain") };
        assert!(matches!(&args[..], [pages, name, _] if matches!(&pages.kind, ExprKind::Path(_))
            && matches!(&name.kind, ExprKind::Method { .. })));
    }

    #[test]
    fn format_strings_capture_names() {
        let MacroKind::Plain(args) = first_macro("warn!(\"{{}} {error:#} {} {0} {wait:?}\", x);") else {
            panic!("not plain")
        };
        let names: Vec<_> = args
            .iter()
            .filter_map(|arg| if let ExprKind::Path(path) = &arg.kind { Some(path.last()) } else { None })
            .collect();
        assert_eq!(names, ["x", "error", "wait"]);
    }
}
