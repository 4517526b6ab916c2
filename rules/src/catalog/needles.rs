//! What a file must contain for an entry to matter: the needles of the search that decides which files are parsed.

use super::{Crate, Opener};

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
    "add", "build", "iter", "live", "logs", "open", "poll", "query", "run", "split", "start", "state",
    "stats", "stream", "sync",
];

/// The needles of an entry, sorted. Empty for one that opens nothing.
pub fn needles(entry: &Crate) -> Vec<String> {
    let roots = entry.roots();
    let mut needles = Vec::new();
    for source in entry.sources.iter().filter(|source| !source.faults.is_empty() || !source.whens.is_empty())
    {
        for opener in &source.open {
            of_opener(opener, &roots, &mut needles);
        }
        for path in source.types.iter().chain(&source.items) {
            of_path(path, &roots, &mut needles);
        }
    }
    needles.sort();
    needles.dedup();
    needles
}

fn of_opener(opener: &Opener, roots: &[String], needles: &mut Vec<String>) {
    if let Some(path) = &opener.function {
        match path.rsplit("::").nth(1) {
            // An associated function goes with its type.
            Some(owner) if owner.starts_with(char::is_uppercase) => {
                of_path(path.rsplit_once("::").map_or(path.as_str(), |(owner, _)| owner), roots, needles);
            }
            _ => of_path(path, roots, needles),
        }
    }
    match opener.method.as_deref() {
        Some(method) if method == "*" || (COMMON_METHODS.contains(&method) && !opener.on.is_empty()) => {
            opener.on.iter().for_each(|path| of_path(path, roots, needles))
        }
        // A generated method may be called where its type is not named, so the name up to the `*` has to do.
        Some(method) => needles.push(format!(".{}", method.split('*').next().unwrap_or(method))),
        None => {}
    }
}

/// The last segment; for a common name its module, or else the crate's roots.
fn of_path(path: &str, roots: &[String], needles: &mut Vec<String>) {
    let segments: Vec<&str> = path.split("::").collect();
    let last = segments.last().copied().unwrap_or_default().trim_matches('*');
    if last.is_empty() || last.contains('*') {
        return;
    }
    // Every file names the standard library: there the name itself has to do.
    let everywhere = roots.iter().any(|root| root == "std");
    if everywhere || (!COMMON.contains(&last) && last.len() > 4) {
        needles.push(last.to_owned());
        return;
    }
    match segments.as_slice() {
        [_, .., module, _] if !COMMON.contains(module) && module.len() > 4 => {
            needles.push((*module).to_owned())
        }
        _ => needles.extend(roots.iter().map(|root| format!("{root}::"))),
    }
}

#[cfg(test)]
mod tests {
    use super::needles;
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
        assert_eq!(needles(&entry), [".receive_", "FeedReceiver", "bus::", "feeds", "subscribe_feed"]);
    }

    #[test]
    fn an_entry_without_faults_has_no_needles() {
        let entry = parse("package = \"quiet\"").unwrap();
        assert!(needles(&entry).is_empty());
    }
}
