//! A step of an installation, tried again while its target is shutting down.

use std::time::Duration;

use tokio::time::sleep;

use crate::failure::DeliveryFailure;

/// Between the three attempts: the shape of a claim handshake, which also asks somebody who may be away for a moment.
const RESTS: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(15)];

/// Runs an install step, twice more while it is answered with a promise. Any other failure surfaces at once.
///
/// The step must bear being run again: the attempt before may have been taken on.
///
/// # Errors
/// The last failure, unchanged.
///
/// # Cancel safety
/// Dropping the future drops the attempt under way.
pub async fn install_step<T, F>(mut step: impl FnMut() -> F) -> Result<T, DeliveryFailure>
where
    F: Future<Output = Result<T, DeliveryFailure>>,
{
    for rest in RESTS {
        match step().await {
            Err(failure) if failure.kind.is_promise() => {
                tracing::warn!(error = %failure, ?rest, "an install step is tried again");
            }
            done => return done,
        }
        sleep(rest).await;
    }
    step().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureKind;
    use std::cell::Cell;

    async fn attempts(kind: FailureKind) -> u32 {
        let count = Cell::new(0);
        let failed: Result<(), _> = install_step(|| {
            count.set(count.get() + 1);
            async { Err(DeliveryFailure::new(kind, "refused")) }
        })
        .await;
        assert_eq!(failed.unwrap_err().kind, kind);
        count.get()
    }

    #[tokio::test(start_paused = true)]
    async fn a_promise_is_waited_for_and_a_verdict_is_not() {
        assert_eq!(attempts(FailureKind::ShuttingDown).await, 3);
        assert_eq!(attempts(FailureKind::Failed).await, 1);
        assert_eq!(attempts(FailureKind::NotFound).await, 1);
    }
}
