//! Flags a bounded reopen that stops for good without a log line, an error or a health mark.

use crate::model::{FaultPath, Outcome, Watch};
use crate::wording::with_code;
use crate::{Rule, Verdict};

pub(crate) const RULE: Rule = Rule {
    id: "silent-give-up",
    since: "0.1.0",
    summary: "a bounded reopen that stops for good with no log, error or health mark",
    why: "each attempt is in the log, but the moment after which nothing is tried any more is not",
    runtime: Some("rideout::hub_watcher::subscribe_hub_watcher"),
    docs: r#"
### What it flags

The line where a watch that is opened again a limited number of times, or for a limited time, leaves for good without a word:
the `return` or `break` of the bound, or the call of a retry helper whose default bound ends it and whose last error is dropped.

### Why is this bad?

A limit on retries is a decision, and someone has to act on it.
Without a log line, an error to the caller or a health mark, the last failed attempt looks like any other before it.
After a longer outage than the author had in mind, the watch is gone for good.

### Known limits

- A log of the last failed attempt is no log of giving up: the path that gives up must log, return an error or mark.
- A health mark is told by the names in the catalog and by what the marked value leads to in view.
- The default bounds of retry helpers are facts of the catalog and may depend on the version.

### Example

```rust
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use tokio_tungstenite::connect_async;
use tracing::debug;

use crate::book::Book;

const ATTEMPTS: u32 = 5;

pub fn start(url: String, book: Arc<Book>) {
    tokio::spawn(follow(url, book));
}

async fn follow(url: String, book: Arc<Book>) {
    let mut failed = 0;
    loop {
        match connect_async(url.as_str()).await {
            Ok((mut socket, _)) => {
                while let Some(Ok(message)) = socket.next().await {
                    failed = 0;
                    book.apply(message.into_data());
                }
            }
            Err(error) => debug!(%error, "exchange did not answer"),
        }
        failed += 1;
        if failed == ATTEMPTS {
            return;
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}
```

### Use instead

Go on for ever with a longer pause, or say that this is the end.

```rust
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use tokio_tungstenite::connect_async;
use tracing::{debug, error};

use crate::book::Book;

const ATTEMPTS: u32 = 5;

pub fn start(url: String, book: Arc<Book>) {
    tokio::spawn(follow(url, book));
}

async fn follow(url: String, book: Arc<Book>) {
    let mut failed = 0;
    loop {
        match connect_async(url.as_str()).await {
            Ok((mut socket, _)) => {
                while let Some(Ok(message)) = socket.next().await {
                    failed = 0;
                    book.apply(message.into_data());
                }
            }
            Err(error) => debug!(%error, "exchange did not answer"),
        }
        failed += 1;
        if failed == ATTEMPTS {
            error!(failed, "exchange is away for good, leaving the process to its supervisor");
            std::process::exit(1);
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}
```
"#,
    judge,
};

fn judge(watch: &Watch, path: &FaultPath) -> Option<Verdict> {
    let Outcome::GivesUp { at } = path.outcome else { return None };
    Some(Verdict {
        primary: at,
        label: "gives up here, without a word".to_owned(),
        message: format!(
            "this watch on `{}` stops opening its stream again and tells nobody",
            watch.source.api
        ),
        help: with_code(
            "go on with a longer pause, or say that this is the end and let a caller act on it",
            "error!(attempts, \"giving up\");\nreturn Err(last);",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::model::{Outcome, ShowsAs};
    use crate::testing::{at, path, watch};

    #[test]
    fn the_place_where_it_leaves_is_flagged() {
        let quits = path(ShowsAs::CallError, Outcome::GivesUp { at: at(60) });
        assert_eq!((RULE.judge)(&watch(vec![]), &quits).unwrap().primary, at(60));
    }

    #[test]
    fn a_bound_that_surfaces_is_clean() {
        assert!((RULE.judge)(&watch(vec![]), &path(ShowsAs::CallError, Outcome::Surfaces)).is_none());
    }
}
