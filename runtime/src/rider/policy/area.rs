//! What a view shows in the place of an area that failed to load, and whether it tries again.

use std::time::Duration;

use tokio::time::sleep;

use crate::failure::{DeliveryFailure, FailureKind};

/// How often a view tries again, 250 ms after the first failure and twice as long after each further one.
const RETRIES: u32 = 5;
const FIRST_DELAY: Duration = Duration::from_millis(250);

/// What a view shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum AreaView {
    /// The area is coming back.
    ComingBack,
    /// The area failed.
    Error,
}

/// What a view shows for a failure.
pub fn area_view(failure: &DeliveryFailure) -> AreaView {
    if failure.kind.is_promise() { AreaView::ComingBack } else { AreaView::Error }
}

/// What else stands against trying again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AreaStanding {
    /// The view itself is gone.
    pub disposed: bool,
    /// Its code is being compiled: it will be told.
    pub compiling: bool,
    /// It cannot be set up at all.
    pub init_failed: bool,
}

/// Whether a view tries again.
#[must_use]
pub fn should_retry(failure: &DeliveryFailure, standing: AreaStanding) -> bool {
    let transient = failure.kind.is_promise() || failure.kind == FailureKind::Unavailable;
    transient && standing == AreaStanding::default()
}

/// Loads an area, five more times while [`should_retry`] says so. The last failure surfaces unchanged.
///
/// # Errors
/// The last failure.
///
/// # Cancel safety
/// Dropping the future drops the attempt under way.
pub async fn load_area<T, F>(
    mut load: impl FnMut() -> F,
    mut standing: impl FnMut() -> AreaStanding,
) -> Result<T, DeliveryFailure>
where
    F: Future<Output = Result<T, DeliveryFailure>>,
{
    let mut delay = FIRST_DELAY;
    for _ in 0..RETRIES {
        match load().await {
            Err(failure) if should_retry(&failure, standing()) => {
                tracing::debug!(error = %failure, ?delay, "an area is loaded again");
            }
            loaded => return loaded,
        }
        sleep(delay).await;
        delay *= 2;
    }
    load().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use tokio::time::Instant;

    fn failure(kind: FailureKind) -> DeliveryFailure {
        DeliveryFailure::new(kind, "no area")
    }

    #[test]
    fn only_a_promise_is_coming_back() {
        assert_eq!(area_view(&failure(FailureKind::ShuttingDown)), AreaView::ComingBack);
        for kind in
            [FailureKind::NotFound, FailureKind::Unauthorized, FailureKind::Failed, FailureKind::Unavailable]
        {
            assert_eq!(area_view(&failure(kind)), AreaView::Error);
        }
    }

    #[test]
    fn nothing_is_retried_against_its_standing() {
        let promise = failure(FailureKind::ShuttingDown);
        assert!(should_retry(&promise, AreaStanding::default()));
        for standing in [
            AreaStanding { disposed: true, ..Default::default() },
            AreaStanding { compiling: true, ..Default::default() },
            AreaStanding { init_failed: true, ..Default::default() },
        ] {
            assert!(!should_retry(&promise, standing));
        }
        assert!(!should_retry(&failure(FailureKind::Failed), AreaStanding::default()));
    }

    #[tokio::test(start_paused = true)]
    async fn six_loads_in_all_and_the_last_failure_surfaces() {
        let (begun, loads) = (Instant::now(), Cell::new(0));
        let load = || {
            loads.set(loads.get() + 1);
            async { Err::<(), _>(failure(FailureKind::ShuttingDown)) }
        };
        assert_eq!(load_area(load, AreaStanding::default).await, Err(failure(FailureKind::ShuttingDown)));
        assert_eq!(loads.get(), 6);
        assert_eq!(begun.elapsed(), Duration::from_millis(250 + 500 + 1000 + 2000 + 4000));
    }
}
