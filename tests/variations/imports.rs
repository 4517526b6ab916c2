//! Names the imported items of a case in another way.

use std::collections::{BTreeMap, BTreeSet};

use syn::{
    Item,
    visit::{self, Visit},
};

use super::{
    code,
    edits::{Edits, range},
    names::{self, Import, Own},
    reorder::line_end,
};

/// How items of other crates are named.
#[derive(Clone, Copy)]
pub(super) enum Spelling {
    /// `use a::b::C as Other;`
    Alias,
    /// `use a::b as other;` for `other!(..)`
    MacroAlias,
    /// `a::b::C`
    Full,
    /// `use a::b;` and `b::C`
    Module,
}

pub(super) fn apply(text: &str, spelling: Spelling) -> Option<String> {
    let file = code::open(text);
    let mut found = Uses::default();
    found.visit_file(&file);
    let own = Own::declared(&file);
    let mut taken: BTreeSet<String> = own.values.union(&own.types).cloned().collect();
    taken.extend(found.kept.iter().cloned());
    let all = names::uses(&file);
    let mut spelled = BTreeMap::new();
    let mut items = Vec::new();
    for (number, import) in all.iter().enumerate() {
        // `use anyhow::anyhow;` shares its name with the crate.
        let twice = import.path.split("::").next() == Some(import.name.as_str());
        let free = !twice && !taken.contains(&import.name) && !matches!(import.name.as_str(), "*" | "_");
        let is_macro = found.macros.contains(&import.name);
        let wanted = match spelling {
            Spelling::Alias => !is_macro,
            Spelling::MacroAlias => is_macro,
            Spelling::Full | Spelling::Module => true,
        };
        let other = if free && wanted { spell(import, spelling, number, &taken, &all) } else { None };
        let Some((path, more)) = other else {
            items.push(import.clone());
            continue;
        };
        let is_trait = !found.paths.contains_key(&import.name) || found.traits.contains(&import.name);
        if is_trait && matches!(spelling, Spelling::Full | Spelling::Module) {
            items.push(import.clone());
        }
        items.extend(more);
        spelled.insert(import.name.clone(), path);
    }
    let mut edits = Edits::default();
    for (name, path) in &spelled {
        for place in found.paths.get(name).into_iter().flatten() {
            edits.replace(place.clone(), path);
        }
    }
    let mut lines: Vec<String> = items.iter().map(Import::item).collect();
    lines.sort();
    lines.dedup();
    let uses = file.items.iter().filter(|item| matches!(item, Item::Use(_)));
    for (at, item) in uses.enumerate() {
        let range = range(item);
        let with = if at == 0 { lines.concat() } else { String::new() };
        edits.replace(range.start..line_end(text, range.end), with);
    }
    (!spelled.is_empty()).then(|| edits.apply(text))
}

/// How a name is spelled at its uses, and what has to be imported for that.
fn spell(
    import: &Import,
    spelling: Spelling,
    number: usize,
    taken: &BTreeSet<String>,
    all: &[Import],
) -> Option<(String, Option<Import>)> {
    match spelling {
        Spelling::Alias | Spelling::MacroAlias => {
            let upper = import.name.starts_with(char::is_uppercase);
            let name = format!("{}{number}", if upper { "Other" } else { "other" });
            Some((name.clone(), Some(Import { name, path: import.path.clone() })))
        }
        Spelling::Full => Some((import.path.clone(), None)),
        Spelling::Module => {
            let (path, item) = import.path.rsplit_once("::")?;
            let name = path.rsplit("::").next()?;
            let clash = |other: &Import| other.name == name && other.path != path;
            // `use tokio;` is of no use, and `Kind::Variant` names a type.
            if !path.contains("::") || taken.contains(name) || all.iter().any(clash) || name == "crate" {
                return None;
            }
            let module = Import { name: name.to_owned(), path: path.to_owned() };
            Some((format!("{name}::{item}"), Some(module)))
        }
    }
}

/// Where imported names are used.
#[derive(Default)]
struct Uses {
    /// The first segments of paths.
    paths: BTreeMap<String, Vec<std::ops::Range<usize>>>,
    /// Names that stand for a trait somewhere.
    traits: BTreeSet<String>,
    /// Names of macros that are called.
    macros: BTreeSet<String>,
    /// Names that an attribute or an inner `use` names.
    kept: BTreeSet<String>,
    depth: usize,
}

impl<'a> Visit<'a> for Uses {
    fn visit_path(&mut self, node: &'a syn::Path) {
        let first = &node.segments[0].ident;
        self.paths.entry(first.to_string()).or_default().push(range(first));
        visit::visit_path(self, node);
    }

    fn visit_block(&mut self, node: &'a syn::Block) {
        self.macros.extend(code::macro_name(node));
        visit::visit_block(self, node);
    }

    fn visit_trait_bound(&mut self, node: &'a syn::TraitBound) {
        self.traits.insert(node.path.segments[0].ident.to_string());
        visit::visit_trait_bound(self, node);
    }

    fn visit_item_impl(&mut self, node: &'a syn::ItemImpl) {
        if let Some((path, _)) = &node.trait_ {
            self.traits.insert(path.segments[0].ident.to_string());
        }
        visit::visit_item_impl(self, node);
    }

    fn visit_attribute(&mut self, node: &'a syn::Attribute) {
        if node.path().is_ident("doc") {
            return;
        }
        let text = quote::ToTokens::to_token_stream(&node.meta).to_string();
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        self.kept.extend(words.map(str::to_owned));
    }

    fn visit_item_mod(&mut self, node: &'a syn::ItemMod) {
        self.depth += 1;
        visit::visit_item_mod(self, node);
        self.depth -= 1;
    }

    fn visit_item_use(&mut self, node: &'a syn::ItemUse) {
        if self.depth > 0 {
            let text = quote::ToTokens::to_token_stream(&node.tree).to_string();
            let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            self.kept.extend(words.map(str::to_owned));
        }
    }
}
