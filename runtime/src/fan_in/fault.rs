//! The two ways in which a fan-in ends early.

use std::{
    error::Error,
    fmt::{self, Display},
    sync::Arc,
    time::Duration,
};

/// One or more providers gave neither an Initial nor an end nor a fault within the budget.
///
/// An availability failure, never a verdict: nothing is known about what the silent providers hold. It is deliberately
/// no timeout type, so that an arm which means "my own bound elapsed" cannot claim it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryProviderStalled {
    /// Who was silent, in the order in which the providers were given. Never empty.
    pub providers: Vec<Arc<str>>,
    /// How long the fan-in waited.
    pub budget: Duration,
}

impl Display for QueryProviderStalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.providers.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let provider = if self.providers.len() == 1 { "provider" } else { "providers" };
        write!(
            f,
            "query {provider} {names} gave no first answer within {:?}; unavailable, which says nothing about what exists",
            self.budget
        )
    }
}

impl Error for QueryProviderStalled {}

/// Why a [`FanIn`](super::FanIn) ended before its providers did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FanInFault<E> {
    /// The Initial could not be had within the budget.
    Stalled(QueryProviderStalled),
    /// A provider faulted.
    Provider {
        /// Which one.
        provider: Arc<str>,
        /// Its fault, unchanged; also the `source`, so that a classifier finds it.
        fault: E,
    },
}

impl<E: Display> Display for FanInFault<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stalled(stalled) => stalled.fmt(f),
            Self::Provider { provider, fault } => write!(f, "query provider `{provider}`: {fault}"),
        }
    }
}

impl<E: Error + 'static> Error for FanInFault<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Stalled(stalled) => Some(stalled),
            Self::Provider { fault, .. } => Some(fault),
        }
    }
}
