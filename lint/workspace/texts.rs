//! Grep first, parse late: reads every file, keeps the text of those in which an active source shows, or a suppression that should
//! be of use to one.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use memchr::memmem;
use rayon::prelude::*;
use rideout_rules::{catalog::Crate, suppression};

use super::{Active, Needles, SourceFile, Workspace};
use crate::analysis::Unread;

/// The largest file that goes to the parser, in bytes.
pub(crate) const LARGEST: u64 = 16 << 20;

/// Reads the files of these packages of a workspace: those with a needle of an entry that is active for their package, or with a suppression if they
/// are to be reported, by index, and those that could not be read although they are to be reported.
pub(crate) fn texts(
    workspace: &Workspace,
    catalog: &[Crate],
    active: &[Active<'_>],
    packages: &BTreeSet<usize>,
) -> (Vec<(usize, Arc<str>)>, Vec<Unread>) {
    let needles = Needles::of_files(catalog, active);
    let look = |bytes: &mut Vec<u8>, (index, file): (usize, &SourceFile)| match read(
        file,
        &active[file.package],
        &needles,
        bytes,
    ) {
        Ok(text) => text.map(|text| Ok((index, text))),
        Err((reason, line)) => file.reported.then(|| Err(Unread { path: file.rel.clone(), reason, line })),
    };
    let files = workspace.files.par_iter().enumerate().filter(|(_, file)| packages.contains(&file.package));
    let seen: Vec<Result<_, _>> = files.map_init(Vec::new, look).flatten_iter().collect();

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

/// The text of a file if it has a needle; a reason, and a line if there is one, if it cannot be read. `bytes` is room to read into.
fn read(
    file: &SourceFile,
    active: &Active<'_>,
    needles: &Needles,
    bytes: &mut Vec<u8>,
) -> Result<Option<Arc<str>>, (String, Option<u32>)> {
    let cannot = |error: io::Error| (format!("cannot read the file: {error}"), None);
    if !read_small(&file.path, bytes).map_err(cannot)? {
        let large = File::open(&file.path)
            .and_then(|opened| needles.hit_in_stream(opened, active))
            .map_err(cannot)?;
        return if large {
            Err((format!("the file is larger than {} MiB", LARGEST >> 20), None))
        } else {
            Ok(None)
        };
    }
    let text = str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        ("the file is not valid UTF-8".to_owned(), u32::try_from(line).ok())
    })?;
    let kept = needles.hit(text, active) || file.reported && has_suppression(text);
    Ok(kept.then(|| text.into()))
}

fn has_suppression(text: &str) -> bool {
    memmem::find_iter(text.as_bytes(), suppression::MARK)
        .any(|at| !text[at + suppression::MARK.len()..].starts_with(':'))
}

/// Reads a file, unless it is too large.
fn read_small(path: &Path, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    if size > LARGEST {
        return Ok(false);
    }
    bytes.resize(usize::try_from(size).unwrap_or_default(), 0);
    if size == 0 || file.read_exact(bytes).is_err() {
        // It has another size than it says, or cannot be read.
        *bytes = fs::read(path)?;
    }
    Ok(true)
}
