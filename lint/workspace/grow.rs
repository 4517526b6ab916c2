//! Names that the analysis has derived, searched for in the files that it has not parsed.

use std::{
    collections::{BTreeSet, HashSet},
    fs,
    sync::Arc,
};

use aho_corasick::AhoCorasick;
use rayon::prelude::*;

use super::{Workspace, texts::LARGEST};

/// The files of these packages that call one of these functions and are not known yet, by index.
pub(crate) fn callers(
    workspace: &Workspace,
    packages: &BTreeSet<usize>,
    names: &BTreeSet<String>,
    known: &HashSet<usize>,
) -> Vec<(usize, Arc<str>)> {
    let patterns: Vec<String> = names.iter().map(|name| format!("{name}(")).collect();
    let Ok(automaton) = AhoCorasick::new(patterns) else { return Vec::new() };
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
            let calls = automaton.find_overlapping_iter(&text).any(|hit| is_call(&text[..hit.start()]));
            calls.then(|| (index, Arc::from(text)))
        })
        .collect()
}

/// Whether a name that follows this text is called there, and not defined or part of a longer name.
fn is_call(before: &str) -> bool {
    !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
        && !before.trim_end().ends_with(" fn")
        && before.trim_end() != "fn"
}

#[cfg(test)]
mod tests {
    use super::is_call;

    #[test]
    fn a_definition_is_no_call() {
        assert!(is_call("    self."));
        assert!(is_call("feed::"));
        assert!(!is_call("pub async fn "));
        assert!(!is_call("over"));
    }
}
