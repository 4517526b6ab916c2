//! The catalog, indexed for the lookups of an analysis: which path, method, type or word means what.

use std::collections::{HashMap, HashSet};

use rideout_rules::catalog::{Channel, Crate, Meaning, Opener, Poll, Reopen, Shape, Source, Value, Word};

use super::{narrow::Narrow, own::Own};
use crate::syntax::tree::{Path, Type};

/// Index of a source in [`Known::sources`].
pub(crate) type SourceId = usize;

/// Index of a kind of channel in [`Known::channels`].
pub(crate) type ChannelId = usize;

type OpenMethod<'c> = (SourceId, &'c Opener, Vec<PathPattern>);

/// One source with the crate it belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownSource<'c> {
    pub(crate) package: &'c str,
    pub(crate) facts: &'c Source,
}

/// A catalog, with lookups for its active part.
#[derive(Debug, Default)]
pub(crate) struct Known<'c> {
    pub(crate) sources: Vec<KnownSource<'c>>,
    types: Paths<SourceId>,
    /// What holds with certain arguments only.
    narrow: Narrow<'c>,
    items: Paths<SourceId>,
    open_fns: Paths<(SourceId, &'c Opener)>,
    open_methods: HashMap<&'c str, Vec<OpenMethod<'c>>>,
    /// Methods whose names hold a `*`, in the order of the files.
    open_globs: Vec<(&'c str, OpenMethod<'c>)>,
    pub(crate) channels: Vec<&'c Channel>,
    channel_fns: Paths<ChannelId>,
    channel_types: Paths<ChannelId>,
    fed_fns: Paths<SourceId>,
    fed_methods: HashMap<&'c str, Vec<(SourceId, Vec<PathPattern>)>>,
    value_fns: Paths<&'c Value>,
    value_methods: HashMap<&'c str, Vec<(&'c Value, Vec<PathPattern>)>>,
    word_fns: Paths<Meaning>,
    word_methods: HashMap<&'c str, Vec<(Meaning, Vec<PathPattern>)>>,
    /// Names with `*` that tell what a call out of view means.
    hints: Vec<(&'c str, Meaning)>,
    word_macros: HashMap<&'c str, Meaning>,
    word_types: Paths<Meaning>,
    reopen_fns: Paths<&'c Reopen>,
    reopen_methods: HashMap<&'c str, Vec<(&'c Reopen, Vec<PathPattern>)>>,
    /// Types whose methods the catalog knows.
    receivers: Paths<()>,
    /// The functions to call for a pause in async code.
    pub(crate) pauses: Vec<&'c str>,
    /// First names of the paths of its crates.
    roots: HashSet<String>,
    /// What the user describes.
    pub(super) own: Own<'c>,
}

/// The first segments of an entry's paths.
struct Roots<'a> {
    all: Vec<String>,
    /// Of the user's entries, whose paths stand for themselves: the name of the package that sees them.
    own: Option<&'a str>,
}

/// A canonical path, or the end of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathPattern {
    Exact(String),
    /// Segments with `*`, matched at the end.
    End(Vec<String>),
}

/// Things by path.
#[derive(Debug)]
struct Paths<T> {
    exact: HashMap<String, T>,
    ends: Vec<(Vec<String>, T)>,
}

impl<T> Default for Paths<T> {
    fn default() -> Self {
        Self { exact: HashMap::new(), ends: Vec::new() }
    }
}

impl<T: Copy> Paths<T> {
    fn add(&mut self, roots: &Roots<'_>, path: &str, value: T) {
        for pattern in roots.patterns(path) {
            match pattern {
                PathPattern::Exact(path) => {
                    self.exact.entry(path).or_insert(value);
                }
                PathPattern::End(segments) => self.ends.push((segments, value)),
            }
        }
    }

    fn get(&self, path: &str) -> Option<T> {
        self.exact.get(path).copied().or_else(|| {
            self.ends.iter().find(|(segments, _)| ends_with(path, segments)).map(|(_, value)| *value)
        })
    }
}

