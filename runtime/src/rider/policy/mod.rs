//! Policies that take the promise as information: each is one line around
//! [`is_promise`](crate::failure::FailureKind::is_promise), and none of them has to converge.
//!
//! ```
//! use std::time::Duration;
//! use rideout::failure::{DeliveryFailure, FailureKind};
//! use rideout::rider::policy::{AreaView, NegativeCache, area_view};
//!
//! let coming_back = DeliveryFailure::new(FailureKind::ShuttingDown, "Hub a is shutting down");
//! assert_eq!(area_view(&coming_back), AreaView::ComingBack);
//!
//! let mut cache = NegativeCache::default();
//! cache.failed(&"a".into(), &coming_back, Duration::ZERO);
//! assert!(cache.replay(&"a".into(), Duration::ZERO).is_none(), "a promise never poisons the cache");
//! ```

mod area;
mod installer;
mod negative_cache;

pub use self::area::{AreaStanding, AreaView, area_view, load_area, should_retry};
pub use self::installer::install_step;
pub use self::negative_cache::{NegativeCache, is_transient_owner_failure};
