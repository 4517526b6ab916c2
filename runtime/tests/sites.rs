//! The sites of standing watches, each put through one script: the first open throws the stall of the fan-in, the watch
//! survives, the re-open runs on the test's clock, and a later emission is processed. The unguarded shape fails it.

use std::{collections::BTreeMap, future::ready, sync::Arc, time::Duration};

use futures_executor::block_on;
use futures_util::StreamExt;
use rideout::{
    classify::Infrastructure,
    fan_in::QueryProviderStalled,
    reopen::ReopenPolicy,
    schedule::ManualSchedule,
    snapshot::{FailClosed, SnapshotCell},
    test::{ScriptFailure, ScriptedSource, standing_watch_reopens},
};

use crate::{outbox_mail, plugin_catalog};

/// A query that a site watches.
pub(crate) type Site<T> = ScriptedSource<T, QueryProviderStalled>;

pub(crate) fn stalled() -> QueryProviderStalled {
    QueryProviderStalled { providers: vec!["catalogue".into()], budget: Duration::from_secs(15) }
}

pub(crate) fn policy_of<T>(clock: &ManualSchedule) -> ReopenPolicy<T, QueryProviderStalled> {
    ReopenPolicy::new(Infrastructure, clock.clone())
}

/// What every one of these sites was before: opened once, with an error arm that only logs.
async fn unguarded<T>(source: Site<T>, mut process: impl FnMut(T)) {
    let mut log = Vec::new();
    match source.open() {
        Ok(mut items) => {
            while let Some(Ok(item)) = items.next().await {
                process(item);
            }
        }
        Err(fault) => log.push(fault.to_string()),
    }
}

mod plugin_catalog_standing_watches_reopen {
    //! Original name: `PluginCatalogStandingWatchesReopen`.

    use super::*;

    fn entries(version: u32) -> plugin_catalog::Entries {
        BTreeMap::from([("spell-check".to_owned(), version)])
    }

    #[test]
    fn the_catalog() {
        let catalog = Arc::new(SnapshotCell::default());
        let watched = Arc::clone(&catalog);
        let watch = async |source: Site<_>, clock: ManualSchedule| {
            plugin_catalog::watch_catalog(async |_| source.open(), watched, policy_of(&clock)).await
        };
        let may_install = || plugin_catalog::may_install(&catalog, "spell-check", 2).is_ok();
        assert_eq!(block_on(standing_watch_reopens(stalled(), entries(2), watch, may_install)), Ok(()));
    }

    #[test]
    fn the_updates() {
        let updated = std::cell::RefCell::new(Vec::new());
        let watch = async |source: Site<_>, clock: ManualSchedule| {
            let mut installed = entries(1);
            let update = |plugin: &str, version| updated.borrow_mut().push(format!("{plugin} {version}"));
            plugin_catalog::watch_updates(async |_| source.open(), &mut installed, update, policy_of(&clock))
                .await
        };
        let processed = || *updated.borrow() == ["spell-check 2"];
        assert_eq!(block_on(standing_watch_reopens(stalled(), entries(2), watch, processed)), Ok(()));
    }

    #[test]
    fn control_the_unguarded_shape_fails_the_same_script() {
        let catalog = SnapshotCell::default();
        let watch = |source, _| unguarded(source, |entries| catalog.publish(entries));
        let may_install = || plugin_catalog::may_install(&catalog, "spell-check", 2).is_ok();
        let outcome = block_on(standing_watch_reopens(stalled(), entries(2), watch, may_install));
        assert_eq!(outcome, Err(ScriptFailure::Died));
    }
}

mod email_watches_reopen {
    //! Original name: `EmailWatchesReopenAfterAFault`.

    use std::future::pending;

    use futures_util::FutureExt;
    use outbox_mail::{Outbox, Status};

    use super::*;

    fn script(folder: &str, mail: u64) -> Result<(), ScriptFailure> {
        let outbox = Outbox::default();
        outbox.put(mail);
        let watch = async |source: Site<_>, clock: ManualSchedule| {
            let send = |_| ready(Ok(()));
            outbox_mail::send_mails(outbox.clone(), async |_| source.open(), send, policy_of(&clock)).await
        };
        let sent = || outbox.status(mail) == Some(Status::Sent);
        assert!(!sent(), "{folder}");
        block_on(standing_watch_reopens(stalled(), vec![mail], watch, sent))
    }

    #[test]
    fn the_sender_of_invitations() {
        assert_eq!(script("invitations", 1), Ok(()));
    }

    #[test]
    fn the_sender_of_notices() {
        assert_eq!(script("notices", 7), Ok(()));
    }

    #[test]
    fn control_the_unguarded_shape_fails_the_same_script() {
        let sent = std::cell::RefCell::new(Vec::new());
        let watch = |source, _| unguarded(source, |mails: Vec<u64>| sent.borrow_mut().extend(mails));
        let outcome =
            block_on(standing_watch_reopens(stalled(), vec![1], watch, || !sent.borrow().is_empty()));
        assert_eq!(outcome, Err(ScriptFailure::Died));
    }

