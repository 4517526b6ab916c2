//! Moves the body of each function into a helper that the function forwards to.

use std::ops::Range;

use syn::{
    Block, FnArg, ImplItemFn, ItemFn, ItemImpl, Pat, Signature, Visibility,
    spanned::Spanned,
    visit::{self, Visit},
};

use super::{
    edits::{Edits, range},
    reorder::line_end,
};

/// Helpers are named after their function and the suffix.
pub(super) fn apply(text: &str, suffix: &str) -> Option<String> {
    let file = syn::parse_file(text).unwrap();
    let mut found = Extract { text, suffix, edits: Edits::default() };
    found.visit_file(&file);
    (!found.edits.is_empty()).then(|| found.edits.apply(text))
}

struct Extract<'t> {
    text: &'t str,
    suffix: &'t str,
    edits: Edits,
}

impl Extract<'_> {
    fn of(&self, range: Range<usize>) -> &str {
        &self.text[range]
    }

    /// The function that forwards, up to its end, and the parameters that it forwards.
    fn forward(&self, sig: &Signature, vis: &Visibility, call: &str) -> String {
        let mut head = self.text[range(sig)].to_owned();
        let start = range(sig).start;
        let (mut args, mut edits) = (Vec::new(), Edits::default());
        for (number, input) in sig.inputs.iter().enumerate() {
            match input {
                FnArg::Receiver(node) => {
                    if let Some(word) = &node.mutability {
                        edits.replace(range(word).start - start..range(word).end + 1 - start, "");
                    }
                }
                FnArg::Typed(arg) => {
                    let name = match &*arg.pat {
                        Pat::Ident(binding) => binding.ident.to_string(),
                        _ => format!("given_{number}"),
                    };
                    let pat = range(&*arg.pat);
                    edits.replace(pat.start - start..pat.end - start, name.clone());
                    args.push(name);
                }
            }
        }
        head = edits.apply(&head);
        let vis = match vis {
            Visibility::Inherited => String::new(),
            vis => format!("{} ", self.of(range(vis))),
        };
        let wait = if sig.asyncness.is_some() { ".await" } else { "" };
        format!("{vis}{head} {{ {call}({}){wait} }}\n\n", args.join(", "))
    }

    fn function(&mut self, vis: &Visibility, sig: &Signature, this: &str) {
        let inner = format!("{}_{}", sig.ident, self.suffix);
        let receiver = sig.receiver().is_some();
        let call = if receiver { format!("self.{inner}") } else { format!("{this}{inner}") };
        let forward = self.forward(sig, vis, &call);
        let item = match vis {
            Visibility::Inherited => range(sig).start,
            vis => range(vis).start,
        };
        // Attributes stay where they are, and so belong to the function that forwards.
        self.edits.replace(item..range(sig).start, forward);
        self.edits.replace(range(&sig.ident), inner);
    }
}

/// Whether a function has a body worth moving and a signature that can be written twice.
fn movable(sig: &Signature, block: &Block) -> bool {
    sig.constness.is_none() && !block.stmts.is_empty()
}

impl<'a> Visit<'a> for Extract<'_> {
    fn visit_item_fn(&mut self, node: &'a ItemFn) {
        if movable(&node.sig, &node.block) {
            self.function(&node.vis, &node.sig, "");
        }
    }

    fn visit_item_mod(&mut self, node: &'a syn::ItemMod) {
        if node.ident != "tests" {
            visit::visit_item_mod(self, node);
        }
    }

    fn visit_item_impl(&mut self, node: &'a ItemImpl) {
        if node.trait_.is_none() {
            visit::visit_item_impl(self, node);
        } else {
            self.of_trait(node);
        }
    }

    fn visit_impl_item_fn(&mut self, node: &'a ImplItemFn) {
        if movable(&node.sig, &node.block) {
            self.function(&node.vis, &node.sig, "Self::");
        }
    }
}

impl Extract<'_> {
    /// The bodies of a trait's functions move to an `impl` of their own after it.
    fn of_trait(&mut self, node: &ItemImpl) {
        let mut moved = String::new();
        for item in &node.items {
            let syn::ImplItem::Fn(function) = item else { continue };
            let whole = self.of(range(function)).to_owned();
            if !movable(&function.sig, &function.block) || whole.contains("Self::") {
                continue;
            }
            let inner = format!("{}_{}", function.sig.ident, self.suffix);
            let receiver = function.sig.receiver().is_some();
            let call = if receiver { format!("self.{inner}") } else { format!("Self::{inner}") };
            let forward = self.forward(&function.sig, &function.vis, &call);
            let sig = range(&function.sig);
            let (name, end) = (range(&function.sig.ident), line_end(self.text, range(function).end));
            moved.push_str(&format!(
                "    {}{inner}{}",
                self.of(sig.start..name.start),
                self.of(name.end..end)
            ));
            self.edits.replace(sig.start..end, forward.trim_end().to_owned() + "\n");
        }
        if moved.is_empty() {
            return;
        }
        let generics = &node.generics;
        let head = match generics.span().byte_range() {
            span if generics.params.is_empty() => self.of(span.start..span.start),
            span => self.of(span),
        };
        let clause = generics.where_clause.as_ref().map_or("", |clause| self.of(range(clause)));
        let name = self.of(range(&*node.self_ty));
        let text = format!("\n\nimpl{head} {name} {clause} {{\n{moved}}}");
        self.edits.insert(range(node).end, text);
    }
}