impl Roots<'_> {
    /// The canonical paths that a catalog path stands for: its own root replaced by each root of the crate.
    fn patterns(&self, path: &str) -> Vec<PathPattern> {
        if path.contains('*') {
            return vec![PathPattern::End(path.split("::").map(str::to_owned).collect())];
        }
        let exact = |root: &str, rest: &str| PathPattern::Exact(format!("{root}::{rest}"));
        match (path.split_once("::"), self.own) {
            (Some((root, rest)), Some(here)) if root == here => vec![exact(root, rest), exact("crate", rest)],
            (Some((_, rest)), None) => self.all.iter().map(|root| exact(root, rest)).collect(),
            _ => vec![PathPattern::Exact(path.to_owned())],
        }
    }
}

fn ends_with(path: &str, pattern: &[String]) -> bool {
    let mut segments = path.rsplit("::");
    pattern.iter().rev().all(|pattern| segments.next().is_some_and(|segment| matches(segment, pattern)))
}

/// Whether a name fits a pattern like `*sleep*`, `send_*`.
fn hinted(name: &str, pattern: &str) -> bool {
    let word = pattern.trim_matches('*');
    match (pattern.starts_with('*'), pattern.ends_with('*')) {
        (true, true) => name.contains(word),
        (true, false) => name.ends_with(word),
        _ => name.starts_with(word),
    }
}

/// Whether a segment matches a pattern with at most one `*`.
fn matches(segment: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((head, tail)) => {
            segment.len() >= head.len() + tail.len() && segment.starts_with(head) && segment.ends_with(tail)
        }
        None => segment == pattern,
    }
}

impl PathPattern {
    pub(super) fn matches(&self, path: &str) -> bool {
        match self {
            Self::Exact(exact) => exact == path,
            Self::End(segments) => ends_with(path, segments),
        }
    }
}

