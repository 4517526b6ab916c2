//! Writes loops, matches and `?` in another form with the same meaning.

use syn::{
    Block, Expr, Pat, ReturnType, Stmt,
    visit::{self, Visit},
};

use super::{
    code,
    edits::{Edits, range},
    names::last,
    reorder::line_end,
};

/// What is written in another form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `while let` as `loop` with `let .. else`.
    LetElse,
    /// `while let` as `loop` with `match`.
    LoopMatch,
    /// `if let` as `match`.
    IfMatch,
    /// `let .. else` as `match`.
    ElseMatch,
    /// `?` as `match` and `return`.
    Question,
    /// What is matched is a local first.
    Result,
    /// The future whose output is matched is a local first.
    Future,
}

pub(super) fn apply(text: &str, form: Form) -> Option<String> {
    let file = code::open(text);
    let mut found = Rewrite { text, form, edits: Edits::default(), returns: Returns::Other, count: 0 };
    found.visit_file(&file);
    (!found.edits.is_empty()).then(|| found.edits.apply(text))
}

/// What `return` has to give where the walk stands.
#[derive(Clone, Copy)]
enum Returns {
    Result,
    Option,
    Other,
}

impl Returns {
    fn of(output: &ReturnType) -> Self {
        let ReturnType::Type(_, ty) = output else { return Self::Other };
        match last(ty) {
            Some(name) if name == "Option" => Self::Option,
            Some(name) if name.ends_with("Result") => Self::Result,
            _ => Self::Other,
        }
    }

    /// A block that ends in `Ok(..)` or `Err(..)` has a `Result`.
    fn of_block(block: &Block) -> Self {
        let Some(Stmt::Expr(Expr::Call(call), None)) = block.stmts.last() else { return Self::Other };
        let Expr::Path(function) = &*call.func else { return Self::Other };
        let name = function.path.segments[0].ident.to_string();
        if matches!(name.as_str(), "Ok" | "Err") { Self::Result } else { Self::Other }
    }
}

struct Rewrite<'t> {
    text: &'t str,
    form: Form,
    edits: Edits,
    returns: Returns,
    count: usize,
}

impl Rewrite<'_> {
    fn of(&self, node: &impl syn::spanned::Spanned) -> &str {
        &self.text[range(node)]
    }

    /// The first place in a block where statements may stand, behind a comment on the brace's line.
    fn inside(&self, block: &Block) -> usize {
        let open = block.brace_token.span.open().byte_range().end;
        let end = line_end(self.text, open);
        let rest = self.text[open..end].trim();
        if rest.is_empty() || rest.starts_with("//") { end } else { open }
    }

    fn close(block: &Block) -> usize {
        block.brace_token.span.close().byte_range().start
    }

    fn local(&mut self) -> String {
        self.count += 1;
        format!("got_{}", self.count)
    }

    fn within(&mut self, returns: Returns, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.returns, returns);
        visit(self);
        self.returns = outer;
    }

    /// `while let PAT = VALUE { .. }`
    fn while_let(&mut self, node: &syn::ExprWhile, pat: &Pat, value: &Expr) -> bool {
        if node.body.stmts.is_empty() {
            return false;
        }
        let inside = self.inside(&node.body);
        let head = range(&node.while_token).start..range(&*node.cond).end;
        let (pat, source) = (self.of(pat).to_owned(), self.of(value).to_owned());
        let local = self.local();
        let begin = match (self.form, value) {
            (Form::LetElse, _) => format!("let {pat} = {source} else {{ break }};\n"),
            (Form::LoopMatch, _) => format!("match {source} {{ {pat} => {{\n"),
            (Form::Result, _) => format!("let {local} = {source};\nlet {pat} = {local} else {{ break }};\n"),
            (Form::Future, Expr::Await(wait)) => {
                let future = self.of(&*wait.base);
                format!("let {local} = {future};\nlet {pat} = {local}.await else {{ break }};\n")
            }
            _ => return false,
        };
        if self.form == Form::LoopMatch {
            let other = if pat.starts_with("Some(") && !pat[5..].contains('(') { "None" } else { "_" };
            self.edits.insert(Self::close(&node.body), format!("}} {other} => break }}\n"));
        }
        self.edits.replace(head, "loop");
        self.edits.insert(inside, begin);
        true
    }

    fn if_let(&mut self, node: &syn::ExprIf, pat: &Pat, value: &Expr) {
        let head = range(&node.if_token).start..range(&*node.cond).end;
        let (pat, value) = (self.of(pat), self.of(value));
        self.edits.replace(head, format!("match {value} {{ {pat} =>"));
        match &node.else_branch {
            Some((token, otherwise)) => {
                self.edits.replace(range(token), "_ =>");
                self.edits.insert(range(&**otherwise).end, " }");
            }
            None => self.edits.insert(range(&node.then_branch).end, " _ => {} }"),
        }
    }

    /// `let PAT = VALUE else { .. };`
    fn let_else(&mut self, node: &syn::Local) -> bool {
        let Some(init) = &node.init else { return false };
        let Some((token, otherwise)) = &init.diverge else { return false };
        let mut bindings = Bindings::default();
        bindings.visit_pat(&node.pat);
        let [(name, mutable)] = &bindings.0[..] else { return false };
        let pat = self.of(&node.pat).replace("mut ", "");
        self.edits.replace(range(&node.pat), format!("{}{name}", if *mutable { "mut " } else { "" }));
        self.edits.insert(range(&*init.expr).start, "match ");
        self.edits.replace(range(token), format!("{{ {pat} => {name}, _ =>"));
        self.edits.insert(range(&**otherwise).end, " }");
        true
    }

    fn question(&mut self, node: &syn::ExprTry) {
        let (value, leave) = match self.returns {
            Returns::Result => ("Ok(value) => value", "Err(error) => return Err(error.into())"),
            Returns::Option => ("Some(value) => value", "None => return None"),
            Returns::Other => return,
        };
        self.edits.insert(range(&*node.expr).start, "match ");
        self.edits.replace(range(&node.question_token), format!(" {{ {value}, {leave} }}"));
    }

    /// `value?;`
    fn dropped_question(&mut self, node: &syn::ExprTry) -> bool {
        let result = self.form == Form::Question && matches!(self.returns, Returns::Result);
        if result {
            self.edits.insert(range(&*node.expr).start, "if let Err(error) = ");
            let end = range(&node.question_token);
            self.edits.replace(end.start..end.end + 1, " { return Err(error.into()); }");
        }
        result
    }

    /// A `match` or `if let` that stands as a statement.
    fn statement(&mut self, whole: &Expr, value: &Expr) -> bool {
        let (name, start) = (self.local(), range(whole).start);
        match (self.form, value) {
            (Form::Result, _) => {
                let source = self.of(value).to_owned();
                self.edits.insert(start, format!("let {name} = {source};\n"));
                self.edits.replace(range(value), name);
                true
            }
            (Form::Future, Expr::Await(wait)) => {
                let source = self.of(&*wait.base).to_owned();
                self.edits.insert(start, format!("let {name} = {source};\n"));
                self.edits.replace(range(&*wait.base), name);
                true
            }
            _ => false,
        }
    }
}

