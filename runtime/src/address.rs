//! Where a hub lives: a path, and below it the hubs that it hosts.
//!
//! ```
//! use rideout::address::Address;
//!
//! let node = Address::new("Tenant/Inst");
//! let child = node.hosted("sync/7");
//! assert_eq!(child.to_string(), "Tenant/Inst~sync/7");
//! assert_eq!(child.path(), "Tenant/Inst");
//! ```

use std::fmt;
use std::sync::Arc;

/// Parts a node's path from the name of a hub that the node hosts.
const HOSTED: char = '~';

/// The address of a hub.
///
/// The text before the first `~` is the *path*: it names a node. What follows names a hub hosted by that node's hub, at any
/// depth. An address outlives every activation at it. Use no white space in one: the text of a refusal is read by it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(Arc<str>);

impl Address {
    /// The address with this text.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The whole text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path of the node: the text before the first `~`.
    #[must_use]
    pub fn path(&self) -> &str {
        self.0.split(HOSTED).next().unwrap_or_default()
    }

    /// The address of the node itself.
    #[must_use]
    pub fn node(&self) -> Self {
        if self.0.contains(HOSTED) { Self::new(self.path()) } else { self.clone() }
    }

    /// The address of a hub hosted here.
    #[must_use]
    pub fn hosted(&self, name: &str) -> Self {
        Self::new(format!("{}{HOSTED}{name}", self.0))
    }

    /// The names of the hosted hubs on the way from the node to this address; empty for a node.
    pub fn hosted_names(&self) -> impl Iterator<Item = &str> {
        self.0.split(HOSTED).skip(1)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({})", self.0)
    }
}

impl From<&str> for Address {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_ends_at_the_first_hosted_name() {
        let deep = Address::new("a/b").hosted("c").hosted("d");
        assert_eq!(deep.path(), "a/b");
        assert_eq!(deep.node(), Address::new("a/b"));
        assert_eq!(deep.hosted_names().collect::<Vec<_>>(), ["c", "d"]);
        assert_eq!(Address::new("a/b").hosted_names().count(), 0);
    }
}