impl<'c> Known<'c> {
    /// Indexes the entries of a catalog for which `holds` gives the sources whose version requirements are met. Sources have the
    /// same numbers whichever of them hold: a value of one package may be consumed in another. `here` is the name of the package
    /// in code.
    pub(crate) fn new(
        catalog: &'c [Crate],
        holds: impl Fn(usize) -> Option<Vec<&'c Source>>,
        here: &str,
    ) -> Self {
        let mut known = Self::default();
        for (index, entry) in catalog.iter().enumerate() {
            let first = known.sources.len();
            known
                .sources
                .extend(entry.sources.iter().map(|facts| KnownSource { package: &entry.package, facts }));
            let first_channel = known.channels.len();
            known.channels.extend(&entry.channels);
            let Some(holding) = holds(index) else { continue };
            let holding = |facts: &Source| holding.iter().any(|own| std::ptr::eq(*own, facts));
            let roots = Roots { all: entry.roots(), own: entry.own.then_some(here) };
            known.roots.extend(roots.all.iter().cloned());
            let all = |paths: &'c [String]| -> Vec<PathPattern> {
                paths.iter().flat_map(|path| roots.patterns(path)).collect()
            };
            if entry.own {
                let sources = entry.sources.iter().flat_map(Source::paths);
                let values = entry.values.iter().flat_map(Value::paths);
                let words = entry.words.iter().flat_map(Word::paths);
                let reopens = entry.reopens.iter().flat_map(Reopen::paths);
                sources.chain(values).chain(words).chain(reopens).for_each(|path| known.own.add(path));
            }
            for (id, facts) in (first..).zip(&entry.sources).filter(|(_, facts)| holding(facts)) {
                for path in &facts.types {
                    match Shape::parse(path) {
                        Ok(Shape::Named(path, args)) if !args.is_empty() => {
                            known.narrow.add_type(roots.patterns(&path), &args, id);
                        }
                        _ => known.types.add(&roots, path, id),
                    }
                }
                facts.items.iter().for_each(|path| known.items.add(&roots, path, id));
                for feed in &facts.fed {
                    if let Some(path) = &feed.function {
                        known.fed_fns.add(&roots, path, id);
                    }
                    if let Some(method) = &feed.method {
                        known.fed_methods.entry(method).or_default().push((id, all(&feed.on)));
                    }
                }
                for opener in &facts.open {
                    match (&opener.function, &opener.argument) {
                        (Some(path), Some(argument)) => {
                            known.narrow.add_fn(roots.patterns(path), argument, id, opener);
                        }
                        (Some(path), None) => known.open_fns.add(&roots, path, (id, opener)),
                        (None, _) => {}
                    }
                    match &opener.method {
                        Some(method) if method.contains('*') => {
                            known.open_globs.push((method, (id, opener, all(&opener.on))));
                        }
                        Some(method) => {
                            known.open_methods.entry(method).or_default().push((id, opener, all(&opener.on)));
                        }
                        None => {}
                    }
                }
            }
            for (id, channel) in (first_channel..).zip(&entry.channels) {
                channel.fns.iter().for_each(|path| known.channel_fns.add(&roots, path, id));
                channel.types.iter().for_each(|path| known.channel_types.add(&roots, path, id));
            }
            for value in &entry.values {
                if let Some(path) = &value.function {
                    known.value_fns.add(&roots, path, value);
                }
                if let Some(method) = &value.method {
                    known.value_methods.entry(method).or_default().push((value, all(&value.on)));
                }
            }
            for word in &entry.words {
                known.pauses.extend(word.pause(&entry.package));
                word.fns.iter().for_each(|path| known.word_fns.add(&roots, path, word.means));
                word.types.iter().for_each(|path| known.word_types.add(&roots, path, word.means));
                for method in &word.methods {
                    if method.contains('*') {
                        known.hints.push((method, word.means));
                        continue;
                    }
                    known.word_methods.entry(method).or_default().push((word.means, all(&word.on)));
                }
                word.macros.iter().for_each(|name| {
                    known.word_macros.entry(name).or_insert(word.means);
                });
            }
            for reopen in &entry.reopens {
                if let Some(path) = &reopen.function {
                    known.reopen_fns.add(&roots, path, reopen);
                }
                if let Some(method) = &reopen.method {
                    known.reopen_methods.entry(method).or_default().push((reopen, all(&reopen.on)));
                }
            }
            let on = entry.sources.iter().flat_map(|source| &source.open).flat_map(|opener| &opener.on);
            let policies = entry.reopens.iter().flat_map(|reopen| &reopen.on);
            for path in on.chain(policies).chain(entry.values.iter().flat_map(|value| &value.on)) {
                known.receivers.add(&roots, path, ());
            }
        }
        known
    }

    /// The source that a type is.
    pub(crate) fn source_of_type(&self, path: &str) -> Option<SourceId> {
        self.types.get(path)
    }

    /// The source that a type is, with these arguments. `name` tells the own name of what a path names.
    pub(crate) fn source_of(
        &self,
        path: &str,
        arguments: &[Type],
        name: &dyn Fn(&Path) -> String,
    ) -> Option<SourceId> {
        self.narrow.source(path, arguments, name).or_else(|| self.types.get(path))
    }

    /// The source whose items have this type.
    pub(crate) fn source_of_item(&self, path: &str) -> Option<SourceId> {
        self.items.get(path)
    }

    /// The kind of channel that a function makes.
    pub(crate) fn channel_fn(&self, path: &str) -> Option<ChannelId> {
        self.channel_fns.get(path)
    }

    /// The kind of channel whose receiver a type is.
    pub(crate) fn channel_type(&self, path: &str) -> Option<ChannelId> {
        self.channel_types.get(path)
    }

    /// The source that feeds the channel whose sender this function is given.
    pub(crate) fn fed_fn(&self, path: &str) -> Option<SourceId> {
        self.fed_fns.get(path)
    }

    /// The source that feeds the channel whose sender this method is given, on a receiver whose type has one of `paths`.
    pub(crate) fn fed_method(&self, paths: &[&str], method: &str) -> Option<SourceId> {
        self.fed_methods.get(method)?.iter().find_map(|(id, on)| {
            on.iter().any(|pattern| paths.iter().any(|path| pattern.matches(path))).then_some(*id)
        })
    }

    /// The opener that a function is, with arguments of which one may be a given text.
    pub(crate) fn open_fn(&self, path: &str, is: impl Fn(&str) -> bool) -> Option<(SourceId, &'c Opener)> {
        self.narrow.opener(path, is).or_else(|| self.open_fns.get(path))
    }

    /// The opener that `method` is on a receiver whose type has one of `paths`: the first, or, if `fallible` says that the code
    /// takes a result, the first that gives one. An empty list is a receiver of unknown type; the flag tells that the source is a
    /// guess.
    pub(crate) fn open_method(
        &self,
        paths: &[&str],
        method: &str,
        fallible: impl FnOnce() -> bool,
    ) -> Option<(SourceId, &'c Opener, bool)> {
        let listed = self.open_methods.get(method).into_iter().flatten();
        if paths.is_empty() {
            return listed
                .clone()
                .find(|(_, opener, _)| opener.telling)
                .map(|(id, opener, _)| (*id, *opener, true));
        }
        let globs =
            self.open_globs.iter().filter(|(pattern, ..)| matches(method, pattern)).map(|(_, entry)| entry);
        let on_type = |(_, _, on): &&OpenMethod<'_>| {
            on.iter().any(|pattern| paths.iter().any(|path| pattern.matches(path)))
        };
        let found: Vec<&OpenMethod<'c>> = listed.chain(globs).filter(on_type).collect();
        let is_result = |entry: &&&OpenMethod<'_>| entry.1.gives.as_ref().is_some_and(Shape::is_result);
        let first = *found.first()?;
        let best = match found.iter().find(is_result) {
            Some(other) if !is_result(&&first) && fallible() => other,
            _ => first,
        };
        Some((best.0, best.1, false))
    }

    /// What a function gives on the way to a source.
    pub(crate) fn value_fn(&self, path: &str) -> Option<&'c Shape> {
        self.value_fns.get(path).map(|value| &value.gives)
    }

    /// What a method gives on the way to a source, on a receiver whose type has one of `paths`.
    pub(crate) fn value_method(&self, paths: &[&str], method: &str) -> Option<&'c Shape> {
        self.value_methods.get(method)?.iter().find_map(|(value, on)| {
            let fits = on.iter().any(|pattern| paths.iter().any(|path| pattern.matches(path)));
            fits.then_some(&value.gives)
        })
    }

    /// Whether what a method gives is as dead as its receiver, whose type has one of `paths`.
    pub(crate) fn borrows(&self, paths: &[&str], method: &str) -> bool {
        let value = self.value_methods.get(method).into_iter().flatten().any(|(value, on)| {
            value.borrows && on.iter().any(|pattern| paths.iter().any(|path| pattern.matches(path)))
        });
        value || self.open_method(paths, method, || false).is_some_and(|(_, opener, _)| opener.borrows)
    }

    /// What a function means.
    pub(crate) fn word_fn(&self, path: &str) -> Option<Meaning> {
        self.word_fns.get(path)
    }

    /// What a method means on a receiver whose type has one of `paths` (none: unknown type).
    pub(crate) fn word_method(&self, paths: &[&str], method: &str) -> Option<Meaning> {
        self.word_methods.get(method)?.iter().find_map(|(means, on)| {
            let fits =
                on.is_empty() || on.iter().any(|pattern| paths.iter().any(|path| pattern.matches(path)));
            fits.then_some(*means)
        })
    }

    /// What the name of a call that leads out of view says.
    pub(crate) fn hint(&self, name: &str) -> Option<Meaning> {
        self.hints.iter().find(|(pattern, _)| hinted(name, pattern)).map(|(_, means)| *means)
    }

    /// What a macro means.
    pub(crate) fn word_macro(&self, name: &str) -> Option<Meaning> {
        self.word_macros.get(name).copied()
    }

    /// What a type means.
    pub(crate) fn word_type(&self, path: &str) -> Option<Meaning> {
        self.word_types.get(path)
    }

    /// The helper that calls a closure again, by its function.
    pub(crate) fn reopen_fn(&self, path: &str) -> Option<&'c Reopen> {
        self.reopen_fns.get(path)
    }

    /// The helper that calls a closure again, by its method: one of the closure, or one of a receiver whose type has one of `paths`.
    pub(crate) fn reopen_method(&self, paths: &[&str], method: &str) -> Option<&'c Reopen> {
        self.reopen_methods.get(method)?.iter().find_map(|(reopen, on)| {
            let fits = if paths.is_empty() {
                on.is_empty()
            } else {
                on.iter().any(|pattern| paths.iter().any(|path| pattern.matches(path)))
            };
            fits.then_some(*reopen)
        })
    }

    /// Whether a method on a receiver whose type has one of `paths` opens, leads to a source, or is a word.
    pub(super) fn describes_method(&self, paths: &[&str], method: &str) -> bool {
        let means = |(_, on): &(Meaning, Vec<PathPattern>)| {
            on.iter().any(|pattern| paths.iter().any(|path| pattern.matches(path)))
        };
        self.open_method(paths, method, || false).is_some()
            || self.value_method(paths, method).is_some()
            || self.word_methods.get(method).is_some_and(|words| words.iter().any(means))
    }

    /// Whether anything in the catalog has this path. Tells which glob import a name comes from.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.own.has_name(path)
            || self.types.get(path).is_some()
            || self.items.get(path).is_some()
            || self.open_fns.get(path).is_some()
            || self.narrow.has(path)
            || self.channel_fns.get(path).is_some()
            || self.channel_types.get(path).is_some()
            || self.fed_fns.get(path).is_some()
            || self.value_fns.get(path).is_some()
            || self.word_fns.get(path).is_some()
            || self.word_types.get(path).is_some()
            || self.reopen_fns.get(path).is_some()
            || self.receivers.get(path).is_some()
    }

    /// The path in its own crate of what another crate re-exports: `pool::redis::Client` is `redis::Client`.
    pub(crate) fn re_exported<'s>(&self, path: &'s [String]) -> Option<&'s [String]> {
        if path.len() < 3 || !self.roots.contains(&path[1]) {
            return None;
        }
        let knows = |path: &[String]| {
            self.has(&path.join("::")) || (path.len() > 2 && self.has(&path[..path.len() - 1].join("::")))
        };
        (!knows(path) && knows(&path[1..])).then_some(&path[1..])
    }

    /// The polling method of a kind of channel.
    pub(crate) fn channel_poll(&self, id: ChannelId, method: &str) -> Option<&'c Poll> {
        self.channels[id].polls.iter().find(|poll| poll.method == method)
    }

    /// The polling method of a source.
    pub(crate) fn poll(&self, id: SourceId, method: &str) -> Option<&'c Poll> {
        self.sources[id].facts.polls.iter().find(|poll| poll.method == method)
    }
}

