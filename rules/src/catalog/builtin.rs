//! The files of `rules/catalog`, read once.

use std::sync::LazyLock;

use super::Crate;

/// Name and text of each file.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

/// Every entry that ships with Rideout, in the order of the files' names.
///
/// # Panics
///
/// Never in a release: a test reads every file.
pub fn builtin() -> &'static [Crate] {
    static ENTRIES: LazyLock<Vec<Crate>> = LazyLock::new(|| {
        FILES
            .iter()
            .map(|(name, text)| match super::parse(text) {
                Ok(entry) => entry,
                #[expect(
                    clippy::panic,
                    reason = "the files are part of the program, and a test reads every one"
                )]
                Err(error) => panic!("rules/catalog/{name}: {error}"),
            })
            .collect()
    });
    &ENTRIES
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{FILES, builtin};

    #[test]
    fn every_file_is_named_after_its_package() {
        for ((name, _), entry) in FILES.iter().zip(builtin()) {
            assert_eq!(name.strip_suffix(".toml"), Some(entry.package.as_str()));
        }
    }

    #[test]
    fn source_ids_are_unique_and_cited() {
        let mut seen = HashSet::new();
        for source in builtin().iter().flat_map(|entry| &entry.sources) {
            assert!(seen.insert(&source.id), "{} is there twice", source.id);
            assert!(source.cite.contains(|c: char| c.is_ascii_digit()), "{} cites no version", source.id);
            for fault in &source.faults {
                assert!(
                    !fault.text.ends_with('.') && !fault.text.is_empty(),
                    "{}: {}",
                    source.id,
                    fault.text
                );
            }
        }
        for reopen in builtin().iter().flat_map(|entry| &entry.reopens) {
            assert!(reopen.cite.contains(|c: char| c.is_ascii_digit()), "{reopen:?} cites no version");
        }
    }
}
