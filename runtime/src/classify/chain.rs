//! Walking an error: its causes, its branches, and never for ever.

use std::{error::Error, fmt, sync::Arc};

/// The most nodes of one error that are looked at. An error that is its own cause costs this much and no more.
pub const MAX_NODES: usize = 256;

/// Several faults that ended one operation together.
///
/// It is transient only if every branch is: one verdict among them stays a verdict.
#[derive(Debug)]
pub struct Aggregate {
    branches: Vec<Box<dyn Error + Send + Sync>>,
}

impl Aggregate {
    /// The faults that ended the operation.
    #[must_use]
    pub fn new(branches: Vec<Box<dyn Error + Send + Sync>>) -> Self {
        Self { branches }
    }

    /// The branches, in order.
    pub fn branches(&self) -> impl Iterator<Item = &(dyn Error + 'static)> {
        self.branches.iter().map(|branch| {
            let branch: &(dyn Error + 'static) = &**branch;
            branch
        })
    }
}

impl fmt::Display for Aggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} faults at once", self.branches.len())?;
        for (n, branch) in self.branches.iter().enumerate() {
            write!(f, "{} {branch}", if n == 0 { ":" } else { ";" })?;
        }
        Ok(())
    }
}

impl Error for Aggregate {}

/// What stands below an error.
pub(super) enum Below<'a> {
    Nothing,
    Cause(&'a (dyn Error + 'static)),
    Branches(&'a Aggregate),
}

/// What stands below `node`. Unlike [`Error::source`], it does not skip the error that an [`std::io::Error`] wraps.
pub(super) fn below<'a>(node: &'a (dyn Error + 'static)) -> Below<'a> {
    if let Some(aggregate) = node.downcast_ref::<Aggregate>() {
        return Below::Branches(aggregate);
    }
    if let Some(io) = node.downcast_ref::<std::io::Error>() {
        return match io.get_ref() {
            Some(inner) => Below::Cause(inner),
            None => Below::Nothing,
        };
    }
    // An `Arc` passes `source` on to what it holds, and so hides the error itself.
    if let Some(shared) = node.downcast_ref::<Arc<std::io::Error>>() {
        return Below::Cause(&**shared);
    }
    if let Some(shared) = node.downcast_ref::<Arc<dyn Error + Send + Sync>>() {
        return Below::Cause(&**shared);
    }
    node.source().map_or(Below::Nothing, Below::Cause)
}

/// Whether `f` holds for `fault` or for any error below it, in any branch of an aggregate. Looks at [`MAX_NODES`] at most.
///
/// ```
/// use std::{fmt::Error as NotThis, io};
/// use rideout::classify::any_in_chain;
///
/// let fault = io::Error::other(io::Error::from(io::ErrorKind::BrokenPipe));
/// let broken_pipe = |node: &(dyn std::error::Error + 'static)| {
///     node.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe)
/// };
/// assert!(any_in_chain(&fault, broken_pipe));
/// assert!(!any_in_chain(&fault, |node| node.is::<NotThis>()));
/// ```
pub fn any_in_chain(
    fault: &(dyn Error + 'static),
    mut f: impl FnMut(&(dyn Error + 'static)) -> bool,
) -> bool {
    any_until(fault, &mut MAX_NODES.clone(), &mut |node| f(node).then_some(true)).unwrap_or(false)
}

/// The first answer of `ask` that is `true`, over `fault` and all below it. An answer of `false` closes the branch it was given in.
pub(super) fn any_until(
    fault: &(dyn Error + 'static),
    left: &mut usize,
    ask: &mut dyn FnMut(&(dyn Error + 'static)) -> Option<bool>,
) -> Option<bool> {
    let mut node = fault;
    loop {
        *left = left.checked_sub(1)?;
        if let Some(answer) = ask(node) {
            return Some(answer);
        }
        match below(node) {
            Below::Nothing => return None,
            Below::Cause(cause) => node = cause,
            Below::Branches(aggregate) => {
                let mut answers = aggregate.branches().map(|branch| any_until(branch, left, ask));
                return answers.find(|answer| *answer == Some(true)).flatten();
            }
        }
    }
}
