//! Activations that end before they have started.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use rideout::activation::ActivationId;
use rideout::address::Address;
use rideout::failure::{DeliveryFailure, FailureKind};
use rideout::mesh::{GetNode, Mesh};
use tokio::time::sleep;

/// An activation that was not let in, such as one whose lease another one holds, has no life of its own to refuse in.
#[tokio::test(start_paused = true)]
async fn an_activation_that_was_not_let_in_refuses_in_the_name_of_the_one_that_is() {
    let holder = ActivationId::mint();
    let refusal = DeliveryFailure {
        kind: FailureKind::ShuttingDown,
        message: "the lease is held".into(),
        activation: Some(holder),
    };
    let mesh = Mesh::builder()
        .on_activate(Arc::new(move |_hub| Box::pin(std::future::ready(Err(refusal.clone())))))
        .build()
        .unwrap();
    let address = Address::new("a");
    mesh.put(&address, "content").await.unwrap();
    for _ in 0..50 {
        let asks = (0..5).map(|_| mesh.request(&address, GetNode));
        for answer in futures_util::future::join_all(asks).await {
            assert_eq!(answer.unwrap_err().token(), Some(holder));
        }
        tokio::task::yield_now().await;
    }
}

/// A hub that was torn down before it had started never answers as if it had: its next phase is no life.
#[tokio::test(start_paused = true)]
async fn a_hub_that_never_started_promises_in_every_phase() {
    let mesh = Mesh::builder()
        .on_activate(Arc::new(|_hub| {
            Box::pin(async {
                sleep(Duration::from_secs(1)).await;
                Ok(())
            })
        }))
        .build()
        .unwrap();
    let address = Address::new("a");
    mesh.put(&address, "content").await.unwrap();
    let (asks, to) = (mesh.clone(), address.clone());
    let waits = tokio::spawn(async move { asks.request(&to, GetNode).await });
    sleep(Duration::from_millis(1)).await;
    let hub = mesh.recycle(&address).unwrap();
    // Its first phase is in the mailbox already, and this is put right behind it.
    let mut behind = Box::pin(mesh.request(&address, GetNode));
    assert!((&mut behind).now_or_never().is_none());
    for answer in [waits.await.unwrap(), behind.await] {
        let failure = answer.unwrap_err();
        assert_eq!((failure.kind, failure.activation), (FailureKind::ShuttingDown, Some(hub.activation())));
    }
    assert_eq!(mesh.request(&address, GetNode).await.unwrap().version, 1);
}
