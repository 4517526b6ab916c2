//! The server and the hosting processes that a test starts, and that end with it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use rideout::nats::{NatsMesh, NatsOptions};

use super::{next, open};

pub(super) const LEASE: Duration = Duration::from_secs(2);
pub(super) const LONG: Duration = Duration::from_secs(30);
const SERVER: &str = "RIDEOUT_TEST_NATS";
const LINGER: &str = "RIDEOUT_TEST_LINGER_MS";

/// A server of its own on a free port, with its own store; killed with the test.
pub(super) struct Server {
    process: Child,
    port: u16,
    store: tempfile::TempDir,
}

impl Server {
    pub(super) fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let store = tempfile::tempdir().unwrap();
        Self { process: Self::run(port, store.path()), port, store }
    }

    fn run(port: u16, store: &Path) -> Child {
        let path = format!("{}:/usr/sbin:/usr/local/sbin", std::env::var("PATH").unwrap_or_default());
        let process = Command::new("nats-server")
            .env("PATH", path)
            .args(["-a", "127.0.0.1", "-p", &port.to_string(), "-js", "-sd"])
            .arg(store)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("no nats-server ({error}): apt-get install -y nats-server"));
        let up = Instant::now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(up.elapsed() < LONG, "nats-server does not come up");
            std::thread::sleep(Duration::from_millis(20));
        }
        process
    }

    pub(super) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub(super) fn restart(&mut self) {
        self.process = Self::run(self.port, self.store.path());
    }

    pub(super) fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Another process that hosts: this test binary again, in [`host_process`].
pub(super) struct Host {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<std::process::ChildStdout>,
}

impl Host {
    pub(super) fn start(server: &Server, linger: Duration) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "mesh::nats::processes::host_process", "--nocapture"])
            .env(SERVER, server.address())
            .env(LINGER, linger.as_millis().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (orders, answers) =
            (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        let mut host = Self { process, orders, answers };
        assert_eq!(host.answer(), "ready");
        host
    }

    pub(super) fn order(&mut self, order: &str) -> String {
        writeln!(self.orders, "{order}").unwrap();
        self.answer()
    }

    /// The next line that is an answer, and none of the test harness.
    fn answer(&mut self) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(self.answers.read_line(&mut line).unwrap(), 0, "the host process has ended");
            if let Some((_, answer)) = line.split_once("host: ") {
                return answer.trim().to_owned();
            }
        }
    }

    /// As `kill -9` does: nothing is said, nothing is given back.
    pub(super) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The body of a hosting process; without its environment it is an empty test.
#[tokio::test]
async fn host_process() {
    let Ok(server) = std::env::var(SERVER) else { return };
    let linger = Duration::from_millis(std::env::var(LINGER).unwrap().parse().unwrap());
    let mesh = NatsMesh::connect(&server, NatsOptions { lease: LEASE, linger, ..NatsOptions::default() })
        .await
        .unwrap();
    println!("host: ready");
    let (orders, mut taken) = tokio::sync::mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            orders.send(line.unwrap()).unwrap();
        }
        // Whoever started this process is gone.
        std::process::exit(0);
    });
    let mut watched = Vec::new();
    while let Some(order) = taken.recv().await {
        match order.split_once(' ') {
            Some(("recycle", path)) => match mesh.local().recycle(&path.into()) {
                Some(corpse) => println!("host: {}", corpse.activation()),
                None => println!("host: none"),
            },
            Some(("active", path)) => match mesh.local().activation_at(&path.into()) {
                Some(hub) => println!("host: {}", hub.activation()),
                None => println!("host: none"),
            },
            Some(("subscribers", path)) => {
                let hub = mesh.local().activation_at(&path.into());
                println!("host: {}", hub.map_or(0, |hub| hub.subscriber_count()));
            }
            Some(("watch", path)) => {
                let mut stream = open(&mesh, &path.into());
                next(&mut stream).await;
                watched.push(stream);
                println!("host: watching");
            }
            _ => println!("host: what?"),
        }
    }
}
