//! The user's own entries: what they say comes before what ships with Rideout.

use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;

use super::{Crate, FaultFact, Reopen, Source, Value, Word, check::Mistake};
use crate::model::ShowsAs;

/// Tables in the catalog's format, for any number of crates. Each path begins with its crate's name as code writes it.
#[derive(Clone, Debug, Default)]
pub struct Own {
    /// The long-lived streams.
    pub sources: Vec<Source>,
    /// Values that lead to a source.
    pub values: Vec<Value>,
    /// Words of the control flow.
    pub words: Vec<Word>,
    /// Helpers that call a closure again.
    pub reopens: Vec<Reopen>,
    /// Names of transient faults.
    pub transients: Vec<Transient>,
}

/// Names in a pattern or guard that single out a transient fault, over the names that the sources themselves list.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Transient {
    /// The names, and numbers.
    pub names: Vec<String>,
    /// Ids of the sources whose faults they are. Default: every source.
    #[serde(default)]
    pub sources: Vec<String>,
}

impl Transient {
    /// Looks for contradictions.
    ///
    /// # Errors
    ///
    /// The first one.
    pub fn check(&self) -> Result<(), Mistake> {
        if self.names.is_empty() {
            return Err(Mistake::table("`names` is empty"));
        }
        match self.names.iter().find(|name| name.is_empty() || name.contains(|c: char| !is_word(c))) {
            Some(name) => Err(Mistake {
                sentence: format!("`{name}` is no name or number: write the last segment of a path alone"),
                value: Some(name.clone()),
            }),
            None => Ok(()),
        }
    }
}

impl Own {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        let Self { sources, values, words, reopens, transients } = self;
        sources.is_empty()
            && values.is_empty()
            && words.is_empty()
            && reopens.is_empty()
            && transients.is_empty()
    }

    /// One entry a crate. `package` tells the package of a crate's name in code.
    fn entries(&self, package: impl Fn(&str) -> String) -> Vec<Crate> {
        let mut entries: BTreeMap<String, Crate> = BTreeMap::new();
        for source in &self.sources {
            let mut source = source.clone();
            for opener in &mut source.open {
                name_method(opener.function.as_deref(), &mut opener.method, &mut opener.on);
            }
            let root = root(source.paths().chain([source.api.as_str()])).to_owned();
            entry(&mut entries, &root).sources.push(source);
        }
        for value in &self.values {
            let mut value = value.clone();
            name_method(value.function.as_deref(), &mut value.method, &mut value.on);
            let root = root(value.paths()).to_owned();
            entry(&mut entries, &root).values.push(value);
        }
        for word in &self.words {
            entry(&mut entries, root(word.paths())).words.push(word.clone());
        }
        for reopen in &self.reopens {
            entry(&mut entries, root(reopen.paths())).reopens.push(reopen.clone());
        }
        entries.into_iter().map(|(root, entry)| Crate { package: package(&root), ..entry }).collect()
    }
}

/// The entry of a crate, by its name in code.
fn entry<'a>(entries: &'a mut BTreeMap<String, Crate>, root: &str) -> &'a mut Crate {
    entries.entry(root.to_owned()).or_insert_with(|| Crate {
        package: String::new(),
        also: Vec::new(),
        roots: vec![root.to_owned()],
        sources: Vec::new(),
        values: Vec::new(),
        words: Vec::new(),
        reopens: Vec::new(),
        channels: Vec::new(),
        own: true,
    })
}

/// The catalog with the user's entries before it. A source of the user takes the place of the one with its id.
pub fn extended(catalog: &[Crate], own: &Own, package: impl Fn(&str) -> String) -> Vec<Crate> {
    let mut entries = own.entries(package);
    let ids: HashSet<&str> = own.sources.iter().map(|source| source.id.as_str()).collect();
    entries.extend(catalog.iter().cloned().map(|mut entry| {
        entry.sources.retain(|source| !ids.contains(source.id.as_str()));
        entry
    }));
    for source in entries.iter_mut().flat_map(|entry| &mut entry.sources) {
        let holds =
            |transient: &&Transient| transient.sources.is_empty() || transient.sources.contains(&source.id);
        let names: Vec<&String> = own.transients.iter().filter(holds).flat_map(|it| &it.names).collect();
        let whens = source.whens.iter_mut().flat_map(|when| &mut when.faults);
        for fault in source.faults.iter_mut().chain(whens).filter(|fault| is_error(fault)) {
            fault.transient.extend(names.iter().copied().cloned());
        }
    }
    entries
}

/// Whether the fault is something that code can name.
fn is_error(fault: &FaultFact) -> bool {
    !matches!(fault.shows_as, ShowsAs::Ends | ShowsAs::Silent)
}

/// An associated function may be called as a method too.
fn name_method(function: Option<&str>, method: &mut Option<String>, on: &mut Vec<String>) {
    if method.is_none()
        && let Some((owner, name)) = function.and_then(associated)
    {
        *method = Some(name.to_owned());
        on.push(owner.to_owned());
    }
}

