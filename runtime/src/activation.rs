//! The identity of one life of a hub.
//!
//! ```
//! use rideout::activation::{ActivationId, ActivationMint};
//!
//! let mint = ActivationMint::seeded(7);
//! let (first, second) = (mint.mint(), mint.mint());
//! assert_ne!(first, second);
//! assert_eq!(first.to_string().len(), 8);
//! assert_ne!(ActivationId::mint(), ActivationId::mint());
//! ```

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU32;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Odd, so that multiplying by it visits every `u32` once: neighbours in the count look unlike each other in a log.
const SPREAD: u32 = 0x9E37_79B1;

/// Names one activation: stable for its life, another for the next life at the same address.
///
/// It is never derived from where the hub lies in memory: an allocator hands the same place to a successor, which would then
/// look like the corpse before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActivationId(NonZeroU32);

impl ActivationId {
    /// The next identity of this process.
    #[must_use]
    pub fn mint() -> Self {
        static PROCESS: LazyLock<ActivationMint> = LazyLock::new(|| {
            let random = RandomState::new().hash_one(std::process::id());
            ActivationMint::seeded((random ^ (random >> 32)) as u32)
        });
        PROCESS.mint()
    }

    /// The identity with this number; `None` for zero, which no activation has.
    #[must_use]
    pub fn from_bits(bits: u32) -> Option<Self> {
        NonZeroU32::new(bits).map(Self)
    }

    /// The number behind the identity.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.0.get()
    }
}

impl fmt::Display for ActivationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08X}", self.0)
    }
}

impl fmt::Debug for ActivationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{self}")
    }
}

/// Mints identities from a count and a seed.
///
/// One mint repeats itself only after 2^32 - 1 identities. Two processes that share addresses take different seeds.
#[derive(Debug)]
pub struct ActivationMint {
    seed: u32,
    next: AtomicU32,
}

impl ActivationMint {
    /// A mint whose sequence is a function of `seed`.
    #[must_use]
    pub const fn seeded(seed: u32) -> Self {
        Self { seed, next: AtomicU32::new(0) }
    }

    /// The next identity.
    #[must_use]
    pub fn mint(&self) -> ActivationId {
        loop {
            let count = self.next.fetch_add(1, Ordering::Relaxed);
            if let Some(id) = ActivationId::from_bits(count.wrapping_mul(SPREAD) ^ self.seed) {
                return id;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_mint_repeats_nothing_and_never_says_zero() {
        for seed in [0, 1, 0x017D_A86C, u32::MAX] {
            let mint = ActivationMint::seeded(seed);
            let minted: HashSet<_> = (0..100_000).map(|_| mint.mint()).collect();
            assert_eq!(minted.len(), 100_000);
        }
    }

    #[test]
    fn the_same_seed_mints_the_same_sequence() {
        let (left, right) = (ActivationMint::seeded(42), ActivationMint::seeded(42));
        assert!((0..10).all(|_| left.mint() == right.mint()));
    }

    #[test]
    fn an_identity_is_shown_as_eight_digits() {
        assert_eq!(ActivationId::from_bits(0x017D_A86C).unwrap().to_string(), "017DA86C");
        assert_eq!(ActivationId::from_bits(0), None);
    }
}
