//! Classifiers made of classifiers.

use super::{Classify, Erased, Verdict};

/// Every fault is transient: for a watch that ends with its host and never on a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct AnyFault;

impl<E: ?Sized> Classify<E> for AnyFault {
    fn classify(&self, _: &E) -> Verdict {
        Verdict::Transient
    }
}

/// Transient if either of the two says so. Made by [`Compose::or`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Or<A, B>(A, B);

impl<E: ?Sized, A: Classify<E>, B: Classify<E>> Classify<E> for Or<A, B> {
    fn classify(&self, fault: &E) -> Verdict {
        match self.0.classify(fault) {
            Verdict::Transient => Verdict::Transient,
            Verdict::Terminal => self.1.classify(fault),
        }
    }
}

/// Transient if the first says so and the second does not. Made by [`Compose::unless`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Unless<A, B>(A, B);

impl<E: ?Sized, A: Classify<E>, B: Classify<E>> Classify<E> for Unless<A, B> {
    fn classify(&self, fault: &E) -> Verdict {
        match self.1.classify(fault) {
            Verdict::Transient => Verdict::Terminal,
            Verdict::Terminal => self.0.classify(fault),
        }
    }
}

/// Combines classifiers. Implemented for every type, so that no error type must be named to call it.
pub trait Compose: Sized {
    /// Transient if `self` or `other` says so.
    fn or<C>(self, other: C) -> Or<Self, C> {
        Or(self, other)
    }

    /// Transient if `self` says so, save where `exception` does too: "infrastructure, but not this one".
    fn unless<C>(self, exception: C) -> Unless<Self, C> {
        Unless(self, exception)
    }

    /// The same question about a boxed error (`Box<dyn Error + Send + Sync>`, `Arc<dyn Error>`, `anyhow::Error`): about
    /// whatever dereferences to an error object.
    fn erased(self) -> Erased<Self> {
        Erased(self)
    }
}

impl<C> Compose for C {}

#[cfg(test)]
mod tests {
    use super::*;

    fn even(n: &u32) -> Verdict {
        n.is_multiple_of(2).into()
    }

    fn big(n: &u32) -> Verdict {
        (*n > 10).into()
    }

    #[test]
    fn or_and_unless_read_as_they_say() {
        let either = even.or(big);
        assert_eq!([2, 3, 13].map(|n| either.classify(&n).is_transient()), [true, false, true]);
        let small_even = even.unless(big);
        assert_eq!([2, 3, 12].map(|n| small_even.classify(&n).is_transient()), [true, false, false]);
        assert!(AnyFault.classify("anything").is_transient());
    }
}
