//! What a fan-in delivers: the Initial of the union, then updates.

use std::sync::Arc;

/// One item of a [`FanIn`](super::FanIn).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame<T> {
    /// The first item: one part per provider.
    Initial(Union<T>),
    /// A later item of one provider.
    Update {
        /// Whose.
        provider: Arc<str>,
        /// What it emitted.
        item: T,
    },
}

/// One answer of all providers together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Union<T> {
    /// One part per provider, in the order in which they were given.
    pub parts: Vec<Part<T>>,
}

/// What one provider gave to a [`Union`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<T> {
    /// Who.
    pub provider: Arc<str>,
    /// Its answer, or `None` if it completed without one and was counted as empty.
    pub answer: Option<T>,
}

impl<T> Frame<T> {
    /// Whether nobody was counted as empty on this frame. An update is complete.
    ///
    /// A frame that is not complete is shown to who is reading now, and not kept for the next caller.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        match self {
            Self::Initial(initial) => initial.is_complete(),
            Self::Update { .. } => true,
        }
    }
}

impl<T> Union<T> {
    /// Whether every provider gave an item.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.silent().next().is_none()
    }

    /// Who completed without an item.
    pub fn silent(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter(|part| part.answer.is_none()).map(|part| &*part.provider)
    }

    /// The answers, without the names.
    pub fn into_answers(self) -> impl Iterator<Item = T> {
        self.parts.into_iter().filter_map(|part| part.answer)
    }
}
