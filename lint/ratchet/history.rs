//! The baseline as git remembers it: how many entries there were, commit by commit.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use super::{document::Document, git::Git, place::Place, read::read};

/// The baseline at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    /// The commit. None: the file as it is now.
    pub(crate) commit: Option<String>,
    /// The day of the commit.
    pub(crate) day: String,
    /// Entries of each rule that no comment allows.
    pub(crate) rules: BTreeMap<&'static str, usize>,
    /// Entries that a comment allows.
    pub(crate) allowed: usize,
}

impl Point {
    fn new(commit: Option<String>, day: String, document: &Document) -> Self {
        let mut point = Self { commit, day, rules: BTreeMap::new(), allowed: 0 };
        for entry in document.entries() {
            if entry.plain {
                *point.rules.entry(entry.rule).or_default() += 1;
            } else {
                point.allowed += 1;
            }
        }
        point
    }

    /// All entries.
    pub(crate) fn count(&self) -> usize {
        self.rules.values().sum::<usize>() + self.allowed
    }
}

/// What git remembers.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// The oldest first; the file as it is now comes last.
    pub(crate) points: Vec<Point>,
    /// How many commits have a baseline that cannot be read.
    pub(crate) unread: usize,
    /// Whether the history is cut off.
    pub(crate) shallow: bool,
}

impl History {
    /// Reads the history of a baseline along the first parents: what was merged counts when it was merged.
    ///
    /// # Errors
    ///
    /// No git, or a baseline that cannot be read now.
    pub(crate) fn read(place: &Place) -> Result<Self> {
        let (now, _) = place.read()?;
        let git = Git::new(place.folder())?;
        let name = place.name();
        let mut history = Self { shallow: git.is_shallow()?, ..Self::default() };
        // In a repository without a commit there is nothing to remember.
        let path = format!("./{name}");
        let format = "--format=%H %cs";
        let listed = git.ask(&["rev-list", "--first-parent", "--reverse", format, "HEAD", "--", &path])?;
        let listed = listed.unwrap_or_default();
        let (commits, days): (Vec<&str>, Vec<&str>) = listed
            .lines()
            .filter(|line| !line.starts_with("commit "))
            .filter_map(|line| line.split_once(' '))
            .unzip();
        let files = git.files(&commits, &name).context("cannot read the history")?;
        for ((commit, day), bytes) in commits.into_iter().zip(days).zip(files) {
            let Some(bytes) = bytes else { continue };
            match read(&bytes) {
                Ok(document) => {
                    history.points.push(Point::new(Some(commit.to_owned()), day.to_owned(), &document));
                }
                Err(_) => history.unread += 1,
            }
        }
        let last = Point::new(None, "now".to_owned(), &now);
        let same = |point: &Point| point.rules == last.rules && point.allowed == last.allowed;
        if !history.points.last().is_some_and(same) {
            history.points.push(last);
        }
        Ok(history)
    }
}
