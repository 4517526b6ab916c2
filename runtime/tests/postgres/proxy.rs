//! A proxy that resets its connections when it is told to, as a network does.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use socket2::SockRef;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::broadcast,
};

pub(super) struct Proxy {
    port: u16,
    reset: broadcast::Sender<()>,
    resets: Arc<AtomicU64>,
    accepts: tokio::task::JoinHandle<()>,
}

impl Proxy {
    pub(super) async fn before(upstream: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (reset, _) = broadcast::channel(8);
        let resets = Arc::new(AtomicU64::new(0));
        let (sender, count) = (reset.clone(), Arc::clone(&resets));
        let accepts = tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let (mut told, count) = (sender.subscribe(), Arc::clone(&count));
                tokio::spawn(async move {
                    let mut client = client;
                    let mut server = TcpStream::connect(("127.0.0.1", upstream)).await.unwrap();
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut server) => {}
                        _ = told.recv() => {
                            // Closing with a linger of zero sends RST instead of FIN: the peer reads error 104.
                            SockRef::from(&client).set_linger(Some(Duration::ZERO)).unwrap();
                            count.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        Self { port, reset, resets, accepts }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Resets every connection that is open now.
    pub(super) fn reset(&self) {
        let _ = self.reset.send(());
    }

    /// How many connections were reset.
    pub(super) fn resets(&self) -> u64 {
        self.resets.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepts.abort();
    }
}