#[cfg(test)]
mod tests {
    use super::{PathPattern, Roots, ends_with};

    #[test]
    fn a_path_holds_for_every_root_of_its_crate() {
        let roots = Roots { all: vec!["redis".to_owned(), "other".to_owned()], own: None };
        let patterns = roots.patterns("redis::aio::PubSub");
        assert_eq!(patterns.len(), 2);
        assert_eq!(patterns[1], PathPattern::Exact("other::aio::PubSub".to_owned()));
    }

    #[test]
    fn a_path_of_the_user_stands_for_itself_and_in_its_package_for_crate() {
        let paths = |here: &str| {
            let roots = Roots { all: vec!["acme_bus".to_owned()], own: Some(here) };
            roots.patterns("acme_bus::topics::Bus")
        };
        let exact = |path: &str| PathPattern::Exact(path.to_owned());
        assert_eq!(paths("app"), [exact("acme_bus::topics::Bus")]);
        assert_eq!(paths("acme_bus"), [exact("acme_bus::topics::Bus"), exact("crate::topics::Bus")]);
    }

    #[test]
    fn a_wildcard_matches_at_the_end() {
        let pattern: Vec<String> = ["*_client", "*Client"].map(str::to_owned).to_vec();
        assert!(ends_with("proto::feed::feed_client::FeedClient", &pattern));
        assert!(!ends_with("proto::feed::FeedClient", &pattern));
    }
}
