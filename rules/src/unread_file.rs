//! Flags a file in scope that could not be read or parsed: a gate that cannot see must not be green.

use crate::model::{Finding, Location};
use crate::{Rule, Verdict};

pub(crate) const RULE: Rule = Rule {
    id: "unread-file",
    since: "0.1.0",
    summary: "a file in scope that could not be read or parsed",
    why: "nothing is known about the watches in this file, and a run that cannot see must not be green",
    runtime: None,
    docs: r"
### What it flags

A Rust file in scope that may hold a standing watch and that could not be read or parsed: broken or unknown syntax, text that is not
UTF-8, brackets nested too deep, a file that may not be opened.

### Why is this bad?

Whatever is in the file is neither checked nor counted.
If such a file were skipped in silence, breaking it would be a way to pass the check.

### Known limits

- Syntax that only a nightly compiler accepts is not parsed.
- A file with neither a name from the catalog nor a suppression is never parsed, so what is wrong with it is not seen here.

### Example

```rust
use tokio::sync::broadcast::Receiver;

use crate::rates::{Rate, RateTable};

pub async fn first(mut rates: Receiver<Rate>, table: &RateTable) {
<<<<<<< HEAD
    if let Ok(rate) = rates.recv().await {
=======
    while let Ok(rate) = rates.try_recv() {
>>>>>>> rates
        table.set(rate);
    }
}
```

### Use instead

Mend the file, or leave it out with `exclude` in `rideout.toml` if it is no Rust of yours.

```rust
use tokio::sync::broadcast::Receiver;

use crate::rates::{Rate, RateTable};

pub async fn first(mut rates: Receiver<Rate>, table: &RateTable) {
    if let Ok(rate) = rates.recv().await {
        table.set(rate);
    }
}
```
",
    judge: |_, _| None,
};

/// The finding for a file that could not be read or parsed, at the place that is known. No watch is behind it.
pub fn unread_file(location: Location, reason: &str) -> Finding {
    let verdict = Verdict {
        primary: location,
        label: "not read beyond this place".to_owned(),
        message: format!("this file could not be checked: {reason}"),
        help: "mend the file, or leave it out with `exclude` in rideout.toml".to_owned(),
    };
    RULE.without_watch(verdict, reason)
}

#[cfg(test)]
mod tests {
    use super::unread_file;
    use crate::testing::at;

    #[test]
    fn the_reason_is_in_the_message() {
        let finding = unread_file(at(7), "expected `;`");
        assert_eq!((finding.rule, finding.primary), ("unread-file", at(7)));
        assert_eq!(finding.message, "this file could not be checked: expected `;`");
    }
}
