//! Three processes over a real `nats-server`: this one rides, two others host. Real time, generous bounds, positive signals.

mod processes;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use rideout::address::Address;
use rideout::failure::FailureKind;
use rideout::mesh::Frame;
use rideout::nats::{NatsMesh, NatsOptions};
use rideout::rider::{NodeRead, ReadOptions, RideState, SyncStream, SyncStreamOptions, read_node};
use tokio::time::{sleep, timeout};

use self::processes::{Host, LEASE, LONG, Server};

async fn rider(server: &Server) -> NatsMesh {
    let options = NatsOptions { hosts: false, lease: LEASE, ..NatsOptions::default() };
    NatsMesh::connect(&server.address(), options).await.unwrap()
}

async fn next(stream: &mut SyncStream) -> Frame {
    timeout(LONG, stream.next()).await.expect("a frame in time").unwrap().unwrap()
}

async fn next_with(stream: &mut SyncStream, content: &str) -> Frame {
    loop {
        let frame = next(stream).await;
        if frame.content.as_ref() == content {
            return frame;
        }
    }
}

/// Writes as a writer must: again while the address is coming back, or while nobody can be asked.
async fn write(mesh: &NatsMesh, path: &Address, content: &str) {
    let begun = Instant::now();
    while let Err(failure) = mesh.put(path, content).await {
        assert!(
            matches!(
                failure.kind,
                FailureKind::ShuttingDown | FailureKind::Unavailable | FailureKind::Failed
            ),
            "{failure}"
        );
        assert!(begun.elapsed() < LONG, "never written: {failure}");
        sleep(Duration::from_millis(50)).await;
    }
}

fn open(mesh: &NatsMesh, path: &Address) -> SyncStream {
    SyncStream::open(Arc::new(mesh.clone()), path, SyncStreamOptions::default())
}

