//! Carries refusals to re-asks: charged as they arrive, waited for and asked one after the other.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

use tokio::sync::watch;
use tokio::time::sleep;

use super::sync::lock;
use crate::activation::ActivationId;
use crate::failure::DeliveryFailure;
use crate::ride_out::{Bound, ReArm, RideOut, RideOutPolicy};

/// A refusal and what it was charged to.
///
/// The charge travels with the attempt: the counts move on while an attempt waits its turn, so an attempt that looked at
/// them again would act on whatever the newest refusal left behind.
#[derive(Clone, Debug)]
#[must_use]
pub struct ReArmDecision {
    /// The refusal.
    pub rejection: DeliveryFailure,
    /// [`ReArm::Join`] or [`ReArm::Rest`].
    pub re_arm: ReArm,
    answers: u64,
}

/// The end at which refusals and answers come in. Clones feed the same carrier.
#[derive(Clone)]
#[must_use]
pub struct Rejections {
    shared: Arc<Shared>,
    now: Arc<watch::Sender<Now>>,
}

/// A stream has one of these for its whole life and uses it only while it rides, so it holds no memory until then.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    ride: RideOut,
    queue: VecDeque<ReArmDecision>,
}

/// What an attempt must still hold against when its turn comes. It changes whenever something was queued.
#[derive(Clone, Copy, Default)]
struct Now {
    answers: u64,
    last: Option<ActivationId>,
}

impl Rejections {
    /// Charges a refusal, and queues its re-ask unless a bound is spent. Answers with the charge.
    ///
    /// On [`ReArm::GiveUp`] the caller says so, loudly. It is answered once until the address answers again.
    pub fn reject(&self, rejection: DeliveryFailure) -> ReArm {
        let mut state = lock(&self.shared.state);
        let activation = rejection.token();
        let re_arm = state.ride.charge(activation);
        if matches!(re_arm, ReArm::Join { .. } | ReArm::Rest { .. }) {
            let answers = self.now.borrow().answers;
            state.queue.push_back(ReArmDecision { rejection, re_arm, answers });
        }
        self.now.send_modify(|now| now.last = activation);
        re_arm
    }

    /// The address has answered: both axes start afresh, and what was still queued or resting is let go.
    pub fn answered(&self) {
        let mut state = lock(&self.shared.state);
        state.ride.answered();
        self.now.send_modify(|now| *now = Now { answers: now.answers + 1, last: None });
    }

    /// How many activations refused since the last answer.
    #[must_use]
    pub fn distinct_owners(&self) -> usize {
        lock(&self.shared.state).ride.distinct_owners()
    }

    /// The bound that is spent, until an answer.
    #[must_use]
    pub fn spent(&self) -> Option<Bound> {
        lock(&self.shared.state).ride.spent()
    }
}

impl fmt::Debug for Rejections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejections").field("state", &*lock(&self.shared.state)).finish_non_exhaustive()
    }
}

/// The serial end: one attempt at a time.
#[must_use = "no refusal is re-asked unless the carrier runs"]
pub struct Carrier {
    shared: Arc<Shared>,
    now: watch::Receiver<Now>,
}

impl fmt::Debug for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Carrier").field("state", &*lock(&self.shared.state)).finish_non_exhaustive()
    }
}

/// A carrier with nothing in it.
pub fn re_arm_carrier(policy: RideOutPolicy) -> (Rejections, Carrier) {
    let (now, seen) = watch::channel(Now::default());
    let state = State { ride: RideOut::new(policy), queue: VecDeque::new() };
    let shared = Arc::new(Shared { state: Mutex::new(state) });
    (Rejections { shared: Arc::clone(&shared), now: Arc::new(now) }, Carrier { shared, now: seen })
}

impl Carrier {
    /// Runs attempts until every [`Rejections`] is dropped.
    ///
    /// `owner_ready` is the join. It is called when its attempt is about to run, not when its refusal arrives: a probe taken
    /// at arrival is stale by then, and a burst would replay stale probes one after the other.
    ///
    /// # Cancel safety
    /// Dropping the future drops the attempt that is waiting or asking, and those queued behind it.
    pub async fn run<R, A>(
        mut self,
        mut owner_ready: impl FnMut(&ReArmDecision) -> R,
        mut re_ask: impl FnMut(ReArmDecision) -> A,
    ) where
        R: Future<Output = ()>,
        A: Future<Output = ()>,
    {
        while let Some(decision) = self.next().await {
            tokio::select! {
                biased;
                () = no_longer_wanted(&mut self.now, &decision) => continue,
                () = async {
                    match decision.re_arm {
                        ReArm::Rest { pace, .. } => sleep(pace).await,
                        _ => owner_ready(&decision).await,
                    }
                } => {}
            }
            re_ask(decision).await;
        }
    }
}

