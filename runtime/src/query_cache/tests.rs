//! Who shares a chain, who gets a fresh one, and when an upstream is let go of.

use std::{
    io,
    sync::atomic::{AtomicUsize, Ordering},
    task::{Context, Wake, Waker},
};

use futures_util::{FutureExt, StreamExt, stream};
use tokio::sync::mpsc;

use super::*;

type Answer = Result<u32, io::Error>;

/// An upstream that a test feeds, and a count of how often one was opened.
#[derive(Default)]
struct Opens(AtomicUsize);

impl Opens {
    fn upstream(
        self: &Arc<Self>,
    ) -> (mpsc::UnboundedSender<Answer>, impl FnOnce() -> UpstreamOf + Send + 'static) {
        let (send, receive) = mpsc::unbounded_channel();
        let opens = Arc::clone(self);
        (send, move || {
            opens.0.fetch_add(1, Ordering::SeqCst);
            let items = stream::unfold(receive, async |mut receive| Some((receive.recv().await?, receive)));
            items.boxed()
        })
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

type UpstreamOf = std::pin::Pin<Box<dyn Stream<Item = Answer> + Send>>;

fn reset() -> io::Error {
    io::Error::from(io::ErrorKind::ConnectionReset)
}

async fn next(query: &mut CachedQuery<u32, io::Error>) -> Option<Result<u32, String>> {
    query.next().await.map(|item| item.map(|reading| *reading).map_err(|fault| fault.to_string()))
}

async fn settle() {
    for _ in 0..8 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn readers_of_one_key_share_one_upstream() {
    let (cache, opens) = (QueryCache::new(), Arc::new(Opens::default()));
    let (send, open) = opens.upstream();
    let mut first = cache.get("k", open);
    send.send(Ok(1)).unwrap();
    assert_eq!(next(&mut first).await, Some(Ok(1)));
    let mut second = cache.get("k", opens.upstream().1);
    assert_eq!(next(&mut second).await, Some(Ok(1)), "the newest reading is replayed");
    send.send(Ok(2)).unwrap();
    assert_eq!((next(&mut first).await, next(&mut second).await), (Some(Ok(2)), Some(Ok(2))));
    assert_eq!((opens.count(), cache.len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_gets_the_newest_reading_and_then_the_fault() {
    let (cache, opens) = (QueryCache::new(), Arc::new(Opens::default()));
    let (send, open) = opens.upstream();
    let mut slow = cache.get("k", open);
    for n in 1..=3 {
        send.send(Ok(n)).unwrap();
    }
    send.send(Err(reset())).unwrap();
    settle().await;
    assert_eq!(next(&mut slow).await, Some(Ok(3)));
    assert_eq!(next(&mut slow).await, Some(Err("connection reset".into())));
    assert_eq!(next(&mut slow).await, None);
}

#[tokio::test(start_paused = true)]
async fn the_next_caller_after_a_fault_gets_a_fresh_upstream() {
    let (cache, opens) = (QueryCache::new(), Arc::new(Opens::default()));
    let (send, open) = opens.upstream();
    let mut reader = cache.get("k", open);
    send.send(Err(reset())).unwrap();
    assert!(next(&mut reader).await.unwrap().is_err());
    // Asked at the very moment at which the fault is heard.
    let (send, open) = opens.upstream();
    let mut again = cache.get("k", open);
    send.send(Ok(7)).unwrap();
    assert_eq!(next(&mut again).await, Some(Ok(7)));
    assert_eq!(opens.count(), 2);
}

/// Looks into the cache at the moment at which its reader is woken.
struct LooksWhenWoken {
    cache: QueryCache<&'static str, u32, io::Error>,
    chains: Mutex<Vec<usize>>,
}

impl Wake for LooksWhenWoken {
    fn wake(self: Arc<Self>) {
        self.chains.lock().unwrap().push(self.cache.len());
    }
}

#[tokio::test(start_paused = true)]
async fn a_faulted_chain_is_out_of_the_cache_before_its_readers_are_woken() {
    let (cache, opens) = (QueryCache::new(), Arc::new(Opens::default()));
    let (send, open) = opens.upstream();
    let mut reader = cache.get("k", open);
    let looks = Arc::new(LooksWhenWoken { cache: cache.clone(), chains: Mutex::default() });
    let waker = Waker::from(Arc::clone(&looks));
    assert!(reader.poll_next_unpin(&mut Context::from_waker(&waker)).is_pending());
    send.send(Err(reset())).unwrap();
    settle().await;
    assert_eq!(*looks.chains.lock().unwrap(), [0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn under_load_nobody_who_asks_again_after_a_fault_gets_the_faulted_chain() {
    let cache = QueryCache::<_, usize, io::Error>::new();
    let opened = Arc::new(AtomicUsize::new(0));
    let readers = (0..8).map(|_| {
        let (cache, opened) = (cache.clone(), Arc::clone(&opened));
        tokio::spawn(async move {
            let mut last = 0;
            for _ in 0..200 {
                let opened = Arc::clone(&opened);
                let mut query = cache.get("k", move || {
                    let instance = opened.fetch_add(1, Ordering::SeqCst) + 1;
                    stream::iter([Ok(instance), Err(reset())])
                });
                let instance = *query.next().await.unwrap().unwrap();
                assert!(instance > last, "instance {instance} after {last}");
                assert!(query.next().await.unwrap().is_err());
                last = instance;
            }
        })
    });
    for reader in readers.collect::<Vec<_>>() {
        reader.await.unwrap();
    }
    assert!(cache.is_empty());
}

/// The unfixed shape: the fault is published while the chain is still in the cache, so who asks again gets it replayed.
#[tokio::test(start_paused = true)]
async fn control_a_fault_published_before_the_eviction_is_replayed_to_who_asks_again() {
    let (cache, opens) = (QueryCache::new(), Arc::new(Opens::default()));
    let mut reader = cache.get("k", opens.upstream().1);
    let chain = Arc::clone(cache.shared.chains().get("k").unwrap());
    chain.fault(QueryFault::Upstream(Arc::new(reset())));
    assert!(next(&mut reader).await.unwrap().is_err());
    let mut again = cache.get("k", opens.upstream().1);
    assert!(next(&mut again).await.unwrap().is_err(), "the latched fault");
    cache.shared.evict(&"k", &chain);
}

#[tokio::test(start_paused = true)]
async fn only_the_faulted_chain_is_evicted_and_not_its_successor() {
    let cache = QueryCache::keep_if(|n: &u32| *n != 0);
    let opens = Arc::new(Opens::default());
    let (old_send, open) = opens.upstream();
    let mut old = cache.get("k", open);
    // A reading that is not kept: shown to its reader, and the chain leaves the cache.
    old_send.send(Ok(0)).unwrap();
    assert_eq!(next(&mut old).await, Some(Ok(0)));
    assert!(cache.is_empty());
    let (new_send, open) = opens.upstream();
    let mut new = cache.get("k", open);
    old_send.send(Err(reset())).unwrap();
    assert!(next(&mut old).await.unwrap().is_err());
    assert_eq!(cache.len(), 1, "the successor stays");
    new_send.send(Ok(5)).unwrap();
    assert_eq!(next(&mut new).await, Some(Ok(5)));
}

/// The unfixed shape: evicting by key alone takes the successor out with the late fault of its predecessor.
#[tokio::test(start_paused = true)]
async fn control_evicting_by_key_takes_the_successor_out() {
    let cache: QueryCache<_, u32, io::Error> = QueryCache::new();
    let opens = Arc::new(Opens::default());
    let old = cache.get("k", opens.upstream().1);
    let faulted = cache.shared.chains().remove("k").unwrap();
    let _new = cache.get("k", opens.upstream().1);
    cache.shared.evict(&"k", &faulted);
    assert_eq!(cache.len(), 1, "pair-exact");
    cache.shared.chains().remove("k");
    assert_eq!(cache.len(), 0, "by key");
    drop(old);
}

#[tokio::test(start_paused = true)]
async fn a_chain_that_nobody_reads_is_closed_after_its_linger() {
    let cache = QueryCache::new().linger(Duration::from_secs(10));
    let opens = Arc::new(Opens::default());
    let (send, open) = opens.upstream();
    drop(cache.get("k", open));
    settle().await;
    tokio::time::advance(Duration::from_secs(9)).await;
    send.send(Ok(1)).unwrap();
    settle().await;
    let mut late = cache.get("k", opens.upstream().1);
    assert_eq!(next(&mut late).await, Some(Ok(1)), "read again before it was over");
    tokio::time::advance(Duration::from_secs(100)).await;
    settle().await;
    assert_eq!(cache.len(), 1, "it has a reader");
    drop(late);
    settle().await;
    tokio::time::advance(Duration::from_secs(11)).await;
    settle().await;
    assert!(cache.is_empty());
    assert!(send.is_closed(), "the upstream was dropped");
    assert_eq!(opens.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_is_dropped_lets_its_unread_upstreams_go() {
    let (cache, opens) = (QueryCache::new(), Arc::new(Opens::default()));
    let (send, open) = opens.upstream();
    let reader = cache.get("k", open);
    settle().await;
    drop(cache);
    settle().await;
    assert!(!send.is_closed(), "it is read");
    drop(reader);
    settle().await;
    assert!(send.is_closed());
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_opening_is_told_and_leaves_no_entry() {
    let cache: QueryCache<_, u32, io::Error> = QueryCache::new();
    let mut reader = cache.get("k", || -> UpstreamOf { panic!("while opening") });
    assert!(matches!(reader.next().await, Some(Err(QueryFault::Lost))));
    assert!(cache.is_empty());
}

#[test]
fn outside_a_runtime_the_query_is_lost_and_leaves_no_entry() {
    let cache: QueryCache<_, u32, io::Error> = QueryCache::new();
    let mut reader = cache.get("k", || stream::pending().boxed());
    assert!(matches!(reader.next().now_or_never(), Some(Some(Err(QueryFault::Lost)))));
    assert!(cache.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_completed_chain_delivers_its_last_reading_and_leaves() {
    let cache = QueryCache::new();
    let mut reader = cache.get("k", || stream::iter([Ok::<_, io::Error>(1), Ok(2)]));
    settle().await;
    assert_eq!((next(&mut reader).await, next(&mut reader).await), (Some(Ok(2)), None));
    assert!(cache.is_empty());
    assert!(reader.next().now_or_never().flatten().is_none());
}

#[tokio::test(start_paused = true)]
async fn opening_may_ask_the_cache_itself() {
    let cache: QueryCache<_, u32, io::Error> = QueryCache::new();
    let inner = cache.clone();
    let mut outer = cache.get("outer", move || {
        let nested = inner.get("nested", || stream::iter([Ok(4)]).chain(stream::pending()));
        nested.map(|item| item.map(|n| *n + 1).map_err(|_| reset()))
    });
    assert_eq!(next(&mut outer).await, Some(Ok(5)));
    assert_eq!(cache.len(), 2);
}
