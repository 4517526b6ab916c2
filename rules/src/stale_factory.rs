//! Flags a reopen helper whose closure hands back the stream it has captured instead of opening a new one.

use crate::model::{FaultPath, Outcome, Watch};
use crate::wording::with_code;
use crate::{Rule, Verdict};

pub(crate) const RULE: Rule = Rule {
    id: "stale-factory",
    since: "0.1.0",
    summary: "a retry or reopen helper whose closure goes back to the captured stream instead of opening a new one",
    why: "the helper waits and tries again as it should, but each attempt meets the same dead stream",
    runtime: Some("rideout::reopen::reopen_on_transient_fault_async"),
    docs: r#"
### What it flags

The closure given to a retry or reopen helper, if it does not open the stream that it consumes or returns but uses one that was
opened outside and captured.

### Why is this bad?

From the outside the watch looks guarded: there is a helper, a backoff, a log line for each attempt.
But a stream that has failed stays failed, so every attempt ends at once with the same fault.
The helper burns its budget on a corpse, or goes on for ever.

### Known limits

- Only helpers in the catalog are known (`[[reopen]]`), with the argument that holds the closure.
- A closure that asks a cache for the stream is clean: the cache may have dropped the dead one.

### Example

```rust
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio_retry::{Retry, strategy::FixedInterval};
use tonic::{Status, Streaming, transport::Channel};

use crate::proto::{Quote, WatchQuotesRequest, quotes_client::QuotesClient};
use crate::book::Book;

pub async fn start(mut client: QuotesClient<Channel>, book: Arc<Book>) -> Result<(), Status> {
    let quotes = client.watch_quotes(WatchQuotesRequest {}).await?.into_inner();
    let quotes = Arc::new(Mutex::new(quotes));
    tokio::spawn(async move {
        let pauses = FixedInterval::new(Duration::from_secs(2));
        Retry::start(pauses, || follow(quotes.clone(), book.clone())).await
    });
    Ok(())
}

async fn follow(quotes: Arc<Mutex<Streaming<Quote>>>, book: Arc<Book>) -> Result<(), Status> {
    let mut quotes = quotes.lock().await;
    while let Some(quote) = quotes.message().await? {
        book.set(quote);
    }
    Err(Status::unavailable("the quote stream was closed"))
}
```

### Use instead

Give the closure what it needs to open the stream, and open it inside.

```rust
use std::sync::Arc;
use std::time::Duration;

use tokio_retry::{Retry, strategy::FixedInterval};
use tonic::{Status, transport::Channel};

use crate::proto::{WatchQuotesRequest, quotes_client::QuotesClient};
use crate::book::Book;

pub fn start(client: QuotesClient<Channel>, book: Arc<Book>) {
    tokio::spawn(async move {
        let pauses = FixedInterval::new(Duration::from_secs(2));
        Retry::start(pauses, || follow(client.clone(), book.clone())).await
    });
}

async fn follow(mut client: QuotesClient<Channel>, book: Arc<Book>) -> Result<(), Status> {
    let mut quotes = client.watch_quotes(WatchQuotesRequest {}).await?.into_inner();
    while let Some(quote) = quotes.message().await? {
        book.set(quote);
    }
    Err(Status::unavailable("the quote stream was closed"))
}
```
"#,
    judge,
};

fn judge(watch: &Watch, path: &FaultPath) -> Option<Verdict> {
    let Outcome::Stale { factory } = path.outcome else { return None };
    Some(Verdict {
        primary: factory,
        label: "goes back to the stream that was opened outside".to_owned(),
        message: format!(
            "each new attempt of this watch on `{}` gets the same dead stream back",
            watch.source.api
        ),
        help: with_code(
            "open the stream inside the closure, and capture only what that needs",
            "|| async { consume(open().await?).await }",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::model::{Outcome, ShowsAs};
    use crate::testing::{at, path, watch};

    #[test]
    fn the_factory_is_flagged() {
        let stale = path(ShowsAs::ErrorThenEnds, Outcome::Stale { factory: at(40) });
        assert_eq!((RULE.judge)(&watch(vec![]), &stale).unwrap().primary, at(40));
    }

    #[test]
    fn a_factory_that_opens_is_clean() {
        let again = path(ShowsAs::ErrorThenEnds, Outcome::Reopens { paced: true, by: at(40) });
        assert!((RULE.judge)(&watch(vec![]), &again).is_none());
    }
}