impl Carrier {
    async fn next(&mut self) -> Option<ReArmDecision> {
        loop {
            // What is queued is taken also when nobody is left who could queue more.
            let queued = lock(&self.shared.state).queue.pop_front();
            if queued.is_some() || self.now.changed().await.is_err() {
                return queued.or_else(|| lock(&self.shared.state).queue.pop_front());
            }
        }
    }
}

/// Completes when an attempt has lost its point: the owner has answered, or what it rests on is no longer the last to refuse.
async fn no_longer_wanted(now: &mut watch::Receiver<Now>, decision: &ReArmDecision) {
    let lost = |now: &Now| {
        let rests_on_another = match decision.re_arm {
            ReArm::Rest { activation, .. } => now.last != Some(activation),
            _ => false,
        };
        now.answers != decision.answers || rests_on_another
    };
    if now.wait_for(lost).await.is_err() {
        // Nobody can answer or refuse any more: what is queued is still asked.
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureKind;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;
    use tokio::time::{Instant, Sleep};

    fn refusal(bits: u32) -> DeliveryFailure {
        let activation = ActivationId::from_bits(bits);
        DeliveryFailure { kind: FailureKind::ShuttingDown, message: "refused".into(), activation }
    }

    /// Feeds a burst and answers with when each re-ask ran, in milliseconds.
    async fn times_of(burst: &[u32]) -> Vec<u128> {
        let (rejections, carrier) = re_arm_carrier(RideOutPolicy::default());
        for bits in burst {
            let _ = rejections.reject(refusal(*bits));
        }
        drop(rejections);
        let (begun, asked) = (Instant::now(), Mutex::new(Vec::new()));
        let re_ask = |_| {
            lock(&asked).push(begun.elapsed().as_millis());
            async {}
        };
        carrier.run(|_| async {}, re_ask).await;
        asked.into_inner().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_of_rests_is_rested_one_after_the_other() {
        assert_eq!(times_of(&[7, 7, 7, 7]).await, [0, 500, 1000, 1500]);
    }

    /// The negative control: a rest fixes its deadline when it is made, so rests made as a burst arrives all end together.
    #[tokio::test(start_paused = true)]
    async fn rests_projected_at_arrival_all_end_together() {
        let begun = Instant::now();
        let projected: Vec<Sleep> = (0..3).map(|_| sleep(Duration::from_millis(500))).collect();
        for rest in projected {
            rest.await;
        }
        assert_eq!(begun.elapsed().as_millis(), 500, "three chances are one chance");
    }

    #[tokio::test(start_paused = true)]
    async fn the_probe_is_taken_when_its_attempt_runs() {
        let (rejections, carrier) = re_arm_carrier(RideOutPolicy::default());
        let world = AtomicUsize::new(0);
        let seen = Mutex::new(Vec::new());
        for bits in [1, 2, 3] {
            let _ = rejections.reject(refusal(bits));
        }
        drop(rejections);
        let owner_ready = |_: &ReArmDecision| {
            lock(&seen).push(world.load(Ordering::Relaxed));
            async {}
        };
        let re_ask = |_| {
            world.fetch_add(1, Ordering::Relaxed);
            async {}
        };
        carrier.run(owner_ready, re_ask).await;
        assert_eq!(seen.into_inner().unwrap(), [0, 1, 2], "a probe taken at arrival sees 0, 0, 0");
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_lets_go_of_what_rests() {
        let (rejections, carrier) = re_arm_carrier(RideOutPolicy::default());
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        tokio::spawn(carrier.run(
            |_| async {},
            move |_| {
                count.fetch_add(1, Ordering::Relaxed);
                async {}
            },
        ));
        for bits in [7, 7, 7] {
            let _ = rejections.reject(refusal(bits));
        }
        sleep(Duration::from_millis(100)).await;
        assert_eq!(asked.load(Ordering::Relaxed), 1, "the join has run, a rest is under way");
        rejections.answered();
        sleep(Duration::from_secs(60)).await;
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_activation_lets_go_of_the_rest_on_the_old_one() {
        assert_eq!(times_of(&[7, 7, 8]).await, [0, 0], "the join on 7, and the join on 8");
    }
}
