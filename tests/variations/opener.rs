//! Moves the expression that a local is made of, its opener among them, somewhere else.

use std::collections::BTreeMap;

use syn::{
    Attribute, Expr, FnArg, Local, Pat, Signature, Stmt, Type, Visibility,
    visit::{self, Visit},
};

use super::{
    code,
    edits::{Edits, range},
    names::{self, Own, last},
};

/// Where the expression moves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// `async { .. }.await`
    Block,
    /// `let open = async || ..; open().await`
    Closure,
    /// A function of its own, whose type is that of the function around it with the stream's type in it.
    Function,
}

pub(super) fn apply(text: &str, place: Place) -> Option<String> {
    let file = code::open(text);
    let own = Own::of(&file);
    let anyhow = names::imports(&file).iter().any(|import| import.path == "anyhow::Result");
    let mut found =
        Openers { text, place, own: &own, anyhow, edits: Edits::default(), around: None, count: 0 };
    found.visit_file(&file);
    (!found.edits.is_empty()).then(|| found.edits.apply(text))
}

/// The function around an expression.
#[derive(Clone)]
struct Around {
    sig: Signature,
    /// The last word of its return type's head, with what stands before it: `anyhow::Result`.
    output: String,
    /// Where a function beside it may stand.
    start: usize,
    /// Whether it stands in an `impl`.
    method: bool,
}

struct Openers<'t> {
    text: &'t str,
    place: Place,
    own: &'t Own,
    /// Whether `Result` is anyhow's.
    anyhow: bool,
    edits: Edits,
    around: Option<Around>,
    count: usize,
}

/// What makes an expression fit to be moved.
#[derive(Default)]
struct Content {
    waits: bool,
    questions: bool,
    leaves: bool,
    names: Vec<String>,
}

impl Content {
    fn of(expr: &Expr) -> Self {
        let mut found = Self::default();
        found.visit_expr(expr);
        found
    }
}

impl<'a> Visit<'a> for Content {
    fn visit_expr(&mut self, node: &'a Expr) {
        match node {
            Expr::Await(_) => self.waits = true,
            Expr::Try(_) => self.questions = true,
            Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => self.leaves = true,
            Expr::Path(path) => {
                if let Some(name) = path.path.get_ident() {
                    self.names.push(name.to_string());
                }
            }
            // What is in them waits and leaves on its own account.
            Expr::Async(_) => return,
            _ => {}
        }
        visit::visit_expr(self, node);
    }
}

impl Openers<'_> {
    fn of(&self, node: &impl syn::spanned::Spanned) -> &str {
        &self.text[range(node)]
    }

    fn around(&self, attrs: &[Attribute], vis: &Visibility, sig: &Signature, method: bool) -> Around {
        let output = names::output(sig).map(|ty| self.of(&ty).to_owned()).unwrap_or_default();
        let item = match vis {
            Visibility::Inherited => range(sig).start,
            vis => range(vis).start,
        };
        let start = attrs.iter().map(|attr| range(attr).start).min().unwrap_or(item);
        Around { sig: sig.clone(), output, start, method }
    }

    fn is_anyhow(&self) -> bool {
        let Some(around) = &self.around else { return false };
        around.output.starts_with("anyhow::Result") || self.anyhow && around.output.starts_with("Result")
    }

    fn local(&mut self, node: &Local) {
        let Some(init) = &node.init else { return };
        let (body, question) = match &*init.expr {
            Expr::Try(inner) => (&*inner.expr, "?"),
            expr => (expr, ""),
        };
        if !matches!(body, Expr::Await(_) | Expr::MethodCall(_) | Expr::Call(_) | Expr::Try(_)) {
            return;
        }
        let content = Content::of(body);
        let fails = content.questions;
        if content.leaves || !content.waits {
            return;
        }
        if self.place == Place::Function {
            self.function(node, &content);
            return;
        }
        if fails && (question.is_empty() || !self.is_anyhow()) {
            return;
        }
        self.count += 1;
        let (name, source) = (format!("open_{}", self.count), self.of(body).to_owned());
        let inner = if fails { format!("Ok::<_, anyhow::Error>({source}?)") } else { source.clone() };
        let whole = range(&*init.expr);
        match self.place {
            Place::Block => self.edits.replace(whole, format!("async {{ {inner} }}.await{question}")),
            Place::Closure => {
                self.edits
                    .insert(range(&node.let_token).start, format!("let mut {name} = async || {inner};\n"));
                self.edits.replace(whole, format!("{name}().await{question}"));
            }
            Place::Function => {}
        }
    }

    fn function(&mut self, node: &Local, content: &Content) {
        let Some(around) = self.around.clone() else { return };
        let Some(init) = &node.init else { return };
        let (Some(output), Some(stream)) = (names::output(&around.sig), stream_type(&init.expr)) else {
            return;
        };
        self.count += 1;
        let Some(output) = self.with_inner(&output, stream) else { return };
        let mut given = BTreeMap::new();
        let mut receiver = None;
        for input in &around.sig.inputs {
            match input {
                FnArg::Receiver(this) => {
                    let mutable = this.mutability.is_some()
                        || matches!(this.kind, syn::ReceiverKind::Reference(_, _, Some(_)));
                    receiver = Some(if mutable { "&mut self" } else { "&self" });
                }
                FnArg::Typed(arg) => {
                    let Pat::Ident(binding) = &*arg.pat else { continue };
                    let (name, ty) = (binding.ident.to_string(), self.of(&*arg.ty));
                    let by = if binding.mutability.is_some() { "&mut " } else { "&" };
                    let by = if matches!(&*arg.ty, Type::Reference(_)) { "" } else { by };
                    given.insert(name.clone(), (format!("{name}: {by}{ty}"), format!("{by}{name}")));
                }
            }
        }
        let mut params: Vec<String> = Vec::new();
        let mut args: Vec<String> = Vec::new();
        let mut call = String::new();
        for name in &content.names {
            let function = name.starts_with(char::is_uppercase) || self.own.functions.contains_key(name);
            if name == "self" {
                params.retain(|param| !param.ends_with("self"));
                params.insert(0, receiver.unwrap_or("&self").to_owned());
                call = "self.".to_owned();
            } else if let Some((param, arg)) = given.get(name) {
                if !params.contains(param) {
                    params.push(param.clone());
                    args.push(arg.clone());
                }
            } else if self.own.values.contains(name) && !function {
                return;
            }
        }
        if !around.sig.generics.params.is_empty() {
            return;
        }
        if call.is_empty() && around.method {
            "Self::".clone_into(&mut call);
        }
        let name = format!("open_{}_{}", self.count, around.sig.ident);
        let function = format!(
            "async fn {name}({}) -> {output} {{\n    Ok({})\n}}\n\n",
            params.join(", "),
            self.of(&*init.expr)
        );
        self.edits.insert(around.start, function);
        self.edits.replace(range(&*init.expr), format!("{call}{name}({}).await?", args.join(", ")));
    }

    /// The return type with another type as its first argument.
    fn with_inner(&self, output: &Type, inner: &str) -> Option<String> {
        let Type::Path(node) = output else { return None };
        let segment = node.path.segments.last()?;
        let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
        let (whole, first) = (range(output), range(arguments.args.first()?));
        let (head, tail) = (&self.text[whole.start..first.start], &self.text[first.end..whole.end]);
        segment.ident.to_string().ends_with("Result").then(|| format!("{head}{inner}{tail}"))
    }
}

