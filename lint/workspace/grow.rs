//! Names that the analysis has derived, searched for in the files that it has not parsed.

use std::{
    collections::{BTreeSet, HashSet},
    fs,
    sync::Arc,
};

use aho_corasick::AhoCorasick;
use rayon::prelude::*;

use super::{Workspace, texts::LARGEST};

/// Names that functions are called by, and names of types, searched for as words.
pub(crate) struct Names {
    automaton: Option<AhoCorasick>,
}

impl Names {
    pub(crate) fn new(names: &BTreeSet<String>) -> Self {
        Self { automaton: AhoCorasick::new(names).ok() }
    }

    /// Whether one of the names stands in the text, other than where it is defined.
    pub(crate) fn stand_in(&self, text: &str) -> bool {
        let Some(automaton) = &self.automaton else { return false };
        automaton
            .find_overlapping_iter(text)
            .any(|hit| is_use(&text[..hit.start()]) && !text[hit.end()..].starts_with(is_word))
    }
}

/// Names of types, searched for where they are defined.
pub(crate) struct Definitions {
    automaton: Option<AhoCorasick>,
}

impl Definitions {
    pub(crate) fn new(names: &BTreeSet<String>) -> Self {
        Self { automaton: AhoCorasick::new(names).ok() }
    }

    fn stand_in(&self, text: &str) -> bool {
        let Some(automaton) = &self.automaton else { return false };
        automaton.find_overlapping_iter(text).any(|hit| {
            let word =
                text[..hit.start()].strip_suffix(' ').and_then(|before| before.rsplit(is_space).next());
            let defines = word.is_some_and(|word| matches!(word, "struct" | "enum" | "type" | "trait"));
            defines && !text[hit.end()..].starts_with(is_word)
        })
    }
}

/// The files of these packages that name one of these functions or types, or define one of those, and are not known yet, by index.
pub(crate) fn related(
    workspace: &Workspace,
    packages: &BTreeSet<usize>,
    names: &Names,
    definitions: &Definitions,
    known: &HashSet<usize>,
) -> Vec<(usize, Arc<str>)> {
    workspace
        .files
        .par_iter()
        .enumerate()
        .filter(|(index, file)| packages.contains(&file.package) && !known.contains(index))
        .filter_map(|(index, file)| {
            if fs::metadata(&file.path).ok()?.len() > LARGEST {
                return None;
            }
            let text = String::from_utf8(fs::read(&file.path).ok()?).ok()?;
            (names.stand_in(&text) || definitions.stand_in(&text)).then(|| (index, Arc::from(text)))
        })
        .collect()
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '('
}

/// Whether a name that follows this text is used there, and not defined or part of a longer name.
fn is_use(before: &str) -> bool {
    !before.ends_with(is_word) && !before.trim_end().ends_with(" fn") && before.trim_end() != "fn"
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::{Definitions, Names};

    #[test]
    fn a_definition_is_no_use() {
        let names = Names::new(&["run".to_owned()].into());
        for used in ["    self.run()", "feed::run(a)", "spawn(run)"] {
            assert!(names.stand_in(used), "{used}");
        }
        for other in ["pub async fn run() {}", "overrun()", "runs()"] {
            assert!(!names.stand_in(other), "{other}");
        }
    }

    #[test]
    fn a_type_is_found_where_it_is_defined() {
        let types = Definitions::new(&["Feed".to_owned()].into());
        for defined in
            ["struct Feed;", "pub enum Feed<T> {}", "pub(crate) type Feed = u8;", "\ntrait Feed {}"]
        {
            assert!(types.stand_in(defined), "{defined}");
        }
        for other in ["struct Feeds;", "fn run(feed: Feed)", "impl Feed {}", "structs Feed"] {
            assert!(!types.stand_in(other), "{other}");
        }
    }
}
