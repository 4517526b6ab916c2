//! The two riders: what must converge through an address that is shutting down.
//!
//! A [`SyncStream`] holds a subscription open; [`read_node`] reads once, within a budget. Everything else takes the
//! classification as information: see [`policy`].
//!
//! The rules for a rider, and where they live:
//! 1. A promise is never terminal: one rule for the first ask and for every re-ask, in the stream's `ask`.
//! 2. Never re-ask without a join: the [`Carrier`] waits on the activation that refused.
//! 3. A completed disposal is not an address that can answer: the same activation's next refusal is paid for in rests.
//! 4. Both axes are bounded, apart: [`RideOut`](crate::ride_out::RideOut).
//! 5. Giving up is said once, with the owner, the activation and the bound, and stays visible as a [`RideState`].
//!
//! ```
//! use std::sync::Arc;
//! use futures_util::StreamExt;
//! use rideout::mesh::{Mesh, WriteNode};
//! use rideout::rider::{SyncStream, SyncStreamOptions};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mesh = Mesh::builder().build()?;
//! let inst = "Tenant/Inst".into();
//! mesh.put(&inst, "first").await?;
//! let mut frames = SyncStream::open(Arc::new(mesh.clone()), &inst, SyncStreamOptions::default());
//! assert_eq!(frames.next().await.expect("a frame")?.content.as_ref(), "first");
//!
//! mesh.recycle(&inst).expect("it is active").disposal_completed().await;
//! mesh.put(&inst, "second").await?;
//! assert_eq!(frames.next().await.expect("a frame")?.content.as_ref(), "second");
//!
//! mesh.delete(&inst).await?;
//! assert!(frames.next().await.expect("the verdict").is_err(), "a reader of a deleted node is told");
//! assert!(frames.next().await.is_none());
//! # Ok(())
//! # }
//! ```

mod carrier;
mod in_flight;
mod point_read;
pub mod policy;
mod stream;
mod transport;

use crate::mesh::sync;

pub use self::carrier::{Carrier, ReArmDecision, Rejections, re_arm_carrier};
pub use self::in_flight::{InFlight, InFlightGuard};
pub use self::point_read::{AddressRecycling, NodeRead, ReadOptions, read_node};
pub use self::stream::{OnGiveUp, RideState, SyncStream, SyncStreamOptions};
pub use self::transport::Transport;
