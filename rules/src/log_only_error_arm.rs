//! Flags an arm that receives a watch's fault and only logs it, where the watch is dead afterwards.

use crate::model::{FaultPath, Watch};
use crate::wording::{death, way_out};
use crate::{Rule, Verdict};

pub(crate) const RULE: Rule = Rule {
    id: "log-only-error-arm",
    since: "0.1.0",
    summary: "an arm that receives the watch's fault and only logs it, and the watch is then dead",
    why: "one line in a log is all that remains: the process looks healthy and hears nothing until it restarts",
    runtime: Some("rideout::reopen::reopen_on_transient_fault_async"),
    docs: r#"
### What it flags

The arm that receives the fault of a standing watch (`Err(error) => ..`, `if let Err(error) = ..`, `None => ..` where the
end is the fault, the closure of `unwrap_or_else`) and does nothing but write a log line, where nothing opens the stream
again: the loop is left, or it polls a stream that has ended.
The arm around a spawned watch counts too: `spawn(async { if let Err(error) = watch().await { error!(..) } })`.

### Why is this bad?

A one-shot read has a next caller who asks again; a standing watch has none.
After the log line the task is over, or polls a stream that never gives anything again.
Readiness checks stay green, and the data that the watch fed grows stale.

### Known limits

- A log line is told by the names of macros and methods (`error!`, `warn!`, `eprintln!`, ..). One hidden in a function of your own
  is seen only if that function's body is in view.
- An arm that also marks a health flag or tells a supervisor is clean only if the one who reads it is in view.
- A source that heals when polled again is judged by its own contract: there, logging and going on is right, and leaving
  the loop is the defect.

### Example

```rust
use std::sync::Arc;

use tonic::{Status, transport::Channel};
use tracing::error;

use crate::proto::{WatchRoutesRequest, routes_client::RoutesClient};
use crate::table::RouteTable;

pub async fn start(mut client: RoutesClient<Channel>, table: Arc<RouteTable>) -> Result<(), Status> {
    let mut routes = client.watch_routes(WatchRoutesRequest {}).await?.into_inner();
    tokio::spawn(async move {
        loop {
            match routes.message().await {
                Ok(Some(route)) => table.insert(route),
                Ok(None) => break,
                Err(status) => {
                    error!(%status, "route stream failed");
                    break;
                }
            }
        }
    });
    Ok(())
}
```

### Use instead

Open the stream inside the loop, so that every way in which it can end leads to a pause and a new one.

```rust
use std::sync::Arc;
use std::time::Duration;

use tonic::{Status, transport::Channel};
use tracing::{error, warn};

use crate::proto::{WatchRoutesRequest, routes_client::RoutesClient};
use crate::table::RouteTable;

pub fn start(client: RoutesClient<Channel>, table: Arc<RouteTable>) {
    tokio::spawn(async move {
        loop {
            match follow(client.clone(), &table).await {
                Ok(()) => warn!("route stream was closed"),
                Err(status) => error!(%status, "route stream failed"),
            }
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    });
}

async fn follow(mut client: RoutesClient<Channel>, table: &RouteTable) -> Result<(), Status> {
    let mut routes = client.watch_routes(WatchRoutesRequest {}).await?.into_inner();
    while let Some(route) = routes.message().await? {
        table.insert(route);
    }
    Ok(())
}
```
"#,
    judge,
};

fn judge(watch: &Watch, path: &FaultPath) -> Option<Verdict> {
    let arm = path.arm.as_ref().filter(|arm| arm.logs && path.outcome.is_dead())?;
    Some(Verdict {
        primary: arm.location,
        label: "this arm only logs the fault".to_owned(),
        message: format!("{}: the fault is only logged", death(watch, path)),
        help: way_out(watch, path),
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::model::{FaultPath, Outcome, ShowsAs};
    use crate::testing::{arm, at, path, watch};

    fn received(logs: bool, outcome: Outcome) -> FaultPath {
        FaultPath { arm: Some(arm(20, logs, None)), ..path(ShowsAs::ErrorThenEnds, outcome) }
    }

    #[test]
    fn log_and_leave_is_flagged_at_the_arm() {
        let verdict = (RULE.judge)(&watch(vec![]), &received(true, Outcome::Ends)).unwrap();
        assert_eq!(verdict.primary, at(20));
        assert_eq!(
            verdict.message,
            "this watch on `demo::Stream` is over after its first error: the fault is only logged"
        );
    }

    #[test]
    fn log_and_spin_is_flagged() {
        assert!((RULE.judge)(&watch(vec![]), &received(true, Outcome::Spins)).is_some());
    }

    #[test]
    fn log_and_reopen_is_clean() {
        let again = Outcome::Reopens { paced: true, by: at(1) };
        assert!((RULE.judge)(&watch(vec![]), &received(true, again)).is_none());
    }

    #[test]
    fn an_arm_without_a_log_is_another_rules_matter() {
        assert!((RULE.judge)(&watch(vec![]), &received(false, Outcome::Ends)).is_none());
    }
}
