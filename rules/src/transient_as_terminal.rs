//! Flags an arm that singles out a transient fault and ends the watch on it.

use crate::model::{FaultPath, Watch};
use crate::wording::{way_out, with_code};
use crate::{Rule, Verdict};

pub(crate) const RULE: Rule = Rule {
    id: "transient-as-terminal",
    since: "0.1.0",
    summary: "an arm that names a fault which passes by itself, and ends the watch on it",
    why: "the code has recognised a fault that passes by itself, and yet hears nothing more until the process restarts",
    runtime: Some("rideout::classify::Infrastructure"),
    docs: r#"
### What it flags

A match arm, an `if let` or a guard that singles out a fault by its kind, where that kind is transient by the contract of
the source, and that ends the standing watch: `Lagged` of a broadcast receiver; `Unavailable`, `Unknown`, `Internal` or
`Cancelled` of a cut gRPC stream; an expired resource version of a Kubernetes watcher.

### Why is this bad?

The fault was expected and named, but it was taken for the end.
A receiver that lagged goes on with the next item, and a server that is restarting accepts the next call.
The watch stops although nothing is wrong any more, and the log line reads as if the stop were intended.

### Known limits

- Which kinds are transient is a fact of the catalog. A kind that only your own server gives is not known to it.
- An arm without a pattern or a guard on the kind (`Err(error) => ..`) belongs to `log-only-error-arm`.
- An arm that returns the fault to a caller is judged at that caller.

### Example

```rust
use std::sync::Arc;

use tokio::sync::broadcast::{Receiver, error::RecvError};
use tracing::warn;

use crate::rates::{Rate, RateTable};

pub fn start(rates: Receiver<Rate>, table: Arc<RateTable>) {
    tokio::spawn(keep_table(rates, table));
}

async fn keep_table(mut rates: Receiver<Rate>, table: Arc<RateTable>) {
    loop {
        match rates.recv().await {
            Ok(rate) => table.set(rate),
            Err(RecvError::Lagged(missed)) => {
                warn!(missed, "rates came too fast");
                return;
            }
            Err(RecvError::Closed) => return,
        }
    }
}
```

### Use instead

Give the transient kind an arm that goes on, and leave on the kind that means the end.

```rust
use std::sync::Arc;

use tokio::sync::broadcast::{Receiver, error::RecvError};
use tracing::warn;

use crate::rates::{Rate, RateTable};

pub fn start(rates: Receiver<Rate>, table: Arc<RateTable>) {
    tokio::spawn(keep_table(rates, table));
}

async fn keep_table(mut rates: Receiver<Rate>, table: Arc<RateTable>) {
    loop {
        match rates.recv().await {
            Ok(rate) => table.set(rate),
            Err(RecvError::Lagged(missed)) => {
                warn!(missed, "rates came too fast, reading all of them again");
                table.reload().await;
            }
            Err(RecvError::Closed) => return,
        }
    }
}
```
"#,
    judge,
};

fn judge(watch: &Watch, path: &FaultPath) -> Option<Verdict> {
    let arm = path.arm.as_ref().filter(|_| path.outcome.is_dead())?;
    let kind = arm.transient.as_ref()?;
    let heals = crate::model::ShowsAs::Variant == path.fault.shows_as;
    Some(Verdict {
        primary: arm.location,
        label: format!("ends the watch on `{kind}`"),
        message: format!(
            "this watch on `{}` takes `{kind}` for the end, but that fault passes by itself",
            watch.source.api
        ),
        help: if heals {
            let sentence = format!("go on after `{kind}` and leave only on what really ends the stream");
            with_code(
                watch.source.help.as_deref().unwrap_or(&sentence),
                &format!("Err({kind}(..)) => continue,"),
            )
        } else {
            way_out(watch, path)
        },
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::model::{FaultPath, Outcome, ShowsAs};
    use crate::testing::{arm, at, path, watch};

    fn lagged(outcome: Outcome) -> FaultPath {
        FaultPath { arm: Some(arm(20, true, Some("Lagged"))), ..path(ShowsAs::Variant, outcome) }
    }

    #[test]
    fn leaving_on_a_transient_kind_is_flagged_at_the_arm() {
        let verdict = (RULE.judge)(&watch(vec![]), &lagged(Outcome::Ends)).unwrap();
        assert_eq!(verdict.primary, at(20));
        assert_eq!(
            verdict.message,
            "this watch on `demo::Stream` takes `Lagged` for the end, but that fault passes by itself"
        );
        assert!(verdict.help.ends_with("Err(Lagged(..)) => continue,"), "{}", verdict.help);
    }

    #[test]
    fn going_on_after_it_is_clean() {
        let on = Outcome::Continues { paced: true, by: at(1) };
        assert!((RULE.judge)(&watch(vec![]), &lagged(on)).is_none());
    }

    #[test]
    fn an_arm_for_every_error_is_another_rules_matter() {
        let any = FaultPath { arm: Some(arm(20, true, None)), ..path(ShowsAs::ErrorThenEnds, Outcome::Ends) };
        assert!((RULE.judge)(&watch(vec![]), &any).is_none());
    }
}
