//! The same mesh under real threads and the real clock: recycles, writes and reads from all sides at once, and then peace.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::join_all;
use rideout::address::Address;
use rideout::mesh::{GetNode, Mesh, WriteNode};
use rideout::rider::{NodeRead, ReadOptions, SyncStream, SyncStreamOptions, read_node};
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
                assert!(failure.kind.is_promise(), "nothing but a recycle happens here: {failure}");
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
        assert!(matches!(read, Ok(NodeRead::Present(_))), "{read:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn everybody_converges_under_real_threads() {
    let mesh = Mesh::builder().build().unwrap();
    let paths: Arc<[Address]> = (0..PATHS).map(|n| Address::new(format!("Node/{n}"))).collect();
    for path in paths.iter() {
        mesh.put(path, "content").await.unwrap();
    }
    let streams: Vec<SyncStream> = (0..PATHS * 10)
        .map(|n| SyncStream::open(Arc::new(mesh.clone()), &paths[n % PATHS], SyncStreamOptions::default()))
        .collect();
    let all = |n: usize| (mesh.clone(), Arc::clone(&paths), n);
    let mut rage = Vec::new();
    for n in 0..2 {
        let (mesh, paths, n) = all(n);
        rage.push(tokio::spawn(recycle_for_ever(mesh, paths, n)));
        let (mesh, paths, n) = all(n);
        rage.push(tokio::spawn(write_for_ever(mesh, paths, n)));
        let (mesh, paths, n) = all(n);
        rage.push(tokio::spawn(read_for_ever(mesh, paths, n)));
    }
    for raged in rage {
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
    mesh.request(&paths[0], GetNode).await.unwrap();
}
