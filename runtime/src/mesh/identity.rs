//! Who a hub is, and how far its life has gone: what outlives the hub itself.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use crate::activation::ActivationId;
use crate::address::Address;
use crate::failure::HubDisposing;
use crate::nack::ShutdownNack;
use crate::run_level::RunLevel;

/// Shared by a hub and the answers that it owes.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) address: Address,
    pub(crate) activation: ActivationId,
    level: AtomicU8,
    disposing: AtomicBool,
    going_away: AtomicBool,
}

impl Identity {
    pub(crate) fn new(address: Address, activation: ActivationId) -> Self {
        let level = AtomicU8::new(RunLevel::Starting as u8);
        Self {
            address,
            activation,
            level,
            disposing: AtomicBool::new(false),
            going_away: AtomicBool::new(false),
        }
    }

    pub(crate) fn level(&self) -> RunLevel {
        RunLevel::from_u8(self.level.load(Ordering::Acquire))
    }

    /// Goes up to `level`. `false` when it was there, or past it: a repeated phase is ignored by this.
    pub(crate) fn raise(&self, level: RunLevel) -> bool {
        self.level.fetch_max(level as u8, Ordering::AcqRel) < level as u8
    }

    /// `true` exactly once, for the caller that begins the teardown.
    pub(crate) fn begin_disposing(&self) -> bool {
        !self.disposing.swap(true, Ordering::AcqRel)
    }

    /// Whether its teardown, or an ancestor's, has begun.
    pub(crate) fn is_going_away(&self) -> bool {
        self.going_away.load(Ordering::Acquire)
    }

    pub(crate) fn mark_going_away(&self) {
        self.going_away.store(true, Ordering::Release);
    }

    pub(crate) fn nack<'a>(&'a self, what: &'a str) -> ShutdownNack<'a> {
        ShutdownNack { address: &self.address, run_level: self.level(), activation: self.activation, what }
    }

    pub(crate) fn disposing_error(&self) -> HubDisposing {
        HubDisposing { host: self.address.clone(), activation: self.activation }
    }
}
