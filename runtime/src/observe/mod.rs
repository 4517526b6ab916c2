//! What happens to a watch, as spans and events (feature `tracing`) and as metrics (feature `metrics`).
//!
//! Each is one more observer of a policy, beside the one that keeps health; all are told the same, in the same order.
//!
//! ```
//! # #[cfg(all(feature = "tracing", feature = "metrics"))] {
//! use rideout::{classify::Infrastructure, observe::{Metered, Traced}, reopen::ReopenPolicy};
//! use rideout::schedule::ManualSchedule;
//!
//! let policy = ReopenPolicy::<u32, std::io::Error>::new(Infrastructure, ManualSchedule::firing())
//!     .observer(Traced::new("orders"))
//!     .observer(Metered::new("orders"));
//! # let _ = policy;
//! # }
//! ```
//!
//! | metric | kind | labels | says |
//! |---|---|---|---|
//! | `rideout_reopens_total` | counter | `watch` | re-opens that were decided on |
//! | `rideout_outage` | gauge | `watch` | 1 while the watch does not read, 0 while it does; stays 1 after its end |
//! | `rideout_give_ups_total` | counter | `watch`, `bound` | watches that ended on a fault and ride-outs that were given up, by the bound that was hit |

#[cfg(feature = "metrics")]
mod metered;
#[cfg(feature = "tracing")]
mod traced;

#[cfg(feature = "metrics")]
pub use metered::{Metered, count_give_up};
#[cfg(feature = "tracing")]
pub use traced::Traced;
