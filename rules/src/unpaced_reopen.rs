//! Flags a loop that opens or polls a source again after a fault with no pause between two attempts.

use crate::model::{FaultPath, Outcome, ShowsAs, Watch};
use crate::wording::with_code;
use crate::{Rule, Verdict};

pub(crate) const RULE: Rule = Rule {
    id: "unpaced-reopen",
    since: "0.1.0",
    summary: "a watch that is opened or polled again after a fault with no pause between two attempts",
    why: "while the other side is away the loop runs thousands of times a second: a hot core, a flooded log, a hammered server",
    runtime: Some("rideout::reopen::ReopenPolicy"),
    docs: r#"
### What it flags

The loop that opens a source again, or polls one that opens itself again, with no delay, backoff or join between two failed
attempts: a `continue` in the arm of a failed connect, a bare Kubernetes `watcher` without a backoff, an MQTT event loop that
is polled at once after an error, an accept loop that meets a full descriptor table.

### Why is this bad?

The loop was written for one short fault.
When the server is away for a minute, each attempt fails in microseconds, and the loop makes millions of them.
Retry budgets are burnt in a moment, logs fill disks, and the server is hammered just when it comes back.

### Known limits

- A re-open at once after a clean end is accepted if a second end in a row waits.
- A pause inside a function that is not in view is not seen.
- Accept loops that only spin belong to the pedantic level: they are reported with `--pedantic`.

### Example

```rust
use std::pin::pin;
use std::sync::Arc;

use futures::StreamExt;
use k8s_openapi::api::core::v1::Node;
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client, ResourceExt};
use tracing::warn;

use crate::nodes::NodeSet;

pub async fn run(client: Client, nodes: Arc<NodeSet>) {
    let api: Api<Node> = Api::all(client);
    let mut events = pin!(watcher::watcher(api, watcher::Config::default()));
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Apply(node) | Event::InitApply(node)) => nodes.insert(node.name_any()),
            Ok(Event::Delete(node)) => nodes.remove(&node.name_any()),
            Ok(Event::Init | Event::InitDone) => {}
            Err(error) => warn!(%error, "node watch failed"),
        }
    }
}
```

### Use instead

Let something wait between two attempts: here the backoff that the crate brings.

```rust
use std::pin::pin;
use std::sync::Arc;

use futures::StreamExt;
use k8s_openapi::api::core::v1::Node;
use kube::runtime::watcher::{self, Event};
use kube::runtime::WatchStreamExt;
use kube::{Api, Client, ResourceExt};
use tracing::warn;

use crate::nodes::NodeSet;

pub async fn run(client: Client, nodes: Arc<NodeSet>) {
    let api: Api<Node> = Api::all(client);
    let mut events = pin!(watcher::watcher(api, watcher::Config::default()).default_backoff());
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Apply(node) | Event::InitApply(node)) => nodes.insert(node.name_any()),
            Ok(Event::Delete(node)) => nodes.remove(&node.name_any()),
            Ok(Event::Init | Event::InitDone) => {}
            Err(error) => warn!(%error, "node watch failed, trying again"),
        }
    }
}
```
"#,
    judge,
};

fn judge(watch: &Watch, path: &FaultPath) -> Option<Verdict> {
    let (by, again) = match path.outcome {
        Outcome::Reopens { paced: false, by } => (by, "opened"),
        Outcome::Continues { paced: false, by } => (by, "polled"),
        _ => return None,
    };
    let blow = if path.fault.shows_as == ShowsAs::Ends { "end" } else { "fault" };
    Some(Verdict {
        primary: by,
        label: "nothing waits between two turns of this loop".to_owned(),
        message: format!(
            "this watch on `{}` is {again} again at once after each {blow}, with no pause",
            watch.source.api
        ),
        help: match &watch.source.help {
            Some(own) if again == "polled" => own.clone(),
            _ => with_code(
                "wait on every path that leads to the next attempt",
                "tokio::time::sleep(pause).await;",
            ),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::model::{Outcome, ShowsAs};
    use crate::testing::{at, path, watch};

    #[test]
    fn a_loop_without_a_pause_is_flagged_at_the_loop() {
        let hot = path(ShowsAs::ErrorThenEnds, Outcome::Reopens { paced: false, by: at(5) });
        let verdict = (RULE.judge)(&watch(vec![]), &hot).unwrap();
        assert_eq!(verdict.primary, at(5));
        assert_eq!(
            verdict.message,
            "this watch on `demo::Stream` is opened again at once after each fault, with no pause"
        );
    }

    #[test]
    fn a_self_healing_source_that_does_not_wait_is_flagged() {
        let hot = path(ShowsAs::ErrorHeals, Outcome::Continues { paced: false, by: at(5) });
        assert!((RULE.judge)(&watch(vec![]), &hot).unwrap().message.contains("polled again at once"));
    }

    #[test]
    fn a_pause_is_clean() {
        for outcome in
            [Outcome::Reopens { paced: true, by: at(5) }, Outcome::Continues { paced: true, by: at(5) }]
        {
            assert!((RULE.judge)(&watch(vec![]), &path(ShowsAs::CallError, outcome)).is_none());
        }
    }
}
