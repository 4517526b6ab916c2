//! The reference mesh and its riders.

mod change_feed;
mod chaos;
mod disposal;
mod example;
mod hub_watcher;
mod logs;
mod models;
#[cfg(feature = "nats")]
mod nats;
mod point_read;
mod random;
mod ride_out;
mod starting;
mod subscribe_during_recycle;
mod threads;
mod transcripts;
mod transports;
mod unfixed;
mod verdicts;