async fn wait_for(stream: &SyncStream, wanted: impl Fn(&RideState) -> bool) -> RideState {
    let mut state = stream.state();
    let seen = timeout(LONG, state.wait_for(|state| wanted(state)))
        .await
        .expect("that state in time")
        .map(|state| state.clone());
    seen.unwrap_or_else(|_ended| panic!("the stream ended: {:?}", stream.state().borrow()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_riders_converge_when_the_owner_is_killed_and_restarted() {
    let server = Server::start();
    let mesh = rider(&server).await;
    let inst = Address::new("Tenant/Inst 1.0");
    write(&mesh, &inst, "first").await;
    let mut owner = Host::start(&server, Duration::ZERO);
    let mut stream = open(&mesh, &inst);
    let first = next(&mut stream).await;
    assert_eq!(first.content.as_ref(), "first");
    write(&mesh, &inst, "pushed").await;
    next_with(&mut stream, "pushed").await;

    let mut standby = Host::start(&server, Duration::ZERO);
    let corpse = owner.order(&format!("active {inst}"));
    owner.kill();
    let killed = Instant::now();
    let mut late = open(&mesh, &inst);
    // Its first ask may go to the dead process before the server has noticed, and be answered only when the lease is over.
    let met = wait_for(&late, |state| *state != RideState::Opening).await;
    if let RideState::Riding { activation, .. } = met {
        assert_eq!(activation.unwrap().to_string(), corpse, "the corpse's lease names it");
    }
    assert_eq!(next(&mut late).await.content.as_ref(), "pushed");
    println!("kill -9 of the owner: a new reader is answered by the standby after {:.1?}", killed.elapsed());
    assert_ne!(standby.order(&format!("active {inst}")), "none");
    write(&mesh, &inst, "second").await;
    let second = next_with(&mut stream, "second").await;
    println!(
        "kill -9 of the owner: the established reader has the next write after {:.1?}",
        killed.elapsed()
    );
    assert_ne!(second.activation, first.activation);

    standby.kill();
    let killed = Instant::now();
    let read =
        read_node(&mesh, &inst, ReadOptions { budget: Duration::from_secs(1), ..ReadOptions::default() })
            .await;
    match read {
        Err(recycling) => assert!(recycling.to_string().contains("not absent"), "{recycling}"),
        Ok(NodeRead::Unavailable(lost)) => assert!(lost.message.contains("NOT not-found"), "{lost}"),
        Ok(other) => panic!("nobody is there, and that is not absent: {other:?}"),
    }
    let _restarted = Host::start(&server, Duration::ZERO);
    write(&mesh, &inst, "third").await;
    next_with(&mut stream, "third").await;
    next_with(&mut late, "third").await;
    println!("restart: both readers have the next write {:.1?} after the kill", killed.elapsed());

    assert!(mesh.delete(&inst).await.unwrap());
    let deleted = Instant::now();
    for stream in [&mut stream, &mut late] {
        let told = timeout(LONG, stream.next()).await.unwrap().unwrap().unwrap_err();
        assert_eq!(told.kind, FailureKind::NotFound);
    }
    println!("deletion: both readers are told after {:.1?}", deleted.elapsed());
    assert_eq!(read_node(&mesh, &inst, ReadOptions::default()).await.unwrap(), NodeRead::Absent);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_riders_converge_through_a_corpse_that_still_listens_and_a_restart_of_the_server() {
    let mut server = Server::start();
    let mesh = rider(&server).await;
    let inst = Address::new("Inst");
    write(&mesh, &inst, "first").await;
    let mut hosts = [(); 2].map(|()| Host::start(&server, Duration::from_millis(1_500)));
    let mut stream = open(&mesh, &inst);
    next(&mut stream).await;

    let recycled = Instant::now();
    let corpses: Vec<String> = hosts.iter_mut().map(|host| host.order("recycle Inst")).collect();
    let corpse = corpses.iter().find(|corpse| *corpse != "none").unwrap();
    let refused = wait_for(&stream, |state| matches!(state, RideState::Riding { .. })).await;
    let RideState::Riding { activation, .. } = refused else { unreachable!() };
    assert_eq!(&activation.unwrap().to_string(), corpse, "the corpse refuses in its own name");
    wait_for(&stream, |state| *state == RideState::Reading).await;
    println!(
        "a corpse that listens for 1.5 s: the established reader is answered after {:.1?}",
        recycled.elapsed()
    );
    write(&mesh, &inst, "second").await;
    next_with(&mut stream, "second").await;

    server.kill();
    sleep(Duration::from_millis(500)).await;
    server.restart();
    let restarted = Instant::now();
    write(&mesh, &inst, "third").await;
    next_with(&mut stream, "third").await;
    println!(
        "restart of the server: the reader has the next write after {:.1?}, {} gap marked",
        restarted.elapsed(),
        mesh.gaps()
    );

    server.kill();
    sleep(LEASE * 2).await;
    server.restart();
    let restarted = Instant::now();
    write(&mesh, &inst, "fourth").await;
    next_with(&mut stream, "fourth").await;
    println!(
        "a server that is down for longer than a lease: the next write after {:.1?}",
        restarted.elapsed()
    );
    assert_eq!(mesh.gaps(), 2);
    assert_eq!(*stream.state().borrow(), RideState::Reading);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_responders_is_not_not_found() {
    let server = Server::start();
    let mesh = rider(&server).await;
    let absent = read_node(&mesh, &"None".into(), ReadOptions::default()).await.unwrap();
    assert_eq!(absent, NodeRead::Absent, "the catalogue says so");
    write(&mesh, &"Inst".into(), "content").await;
    let options = ReadOptions { budget: Duration::from_millis(300), ..ReadOptions::default() };
    assert!(read_node(&mesh, &"Inst".into(), options).await.is_err(), "present, and nobody is there");
    let _host = Host::start(&server, Duration::ZERO);
    let present = read_node(&mesh, &"Inst".into(), ReadOptions::default()).await.unwrap();
    assert!(matches!(present, NodeRead::Present(node) if node.content.as_ref() == "content"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hosts_asked_at_once_make_one_activation() {
    let server = Server::start();
    let options = || NatsOptions { lease: LEASE, ..NatsOptions::default() };
    let hosts = [
        NatsMesh::connect(&server.address(), options()).await.unwrap(),
        NatsMesh::connect(&server.address(), options()).await.unwrap(),
    ];
    for n in 0..20 {
        let inst = Address::new(format!("Inst/{n}"));
        hosts[0].put(&inst, "content").await.unwrap();
        let reads = hosts
            .iter()
            .flat_map(|host| [host, host])
            .map(|host| read_node(host, &inst, ReadOptions::default()));
        for read in futures_util::future::join_all(reads).await {
            assert!(matches!(read.unwrap(), NodeRead::Present(_)));
        }
        let active = hosts
            .iter()
            .filter(|host| host.local().activation_at(&inst).is_some_and(|hub| !hub.is_disposing()))
            .count();
        assert_eq!(active, 1, "{inst}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_was_killed_is_forgotten_with_the_next_frame() {
    let server = Server::start();
    let mesh = rider(&server).await;
    let inst = Address::new("Inst");
    write(&mesh, &inst, "first").await;
    let mut owner = Host::start(&server, Duration::ZERO);
    let mut stream = open(&mesh, &inst);
    next(&mut stream).await;
    let mut reader = Host::start(&server, Duration::ZERO);
    assert_eq!(reader.order("watch Inst"), "watching");
    assert_eq!(owner.order("subscribers Inst"), "2");
    reader.kill();
    let killed = Instant::now();
    while owner.order("subscribers Inst") != "1" {
        assert!(killed.elapsed() < LONG, "a dead reader is kept");
        write(&mesh, &inst, "more").await;
        sleep(Duration::from_millis(50)).await;
    }
    write(&mesh, &inst, "last").await;
    next_with(&mut stream, "last").await;
}
