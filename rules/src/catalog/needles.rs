//! What a file must contain for an entry to matter: the needles of the search that decides which files are parsed.

use super::{Crate, Feed, Opener, Shape, Value};

/// Names that many crates use: a file that means this crate's must also name the crate or the module.
const COMMON: &[&str] = &[
    "Block",
    "Blocks",
    "Channel",
    "Client",
    "Connection",
    "Consumer",
    "Controller",
    "Endpoint",
    "Entry",
    "Error",
    "Event",
    "Events",
    "Incoming",
    "Info",
    "Listener",
    "Log",
    "Message",
    "Messages",
    "Monitor",
    "Notification",
    "Ordered",
    "Query",
    "Reader",
    "Receiver",
    "Request",
    "Response",
    "Result",
    "Select",
    "Sender",
    "Shard",
    "Status",
    "Stream",
    "Subscriber",
    "Subscription",
    "Update",
    "Watch",
    "WebSocket",
    "async_client",
    "blocking",
    "channel",
    "channels",
    "client",
    "connect",
    "connection",
    "consumer",
    "controller",
    "endpoint",
    "error",
    "futures",
    "handshake",
    "message",
    "method",
    "monitor",
    "nonblocking",
    "notifications",
    "proxy",
    "service",
    "session",
    "stream",
    "subscriber",
    "types",
    "websocket",
];

/// Methods that every other file calls: there the receiver's type is looked for.
const COMMON_METHODS: &[&str] = &[
    "add", "build", "get", "iter", "live", "logs", "open", "poll", "query", "run", "split", "start", "state",
    "stats", "stream", "sync",
];

/// A text whose presence in a file tells that an entry may matter there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Needle {
    /// The text.
    pub text: String,
    /// Whether it may be the end of a longer word.
    pub open_start: bool,
    /// Whether it may be the start of a longer word.
    pub open_end: bool,
    /// A common word that the file must hold too.
    pub with: Option<String>,
}

impl Needle {
    /// A needle that is its own word at both ends, as far as it starts or ends with a letter.
    fn word(text: impl Into<String>) -> Self {
        Self { text: text.into(), open_start: false, open_end: false, with: None }
    }

    /// Whether the needle at `start..end` of a text stands there as a word.
    pub fn stands_at(&self, text: &[u8], start: usize, end: usize) -> bool {
        let in_word =
            |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let before = start.checked_sub(1).and_then(|at| text.get(at));
        let cut_start = in_word(before) && in_word(text.get(start));
        let cut_end = in_word(text.get(end)) && in_word(end.checked_sub(1).and_then(|at| text.get(at)));
        (self.open_start || !cut_start) && (self.open_end || !cut_end)
    }
}

/// The function that decides what becomes of every panic of a program: where it is called matters whatever the sources.
pub const PANIC_HOOK: &str = "set_hook";

/// The needles of an entry, sorted. Empty for one that opens nothing.
pub fn needles(entry: &Crate) -> Vec<Needle> {
    let roots = entry.roots();
    let mut needles = Vec::new();
    for source in entry.sources.iter().filter(|source| !source.faults.is_empty() || !source.whens.is_empty())
    {
        for opener in &source.open {
            of_opener(opener, entry, &roots, &mut needles);
            // A builder with a common method may never be named: then the call that gives it is looked for.
            let common = opener.method.as_deref().is_some_and(|method| COMMON_METHODS.contains(&method));
            let gives = |value: &&Value| {
                opener.on.iter().any(|on| mentions(&value.gives, on))
                    && !value.on.iter().any(|own| opener.on.contains(own))
            };
            for value in entry.values.iter().filter(gives).filter(|_| common) {
                match (&value.method, &value.function) {
                    (Some(method), _) => needles.push(Needle::word(format!(".{method}"))),
                    (None, Some(function)) => of_path(function, entry, &roots, &mut needles),
                    (None, None) => {}
                }
            }
        }
        for feed in &source.fed {
            let Feed { function, method, on } = feed.clone();
            of_opener(
                &Opener { function, method, on, argument: None, gives: None, telling: false, borrows: false },
                entry,
                &roots,
                &mut needles,
            );
        }
        for path in source.types.iter().chain(&source.items) {
            of_path(path, entry, &roots, &mut needles);
        }
    }
    needles.sort();
    needles.dedup();
    needles
}

fn mentions(shape: &Shape, path: &str) -> bool {
    match shape {
        Shape::Named(name, args) => name == path || args.iter().any(|arg| mentions(arg, path)),
        Shape::Tuple(parts) => parts.iter().any(|part| mentions(part, path)),
        Shape::Item | Shape::Watch => false,
    }
}

