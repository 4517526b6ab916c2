//! Flags a suppression comment that gives no reason or cannot be understood: it would suppress nothing, and nobody would know.

use crate::model::{Finding, Location};
use crate::{Rule, Verdict};

pub(crate) const RULE: Rule = Rule {
    id: "invalid-suppression",
    since: "0.1.0",
    summary: "a suppression comment without a reason, or one that cannot be understood",
    why: "a comment that is not understood suppresses nothing, and without a reason nobody can tell later whether it still holds",
    runtime: None,
    docs: r"
### What it flags

A line comment that begins with `rideout:` and does not go on with `allow(rule): reason`: no reason, the name of a rule that there is
not, a word other than `allow`, a missing bracket.
The rules that report what could not be read (`unread-file`, and this one) cannot be allowed; to name one is a mistake too.

### Why is this bad?

The one who wrote the comment believes that a finding is dealt with.
A suppression without a reason is never taken out again, because nobody knows what it was for.

### Known limits

- Doc comments and block comments are not looked at, nor is code that only tests have.
- A comment that begins in another way (`// rideout allow(..)`, without the colon) is about something else.

### Example

```rust
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::rates::{Rate, RateTable};

pub async fn follow(mut rates: Receiver<Rate>, table: &RateTable) {
    loop {
        match rates.recv().await {
            Ok(rate) => table.set(rate),
            // rideout: allow(transient-as-terminal)
            Err(RecvError::Lagged(_)) => table.clear(),
            Err(RecvError::Closed) => return,
        }
    }
}
```

### Use instead

Give the reason, or delete a comment that has none.

```rust
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::rates::{Rate, RateTable};

pub async fn follow(mut rates: Receiver<Rate>, table: &RateTable) {
    loop {
        match rates.recv().await {
            Ok(rate) => table.set(rate),
            // rideout: allow(transient-as-terminal): the caller follows anew, with a table that is empty
            Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => return,
        }
    }
}
```
",
    judge: |_, _| None,
};

/// The finding for a suppression comment with a mistake. No watch is behind it.
pub fn invalid_suppression(location: Location, reason: &str) -> Finding {
    let verdict = Verdict {
        primary: location,
        label: "this comment suppresses nothing".to_owned(),
        message: format!("this suppression is invalid: {reason}"),
        help: "write `// rideout: allow(rule): reason` with the name of a rule, or delete the comment"
            .to_owned(),
    };
    RULE.without_watch(verdict, reason)
}

#[cfg(test)]
mod tests {
    use super::invalid_suppression;
    use crate::testing::at;

    #[test]
    fn the_mistake_is_in_the_message() {
        let finding = invalid_suppression(at(7), "it gives no reason");
        assert_eq!((finding.rule, finding.primary), ("invalid-suppression", at(7)));
        assert_eq!(finding.message, "this suppression is invalid: it gives no reason");
    }
}
