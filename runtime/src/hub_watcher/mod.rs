//! The watcher that never gives up and ends with its host.

mod host;

pub use host::WatchHost;