/// The type of the stream that the opener's name tells, for those whose type has no parameters of the caller's.
fn stream_type(expr: &Expr) -> Option<&'static str> {
    let mut expr = expr;
    loop {
        let name;
        (name, expr) = match expr {
            Expr::Try(node) => ("?".to_owned(), &*node.expr),
            Expr::Await(node) => (".await".to_owned(), &*node.base),
            Expr::MethodCall(node) => (node.method.to_string(), &*node.receiver),
            Expr::Call(node) => {
                let Expr::Path(function) = &*node.func else { return None };
                (function.path.segments.last()?.ident.to_string(), &*node.func)
            }
            _ => return None,
        };
        if let Some((_, stream)) = STREAMS.iter().find(|(opener, _)| *opener == name) {
            return Some(stream);
        }
        if !matches!(name.as_str(), "?" | ".await" | "context" | "with_context" | "map_err") {
            return None;
        }
    }
}

/// Openers whose name tells what they give.
const STREAMS: &[(&str, &str)] = &[
    ("into_inner", "tonic::Streaming<crate::proto::Item>"),
    ("get_async_pubsub", "redis::aio::PubSub"),
    ("get_async_monitor", "redis::aio::Monitor"),
    ("connect_with", "sqlx::postgres::PgListener"),
    ("basic_consume", "lapin::Consumer"),
    ("pull_subscribe", "async_nats::Subscriber"),
];

impl<'a> Visit<'a> for Openers<'_> {
    fn visit_item_fn(&mut self, node: &'a syn::ItemFn) {
        let around = self.around(&node.attrs, &node.vis, &node.sig, false);
        let outer = self.around.replace(around);
        visit::visit_item_fn(self, node);
        self.around = outer;
    }

    fn visit_item_impl(&mut self, node: &'a syn::ItemImpl) {
        if self.place == Place::Function && (node.trait_.is_some() || last(&node.self_ty).is_none()) {
            return;
        }
        visit::visit_item_impl(self, node);
    }

    fn visit_impl_item_fn(&mut self, node: &'a syn::ImplItemFn) {
        let around = self.around(&node.attrs, &node.vis, &node.sig, true);
        let outer = self.around.replace(around);
        visit::visit_impl_item_fn(self, node);
        self.around = outer;
    }

    fn visit_expr_async(&mut self, node: &'a syn::ExprAsync) {
        let outer = self.around.take();
        visit::visit_expr_async(self, node);
        self.around = outer;
    }

    fn visit_expr_closure(&mut self, node: &'a syn::ExprClosure) {
        let outer = self.around.take();
        visit::visit_expr_closure(self, node);
        self.around = outer;
    }

    fn visit_stmt(&mut self, node: &'a Stmt) {
        if let Stmt::Local(local) = node {
            self.local(local);
        }
        visit::visit_stmt(self, node);
    }
}
