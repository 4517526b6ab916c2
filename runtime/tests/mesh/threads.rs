//! The same mesh under real threads and the real clock: recycles, writes and reads from all sides at once, and then peace.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::join_all;
use rideout::address::Address;
use rideout::failure::FailureKind;
use rideout::mesh::{Mesh, WriteNode};
use rideout::rider::{NodeRead, ReadOptions, SyncStream, SyncStreamOptions, read_node};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

const PATHS: usize = 20;
const RAGE: Duration = Duration::from_secs(2);
const PEACE: Duration = Duration::from_secs(60);

async fn recycle_for_ever(mesh: Mesh, paths: Arc<[Address]>, offset: usize) {
    let until = Instant::now() + RAGE;
    let mut n = offset;
    while Instant::now() < until {
        n += 7;
        mesh.recycle(&paths[n % PATHS]);
        sleep(Duration::from_millis(1)).await;
    }
}

async fn write_for_ever(mesh: Mesh, paths: Arc<[Address]>, offset: usize) {
    let until = Instant::now() + RAGE;
    let mut n = offset;
    while Instant::now() < until {
        n += 3;
        match mesh.request(&paths[n % PATHS], WriteNode { content: "changed".into() }).await {
            Ok(_) => tokio::task::yield_now().await,
            Err(failure) => {
                let expected = failure.kind.is_promise() || failure.kind == FailureKind::NotFound;
                assert!(expected, "only recycles and deletions happen here: {failure}");
                sleep(Duration::from_millis(1)).await;
            }
        }
    }
}

async fn read_for_ever(mesh: Mesh, paths: Arc<[Address]>, offset: usize) {
    let until = Instant::now() + RAGE;
    let mut n = offset;
    while Instant::now() < until {
        n += 1;
        let read = read_node(&mesh, &paths[n % PATHS], ReadOptions::default()).await;
        assert!(matches!(read, Ok(NodeRead::Present(_) | NodeRead::Absent)), "{read:?}");
    }
}

async fn mesh_with_streams() -> (Mesh, Arc<[Address]>, Vec<SyncStream>) {
    let mesh = Mesh::builder().build().unwrap();
    let paths: Arc<[Address]> = (0..PATHS).map(|n| Address::new(format!("Node/{n}"))).collect();
    for path in paths.iter() {
        mesh.put(path, "content").await.unwrap();
    }
    let open =
        |n: usize| SyncStream::open(Arc::new(mesh.clone()), &paths[n % PATHS], SyncStreamOptions::default());
    let streams = (0..PATHS * 10).map(open).collect();
    (mesh, paths, streams)
}

/// Everything at once, until `RAGE` is over.
fn rage(mesh: &Mesh, paths: &Arc<[Address]>) -> Vec<JoinHandle<()>> {
    let mut rage = Vec::new();
    for n in 0..2 {
        rage.push(tokio::spawn(recycle_for_ever(mesh.clone(), Arc::clone(paths), n)));
        rage.push(tokio::spawn(write_for_ever(mesh.clone(), Arc::clone(paths), n)));
        rage.push(tokio::spawn(read_for_ever(mesh.clone(), Arc::clone(paths), n)));
    }
    rage
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn everybody_converges_under_real_threads() {
    let (mesh, paths, streams) = mesh_with_streams().await;
    for raged in rage(&mesh, &paths) {
        raged.await.unwrap();
    }
    let mut latest = Vec::new();
    for path in paths.iter() {
        let read = read_node(&mesh, path, ReadOptions::default()).await.unwrap();
        let NodeRead::Present(node) = read else { panic!("{path}: {read:?}") };
        assert!(node.version > 1, "{path} was written");
        latest.push(node.version);
    }
    let converge = streams.into_iter().enumerate().map(async |(n, mut stream)| {
        while stream.next().await.unwrap().unwrap().version < latest[n % PATHS] {}
    });
    timeout(PEACE, join_all(converge)).await.expect("every stream has the latest version");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn everybody_is_told_of_a_deletion_under_real_threads() {
    let (mesh, paths, streams) = mesh_with_streams().await;
    let rage = rage(&mesh, &paths);
    sleep(RAGE / 2).await;
    for path in paths.iter() {
        assert!(mesh.delete(path).await.unwrap());
    }
    let told = streams.into_iter().map(async |mut stream| {
        loop {
            match stream.next().await {
                Some(Ok(_)) => {}
                Some(Err(verdict)) => return verdict.kind,
                None => panic!("a stream that ends without a word"),
            }
        }
    });
    let told = timeout(PEACE, join_all(told)).await.expect("every stream is told");
    assert!(told.iter().all(|kind| *kind == FailureKind::NotFound), "{told:?}");
    for raged in rage {
        raged.await.unwrap();
    }
}
