//! Grep first, parse late: reads every file, keeps the text of those in which an active source shows, or a suppression that should
//! be of use to one.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::Path,
    sync::Arc,
};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use memchr::memmem;
use rayon::prelude::*;
use rideout_rules::{
    catalog::{self, Crate, Needle},
    suppression,
};

use super::{SourceFile, Workspace, active};
use crate::analysis::Unread;

/// The largest file that goes to the parser, in bytes.
pub(crate) const LARGEST: u64 = 16 << 20;

/// Reads the files of a workspace: those with a needle of an entry that is active for their package, or with a suppression if they
/// are to be reported, by index, and those that could not be read although they are to be reported.
pub(crate) fn texts(workspace: &Workspace, catalog: &[Crate]) -> (Vec<(usize, Arc<str>)>, Vec<Unread>) {
    let active: Vec<BTreeSet<usize>> = workspace
        .packages
        .par_iter()
        .map(|package| active(package, catalog).iter().map(|active| active.index).collect())
        .collect();
    let needles = Needles::new(catalog, &active.iter().flatten().copied().collect());

    let look = |(index, file): (usize, &SourceFile)| match read(file, &active[file.package], &needles) {
        Ok(text) => text.map(|text| Ok((index, text))),
        Err((reason, line)) => file.reported.then(|| Err(Unread { path: file.rel.clone(), reason, line })),
    };
    let seen: Vec<Result<_, _>> = workspace.files.par_iter().enumerate().filter_map(look).collect();

    let mut unread = workspace.unread.clone();
    let mut texts = Vec::new();
    for seen in seen {
        match seen {
            Ok(text) => texts.push(text),
            Err(file) => unread.push(file),
        }
    }
    unread.sort_by(|left, right| (&left.path, left.line).cmp(&(&right.path, right.line)));
    (texts, unread)
}

/// One automaton over the needles of several entries.
struct Needles {
    automaton: Option<AhoCorasick>,
    /// The needle of each pattern and its entry. One pattern more stands for suppressions.
    owners: Vec<(Needle, usize)>,
}

impl Needles {
    fn new(catalog: &[Crate], entries: &BTreeSet<usize>) -> Self {
        let owners: Vec<(Needle, usize)> = entries
            .iter()
            .flat_map(|&index| {
                catalog::needles(&catalog[index]).into_iter().map(move |needle| (needle, index))
            })
            .collect();
        let mut patterns: Vec<&str> = owners.iter().map(|(needle, _)| needle.text.as_str()).collect();
        patterns.push(suppression::MARK);
        let kind = (patterns.len() < 2000).then_some(AhoCorasickKind::DFA);
        // Building fails only beyond the automaton's size; without one every file is kept, which is slow and right.
        Self { automaton: AhoCorasick::builder().kind(kind).build(patterns).ok(), owners }
    }

    /// Whether the text holds a needle of one of these entries, or a suppression if those count.
    fn hit(&self, text: &[u8], active: &BTreeSet<usize>, suppressions: bool) -> bool {
        let Some(automaton) = &self.automaton else { return true };
        let mut alone = BTreeSet::new();
        automaton.find_overlapping_iter(text).any(|hit| {
            let pattern = hit.pattern().as_usize();
            let Some((needle, owner)) = self.owners.get(pattern) else {
                return suppressions && text.get(hit.end()) != Some(&b':');
            };
            active.contains(owner)
                && !alone.contains(&pattern)
                && needle.stands_at(text, hit.start(), hit.end())
                && needle.with.as_ref().is_none_or(|with| {
                    let there = memmem::find(text, with.as_bytes()).is_some();
                    if !there {
                        alone.insert(pattern);
                    }
                    there
                })
        })
    }

    /// The same for a file too large to hold in memory. Needles of other entries may hide one; close enough for a warning.
    fn hit_in_stream(&self, file: File, active: &BTreeSet<usize>) -> io::Result<bool> {
        let Some(automaton) = &self.automaton else { return Ok(true) };
        for hit in automaton.stream_find_iter(file) {
            if self.owners.get(hit?.pattern().as_usize()).is_some_and(|(_, owner)| active.contains(owner)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The text of a file if it has a needle; a reason, and a line if there is one, if it cannot be read.
fn read(
    file: &SourceFile,
    active: &BTreeSet<usize>,
    needles: &Needles,
) -> Result<Option<Arc<str>>, (String, Option<u32>)> {
    let cannot = |error: io::Error| (format!("cannot read the file: {error}"), None);
    let Some(bytes) = read_small(&file.path).map_err(cannot)? else {
        let large = File::open(&file.path)
            .and_then(|opened| needles.hit_in_stream(opened, active))
            .map_err(cannot)?;
        return if large {
            Err((format!("the file is larger than {} MiB", LARGEST >> 20), None))
        } else {
            Ok(None)
        };
    };
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count() + 1;
            return Err(("the file is not valid UTF-8".to_owned(), u32::try_from(line).ok()));
        }
    };
    Ok(needles.hit(text.as_bytes(), active, file.reported).then(|| text.into()))
}

fn read_small(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let size = fs::metadata(path)?.len();
    if size > LARGEST { Ok(None) } else { fs::read(path).map(Some) }
}
