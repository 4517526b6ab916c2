//! Which catalog entries hold for a package.

use std::collections::BTreeMap;

use rideout_rules::catalog::{Crate, Source};
use semver::{Prerelease, Version};

use super::Package;

/// The catalog entries that hold for a package by their place in the catalog, each with those of its sources whose versions fit.
pub(crate) type Active<'c> = BTreeMap<usize, Vec<&'c Source>>;

/// The entries that hold for a package, of those that its configuration leads to.
///
/// An entry holds if the package depends on its crate or on one that re-exports it; `std` and those of the user always do. A source
/// holds if the version of the crate fits or is unknown.
pub(crate) fn active<'c>(package: &Package, catalog: &'c [Crate]) -> Active<'c> {
    let holds = |(index, entry): (usize, &'c Crate)| {
        let version = match &package.dependencies {
            Some(known) if entry.own => known.get(&entry.package).cloned().flatten(),
            Some(known) if entry.package != "std" => {
                let mut names = std::iter::once(&entry.package).chain(&entry.also);
                names
                    .any(|name| known.contains_key(name))
                    .then(|| known.get(&entry.package).cloned().flatten())?
            }
            _ => None,
        };
        let sources = entry.sources.iter().filter(|source| fits(source, version.as_ref())).collect();
        Some((index, sources))
    };
    let config = &package.config.entries;
    catalog.iter().enumerate().skip(config.start).take(config.len()).filter_map(holds).collect()
}

/// A pre-release counts as the release that it leads to.
fn fits(source: &Source, version: Option<&Version>) -> bool {
    let (Some(wanted), Some(version)) = (&source.versions, version) else { return true };
    let version = Version { pre: Prerelease::EMPTY, ..version.clone() };
    wanted.matches(&version)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use rideout_rules::{
        Levels,
        catalog::{self, Crate},
    };

    use super::{Package, active};
    use crate::workspace::Config;

    fn entry(package: &str, also: &str, versions: &str) -> Crate {
        let source = |id: &str, more: &str| {
            format!(
                "[[source]]\nid = \"{id}\"\napi = \"x::Y\"\ncite = \"x 1.0\"\ntypes = [\"x::Y\"]\nitem = \"T\"\n{more}\n"
            )
        };
        let versions = if versions.is_empty() { String::new() } else { format!("versions = \"{versions}\"") };
        let text = format!(
            "package = \"{package}\"\nalso = [{also}]\n{}{}",
            source("any", ""),
            source("some", &versions)
        );
        catalog::parse(&text).unwrap()
    }

    fn package(dependencies: &[(&str, Option<&str>)]) -> Package {
        let dependencies: BTreeMap<_, _> = dependencies
            .iter()
            .map(|(name, version)| ((*name).to_owned(), version.map(|version| version.parse().unwrap())))
            .collect();
        Package {
            name: "app".into(),
            library: None,
            dir: "/app".into(),
            targets: [].into(),
            test_targets: [].into(),
            of_targets: true,
            dependencies: Some(dependencies),
            config: Arc::new(Config { entries: 0..9, levels: Levels::default() }),
        }
    }

    fn ids(package: &Package, catalog: &[Crate]) -> Vec<String> {
        active(package, catalog)
            .iter()
            .flat_map(|(index, sources)| sources.iter().map(|source| (&catalog[*index].package, &source.id)))
            .map(|(package, id)| format!("{package}/{id}"))
            .collect()
    }

    #[test]
    fn a_dependency_or_a_re_exporter_makes_an_entry_active() {
        let catalog = [entry("std", "", ""), entry("redis", "\"fred\"", ""), entry("kube", "", "")];
        assert_eq!(ids(&package(&[]), &catalog), ["std/any", "std/some"]);
        assert_eq!(ids(&package(&[("fred", Some("0.1.0"))]), &catalog).len(), 4);
        let unknown = Package { dependencies: None, ..package(&[]) };
        assert_eq!(ids(&unknown, &catalog).len(), 6);
    }

    #[test]
    fn what_the_user_writes_is_active_where_its_version_fits() {
        let own = |package, versions| Crate { own: true, ..entry(package, "", versions) };
        let catalog = [own("acme-bus", ""), own("redis", "<1")];
        assert_eq!(ids(&package(&[("redis", Some("1.0.0"))]), &catalog).len(), 3);
        let elsewhere = Config { entries: 1..2, levels: Levels::default() };
        let other = Package { config: Arc::new(elsewhere), ..package(&[]) };
        assert_eq!(ids(&other, &catalog), ["redis/any", "redis/some"]);
    }

    #[test]
    fn versions_count_where_they_are_known() {
        let catalog = [entry("hyper", "", "<1")];
        assert_eq!(ids(&package(&[("hyper", None)]), &catalog), ["hyper/any", "hyper/some"]);
        assert_eq!(ids(&package(&[("hyper", Some("0.14.18446744073709551615"))]), &catalog).len(), 2);
        assert_eq!(ids(&package(&[("hyper", Some("0.14.0-rc.1"))]), &catalog).len(), 2);
        assert_eq!(ids(&package(&[("hyper", Some("1.6.0"))]), &catalog), ["hyper/any"]);
    }
}
