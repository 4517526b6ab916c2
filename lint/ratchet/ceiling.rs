//! What a baseline may not exceed: the one that held the same code at the base, wherever it was kept then.

use std::{collections::BTreeSet, fs, path::PathBuf};

use anyhow::{Context, Result};

use super::{
    document::{Document, Settings},
    entry::Entry,
    git::{Git, short},
    place::{Place, is_blank, parsed},
};

/// The entries and settings of an earlier time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ceiling {
    pub(super) settings: Settings,
    pub(super) entries: Vec<Entry>,
}

impl Ceiling {
    /// That of one baseline.
    pub(crate) fn of(document: &Document) -> Self {
        Self { settings: document.settings().clone(), entries: document.entries().cloned().collect() }
    }

    /// What held the code of a baseline in a commit: the same file; or else the nearest one above, and those that are no longer there.
    /// None: nothing did.
    ///
    /// # Errors
    ///
    /// One that cannot be read lets nothing pass.
    pub(crate) fn find(git: &Git, commit: &str, place: &Place) -> Result<Option<Self>> {
        let called = |path: &str| format!("{path} of {}", short(commit));
        if let Some(bytes) = git.file(commit, &place.name())?.filter(|bytes| !is_blank(bytes)) {
            return Ok(Some(Self::of(&parsed(&bytes, &called(&place.shown))?)));
        }
        let top = git.top()?;
        let top = fs::canonicalize(&top).with_context(|| format!("cannot enter `{}`", top.display()))?;
        let here = place.dir.strip_prefix(&top).unwrap_or(&place.dir).to_owned();
        let others: BTreeSet<PathBuf> =
            git.named(commit, &place.name())?.into_iter().map(PathBuf::from).collect();
        let folder = |path: &PathBuf| path.parent().map(PathBuf::from).unwrap_or_default();
        let above = others.iter().filter(|path| here != folder(path) && here.starts_with(folder(path)));
        let nearest = above.max_by_key(|path| path.components().count());
        let gone = others.iter().filter(|path| !top.join(path).exists());
        let mut ceiling: Option<Self> = None;
        for path in gone.chain(nearest).collect::<BTreeSet<_>>() {
            let name = path.to_string_lossy().replace('\\', "/");
            let bytes = git.bytes(&["cat-file", "blob", &format!("{commit}:{name}")])?;
            // Another program may have files of this name.
            if is_blank(&bytes)
                || !String::from_utf8_lossy(&bytes).lines().any(|line| line.starts_with("analysis"))
            {
                continue;
            }
            let document = parsed(&bytes, &called(&name))?;
            ceiling.get_or_insert_default().add(&document, |file| {
                let file = folder(path).join(file);
                let file = file.strip_prefix(&here).ok()?;
                Some(file.to_string_lossy().replace('\\', "/"))
            });
        }
        Ok(ceiling)
    }

    /// Adds what another baseline holds, with its files named anew.
    fn add(&mut self, document: &Document, rename: impl Fn(&str) -> Option<String>) {
        let Settings { analysis, rules, adopted, .. } = document.settings();
        self.settings.analysis = self.settings.analysis.max(*analysis);
        self.settings.rules.extend(rules);
        self.settings.adopted.extend(adopted.iter().cloned());
        let entries = document.entries();
        self.entries
            .extend(entries.filter_map(|entry| Some(Entry { file: rename(&entry.file)?, ..entry.clone() })));
    }
}
