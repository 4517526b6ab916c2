//! Outbound mail: two standing watches, one per folder, that send what is new.
//!
//! A mail goes New, Sending, then Sent or Failed, and each step compares before it sets. So the status carries the safety:
//! a watch may be re-opened, or its process restarted, without a mail sent by two at once. A send that is cut short, because
//! its opening ended or its task was aborted, puts the mail back to New. If the server had taken it by then, it is sent a
//! second time: give it a message id of its own.
//!
//! Run it with `cargo run -p rideout --example outbox_mail`.

#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use std::{
    collections::BTreeMap,
    future::Future,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::{Stream, StreamExt, stream};
use rideout::{
    cadence::Cadence,
    inbox::{Claims, InboxEvent, inbox_drain},
    reopen::{Opening, ReopenPolicy},
};

/// Where a mail stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nobody works on it. Left for `Sending`, by one sender.
    New,
    /// One sender works on it. Left for `Sent` or `Failed`, or for `New` if the sending is cut short.
    Sending,
    /// The server took it.
    Sent,
    /// The server refused it, for this reason.
    Failed(String),
}

/// One folder of mails by number. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Outbox(Arc<Mutex<BTreeMap<u64, Status>>>);

impl Outbox {
    /// Puts a new mail in.
    pub fn put(&self, mail: u64) {
        self.mails().entry(mail).or_insert(Status::New);
    }

    /// To be called when a process starts, before it sends: a mail that is being sent was left so by a process that died,
    /// and is new again.
    pub fn recover(&self) {
        for status in self.mails().values_mut().filter(|status| **status == Status::Sending) {
            *status = Status::New;
        }
    }

    /// Where a mail stands, if it is here.
    pub fn status(&self, mail: u64) -> Option<Status> {
        self.mails().get(&mail).cloned()
    }

    /// The mails that nobody works on.
    pub fn new_mails(&self) -> Vec<u64> {
        self.mails().iter().filter(|(_, status)| **status == Status::New).map(|(mail, _)| *mail).collect()
    }

    /// Compares and sets: whether the mail stood at `from`, and now stands at `to`.
    fn advance(&self, mail: u64, from: &Status, to: Status) -> bool {
        let mut mails = self.mails();
        let Some(status) = mails.get_mut(&mail).filter(|status| *status == from) else { return false };
        *status = to;
        true
    }

    fn mails(&self) -> MutexGuard<'_, BTreeMap<u64, Status>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A mail that this sender works on. Dropped before it is settled, it is new again.
struct Sending {
    outbox: Outbox,
    mail: u64,
}

impl Sending {
    fn settle(&self, status: Status) {
        self.outbox.advance(self.mail, &Status::Sending, status);
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.settle(Status::New);
    }
}

/// Watches a folder through `list` and sends what is new, until the watch is over.
pub async fn send_mails<C, L, F, E>(
    outbox: Outbox,
    list: impl FnMut(Opening) -> C,
    send: impl FnMut(u64) -> F + Clone,
    policy: ReopenPolicy<InboxEvent<u64, String>, E>,
) -> Result<(), E>
where
    C: Future<Output = Result<L, E>>,
    L: Stream<Item = Result<Vec<u64>, E>>,
    F: Future<Output = Result<(), String>>,
{
    let drain = move |mail: u64| {
        let (outbox, mut send) = (outbox.clone(), send.clone());
        async move {
            if !outbox.advance(mail, &Status::New, Status::Sending) {
                // Another sender has it, or it was settled after the listing was read.
                return Ok(());
            }
            let sending = Sending { outbox, mail };
            match send(mail).await {
                Ok(()) => sending.settle(Status::Sent),
                Err(refusal) => sending.settle(Status::Failed(refusal)),
            }
            Ok(())
        }
    };
    inbox_drain(Claims::new(), list, drain, policy).await
}

/// A listing of the folder that is reset after its first reading, and ends after its third opening.
async fn list(outbox: &Outbox, opening: Opening) -> io::Result<impl Stream<Item = io::Result<Vec<u64>>>> {
    if opening.number == 2 {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    let reading = stream::iter([Ok(outbox.new_mails())]);
    let moment = async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        (opening.number == 1).then(|| Err(io::ErrorKind::ConnectionReset.into()))
    };
    Ok(reading.chain(stream::once(moment).filter_map(std::future::ready)))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let (invitations, notices) = (Outbox::default(), Outbox::default());
    (1..=2).for_each(|mail| invitations.put(mail));
    notices.put(7);
    invitations.recover();
    notices.recover();
    let send = |folder: &'static str| {
        move |mail: u64| async move {
            println!("{folder}: sending {mail}");
            // The second mail is still being sent when the listing is reset, and is sent again.
            tokio::time::sleep(Duration::from_millis(if mail == 1 { 40 } else { 20 })).await;
            if mail == 7 { Err("no such mailbox".to_owned()) } else { Ok(()) }
        }
    };
    let quick = || ReopenPolicy::standing_watch().cadence(Cadence::steps(Duration::from_millis(100), &[]));
    let (first, second) = tokio::join!(
        send_mails(invitations.clone(), |opening| list(&invitations, opening), send("invitations"), quick()),
        send_mails(notices.clone(), |opening| list(&notices, opening), send("notices"), quick()),
    );
    first.and(second)?;
    println!("invitations: {:?}", invitations.mails());
    println!("notices: {:?}", notices.mails());
    Ok(())
}
