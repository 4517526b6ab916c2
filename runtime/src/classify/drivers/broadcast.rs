//! Errors of tokio's broadcast channel, received from directly or as a stream.

use tokio::sync::broadcast::error::RecvError;
use tokio_stream::wrappers::errors::BroadcastStreamRecvError;

use super::Node;
use crate::classify::Verdict;

/// A receiver that lagged goes on after its gap. One whose senders are gone never gets another item.
pub(super) fn verdict(node: &Node) -> Option<Verdict> {
    if let Some(BroadcastStreamRecvError::Lagged(_)) = node.downcast_ref() {
        return Some(Verdict::Transient);
    }
    match node.downcast_ref::<RecvError>()? {
        RecvError::Lagged(_) => Some(Verdict::Transient),
        RecvError::Closed => Some(Verdict::Terminal),
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;
    use tokio::sync::broadcast;
    use tokio_stream::wrappers::BroadcastStream;

    use super::*;
    use crate::{
        classify::{Infrastructure, is_transient_infrastructure},
        reopen::{ReopenPolicy, WatchEvent, watch_events},
        schedule::ManualSchedule,
    };

    #[test]
    fn lagged_is_a_gap_and_closed_is_the_end() {
        assert!(is_transient_infrastructure(&RecvError::Lagged(3)));
        assert!(is_transient_infrastructure(&BroadcastStreamRecvError::Lagged(3)));
        assert!(!is_transient_infrastructure(&RecvError::Closed));
    }

    #[tokio::test]
    async fn a_watch_subscribes_anew_after_it_lagged_and_its_consumer_knows() {
        let (sender, _) = broadcast::channel(2);
        let policy = ReopenPolicy::new(Infrastructure, ManualSchedule::firing());
        let open = async |_| Ok(BroadcastStream::new(sender.subscribe()));
        let mut events = Box::pin(watch_events(open, policy));
        assert!(matches!(events.next().await, Some(WatchEvent::Opened(_))));
        for item in 1..=5 {
            sender.send(item).unwrap();
        }
        assert!(matches!(events.next().await, Some(WatchEvent::Interrupted { .. })));
        assert!(matches!(events.next().await, Some(WatchEvent::Opened(opening)) if opening.number == 2));
        sender.send(6).unwrap();
        assert!(matches!(events.next().await, Some(WatchEvent::Item(6))));
    }
}