/// The type and the name of an associated function.
fn associated(path: &str) -> Option<(&str, &str)> {
    let (owner, name) = path.rsplit_once("::")?;
    let is_type = owner.rsplit("::").next().is_some_and(|last| last.starts_with(char::is_uppercase));
    (is_type && !path.contains('*')).then_some((owner, name))
}

/// The crate's name in the first path that tells it.
fn root<'a>(mut paths: impl Iterator<Item = &'a str>) -> &'a str {
    paths
        .find_map(|path| path.split_once("::").map(|(root, _)| root).filter(|root| !root.contains('*')))
        .unwrap_or_default()
}

/// What is wrong with a path of the user's tables, if anything is.
fn wrong_path(path: &str) -> Option<String> {
    let segments: Vec<&str> = path.split("::").collect();
    let is_name = |segment: &&str| {
        !segment.is_empty()
            && segment.chars().all(|c| is_word(c) || c == '*')
            && !segment.starts_with(|c: char| c.is_ascii_digit())
            && segment.matches('*').count() < 2
    };
    if !segments.iter().all(is_name) {
        return Some(format!("`{path}` is no path of an item"));
    }
    match segments[0] {
        first @ ("crate" | "self" | "super" | "Self") => {
            Some(format!("`{path}` begins with `{first}`: write the name of the crate"))
        }
        _ if segments.len() < 2 && !path.contains('*') => {
            Some(format!("`{path}` does not say of which crate: write `the_crate::{path}`"))
        }
        _ => None,
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Checks the paths of one of the user's tables.
///
/// # Errors
///
/// The first that does not name an item with its crate.
pub fn check_paths<'a>(paths: impl Iterator<Item = &'a str>) -> Result<(), Mistake> {
    for path in paths {
        if let Some(sentence) = wrong_path(path) {
            return Err(Mistake { sentence, value: Some(path.to_owned()) });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Own, Transient, extended, wrong_path};
    use crate::catalog::{builtin, parse};

    fn own(text: &str) -> Own {
        let entry = parse(&format!("package = \"x\"\n{text}")).unwrap();
        Own { sources: entry.sources, values: entry.values, words: entry.words, ..Own::default() }
    }

    const SOURCE: &str = r#"
        [[source]]
        id = "tokio-broadcast"
        api = "acme_bus::Subscription"
        open = [{ fn = "acme_bus::Bus::subscribe" }, { fn = "acme_bus::subscribe" }]
        item = "T"
    "#;

    #[test]
    fn a_source_takes_the_place_of_the_one_with_its_id() {
        let entries = extended(builtin(), &own(SOURCE), |root| root.replace('_', "-"));
        assert_eq!((entries.len(), entries[0].package.as_str()), (builtin().len() + 1, "acme-bus"));
        let mut named = entries.iter().flat_map(|entry| &entry.sources);
        assert_eq!(named.clone().filter(|source| source.id == "tokio-broadcast").count(), 1);
        assert_eq!(named.next().unwrap().api, "acme_bus::Subscription");
    }

    #[test]
    fn an_associated_function_is_a_method_too() {
        let entries = extended(&[], &own(SOURCE), str::to_owned);
        let open = &entries[0].sources[0].open;
        assert_eq!(
            (open[0].method.as_deref(), open[0].on.as_slice()),
            (Some("subscribe"), &["acme_bus::Bus".to_owned()][..])
        );
        assert_eq!(open[1].method, None);
    }

    #[test]
    fn each_crate_has_its_entry() {
        let text = "[[value]]\nfn = \"b::connect\"\ngives = \"b::Bus\"\n[[word]]\nmeans = \"log\"\nmacros = [\"note\"]\n";
        let entries = extended(&[], &own(&format!("{SOURCE}{text}")), str::to_owned);
        let packages: Vec<&str> = entries.iter().map(|entry| entry.package.as_str()).collect();
        assert_eq!(packages, ["", "acme_bus", "b"]);
        assert!(entries.iter().all(|entry| entry.own));
    }

    #[test]
    fn transient_names_go_to_the_errors_of_the_named_sources() {
        let transients =
            vec![Transient { names: vec!["Moved".into()], sources: vec!["tonic-streaming".into()] }];
        let entries = extended(builtin(), &Own { transients, ..Own::default() }, str::to_owned);
        let with_it: Vec<&str> = entries
            .iter()
            .flat_map(|entry| &entry.sources)
            .filter(|source| source.faults.iter().any(|fault| fault.transient.iter().any(|it| it == "Moved")))
            .map(|source| source.id.as_str())
            .collect();
        assert_eq!(with_it, ["tonic-streaming"]);
    }

    #[test]
    fn a_path_names_its_crate() {
        for good in ["acme_bus::Bus", "a::b::c", "*_client::*Client", "*Proxy"] {
            assert_eq!(wrong_path(good), None, "{good}");
        }
        for (bad, part) in [
            ("Bus", "`the_crate::Bus`"),
            ("crate::Bus", "begins with `crate`"),
            ("acme-bus::Bus", "no path"),
            ("a::", "no path"),
            ("a::<T>::b", "no path"),
            ("a::b(", "no path"),
        ] {
            assert!(wrong_path(bad).is_some_and(|sentence| sentence.contains(part)), "{bad}");
        }
    }
}
