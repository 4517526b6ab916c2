//! Takes some items of a case out of their file: into a file of their own, or into an inline module.

use syn::{
    Fields, ImplItem, Item, Visibility,
    visit::{self, Visit},
};

use super::{
    code,
    edits::{Edits, range},
    judge::Variant,
    names::type_name,
    reorder::{line_end, pieces},
};

/// Which items move.
#[derive(Clone, Copy)]
pub(super) enum Choice {
    /// Types, traits and their `impl` blocks; functions stay.
    Types,
    /// Every second item.
    Alternate,
}

/// How the two halves see each other.
#[derive(Clone, Copy)]
pub(super) enum Imports {
    Globs,
    Names,
}

/// A case in two halves.
struct Halves {
    head: String,
    uses: String,
    stay: String,
    moved: String,
    /// The names of the items in each half.
    stay_names: Vec<String>,
    moved_names: Vec<String>,
    main: bool,
}

/// A package that holds the case as it is.
pub(super) fn package(text: &str) -> Variant {
    let root = if text.contains("fn main(") { "src/main.rs" } else { "src/lib.rs" };
    Variant::Package(vec![(root, text.to_owned())])
}

/// A package whose `src/part.rs` holds the items that move.
pub(super) fn other_file(text: &str, choice: Choice, imports: Imports) -> Option<Variant> {
    let halves = halves(text, choice)?;
    let (from_part, from_root) = match imports {
        Imports::Globs => ("use part::*;\n".to_owned(), "use super::*;\n".to_owned()),
        Imports::Names => (named("crate::part", &halves.moved_names), named("crate", &halves.stay_names)),
    };
    let Halves { head, uses, stay, moved, main, .. } = halves;
    let root = format!("{head}{uses}\nmod part;\n{from_part}{stay}");
    let part = format!("{uses}{from_root}{moved}");
    Some(Variant::Package(vec![
        (if main { "src/main.rs" } else { "src/lib.rs" }, root),
        ("src/part.rs", part),
    ]))
}

/// The items that move in an inline module, which takes its imports from around it or has its own.
pub(super) fn inline(text: &str, choice: Choice, imports: Imports) -> Option<Variant> {
    let Halves { head, uses, stay, moved, stay_names, moved_names, .. } = halves(text, choice)?;
    let (from_part, inside) = match imports {
        Imports::Globs => ("use part::*;\n".to_owned(), "use super::*;\n".to_owned()),
        Imports::Names => (named("part", &moved_names), uses.clone() + &named("super", &stay_names)),
    };
    Some(Variant::File(format!("{head}{uses}\n{from_part}{stay}\nmod part {{\n{inside}{moved}}}\n")))
}

fn named(module: &str, names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("use {module}::{{{}}};\n", names.join(", ")) }
}

fn halves(text: &str, choice: Choice) -> Option<Halves> {
    let file = code::open(text);
    let ranges: Vec<_> = file.items.iter().map(range).collect();
    let head = line_end(text, text[..ranges[0].start].find("verdict:").unwrap());
    let mut halves = Halves {
        head: text[..head].to_owned(),
        uses: String::new(),
        stay: String::new(),
        moved: String::new(),
        stay_names: Vec::new(),
        moved_names: Vec::new(),
        main: false,
    };
    let mut count = 0;
    for (item, piece) in file.items.iter().zip(pieces(text, head, &ranges)) {
        let name = match item {
            Item::Fn(node) => Some(node.sig.ident.to_string()),
            Item::Const(node) => Some(node.ident.to_string()),
            Item::Static(node) => Some(node.ident.to_string()),
            item => type_name(item),
        };
        let main = name.as_deref() == Some("main");
        halves.main |= main;
        let moves = match choice {
            _ if main || matches!(item, Item::Mod(_)) => false,
            Choice::Types => {
                matches!(
                    item,
                    Item::Struct(_) | Item::Enum(_) | Item::Trait(_) | Item::Type(_) | Item::Impl(_)
                )
            }
            Choice::Alternate => count % 2 == 1,
        };
        if matches!(item, Item::Use(_)) {
            halves.uses.push_str(&text[piece]);
            continue;
        }
        count += 1;
        let (into, names) = if moves {
            (&mut halves.moved, &mut halves.moved_names)
        } else {
            (&mut halves.stay, &mut halves.stay_names)
        };
        let start = piece.start;
        let mut public = Public { edits: Edits::default(), start };
        if moves {
            public.visit_item(item);
        }
        into.push_str(&public.edits.apply(&text[piece]));
        names.extend(name.filter(|_| !main));
    }
    (!halves.moved.trim().is_empty() && !halves.stay.trim().is_empty()).then_some(halves)
}

/// Makes an item and what is in it public.
struct Public {
    edits: Edits,
    start: usize,
}

impl Public {
    fn open(&mut self, vis: &Visibility, at: usize) {
        match vis {
            Visibility::Inherited => self.edits.insert(at - self.start, "pub "),
            Visibility::Restricted(node) => {
                let range = range(node);
                self.edits.replace(range.start - self.start..range.end - self.start, "pub");
            }
            Visibility::Public(_) => {}
        }
    }

    fn fields(&mut self, fields: &Fields) {
        for field in fields {
            let at = field.ident.as_ref().map_or_else(|| range(&field.ty).start, |ident| range(ident).start);
            self.open(&field.vis, at);
        }
    }
}

impl<'a> Visit<'a> for Public {
    fn visit_item_fn(&mut self, node: &'a syn::ItemFn) {
        self.open(&node.vis, range(&node.sig).start);
    }

    fn visit_item_struct(&mut self, node: &'a syn::ItemStruct) {
        self.open(&node.vis, range(&node.struct_token).start);
        self.fields(&node.fields);
    }

    fn visit_item_enum(&mut self, node: &'a syn::ItemEnum) {
        self.open(&node.vis, range(&node.enum_token).start);
    }

    fn visit_item_trait(&mut self, node: &'a syn::ItemTrait) {
        self.open(&node.vis, range(&node.trait_token).start);
    }

    fn visit_item_type(&mut self, node: &'a syn::ItemType) {
        self.open(&node.vis, range(&node.type_token).start);
    }

    fn visit_item_const(&mut self, node: &'a syn::ItemConst) {
        self.open(&node.vis, range(&node.const_token).start);
    }

    fn visit_item_static(&mut self, node: &'a syn::ItemStatic) {
        self.open(&node.vis, range(&node.static_token).start);
    }

    fn visit_item_impl(&mut self, node: &'a syn::ItemImpl) {
        for item in node.items.iter().filter(|_| node.trait_.is_none()) {
            match item {
                ImplItem::Fn(function) => self.open(&function.vis, range(&function.sig).start),
                ImplItem::Const(constant) => self.open(&constant.vis, range(&constant.const_token).start),
                other => visit::visit_impl_item(self, other),
            }
        }
    }
}
