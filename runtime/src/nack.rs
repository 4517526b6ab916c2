//! The refusal of a hub that is going away: one marker, one formatter, one parser.
//!
//! No call site composes the sentence by hand. A site without the identity makes every refusal look new, one with a
//! per-delivery identity makes every refusal look old, and each defeats a rider's count in another direction.
//!
//! ```
//! use rideout::activation::ActivationId;
//! use rideout::nack::{ShutdownNack, extract_activation, is_answered_by};
//! use rideout::run_level::RunLevel;
//!
//! let address = "Tb666188a0/Inst".into();
//! let activation = ActivationId::mint();
//! let nack = ShutdownNack { address: &address, run_level: RunLevel::Dead, activation, what: "SubscribeRequest" };
//! let text = nack.rejecting_now();
//! assert_eq!(extract_activation(&text), Some(activation));
//! assert!(is_answered_by(&text, &address));
//! ```

use std::fmt;

use crate::activation::ActivationId;
use crate::address::Address;
use crate::run_level::RunLevel;

/// Stands before the identity in the text.
const MARKER: &str = "activation #";
/// Follows the address in the text.
const BANNER: &str = " is shutting down";

/// What a hub says about a request that it can no longer take.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ShutdownNack<'a> {
    /// The hub that refuses.
    pub address: &'a Address,
    /// How far its teardown has gone.
    pub run_level: RunLevel,
    /// Which of its lives refuses.
    pub activation: ActivationId,
    /// The type of the message that is refused.
    pub what: &'a str,
}

impl ShutdownNack<'_> {
    /// The text for a request that came after intake had closed.
    #[must_use]
    pub fn rejecting_now(&self) -> String {
        format!("{self}; the address may reactivate (recycle / restart). Rejecting now.")
    }

    /// The text for a request that had been accepted and was not finished.
    #[must_use]
    pub fn unfinished(&self) -> String {
        format!("{self} to its end; it was accepted and not finished. Ask again.")
    }
}

/// The part that both texts share: banner, level, identity, what was asked for.
impl fmt::Display for ShutdownNack<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, run_level, activation, what } = self;
        write!(
            f,
            "Hub {address}{BANNER} (RunLevel={run_level}, {MARKER}{activation}) — cannot process {what}"
        )
    }
}

/// The activation named in a refusal's text: the hex digits after the first marker.
///
/// `None` without a marker, or without a digit after it. Compare these, never whole messages: what stands next to the tag
/// changes with each delivery to the same activation.
#[must_use]
pub fn extract_activation(message: &str) -> Option<ActivationId> {
    let (_, after) = message.split_once(MARKER)?;
    let digits = after.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(after.len());
    u32::from_str_radix(&after[..digits], 16).ok().and_then(ActivationId::from_bits)
}

/// Whether it is `owner`, or a hub that it hosts, that says in `message` that it is shutting down.
///
/// Compares the subject of the banner by path: a refusal by `a/b/child`, or by a mesh that cannot route to `a/b`, is not an
/// answer by `a/b`.
#[must_use]
pub fn is_answered_by(message: &str, owner: &Address) -> bool {
    let banner = format!("Hub {}", owner.path());
    message.match_indices(&banner).any(|(start, matched)| {
        let starts_a_word = !message[..start].ends_with(char::is_alphanumeric);
        let rest = &message[start + matched.len()..];
        let hosted = rest.find(char::is_whitespace).map_or(rest, |end| &rest[..end]);
        let rest = if hosted.starts_with('~') { &rest[hosted.len()..] } else { rest };
        starts_a_word && rest.starts_with(BANNER)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TRANSCRIPT: &str = "Hub Tb666188a0/Inst is shutting down (RunLevel=Dead, activation #017DA86C) — cannot process \
        SubscribeRequest; the address may reactivate (recycle / restart). Rejecting now.";

    fn id(bits: u32) -> ActivationId {
        ActivationId::from_bits(bits).unwrap()
    }

    #[test]
    fn the_text_is_exact() {
        let address = Address::new("Tb666188a0/Inst");
        let nack = ShutdownNack {
            address: &address,
            run_level: RunLevel::Dead,
            activation: id(0x017D_A86C),
            what: "SubscribeRequest",
        };
        assert_eq!(nack.rejecting_now(), TRANSCRIPT);
        assert_eq!(
            nack.unfinished(),
            "Hub Tb666188a0/Inst is shutting down (RunLevel=Dead, activation #017DA86C) — cannot process SubscribeRequest \
             to its end; it was accepted and not finished. Ask again."
        );
    }

    /// `ExtractTag`: the tag next to different delivery ids, no marker, a marker without digits.
    #[test]
    fn extract_tag() {
        assert_eq!(extract_activation(TRANSCRIPT), Some(id(0x017D_A86C)));
        let first = "delivery 8f3a-11: activation #017DA86C) refused, attempt 1";
        let second = "delivery 77c0-92: activation #017DA86C) refused, attempt 2";
        assert_eq!(extract_activation(first), extract_activation(second));
        assert_ne!(
            first, second,
            "whole messages differ, so a comparison of them never sees the same activation"
        );
        assert_eq!(extract_activation("Hub a is shutting down"), None);
        assert_eq!(extract_activation("activation #) — cannot"), None);
        assert_eq!(extract_activation("activation #xyz, activation #01"), None, "the first marker decides");
        assert_eq!(extract_activation("activation #00000000"), None, "no activation is zero");
        assert_eq!(extract_activation("activation #123456789ABCDEF"), None, "not one of ours");
    }

    #[test]
    fn the_subject_of_the_banner_is_compared_by_path() {
        let owner = Address::new("a/b");
        for (text, by_owner) in [
            ("Hub a/b is shutting down (RunLevel=Dead)", true),
            ("wrapped: Hub a/b is shutting down", true),
            ("Hub a/b~sync/7 is shutting down", true),
            ("Hub a/b/child is shutting down", false),
            ("Hub x/a/b is shutting down", false),
            ("SubHub a/b is shutting down", false),
            ("Mesh is shutting down, cannot route to a/b", false),
            ("Hub Mesh is shutting down, cannot route to Hub a/b", false),
            ("Hub a/b is shutting", false),
            ("", false),
        ] {
            assert_eq!(is_answered_by(text, &owner), by_owner, "{text}");
        }
        assert!(is_answered_by("Hub a/b is shutting down", &owner.hosted("sync/7")));
    }

    proptest! {
        #[test]
        fn what_is_minted_is_parsed(bits in 1u32.., path in "[A-Za-z0-9/~._-]{1,24}", what in "[A-Za-z<>:]{1,16}") {
            let address = Address::new(path);
            let nack = ShutdownNack { address: &address, run_level: RunLevel::ShutDown, activation: id(bits), what: &what };
            for text in [nack.rejecting_now(), nack.unfinished()] {
                prop_assert_eq!(extract_activation(&text), Some(id(bits)));
                prop_assert!(is_answered_by(&text, &address));
            }
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "\\PC*", owner in "\\PC*") {
            let _ = extract_activation(&text);
            let _ = is_answered_by(&text, &Address::new(owner));
        }
    }
}
