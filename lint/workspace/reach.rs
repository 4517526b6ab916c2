//! Which packages can know of each other.

use std::collections::{BTreeMap, BTreeSet};

use super::Package;

/// Which of some packages depend on which, themselves or through others.
pub(crate) struct Reach {
    seen: BTreeMap<usize, BTreeSet<usize>>,
}

impl Reach {
    pub(crate) fn new(all: &[Package], packages: &BTreeSet<usize>) -> Self {
        let by_name: BTreeMap<&str, usize> =
            packages.iter().map(|package| (all[*package].name.as_str(), *package)).collect();
        let direct = |package: usize| {
            let named = all[package].dependencies.iter().flat_map(BTreeMap::keys);
            named.filter_map(|name| by_name.get(name.as_str()).copied())
        };
        let closure = |&package: &usize| {
            let mut seen = BTreeSet::from([package]);
            let mut todo = vec![package];
            while let Some(package) = todo.pop() {
                todo.extend(direct(package).filter(|other| seen.insert(*other)));
            }
            (package, seen)
        };
        Self { seen: packages.iter().map(closure).collect() }
    }

    pub(crate) fn sees(&self, package: usize, other: usize) -> bool {
        self.seen.get(&package).is_some_and(|seen| seen.contains(&other))
    }

    /// Whether a package can make a difference to one of `wanted`: some package depends on both.
    pub(crate) fn matters(&self, package: usize, wanted: &BTreeSet<usize>) -> bool {
        self.seen.values().any(|seen| seen.contains(&package) && !seen.is_disjoint(wanted))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::Reach;
    use crate::workspace::Package;

    fn package(name: &str, on: &[&str]) -> Package {
        Package {
            name: name.to_owned(),
            library: None,
            dir: format!("/{name}").into(),
            targets: BTreeSet::new(),
            test_targets: [].into(),
            of_targets: true,
            dependencies: Some(on.iter().chain([&name]).map(|name| ((*name).to_owned(), None)).collect()),
            config: Default::default(),
        }
    }

    #[test]
    fn a_package_sees_what_it_depends_on() {
        let packages = vec![
            package("app", &["feed"]),
            package("feed", &["bus"]),
            package("bus", &[]),
            package("tool", &[]),
        ];
        let reach = Reach::new(&packages, &(0..4).collect());
        let seen: BTreeMap<usize, Vec<usize>> = (0..4)
            .map(|package| (package, (0..4).filter(|other| reach.sees(package, *other)).collect()))
            .collect();
        assert_eq!(seen, [(0, vec![0, 1, 2]), (1, vec![1, 2]), (2, vec![2]), (3, vec![3])].into());
    }

    #[test]
    fn a_package_matters_to_another_if_somebody_depends_on_both() {
        let packages = vec![
            package("app", &["feed", "retry"]),
            package("feed", &[]),
            package("retry", &[]),
            package("tool", &[]),
        ];
        let reach = Reach::new(&packages, &(0..4).collect());
        let matters = |wanted: usize| -> Vec<usize> {
            (0..4).filter(|package| reach.matters(*package, &[wanted].into())).collect()
        };
        assert_eq!(matters(1), [0, 1, 2]);
        assert_eq!(matters(3), [3]);
    }
}
