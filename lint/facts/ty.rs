//! Types as far as they matter: which values are watches, and what leads to one.

use std::sync::Arc;

use super::program::FnId;
use crate::flow::graph::BodyId;

/// An inferred type. References, smart pointers and locks are as good as what they hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Ty {
    #[default]
    Unknown,
    /// A type of another crate, or of the language: `Result`, `Option`, `kube::Api`. Paths are canonical, joined by `::`.
    Named {
        path: Arc<str>,
        args: Vec<Ty>,
        calls: Calls,
    },
    /// A struct or enum of the workspace, by its index, with its arguments.
    Local(usize, Vec<Ty>),
    Tuple(Vec<Ty>),
    Watch(Arc<WatchTy>),
    /// A stream of unknown source.
    Stream,
    Future(Box<Ty>),
    /// Something that can be called and gives this.
    Callable(Box<Ty>),
    Function(FnId),
    /// A closure, `async` block or generator of a function.
    Body(FnId, BodyId),
    /// A value behind a trait of the workspace.
    Dyn(Arc<str>),
}

/// Names of the methods called on a value on its way, oldest first.
pub(crate) type Calls = Vec<Call>;

/// One call on a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// The first argument, if it is a literal or a path.
    pub(crate) argument: Option<String>,
    /// Its closure, if it is one of the function that holds the chain.
    pub(crate) closure: Option<(FnId, BodyId)>,
}

/// A value that is a catalog source.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WatchTy {
    /// Index into the program's sources.
    pub(crate) source: usize,
    /// What was called on it, and on its builder.
    pub(crate) calls: Calls,
    /// The kind of the channel whose receiver it is.
    pub(crate) channel: Option<usize>,
    /// Where it was opened: function and byte range.
    pub(crate) opener: Option<(FnId, u32, u32)>,
    /// Whether only a method's name tells.
    pub(crate) guessed: bool,
}

impl WatchTy {
    /// A watch of which only the type is known.
    pub(crate) fn told(source: usize) -> Self {
        Self { source, calls: Vec::new(), channel: None, opener: None, guessed: false }
    }
}

impl Ty {
    pub(crate) fn named(path: &str, args: Vec<Ty>) -> Self {
        Self::Named { path: path.into(), args, calls: Vec::new() }
    }

    pub(crate) fn result(ok: Ty) -> Self {
        Self::named("Result", vec![ok])
    }

    pub(crate) fn option(some: Ty) -> Self {
        Self::named("Option", vec![some])
    }

    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }

    /// What `?`, `unwrap` and the patterns `Ok(_)`, `Some(_)` give. Other types are lenient: they give themselves.
    pub(crate) fn inner(&self) -> Ty {
        match self {
            Self::Named { path, args, .. }
                if matches!(&**path, "Result" | "Option" | "Poll" | "Response") =>
            {
                args.first().cloned().unwrap_or_default()
            }
            other => other.clone(),
        }
    }

    /// What `.await` gives.
    pub(crate) fn awaited(&self) -> Ty {
        match self {
            Self::Future(inner) => (**inner).clone(),
            Self::Named { path, args, .. } if path.ends_with("JoinHandle") => {
                Self::result(args.first().cloned().unwrap_or_default())
            }
            other => other.clone(),
        }
    }

    /// The first watch in it.
    pub(crate) fn watch(&self) -> Option<&Arc<WatchTy>> {
        match self {
            Self::Watch(watch) => Some(watch),
            Self::Named { args, .. } | Self::Tuple(args) => args.iter().find_map(Self::watch),
            Self::Future(inner) | Self::Callable(inner) => inner.watch(),
            _ => None,
        }
    }

    /// Whether it holds the receiving end of a channel, whose sender may be anybody's.
    pub(crate) fn receives(&self) -> bool {
        match self {
            Self::Named { path, args, .. } => {
                path.ends_with("Receiver")
                    || path.ends_with("ReceiverStream")
                    || args.iter().any(Self::receives)
            }
            Self::Tuple(args) => args.iter().any(Self::receives),
            Self::Future(inner) => inner.receives(),
            _ => false,
        }
    }

    /// Whether it holds a stream whose source is not told by its type.
    pub(crate) fn opaque(&self) -> bool {
        match self {
            Self::Stream | Self::Unknown | Self::Dyn(_) => true,
            Self::Named { args, .. } | Self::Tuple(args) => args.iter().any(Self::opaque),
            Self::Future(inner) | Self::Callable(inner) => inner.opaque(),
            _ => false,
        }
    }
}