    /// A send that is cut with its opening puts the mail back, and the re-opened watch sends it.
    #[test]
    fn a_send_that_is_cut_short_is_sent_by_the_next_opening() {
        let (outbox, clock) = (Outbox::default(), ManualSchedule::new());
        outbox.put(1);
        let source = Site::new().opens([Ok(vec![1])]);
        let sends = std::cell::Cell::new(0);
        let send = |_| {
            sends.set(sends.get() + 1);
            let hangs = sends.get() == 1;
            async move { if hangs { pending().await } else { Ok(()) } }
        };
        let sender =
            outbox_mail::send_mails(outbox.clone(), async |_| source.open(), send, policy_of(&clock));
        let mut sender = Box::pin(sender);
        assert!(sender.as_mut().now_or_never().is_none());
        assert_eq!(outbox.status(1), Some(Status::Sending));
        assert!(source.fault(stalled()));
        assert!(sender.as_mut().now_or_never().is_none());
        assert_eq!((outbox.status(1), outbox.new_mails()), (Some(Status::New), vec![1]));
        assert!(clock.fire());
        assert!(sender.as_mut().now_or_never().is_none());
        assert!(source.emit(vec![1]));
        assert!(sender.as_mut().now_or_never().is_none());
        assert_eq!((outbox.status(1), sends.get()), (Some(Status::Sent), 2));
    }

    /// A process that died in the middle of a send leaves the mail in it; the next one puts it back before it sends.
    #[test]
    fn a_mail_that_a_dead_process_left_is_recovered_at_the_start() {
        let (outbox, clock) = (Outbox::default(), ManualSchedule::new());
        outbox.put(1);
        let source = Site::new().opens([Ok(vec![1])]);
        let policy = policy_of(&clock);
        let sender = outbox_mail::send_mails(outbox.clone(), async |_| source.open(), |_| pending(), policy);
        let mut sender = Box::pin(sender);
        assert!(sender.as_mut().now_or_never().is_none());
        // Killed: nothing of it is dropped.
        std::mem::forget(sender);
        assert_eq!((outbox.status(1), outbox.new_mails()), (Some(Status::Sending), vec![]));
        outbox.recover();
        assert_eq!(outbox.new_mails(), [1]);
    }

    #[test]
    fn two_senders_of_one_folder_send_a_mail_once() {
        let (outbox, clock) = (Outbox::default(), ManualSchedule::new());
        outbox.put(1);
        let sends = std::cell::Cell::new(0);
        let send = |_| {
            sends.set(sends.get() + 1);
            ready(Ok(()))
        };
        for _ in 0..2 {
            let source = Site::new().opens([Ok(vec![1])]);
            let sender =
                outbox_mail::send_mails(outbox.clone(), async |_| source.open(), send, policy_of(&clock));
            assert!(sender.now_or_never().is_none());
        }
        assert_eq!((outbox.status(1), sends.get()), (Some(Status::Sent), 1));
    }
}

mod secret_catalog_watch_reopens {
    //! Original name: `StandingWatchesReopenAfterAFault`, the secret catalogue.

    use super::*;

    #[test]
    fn the_secrets() {
        let secrets = Arc::new(SnapshotCell::closed(Vec::new(), "not read yet"));
        let watched = Arc::clone(&secrets);
        let watch = async |source: Site<Vec<&'static str>>, clock: ManualSchedule| {
            let policy = policy_of(&clock).observer(FailClosed::new(Arc::clone(&watched)));
            let mut readings = std::pin::pin!(rideout::reopen::reopen_on_transient_fault_async(
                async |_| source.open(),
                policy
            ));
            while let Some(Ok(entries)) = readings.next().await {
                watched.publish(entries);
            }
        };
        let verifies = || secrets.load().trusted().is_some_and(|entries| entries == &["key"]);
        assert_eq!(block_on(standing_watch_reopens(stalled(), vec!["key"], watch, verifies)), Ok(()));
        assert!(secrets.load().trusted().is_none(), "a watch that is let go of leaves the cell closed");
    }

    /// A verifier looks between any two steps of an outage: it never sees a feed that is up with entries from before it.
    #[test]
    fn recovered_and_stale_is_never_seen() {
        let cell = Arc::new(SnapshotCell::new(1));
        let verdicts = |cell: &SnapshotCell<u32>| cell.load().trusted().copied();
        cell.fail_closed("reset");
        assert_eq!(verdicts(&cell), None);
        cell.publish(2);
        assert_eq!(verdicts(&cell), Some(2));

        let writer = Arc::clone(&cell);
        let writing = std::thread::spawn(move || {
            for entries in 3..2000 {
                writer.fail_closed("reset");
                writer.publish(entries);
            }
        });
        let mut newest = 0;
        while !writing.is_finished() {
            let seen = cell.load();
            // Each outage is two stores, so the revision tells which entries belong to an open snapshot.
            if let Some(entries) = seen.trusted() {
                assert_eq!(u64::from(*entries) * 2, seen.revision() + 2);
                assert!(*entries >= newest);
                newest = *entries;
            }
        }
        writing.join().unwrap();
    }

    /// The unfixed shape: two fields, written one after the other.
    #[test]
    fn control_two_fields_show_a_recovered_feed_with_the_old_entries() {
        let (entries, fail_closed) = (std::cell::Cell::new("from before"), std::cell::Cell::new(true));
        let verify = || (!fail_closed.get()).then(|| entries.get());
        let mut seen = Vec::new();
        fail_closed.set(false);
        seen.push(verify());
        entries.set("from after");
        seen.push(verify());
        assert_eq!(seen, [Some("from before"), Some("from after")]);
    }
}
