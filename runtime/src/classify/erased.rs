//! Classifying an error whose type is forgotten.

use std::{error::Error, ops::Deref};

use super::{Classify, Verdict};

/// A classifier of error objects, asked about a pointer to one. Made by [`Compose::erased`](super::Compose::erased).
///
/// ```
/// use std::{error::Error, io};
/// use rideout::classify::{Classify, Compose, Infrastructure};
///
/// let boxed: Box<dyn Error + Send + Sync> = io::Error::from(io::ErrorKind::ConnectionReset).into();
/// assert!(Infrastructure.erased().classify(&boxed).is_transient());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Erased<C>(pub(super) C);

/// An error object: `dyn Error`, with or without `Send` and `Sync`.
pub trait ErrorObject {
    /// The plain object.
    fn as_error(&self) -> &(dyn Error + 'static);
}

impl ErrorObject for dyn Error {
    fn as_error(&self) -> &(dyn Error + 'static) {
        self
    }
}

impl ErrorObject for dyn Error + Send {
    fn as_error(&self) -> &(dyn Error + 'static) {
        self
    }
}

impl ErrorObject for dyn Error + Send + Sync {
    fn as_error(&self) -> &(dyn Error + 'static) {
        self
    }
}

impl<C, E> Classify<E> for Erased<C>
where
    C: Classify<dyn Error>,
    E: Deref<Target: ErrorObject>,
{
    fn classify(&self, fault: &E) -> Verdict {
        self.0.classify(fault.deref().as_error())
    }
}
