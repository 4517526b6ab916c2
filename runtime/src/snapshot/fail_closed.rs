//! Stops trusting a snapshot when the watch that feeds it is interrupted.

use std::{error::Error, fmt, sync::Arc};

use super::SnapshotCell;
use crate::{
    health::fault_line,
    reopen::{Interruption, ReopenObserver, Terminal},
};

/// An observer that closes a [`SnapshotCell`] on every fault and end of a watch. The watch's consumer opens it again with
/// the next reading, by [`publish`](SnapshotCell::publish).
#[must_use = "give it to the policy of the watch"]
pub struct FailClosed<T> {
    cell: Arc<SnapshotCell<T>>,
    over: bool,
}

impl<T> FailClosed<T> {
    /// Closes this cell.
    pub fn new(cell: Arc<SnapshotCell<T>>) -> Self {
        Self { cell, over: false }
    }
}

impl<T: Send + Sync, E: Error + 'static> ReopenObserver<E> for FailClosed<T> {
    fn interrupted(&mut self, fault: &E, _: Interruption) {
        self.cell.fail_closed(fault_line(fault));
    }

    fn terminal(&mut self, fault: &E, _: Terminal) {
        self.over = true;
        self.cell.fail_closed(fault_line(fault));
    }

    fn ended(&mut self) {
        self.over = true;
        self.cell.fail_closed("the feed ended");
    }
}

impl<T> Drop for FailClosed<T> {
    fn drop(&mut self) {
        if !self.over {
            self.cell.fail_closed("the feed is no longer watched");
        }
    }
}

impl<T> fmt::Debug for FailClosed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FailClosed").finish_non_exhaustive()
    }
}