/// The bindings of a pattern, and whether they are mutable.
#[derive(Default)]
struct Bindings(Vec<(String, bool)>);

impl<'a> Visit<'a> for Bindings {
    fn visit_pat_ident(&mut self, node: &'a syn::PatIdent) {
        let name = node.ident.to_string();
        if name.starts_with(|c: char| c.is_lowercase() || c == '_') {
            self.0.push((name, node.mutability.is_some()));
        }
    }
}

impl<'a> Visit<'a> for Rewrite<'_> {
    fn visit_item_fn(&mut self, node: &'a syn::ItemFn) {
        self.within(Returns::of(&node.sig.output), |walk| visit::visit_item_fn(walk, node));
    }

    fn visit_impl_item_fn(&mut self, node: &'a syn::ImplItemFn) {
        self.within(Returns::of(&node.sig.output), |walk| visit::visit_impl_item_fn(walk, node));
    }

    fn visit_expr_closure(&mut self, node: &'a syn::ExprClosure) {
        self.within(Returns::of(&node.output), |walk| visit::visit_expr_closure(walk, node));
    }

    fn visit_expr_async(&mut self, node: &'a syn::ExprAsync) {
        self.within(Returns::of_block(&node.block), |walk| visit::visit_expr_async(walk, node));
    }

    fn visit_expr_while(&mut self, node: &'a syn::ExprWhile) {
        if let Expr::Let(head) = &*node.cond
            && self.while_let(node, &head.pat, &head.expr)
        {
            self.visit_block(&node.body);
            return;
        }
        visit::visit_expr_while(self, node);
    }

    fn visit_expr_if(&mut self, node: &'a syn::ExprIf) {
        if let (Form::IfMatch, Expr::Let(head)) = (self.form, &*node.cond) {
            self.if_let(node, &head.pat, &head.expr);
            self.visit_block(&node.then_branch);
            if let Some((_, otherwise)) = &node.else_branch {
                self.visit_expr(otherwise);
            }
            return;
        }
        visit::visit_expr_if(self, node);
    }

    fn visit_local(&mut self, node: &'a syn::Local) {
        if self.form == Form::ElseMatch && self.let_else(node) {
            return;
        }
        visit::visit_local(self, node);
        if self.form == Form::Question
            && let Some(init) = &node.init
            && let (Expr::Try(inner), None) = (&*init.expr, &init.diverge)
        {
            self.question(inner);
        }
    }

    fn visit_block(&mut self, node: &'a Block) {
        // What macros are opened to are no blocks of the text.
        if code::macro_name(node).is_some() {
            return visit::visit_block(self, node);
        }
        for stmt in &node.stmts {
            match stmt {
                Stmt::Expr(Expr::Try(inner), Some(_)) if self.dropped_question(inner) => {}
                Stmt::Expr(whole @ Expr::Match(inner), _) if self.statement(whole, &inner.expr) => {
                    inner.arms.iter().for_each(|arm| self.visit_arm(arm));
                }
                Stmt::Expr(whole @ Expr::If(inner), _) => {
                    if let Expr::Let(head) = &*inner.cond
                        && self.statement(whole, &head.expr)
                    {
                        self.visit_block(&inner.then_branch);
                        if let Some((_, otherwise)) = &inner.else_branch {
                            self.visit_expr(otherwise);
                        }
                    } else {
                        self.visit_stmt(stmt);
                    }
                }
                stmt => self.visit_stmt(stmt),
            }
        }
    }
}
