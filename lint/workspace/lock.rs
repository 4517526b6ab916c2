//! Versions: the locked one, or the newest that the manifest allows.
//!
//! `Cargo.lock` is written by cargo alone, in one shape, and may be large. It is read line by line.

use std::{collections::HashMap, fs, path::Path};

use semver::{Comparator, Op, Version, VersionReq};

/// One `Cargo.lock`.
#[derive(Debug, Default)]
pub(super) struct Lock {
    packages: HashMap<String, Vec<Locked>>,
}

#[derive(Debug)]
struct Locked {
    version: Version,
    /// The lines of `dependencies`: `name`, or `name version` where the name alone is not unique.
    dependencies: Vec<String>,
}

impl Lock {
    /// The lock file of a folder, if there is one.
    pub(super) fn read(dir: &Path) -> Option<Self> {
        fs::read_to_string(dir.join("Cargo.lock")).ok().map(|text| Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let mut lock = Self::default();
        for table in text.split("[[package]]").skip(1) {
            let mut name = None;
            let mut version = None;
            let mut dependencies = Vec::new();
            for line in table.lines() {
                match line.split_once(" = ") {
                    Some(("name", value)) => name = Some(unquote(value).to_owned()),
                    Some(("version", value)) => version = Version::parse(unquote(value)).ok(),
                    Some(_) => {}
                    None if line.starts_with(" \"") => {
                        dependencies.push(unquote(line.trim().trim_end_matches(',')).to_owned());
                    }
                    None => {}
                }
            }
            if let (Some(name), Some(version)) = (name, version) {
                lock.packages.entry(name).or_default().push(Locked { version, dependencies });
            }
        }
        lock
    }

    /// The version of `dependency` that `package` is built with.
    ///
    /// Where the lock does not know the package, a version that is the only one of its name will do.
    pub(super) fn version(&self, package: &str, dependency: &str) -> Option<Version> {
        let candidates = self.packages.get(dependency)?;
        if let [only] = candidates.as_slice() {
            return Some(only.version.clone());
        }
        let [package] = self.packages.get(package)?.as_slice() else { return None };
        package.dependencies.iter().find_map(|line| {
            let mut words = line.split(' ');
            (words.next() == Some(dependency))
                .then(|| words.next().and_then(|text| Version::parse(text).ok()))?
        })
    }
}

fn unquote(text: &str) -> &str {
    text.trim().trim_matches('"')
}

/// The newest version that a requirement allows, as cargo would take it without a lock. Numbers that are left open are
/// `u64::MAX`. None if the requirement has no upper bound.
pub(super) fn newest(requirement: &str) -> Option<Version> {
    let requirement = VersionReq::parse(requirement).ok()?;
    let [Comparator { op, major, minor, patch, pre }] = requirement.comparators.as_slice() else {
        return None;
    };
    let open = u64::MAX;
    let (major, minor, patch) = match (op, *major, *minor, *patch) {
        (Op::Exact | Op::Wildcard | Op::Tilde, major, None, _) => (major, open, open),
        (Op::Wildcard | Op::Tilde, major, Some(minor), _) => (major, minor, open),
        (Op::Exact, major, Some(minor), patch) => (major, minor, patch.unwrap_or(open)),
        (Op::Caret, 0, Some(0), Some(patch)) => (0, 0, patch),
        (Op::Caret, 0, Some(minor), _) => (0, minor, open),
        (Op::Caret, major, _, _) => (major, open, open),
        _ => return None,
    };
    let mut version = Version::new(major, minor, patch);
    if *op == Op::Exact {
        version.pre = pre.clone();
    }
    Some(version)
}

#[cfg(test)]
mod tests {
    use super::{Lock, newest};

    const TEXT: &str = r#"
version = 4

[[package]]
name = "app"
version = "0.1.0"
dependencies = [
 "serde",
 "hyper 0.14.30",
]

[[package]]
name = "hyper"
version = "0.14.30"
source = "registry+https://github.com/rust-lang/crates.io-index"

[[package]]
name = "hyper"
version = "1.6.0"

[[package]]
name = "serde"
version = "1.0.1"
"#;

    fn version(package: &str, dependency: &str) -> Option<String> {
        Lock::parse(TEXT).version(package, dependency).map(|version| version.to_string())
    }

    #[test]
    fn two_versions_of_one_name_are_told_apart() {
        assert_eq!(version("app", "hyper").as_deref(), Some("0.14.30"));
        assert_eq!(version("app", "serde").as_deref(), Some("1.0.1"));
        assert_eq!(version("stranger", "hyper"), None);
        assert_eq!(version("stranger", "serde").as_deref(), Some("1.0.1"));
        assert_eq!(version("app", "tokio"), None);
    }

    #[test]
    fn without_a_lock_the_newest_allowed_version_counts() {
        let max = u64::MAX;
        let known = [
            ("1.2.3", format!("1.{max}.{max}")),
            ("0.14", format!("0.14.{max}")),
            ("0.0.3", "0.0.3".to_owned()),
            ("~1.2", format!("1.2.{max}")),
            ("=1.2.3-rc.1", "1.2.3-rc.1".to_owned()),
            ("1.*", format!("1.{max}.{max}")),
        ];
        for (requirement, wanted) in known {
            assert_eq!(newest(requirement).map(|version| version.to_string()), Some(wanted), "{requirement}");
        }
        for requirement in ["*", ">=1", ">=1, <3", "nonsense"] {
            assert_eq!(newest(requirement), None, "{requirement}");
        }
    }
}
