//! The functions that a file defines, by the names that findings call them.

use super::{
    Interest, parse,
    tree::{Item, Type},
};

/// The functions of a file outside of other functions' bodies, as `Type::name` or `name`. None if it cannot be parsed.
pub(crate) fn functions(text: &str) -> Option<Vec<String>> {
    let nothing = Interest { wanted: &|_| false, common: &|_| false };
    let file = parse(text, &nothing).ok()?;
    let mut names = Vec::new();
    let mut left: Vec<&Item> = file.items.iter().collect();
    while let Some(item) = left.pop() {
        match item {
            Item::Module { items, .. } => left.extend(items),
            Item::Function(function) => names.push(function.name.clone()),
            Item::Trait { name, functions } => {
                names.extend(functions.iter().map(|function| format!("{name}::{}", function.name)));
            }
            Item::Impl(node) => {
                let owner = match &node.self_type {
                    Type::Path(path) => Some(path.last()),
                    _ => node.of_trait.as_ref().map(super::tree::Path::last),
                };
                names.extend(node.functions.iter().map(|function| match owner {
                    Some(owner) => format!("{owner}::{}", function.name),
                    None => function.name.clone(),
                }));
            }
            _ => {}
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::functions;

    #[test]
    fn functions_have_the_names_that_findings_have() {
        let text = "fn a() {}\nmod m { impl<T> x::B<T> { fn c(&self) {} } trait D { fn e() {} } }\nimpl D for (u8, u8) { fn e() {} }\n";
        let mut found = functions(text).unwrap();
        found.sort();
        assert_eq!(found, ["B::c", "D::e", "D::e", "a"]);
        assert_eq!(functions("fn ("), None);
    }
}
