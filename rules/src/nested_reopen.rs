//! Flags a watch that opens itself again from inside its own error path, so that each fault leaves one frame or task more.

use crate::model::{FaultPath, Outcome, Watch};
use crate::wording::{reopen, with_code};
use crate::{Rule, Verdict};

pub(crate) const RULE: Rule = Rule {
    id: "nested-reopen",
    since: "0.1.0",
    summary: "a watch that opens itself again from inside its own error path, one layer more for each fault",
    why: "each fault leaves one more frame or task behind that is never released, until memory or the stack runs out",
    runtime: Some("rideout::reopen::reopen_on_transient_fault"),
    docs: r#"
### What it flags

The call by which a watch starts itself again from the code that receives its fault, while the old frame or task stays: an
`async fn` that awaits itself, a task that spawns its successor and waits for it, or that spawns it and goes on beside it.

### Why is this bad?

The reopen works, so tests and the first weeks in production look right.
But the caller waits for a call that ends only at the next fault, and that one waits for its own.
Memory grows with the number of faults since the start, and all of it is released only by a restart.

### Known limits

- A task that starts its paced successor and ends is a hand-over, and clean.
- Polling the same receiver again by recursion is clean if the frames unwind at the next item.
- Recursion through a trait object or a function pointer is not followed.

### Example

```rust
use std::sync::Arc;
use std::time::Duration;

use async_recursion::async_recursion;
use etcd_client::Client;
use tracing::warn;

use crate::flags::FlagStore;

pub fn start(client: Client, flags: Arc<FlagStore>) {
    tokio::spawn(follow(client, flags));
}

#[async_recursion]
async fn follow(mut client: Client, flags: Arc<FlagStore>) {
    match client.watch("/flags/", None).await {
        Ok(mut changes) => {
            while let Ok(Some(change)) = changes.message().await {
                flags.apply(change.events());
            }
            warn!("flag watch is over");
        }
        Err(error) => warn!(%error, "flag watch could not be opened"),
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    follow(client, flags).await;
}
```

### Use instead

Turn the inner call into the next turn of a loop.

```rust
use std::sync::Arc;
use std::time::Duration;

use etcd_client::Client;
use tracing::warn;

use crate::flags::FlagStore;

pub fn start(client: Client, flags: Arc<FlagStore>) {
    tokio::spawn(follow(client, flags));
}

async fn follow(mut client: Client, flags: Arc<FlagStore>) {
    loop {
        match client.watch("/flags/", None).await {
            Ok(mut changes) => {
                while let Ok(Some(change)) = changes.message().await {
                    flags.apply(change.events());
                }
                warn!("flag watch is over");
            }
            Err(error) => warn!(%error, "flag watch could not be opened"),
        }
        tokio::time::sleep(Duration::from_secs(3)).await;
    }
}
```
"#,
    judge,
};

fn judge(watch: &Watch, path: &FaultPath) -> Option<Verdict> {
    let Outcome::Nests { call } = path.outcome else { return None };
    Some(Verdict {
        primary: call,
        label: "the old call stays until this one ends".to_owned(),
        message: format!(
            "this watch on `{}` opens itself again from inside its own error path: each fault leaves one layer more",
            watch.source.api
        ),
        help: with_code("turn the inner call into the next turn of a loop", &reopen(watch)),
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::model::{Outcome, ShowsAs};
    use crate::testing::{at, path, watch};

    #[test]
    fn the_inner_call_is_flagged() {
        let nests = path(ShowsAs::ErrorThenEnds, Outcome::Nests { call: at(30) });
        assert_eq!((RULE.judge)(&watch(vec![]), &nests).unwrap().primary, at(30));
    }

    #[test]
    fn a_loop_is_clean() {
        let again = path(ShowsAs::ErrorThenEnds, Outcome::Reopens { paced: true, by: at(5) });
        assert!((RULE.judge)(&watch(vec![]), &again).is_none());
    }
}