fn of_opener(opener: &Opener, entry: &Crate, roots: &[String], needles: &mut Vec<Needle>) {
    if let Some(path) = &opener.function {
        match path.rsplit("::").nth(1) {
            // An associated function goes with its type.
            Some(owner) if owner.starts_with(char::is_uppercase) => {
                let owner = path.rsplit_once("::").map_or(path.as_str(), |(owner, _)| owner);
                of_path(owner, entry, roots, needles);
            }
            _ => of_path(path, entry, roots, needles),
        }
    }
    // A field of such a type may be declared in one file and opened in another.
    let common =
        |path: &&String| entry.own || path.rsplit("::").next().is_some_and(|last| COMMON.contains(&last));
    opener.on.iter().filter(common).for_each(|path| of_path(path, entry, roots, needles));
    match opener.method.as_deref() {
        Some(method) if method == "*" || (COMMON_METHODS.contains(&method) && !opener.on.is_empty()) => {
            opener.on.iter().for_each(|path| of_path(path, entry, roots, needles));
        }
        // A generated method may be called where its type is not named, so the name up to the `*` has to do.
        Some(method) => {
            let start = method.split('*').next().unwrap_or(method);
            needles.push(Needle { open_end: start != method, ..Needle::word(format!(".{start}")) });
        }
        None => {}
    }
}

/// The last segment, without arguments; for a common name with its module, or else with one of the crate's roots.
fn of_path(path: &str, entry: &Crate, roots: &[String], needles: &mut Vec<Needle>) {
    let path = path.split('<').next().unwrap_or(path);
    let segments: Vec<&str> = path.split("::").collect();
    let pattern = segments.last().copied().unwrap_or_default();
    let last = pattern.trim_matches('*');
    if last.is_empty() || last.contains('*') {
        return;
    }
    // Every file names the standard library, and a crate does not name itself: there the name itself has to do.
    let everywhere = entry.own || roots.iter().any(|root| root == "std");
    if everywhere || (!COMMON.contains(&last) && last.len() > 4) {
        let (open_start, open_end) = (pattern.starts_with('*'), pattern.ends_with('*'));
        needles.push(Needle { open_start, open_end, ..Needle::word(last) });
        return;
    }
    let with = Some(last.to_owned());
    match segments.as_slice() {
        [_, .., module, _] if !COMMON.contains(module) && module.len() > 4 => {
            needles.push(Needle { with, ..Needle::word(*module) });
        }
        _ => needles.extend(
            roots.iter().map(|root| Needle { with: with.clone(), ..Needle::word(format!("{root}::")) }),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{Needle, needles};
    use crate::catalog::parse;

    #[test]
    fn common_names_need_their_module_or_crate() {
        let entry = parse(
            r#"
            package = "bus"
            [[source]]
            id = "bus"
            api = "bus::Receiver"
            cite = "bus 1.0"
            types = ["bus::feeds::Receiver", "bus::Receiver", "bus::FeedReceiver"]
            item = "T"
            open = [{ fn = "bus::Feed::open" }, { method = "receive_*", on = ["*Proxy"] }, { fn = "bus::subscribe_feed" }]
            [[source.fault]]
            shows-as = "ends"
            text = "it ends"
            "#,
        )
        .unwrap();
        let written = |needle: &Needle| match &needle.with {
            Some(with) => format!("{} with {with}", needle.text),
            None => needle.text.clone(),
        };
        let found: Vec<String> = needles(&entry).iter().map(written).collect();
        assert_eq!(
            found,
            [
                ".receive_",
                "FeedReceiver",
                "bus:: with Feed",
                "bus:: with Receiver",
                "feeds with Receiver",
                "subscribe_feed"
            ]
        );
    }

    #[test]
    fn a_needle_is_a_word_unless_it_was_cut() {
        let word = Needle::word("feed");
        let found = |needle: &Needle, text: &str| {
            let start = text.find(&needle.text).unwrap();
            needle.stands_at(text.as_bytes(), start, start + needle.text.len())
        };
        assert!(found(&word, "feed") && found(&word, "(feed)") && found(&word, "é.feed::a"));
        assert!(!found(&word, "feeds") && !found(&word, "a_feed") && !found(&word, "feed_a"));
        assert!(found(&Needle { open_end: true, ..word.clone() }, "feeds"));
        assert!(found(&Needle { open_start: true, ..word }, "a_feed"));
        let method = Needle::word(".feed");
        assert!(found(&method, "a.feed(") && !found(&method, "a.feeds("));
    }

    #[test]
    fn the_users_own_names_need_nothing_beside_them() {
        let entry = parse(
            r#"
            package = "bus"
            [[source]]
            id = "bus"
            api = "bus::Receiver"
            types = ["bus::Receiver"]
            item = "T"
            open = [{ method = "listen", on = ["bus::Hub"] }]
            [[source.fault]]
            shows-as = "ends"
            text = "it ends"
            "#,
        )
        .unwrap();
        let found = needles(&crate::catalog::Crate { own: true, ..entry });
        let wanted = [".listen", "Hub", "Receiver"].map(Needle::word);
        assert_eq!(found, wanted);
    }

    #[test]
    fn an_entry_without_faults_has_no_needles() {
        let entry = parse("package = \"quiet\"").unwrap();
        assert!(needles(&entry).is_empty());
    }
}
