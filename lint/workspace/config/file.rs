//! One configuration: read, checked, and turned into what a run needs.

use std::{collections::HashSet, ops::Range, path::Path};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rideout_rules::{
    Levels, RULES, Rule, Setting,
    catalog::{self, Mistake, Own, check_paths},
};
use serde::de::DeserializeOwned;
use toml::Spanned;

use super::{
    mistake,
    tables::{InManifest, Tables},
};

/// What one configuration says.
#[derive(Debug)]
pub(super) struct Settings {
    /// What is not read.
    pub(super) exclude: Gitignore,
    pub(super) levels: Levels,
    pub(super) own: Own,
}

/// What is wrong, and where.
struct Wrong {
    span: Range<usize>,
    sentence: String,
}

/// Reads a file of its own. `base` is where its globs begin.
///
/// # Errors
///
/// The first mistake, with the line.
pub(super) fn settings(path: &str, text: &str, base: &Path) -> Result<Settings, String> {
    let tables = parsed(path, text)?;
    checked(tables, text, base).map_err(|wrong| mistake::show(path, text, wrong.span, &wrong.sentence))
}

/// Reads the table of a manifest.
///
/// # Errors
///
/// The first mistake, with the line.
pub(super) fn settings_in_manifest(path: &str, text: &str, base: &Path) -> Result<Settings, String> {
    let tables = parsed::<InManifest>(path, text)?.tables();
    checked(tables, text, base).map_err(|wrong| mistake::show(path, text, wrong.span, &wrong.sentence))
}

fn parsed<T: DeserializeOwned>(path: &str, text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let sentence = in_tomls_words(error.message());
        mistake::show(path, text, error.span().unwrap_or_default(), &sentence)
    })
}

/// The reader's message in the words of the format.
fn in_tomls_words(message: &str) -> String {
    [
        ("unknown field", "unknown key"),
        ("missing field", "missing key"),
        ("unknown variant", "unknown value"),
        ("invalid type: map, expected a sequence", "one table, where `[[..]]` begins each of several"),
        ("expected a sequence", "expected an array"),
        ("expected usize", "expected a number"),
    ]
    .iter()
    .fold(message.to_owned(), |message, (from, to)| message.replace(from, to))
}

fn checked(tables: Tables, text: &str, base: &Path) -> Result<Settings, Wrong> {
    let exclude = exclude(&tables.exclude, base)?;
    let levels = levels(&tables)?;
    let in_table = |span: Range<usize>, mistake: Mistake| Wrong {
        span: place(text, &span, mistake.value.as_deref()),
        sentence: mistake.sentence,
    };
    let mut ids = HashSet::new();
    for table in &tables.source {
        let source = table.get_ref();
        let checks = source.check().and_then(|()| check_paths(source.paths()));
        checks.map_err(|mistake| in_table(table.span(), mistake))?;
        if !ids.insert(source.id.as_str()) {
            let span = place(text, &table.span(), Some(&source.id));
            return Err(Wrong { span, sentence: format!("there are two sources `{}`", source.id) });
        }
    }
    for table in &tables.value {
        let value = table.get_ref();
        let checks = value.check().and_then(|()| check_paths(value.paths()));
        checks.map_err(|mistake| in_table(table.span(), mistake))?;
    }
    for table in &tables.word {
        check_paths(table.get_ref().paths()).map_err(|mistake| in_table(table.span(), mistake))?;
    }
    for table in &tables.reopen {
        let reopen = table.get_ref();
        let checks = reopen.check().and_then(|()| check_paths(reopen.paths()));
        checks.map_err(|mistake| in_table(table.span(), mistake))?;
    }
    let sources =
        || catalog::builtin().iter().flat_map(|entry| &entry.sources).map(|source| source.id.as_str());
    for table in &tables.transient {
        let transient = table.get_ref();
        transient.check().map_err(|mistake| in_table(table.span(), mistake))?;
        let unknown =
            |id: &&String| !ids.contains(id.as_str()) && !sources().any(|known| known == id.as_str());
        if let Some(id) = transient.sources.iter().find(unknown) {
            let meant = did_you_mean(mistake::meant(id, sources().chain(ids.iter().copied())));
            let span = place(text, &table.span(), Some(id));
            return Err(Wrong { span, sentence: format!("there is no source `{id}`{meant}") });
        }
    }
    let own = Own {
        sources: plain(tables.source),
        values: plain(tables.value),
        words: plain(tables.word),
        reopens: plain(tables.reopen),
        transients: plain(tables.transient),
    };
    Ok(Settings { exclude, levels, own })
}

fn plain<T>(tables: Vec<Spanned<T>>) -> Vec<T> {
    tables.into_iter().map(Spanned::into_inner).collect()
}

/// The place of a value in a table: where it is written after the table's head, or the head.
fn place(text: &str, head: &Range<usize>, value: Option<&str>) -> Range<usize> {
    let found = value.and_then(|value| {
        let rest = text.get(head.start..)?;
        let quotes = ['"', '\''].iter().filter_map(|quote| rest.find(&format!("{quote}{value}{quote}")));
        quotes.min().map(|at| head.start + at..head.start + at + value.len() + 2)
    });
    found.unwrap_or_else(|| head.clone())
}

/// The globs as one matcher.
fn exclude(globs: &[Spanned<String>], base: &Path) -> Result<Gitignore, Wrong> {
    let mut builder = GitignoreBuilder::new(base);
    let wrong = |glob: &Spanned<String>, why: String| Wrong {
        span: glob.span(),
        sentence: format!("`{}` is no glob: {why}", glob.get_ref()),
    };
    for glob in globs {
        let text = glob.get_ref();
        if text.trim().is_empty() || text.starts_with('#') {
            return Err(wrong(glob, "it names nothing".to_owned()));
        }
        builder.add_line(None, text).map_err(|error| wrong(glob, reason(&error)))?;
    }
    builder.build().map_err(|error| Wrong { span: 0..0, sentence: format!("`exclude`: {error}") })
}

fn reason(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } => err.clone(),
        error => error.to_string(),
    }
}

fn levels(tables: &Tables) -> Result<Levels, Wrong> {
    let mut levels = Levels::default();
    for (name, setting) in &tables.rules {
        let rule = rule(name)?;
        let unknown = || Wrong {
            span: setting.span(),
            sentence: format!(
                "`{}` is no level: the levels are {}",
                setting.get_ref(),
                Setting::NAMES.join(", ")
            ),
        };
        let value = Setting::named(setting.get_ref()).ok_or_else(unknown)?;
        if Setting::FIXED.contains(&rule.id) && value != Setting::Deny {
            let sentence = format!("`{}` can only be deny: it holds the run itself to what it says", rule.id);
            return Err(Wrong { span: setting.span(), sentence });
        }
        levels.set(rule, value);
    }
    Ok(levels)
}

fn rule(name: &Spanned<String>) -> Result<&'static Rule, Wrong> {
    let id = name.get_ref();
    RULES.iter().find(|rule| rule.id == id).ok_or_else(|| {
        let names: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
        let meant = did_you_mean(mistake::meant(id, names.iter().copied()));
        Wrong {
            span: name.span(),
            sentence: format!("there is no rule `{id}`{meant}; the rules are {}", names.join(", ")),
        }
    })
}

fn did_you_mean(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}
