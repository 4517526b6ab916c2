//! A fault that says by type what it is, for those who mint one and for those who carry one over a wire.

use std::{borrow::Cow, error::Error, fmt};

use crate::failure::{DeliveryFailure, HubDisposing};

/// What an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Nature {
    /// "I am going away and may come back": the address may answer again. Never a verdict.
    Promise,
    /// A statement about the target: it is absent, it is not yours, the work broke.
    Verdict,
    /// Something that was to answer is out of reach, and nothing was said about the target.
    Unavailable,
    /// Nobody answered before the bound of whoever waited.
    NoAnswerInTime,
    /// Text from beyond a boundary that an error object does not survive: only the text tells.
    Flattened,
}

/// An error whose [`Nature`] is data.
///
/// A transport puts one into the source chain of its own error, and all three questions of this module are answered from the
/// type; the text is never read, save for [`Nature::Flattened`].
#[derive(Debug)]
pub struct TypedFault {
    nature: Nature,
    message: Cow<'static, str>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl TypedFault {
    /// A fault of this nature.
    #[must_use]
    pub fn new(nature: Nature, message: impl Into<Cow<'static, str>>) -> Self {
        Self { nature, message: message.into(), source: None }
    }

    /// [`Nature::Promise`].
    #[must_use]
    pub fn promise(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Nature::Promise, message)
    }

    /// [`Nature::Verdict`].
    #[must_use]
    pub fn verdict(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Nature::Verdict, message)
    }

    /// [`Nature::Unavailable`].
    #[must_use]
    pub fn unavailable(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Nature::Unavailable, message)
    }

    /// [`Nature::NoAnswerInTime`].
    #[must_use]
    pub fn no_answer(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Nature::NoAnswerInTime, message)
    }

    /// [`Nature::Flattened`].
    #[must_use]
    pub fn flattened(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Nature::Flattened, message)
    }

    /// The same fault with its cause.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What the fault is.
    #[must_use]
    pub fn nature(&self) -> Nature {
        self.nature
    }
}

impl fmt::Display for TypedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for TypedFault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| {
            let source: &(dyn Error + 'static) = source;
            source
        })
    }
}

/// What `node` itself, without its causes, says by type that it is.
///
/// A type of this crate that carries a nature of its own gets its arm here, and all three questions know it.
pub(super) fn nature_of(node: &(dyn Error + 'static)) -> Option<Nature> {
    if let Some(fault) = node.downcast_ref::<TypedFault>() {
        return Some(fault.nature);
    }
    if let Some(failure) = node.downcast_ref::<DeliveryFailure>() {
        return Some(failure.nature());
    }
    if node.is::<HubDisposing>() {
        return Some(Nature::Promise);
    }
    let stalled = node.is::<crate::reopen::Stalled>() || node.is::<crate::fan_in::QueryProviderStalled>();
    stalled.then_some(Nature::Unavailable)
}
