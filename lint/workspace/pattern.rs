//! Wildcards as cargo takes them: `*` and `?` in package names and in the segments of `members`.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

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

/// The folders in a folder. Links are not followed, so that `**` ends.
fn folders(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        .map(|entry| entry.path())
        .collect()
}

fn below(dir: &Path) -> Vec<PathBuf> {
    let mut found = vec![dir.to_owned()];
    let mut next = 0;
    while let Some(dir) = found.get(next).cloned() {
        found.extend(folders(&dir));
        next += 1;
    }
    found
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
