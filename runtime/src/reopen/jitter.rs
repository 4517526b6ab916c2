//! Spreading the re-opens of many watches that one outage hit at once.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher, Hasher},
    time::Duration,
};

/// Moves each pause that is shorter than the cap by up to a share of itself, to either side, and never past the cap.
///
/// The mean of a pause stays what the cadence says, and a pause at the cap is left alone: so an outage costs no more re-opens
/// than without jitter, and watches that began together are apart by the time they reach the cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Jitter {
    percent: u8,
    state: u64,
}

impl Jitter {
    /// Moves a pause by up to half of itself.
    pub fn half() -> Self {
        Self::percent(50)
    }

    /// Moves a pause by up to `percent` of itself; more than 100 is 100.
    pub fn percent(percent: u8) -> Self {
        Self { percent: percent.min(100), state: RandomState::new().build_hasher().finish() }
    }

    /// Draws from this seed, for a test.
    pub fn seeded(self, seed: u64) -> Self {
        Self { state: seed, ..self }
    }

    /// The pause to make instead of `delay`.
    pub(super) fn spread(&mut self, delay: Duration, cap: Duration) -> Duration {
        if delay >= cap {
            return delay;
        }
        let share = f64::from(self.percent) / 100.0;
        // 53 bits of the draw, as a number from 0 up to but not including 1.
        let unit = (self.draw() >> 11) as f64 / (1u64 << 53) as f64;
        delay.mul_f64(1.0 + share * (2.0 * unit - 1.0)).min(cap)
    }

    /// SplitMix64: one addition and a mix, every seed is good.
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_stays_around_its_delay_and_under_the_cap() {
        let (delay, cap) = (Duration::from_secs(40), Duration::from_secs(60));
        let mut jitter = Jitter::percent(100).seeded(1);
        let drawn: Vec<_> = (0..10_000).map(|_| jitter.spread(delay, cap)).collect();
        assert!(drawn.iter().all(|pause| *pause <= cap));
        let under = drawn.iter().filter(|pause| **pause < delay).count();
        assert!((4_800..5_200).contains(&under), "{under} of 10,000 under the delay");
        assert_eq!(jitter.spread(cap, cap), cap, "the cap is left alone");
    }

    #[test]
    fn two_watches_draw_apart_and_one_seed_draws_alike() {
        let (delay, cap) = (Duration::from_secs(2), Duration::from_secs(60));
        let draw = |mut jitter: Jitter| jitter.spread(delay, cap);
        assert_ne!(draw(Jitter::half()), draw(Jitter::half()));
        assert_eq!(draw(Jitter::half().seeded(7)), draw(Jitter::half().seeded(7)));
    }
}
