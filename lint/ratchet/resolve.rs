//! Mends a merge conflict in a baseline: what both sides have kept stays, as the side that changed it has it.

use anyhow::{Result, bail};

use super::{
    ceiling::Ceiling,
    document::Document,
    edit::Fate,
    entry::Entry,
    git::Git,
    guard::{Admitted, Change},
    pairs::pair,
    place::{Place, parsed},
    read::is_marker,
};

/// The two sides of a conflict, and what both started from if that is known.
#[derive(Debug)]
pub(crate) struct Sides {
    base: Option<Document>,
    ours: Document,
    theirs: Document,
}

impl Sides {
    /// The sides that git has noted, or those that the marks in the file show. None: there is no conflict.
    ///
    /// # Errors
    ///
    /// One side has deleted the file, or one cannot be read.
    pub(crate) fn find(place: &Place, bytes: &[u8]) -> Result<Option<Self>> {
        if let Ok(git) = Git::new(place.folder())
            && let Some(sides) = Self::in_index(&git, &place.name())?
        {
            return Ok(Some(sides));
        }
        let text = String::from_utf8_lossy(bytes);
        if !text.lines().any(is_marker) {
            return Ok(None);
        }
        let [base, ours, theirs] = by_marks(&text);
        let read = |side: &str, name: &str| parsed(side.as_bytes(), &format!("{} ({name})", place.shown));
        let base = base.map(|base| read(&base, "base")).transpose()?;
        let (ours, theirs) = (ours.unwrap_or_default(), theirs.unwrap_or_default());
        Ok(Some(Self { base, ours: read(&ours, "ours")?, theirs: read(&theirs, "theirs")? }))
    }

    fn in_index(git: &Git, name: &str) -> Result<Option<Self>> {
        let listed = git.bytes(&["ls-files", "-u", "-z", "--", &format!("./{name}")])?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        if listed.is_empty() {
            return Ok(None);
        }
        // `mode id stage<tab>path`
        let side = |stage: &str| -> Result<Option<Document>> {
            let entries = listed.split('\0').filter_map(|entry| entry.split_once('\t'));
            let found = entries.map(|(about, _)| about.split(' ').collect::<Vec<_>>());
            let Some(id) = found.into_iter().find(|parts| parts.get(2) == Some(&stage)) else {
                return Ok(None);
            };
            let bytes = git.bytes(&["cat-file", "blob", id.get(1).unwrap_or(&"")])?;
            let called = ["base", "ours", "theirs"];
            let called = stage.parse::<usize>().ok().and_then(|stage| called.get(stage - 1)).unwrap_or(&"");
            parsed(&bytes, &format!("{name} ({called})")).map(Some)
        };
        match (side("2")?, side("3")?) {
            (Some(ours), Some(theirs)) => Ok(Some(Self { base: side("1")?, ours, theirs })),
            _ => bail!("one side has deleted `{name}`: keep it or delete it by hand"),
        }
    }

    /// The merged baseline, in the words and with the comments of our side.
    pub(crate) fn merged(&self) -> Document {
        let Self { base, ours, theirs } = self;
        // Without a common start, what only one side has cannot be told from what the other has mended.
        let Some(base) = base else {
            let (mine, other): (Vec<Entry>, Vec<Entry>) =
                (ours.entries().cloned().collect(), theirs.entries().cloned().collect());
            let left = pair(&mine, &other, &|_| true).left;
            let mut merged = ours.clone();
            merged.rewrite(
                (0..mine.len()).map(|index| if left.contains(&index) { Fate::Drop } else { Fate::Keep }),
                Vec::new(),
            );
            return merged;
        };
        let base = Ceiling::of(base);
        // The code of a conflict is on neither side, so it says nothing about what has moved.
        let (from_ours, from_theirs) =
            (Change::new(&base, ours, &|_| true), Change::new(&base, theirs, &|_| true));
        // The settings of the side that sees more, with all of its reasons.
        let newer = |left: &Document, right: &Document| {
            let (left, right) = (left.settings(), right.settings());
            (right.analysis, right.rules.len(), right.adopted.len())
                > (left.analysis, left.rules.len(), left.adopted.len())
        };
        let (mut merged, kept, other) = if newer(ours, theirs) {
            (theirs.clone(), &from_theirs, &from_ours)
        } else {
            (ours.clone(), &from_ours, &from_theirs)
        };
        let not_admitted = kept.added.iter().filter(|(_, _, admitted)| *admitted == Admitted::No);
        let only_here = not_admitted.map(|(entry, ..)| entry);
        let only_here = only_here.filter(|entry| !other.added.iter().any(|(other, ..)| other == *entry));
        let mut gone: Vec<Entry> = other.removed.iter().chain(only_here).cloned().collect();
        let mut changed = other.changed.clone();
        let fates: Vec<Fate> = merged
            .entries()
            .map(|entry| {
                let origin = kept.changed.iter().find(|(_, after)| after == entry).map(|(before, _)| before);
                if let Some(at) = gone.iter().position(|gone| gone == origin.unwrap_or(entry)) {
                    gone.swap_remove(at);
                    return Fate::Drop;
                }
                match changed.iter().position(|(before, _)| before == entry) {
                    Some(at) => Fate::Become(changed.swap_remove(at).1),
                    None => Fate::Keep,
                }
            })
            .collect();
        let fresh = other.added.iter().filter(|(_, _, admitted)| *admitted != Admitted::No);
        let fresh =
            fresh.map(|(entry, ..)| entry.clone()).filter(|entry| !merged.entries().any(|own| own == entry));
        let fresh: Vec<Entry> = fresh.collect();
        merged.rewrite(fates, fresh);
        merged
    }
}

/// The base, our side and their side of a text with marks. The base is known only if the marks show it.
fn by_marks(text: &str) -> [Option<String>; 3] {
    let mut sides = [String::new(), String::new(), String::new()];
    let (mut inside, mut shows_base) = (None, false);
    for line in text.split_inclusive('\n') {
        let plain = line.trim_end();
        if is_marker(plain) {
            inside = match plain.as_bytes().first() {
                Some(b'<') => Some(1),
                Some(b'|') => Some(0),
                Some(b'=') => Some(2),
                _ => None,
            };
            shows_base |= plain.starts_with('|');
            continue;
        }
        for (index, side) in sides.iter_mut().enumerate() {
            if inside.is_none_or(|inside| inside == index) {
                *side += line;
            }
        }
    }
    let [base, ours, theirs] = sides;
    [shows_base.then_some(base), Some(ours), Some(theirs)]
}
