//! Flags a watch whose fault no arm receives: a pattern swallows it, a handle drops it, or the loop ends in silence.

use crate::model::{FaultPath, ShowsAs, Watch};
use crate::wording::{death, way_out};
use crate::{Rule, Verdict};

pub(crate) const RULE: Rule = Rule {
    id: "unguarded-watch",
    since: "0.1.0",
    summary: "a watch whose fault nobody receives: swallowed by a pattern, dropped with a handle, or a loop that ends in silence",
    why: "the watch dies without a trace: no log, no error, no restart, only data that never comes",
    runtime: Some("rideout::reopen::reopen_on_transient_fault_async"),
    docs: r#"
### What it flags

The consuming construct of a standing watch whose fault reaches no arm, and that nothing opens again:
`while let Some(item) = stream.next().await` over a stream that ends when its connection is lost,
`while let Some(Ok(item)) = ..` and `filter_map(Result::ok)` that swallow the error, a refutable pattern in an arm of
`select!` that is switched off for ever, a spawned task whose `JoinHandle` is dropped together with the error it returns.
An arm that takes the fault and leaves without a word counts as no arm.

### Why is this bad?

The shape is right for a stream that ends when its work is done.
A standing watch has no such end: when the loop is over, the connection was lost, and nobody asks again.
Nothing in the logs says so.

### Known limits

- Where the watch leaves what can be seen (a public function without callers that returns the stream, a trait object), Rideout
  is silent; `cargo rideout list` shows such a watch as `unknown`.
- A loop whose function has no caller in view is judged alone. If a caller in another repository starts it again, allow the
  finding with that reason.
- A task that `main` starts beside one job, and a connection that carries the answers to requests, are `unknown` too: they may end with
  the job, and whoever asks is told.
- A panic ends the process where the release profile aborts or a panic hook of the program exits; a hook that only some of the programs of a
  library set is not counted for the library.
- A stall is flagged only where the catalog names it as the source's ordinary answer to a lost connection.

### Example

```rust
use std::sync::Arc;

use futures::StreamExt;
use redis::{Client, RedisResult};

use crate::cache::PriceCache;

pub async fn start(client: Client, cache: Arc<PriceCache>) -> RedisResult<()> {
    let mut pubsub = client.get_async_pubsub().await?;
    pubsub.subscribe("prices:changed").await?;
    tokio::spawn(async move {
        let mut messages = pubsub.on_message();
        while let Some(message) = messages.next().await {
            if let Ok(sku) = message.get_payload::<String>() {
                cache.forget(&sku);
            }
        }
    });
    Ok(())
}
```

### Use instead

Put the whole subscription into a loop that waits and subscribes again.

```rust
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use redis::{Client, RedisResult};
use tracing::warn;

use crate::cache::PriceCache;

pub fn start(client: Client, cache: Arc<PriceCache>) {
    tokio::spawn(async move {
        loop {
            let outcome = follow(&client, &cache).await;
            warn!(?outcome, "price subscription is over, opening it again");
            tokio::time::sleep(Duration::from_secs(1)).await;
            cache.clear();
        }
    });
}

async fn follow(client: &Client, cache: &PriceCache) -> RedisResult<()> {
    let mut pubsub = client.get_async_pubsub().await?;
    pubsub.subscribe("prices:changed").await?;
    let mut messages = pubsub.on_message();
    while let Some(message) = messages.next().await {
        if let Ok(sku) = message.get_payload::<String>() {
            cache.forget(&sku);
        }
    }
    Ok(())
}
```
"#,
    judge,
};

fn judge(watch: &Watch, path: &FaultPath) -> Option<Verdict> {
    if !path.outcome.is_dead() || path.arm.as_ref().is_some_and(|arm| arm.logs || arm.transient.is_some()) {
        return None;
    }
    let cause = match (&path.arm, path.fault.shows_as) {
        (Some(_), _) => "the fault is dropped without a trace",
        (None, ShowsAs::Ends | ShowsAs::Silent) => "nothing opens it again",
        (None, _) => "nothing receives the fault",
    };
    Some(Verdict {
        primary: path.consumer,
        label: "consumed here, and nowhere opened again".to_owned(),
        message: format!("{}: {cause}", death(watch, path)),
        help: way_out(watch, path),
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::model::{FaultPath, Outcome, ShowsAs};
    use crate::testing::{arm, at, path, watch};

    #[test]
    fn a_loop_that_ends_in_silence_is_flagged_at_the_consumer() {
        let verdict = (RULE.judge)(&watch(vec![]), &path(ShowsAs::Ends, Outcome::Ends)).unwrap();
        assert_eq!(verdict.primary, at(10));
        assert_eq!(
            verdict.message,
            "this watch on `demo::Stream` is over as soon as its stream ends: nothing opens it again"
        );
    }

    #[test]
    fn an_arm_that_leaves_without_a_word_is_no_arm() {
        let silent =
            FaultPath { arm: Some(arm(20, false, None)), ..path(ShowsAs::ErrorThenEnds, Outcome::Ends) };
        let verdict = (RULE.judge)(&watch(vec![]), &silent).unwrap();
        assert_eq!(verdict.primary, at(10));
        assert!(verdict.message.ends_with("dropped without a trace"), "{}", verdict.message);
    }

    #[test]
    fn an_arm_that_logs_is_another_rules_matter() {
        let logged =
            FaultPath { arm: Some(arm(20, true, None)), ..path(ShowsAs::ErrorThenEnds, Outcome::Ends) };
        assert!((RULE.judge)(&watch(vec![]), &logged).is_none());
    }

    #[test]
    fn a_returned_fault_is_clean() {
        assert!((RULE.judge)(&watch(vec![]), &path(ShowsAs::ErrorThenEnds, Outcome::Surfaces)).is_none());
    }
}
