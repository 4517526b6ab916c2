//! Question three: did nobody answer in time?

use std::{error::Error, io};

use super::{Classify, MAX_NODES, Nature, Verdict, chain::any_until, drivers, typed::nature_of};

/// The phrases with which a transport says, in a text that is all it can send, that its own bound ran out.
pub const NO_ANSWER_PHRASES: [&str; 2] =
    ["Response did not arrive on time", "Grain placement operation timed out"];

/// Transient if nobody answered in time, and terminal for all else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct NoAnswerInTime;

impl<E: Error + 'static> Classify<E> for NoAnswerInTime {
    fn classify(&self, fault: &E) -> Verdict {
        is_no_answer_in_time(fault).into()
    }
}

impl Classify<dyn Error> for NoAnswerInTime {
    fn classify(&self, fault: &(dyn Error + 'static)) -> Verdict {
        is_no_answer_in_time(fault).into()
    }
}

/// Whether nobody answered in time: a timeout of this process at any depth, in any branch of an aggregate, or one of the
/// transport, which arrives as [`Nature::NoAnswerInTime`] or as the text of a [`Nature::Flattened`] answer.
///
/// Never an answer that carries a verdict, a promise or a stall, whatever its text says and whatever stands below it.
#[must_use]
pub fn is_no_answer_in_time(fault: &(dyn Error + 'static)) -> bool {
    any_until(fault, &mut MAX_NODES.clone(), &mut asked).unwrap_or(false)
}

fn asked(node: &(dyn Error + 'static)) -> Option<bool> {
    if let Some(nature) = nature_of(node) {
        return match nature {
            Nature::NoAnswerInTime => Some(true),
            Nature::Flattened => Some(says_no_answer_in_time(&node.to_string())),
            Nature::Promise | Nature::Verdict | Nature::Unavailable => Some(false),
        };
    }
    let io = node.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::TimedOut);
    (io || is_elapsed(node) || drivers::is_timeout(node)).then_some(true)
}

/// Whether a text has one of [`NO_ANSWER_PHRASES`], in any case. Ask it only of a text that came without its error object.
#[must_use]
pub fn says_no_answer_in_time(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    NO_ANSWER_PHRASES.iter().any(|phrase| text.contains(&phrase.to_ascii_lowercase()))
}

#[cfg(feature = "tokio")]
pub(super) fn is_elapsed(node: &(dyn Error + 'static)) -> bool {
    node.is::<tokio::time::error::Elapsed>()
}

#[cfg(not(feature = "tokio"))]
pub(super) fn is_elapsed(_: &(dyn Error + 'static)) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::{Aggregate, TypedFault};

    const ROUTED: &str = "Response did not arrive on time in 00:00:30 for message Request";

    #[test]
    fn both_shapes_are_one_answer() {
        let here = io::Error::other(io::Error::from(io::ErrorKind::TimedOut));
        assert!(is_no_answer_in_time(&here));
        assert!(is_no_answer_in_time(&TypedFault::no_answer("no reply")));
        assert!(is_no_answer_in_time(&TypedFault::flattened(ROUTED)));
        assert!(is_no_answer_in_time(&TypedFault::flattened(ROUTED.to_uppercase())));
    }

    #[test]
    fn one_branch_of_an_aggregate_is_enough() {
        let several = Aggregate::new(vec![
            TypedFault::verdict("absent").into(),
            TypedFault::no_answer("no reply").into(),
        ]);
        assert!(is_no_answer_in_time(&several));
    }

    #[test]
    fn a_verdict_is_never_matched_whatever_its_text_says() {
        for nature in [Nature::Verdict, Nature::Promise, Nature::Unavailable] {
            let answer = TypedFault::new(nature, ROUTED).caused_by(io::Error::from(io::ErrorKind::TimedOut));
            assert!(!is_no_answer_in_time(&answer), "{nature:?}");
        }
        assert!(!is_no_answer_in_time(&TypedFault::flattened("the operation timed out")));
        assert!(!is_no_answer_in_time(&io::Error::other(ROUTED)), "text without a carrier proves nothing");
    }

    #[cfg(feature = "tokio")]
    #[tokio::test(start_paused = true)]
    async fn a_timeout_of_this_process_is_one() {
        let waited = tokio::time::timeout(std::time::Duration::from_secs(1), std::future::pending::<()>());
        assert!(is_no_answer_in_time(&waited.await.unwrap_err()));
    }
}
