//! Names that the analysis has derived, searched for in the files that it has not parsed.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs,
    sync::Arc,
};

use aho_corasick::AhoCorasick;
use rayon::prelude::*;

use super::{Workspace, reach::Reach, texts::LARGEST};

/// Names to look for in the files of some packages: of what is used there, and of what may be defined there.
#[derive(Default)]
pub(crate) struct Sought {
    by_package: BTreeMap<usize, (Words, Words)>,
}

impl Sought {
    /// What each of these packages can know of: names of functions of its own and of the packages that it depends on, or of a trait
    /// (no package), and of types that it or a package depending on it names.
    pub(crate) fn new(
        workspace: &Workspace,
        packages: &BTreeSet<usize>,
        used: &BTreeSet<(Option<usize>, String)>,
        defined: &BTreeSet<(usize, String)>,
    ) -> Self {
        let reach = Reach::new(&workspace.packages, packages);
        let of_package = |&package: &usize| {
            let used = used.iter().filter(|(owner, _)| owner.is_none_or(|owner| reach.sees(package, owner)));
            let defined = defined.iter().filter(|(user, _)| reach.sees(*user, package));
            let used = Words::new(used.map(|(_, name)| name));
            let defined = Words::new(defined.map(|(_, name)| name));
            // A package that can know of nothing that is sought is not read.
            (used.automaton.is_some() || defined.automaton.is_some()).then_some((package, (used, defined)))
        };
        Self { by_package: packages.iter().filter_map(of_package).collect() }
    }

    /// Whether code of a package uses one of the names.
    pub(crate) fn is_used(&self, package: usize, code: &str) -> bool {
        self.by_package.get(&package).is_some_and(|(used, _)| used.stand_in(code, is_use))
    }

    fn is_defined(&self, package: usize, code: &str) -> bool {
        self.by_package.get(&package).is_some_and(|(_, defined)| defined.stand_in(code, is_definition))
    }
}

/// Words searched for at once.
struct Words {
    automaton: Option<AhoCorasick>,
}

impl Words {
    fn new<'a>(words: impl Iterator<Item = &'a String>) -> Self {
        let words: Vec<&String> = words.collect();
        Self { automaton: (!words.is_empty()).then(|| AhoCorasick::new(words).ok()).flatten() }
    }

    /// Whether one of the words stands in the text as `stands` wants it, by the text before it, itself, and the text behind it.
    fn stand_in(&self, text: &str, stands: fn(&str, &str, &str) -> bool) -> bool {
        let Some(automaton) = &self.automaton else { return false };
        automaton.find_overlapping_iter(text).any(|hit| {
            let (before, behind) = (&text[..hit.start()], &text[hit.end()..]);
            !before.ends_with(is_word)
                && !behind.starts_with(is_word)
                && stands(before, &text[hit.range()], behind)
        })
    }
}

/// The files of the packages that use what is sought, or define it, and are not known yet, by index.
pub(crate) fn related(
    workspace: &Workspace,
    sought: &Sought,
    known: &HashSet<usize>,
) -> Vec<(usize, Arc<str>)> {
    workspace
        .files
        .par_iter()
        .enumerate()
        .filter(|(index, file)| sought.by_package.contains_key(&file.package) && !known.contains(index))
        .filter_map(|(index, file)| {
            if fs::metadata(&file.path).ok()?.len() > LARGEST {
                return None;
            }
            let text = String::from_utf8(fs::read(&file.path).ok()?).ok()?;
            let related = sought.is_used(file.package, &text) || sought.is_defined(file.package, &text);
            related.then(|| (index, Arc::from(text)))
        })
        .collect()
}

/// Whether a name between these is used: a type named, a function called, named by its path or handed over, and not defined.
fn is_use(before: &str, name: &str, behind: &str) -> bool {
    if name.starts_with(char::is_uppercase) && !name.contains(':') {
        return true;
    }
    let before = before.trim_end();
    let defined = before == "fn" || before.ends_with(" fn");
    let called = behind.starts_with('(') || behind.starts_with("::<") || before.ends_with("::");
    let handed_over = behind.starts_with([')', ',', ';']) && before.ends_with(['(', ',', '&', '=']);
    !defined && (called || handed_over)
}

/// Whether a name behind this is that of a type which is defined there.
fn is_definition(before: &str, _: &str, _: &str) -> bool {
    let word = before.strip_suffix(' ').and_then(|before| before.rsplit(is_space).next());
    word.is_some_and(|word| matches!(word, "struct" | "enum" | "type" | "trait"))
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '('
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::{Words, is_definition, is_use};

    #[test]
    fn a_definition_is_no_use() {
        let names = Words::new(["run".to_owned(), "Feed".to_owned()].iter());
        for used in
            ["    self.run()", "feed::run(a)", "spawn(run)", "retry(policy, feed::run)", "feed: &Feed"]
        {
            assert!(names.stand_in(used, is_use), "{used}");
        }
        for other in ["pub async fn run() {}", "overrun()", "runs()", "// a test run\n", "let run = 1;"] {
            assert!(!names.stand_in(other, is_use), "{other}");
        }
    }

    #[test]
    fn a_type_is_found_where_it_is_defined() {
        let types = Words::new(["Feed".to_owned()].iter());
        for defined in
            ["struct Feed;", "pub enum Feed<T> {}", "pub(crate) type Feed = u8;", "\ntrait Feed {}"]
        {
            assert!(types.stand_in(defined, is_definition), "{defined}");
        }
        for other in ["struct Feeds;", "fn run(feed: Feed)", "impl Feed {}", "structs Feed"] {
            assert!(!types.stand_in(other, is_definition), "{other}");
        }
    }
}
