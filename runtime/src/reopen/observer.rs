//! Who is told what happens to a watch.

use super::{Interruption, Opening, Terminal};

/// Told of each turn in the life of a watch, synchronously and before the watch acts on it.
///
/// Every method does nothing by default. None may block.
pub trait ReopenObserver<E>: Send {
    /// The source is open. No item has come yet: whether it reads is not known.
    fn opened(&mut self, opening: Opening) {
        let _ = opening;
    }

    /// The first emission of an opening that proves life; `after` faults in a row came before it.
    fn reading(&mut self, after: u32) {
        let _ = after;
    }

    /// A transient fault; the old upstream is gone and the wait has not begun.
    fn interrupted(&mut self, fault: &E, interruption: Interruption) {
        let _ = (fault, interruption);
    }

    /// The watch is over on a fault. Nothing follows.
    fn terminal(&mut self, fault: &E, why: Terminal) {
        let _ = (fault, why);
    }

    /// The source ended without a fault and the watch with it. Nothing follows.
    fn ended(&mut self) {}
}

impl<E, O: ReopenObserver<E> + ?Sized> ReopenObserver<E> for Box<O> {
    fn opened(&mut self, opening: Opening) {
        (**self).opened(opening);
    }

    fn reading(&mut self, after: u32) {
        (**self).reading(after);
    }

    fn interrupted(&mut self, fault: &E, interruption: Interruption) {
        (**self).interrupted(fault, interruption);
    }

    fn terminal(&mut self, fault: &E, why: Terminal) {
        (**self).terminal(fault, why);
    }

    fn ended(&mut self) {
        (**self).ended();
    }
}
