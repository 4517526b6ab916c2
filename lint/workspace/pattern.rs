//! Wildcards as cargo takes them: `*` and `?` in package names and in the segments of `members`.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use walkdir::{DirEntry, WalkDir};

/// Whether `text` matches `pattern`, where `*` is any run of characters and `?` any one.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    let mut star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    t = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// The folders below `root` that a `members` entry names.
pub(super) fn expand(root: &Path, pattern: &str) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::from([root.to_owned()]);
    for segment in pattern.split('/').filter(|segment| !segment.is_empty() && *segment != ".") {
        found = match segment {
            "**" => found.iter().flat_map(|dir| below(dir)).collect(),
            _ if segment.contains(['*', '?']) => {
                found.iter().flat_map(|dir| folders(dir)).filter(|dir| name_matches(segment, dir)).collect()
            }
            _ => found.iter().map(|dir| super::paths::join(dir, Path::new(segment))).collect(),
        };
    }
    found
}

fn name_matches(pattern: &str, dir: &Path) -> bool {
    dir.file_name().is_some_and(|name| matches(pattern, &name.to_string_lossy()))
}

/// The folders in a folder.
fn folders(dir: &Path) -> Vec<PathBuf> {
    walked(WalkDir::new(dir).min_depth(1).max_depth(1))
}

/// A folder and all below it.
fn below(dir: &Path) -> Vec<PathBuf> {
    walked(WalkDir::new(dir))
}

/// The folders of a walk that are not hidden. Links are not followed, so that `**` ends.
fn walked(walk: WalkDir) -> Vec<PathBuf> {
    let hidden = |entry: &DirEntry| entry.depth() > 0 && entry.file_name().to_string_lossy().starts_with('.');
    walk.into_iter()
        .filter_entry(|entry| entry.file_type().is_dir() && !hidden(entry))
        .flatten()
        .map(DirEntry::into_path)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, text) in
            [("*", ""), ("a*", "abc"), ("*c", "abc"), ("a?c", "abc"), ("a*b*c", "a__b_bc"), ("ab", "ab")]
        {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("a", "ab"), ("?", ""), ("a*b", "abc"), ("", "a")] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}
