//! What the catalog's format cannot rule out: tables that contradict themselves or mean nothing.

use super::{Reopen, Shape, Source, Value, Word};
use crate::model::ShowsAs;

/// What is wrong with a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// One sentence without a final dot.
    pub sentence: String,
    /// The value that is wrong, as it is written.
    pub value: Option<String>,
}

impl Mistake {
    /// One that concerns a whole table.
    pub(super) fn table(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), value: None }
    }
}

impl Source {
    /// Its types without their arguments.
    pub fn type_names(&self) -> impl Iterator<Item = &str> {
        self.types.iter().map(|ty| ty.split_once('<').map_or(ty.as_str(), |(name, _)| name))
    }

    /// Looks for contradictions.
    ///
    /// # Errors
    ///
    /// The first one.
    pub fn check(&self) -> Result<(), Mistake> {
        let id = &self.id;
        for fault in self.faults.iter().chain(self.whens.iter().flat_map(|when| &when.faults)) {
            if (fault.shows_as == ShowsAs::Variant) != fault.variant.is_some() {
                return Err(Mistake {
                    sentence: format!("source `{id}`: `variant` goes with `shows-as = \"variant\"`"),
                    value: Some(fault.shows_as.name().to_owned()),
                });
            }
        }
        if self.open.is_empty() && self.types.is_empty() && self.items.is_empty() && self.fed.is_empty() {
            return Err(Mistake::table(format!("source `{id}` has no `open`, `types`, `items` or `fed`")));
        }
        if let Some(ty) = self.types.iter().find(|ty| ty.contains('<') && Shape::parse(ty).is_err()) {
            return Err(Mistake {
                sentence: format!("source `{id}`: cannot read the type `{ty}`"),
                value: Some(ty.clone()),
            });
        }
        if self.item.is_none() && self.polls.is_empty() {
            return Err(Mistake::table(format!("source `{id}` has neither `item` nor `polls`")));
        }
        for opener in &self.open {
            if opener.function.is_none() && opener.method.is_none() {
                return Err(Mistake::table(format!(
                    "source `{id}`: an opener has neither `fn` nor `method`"
                )));
            }
            if let Some(method) = opener.method.as_ref().filter(|_| opener.on.is_empty() && !opener.telling) {
                return Err(Mistake {
                    sentence: format!(
                        "source `{id}`: the method `{method}` has no types in `on`, and is not `telling`"
                    ),
                    value: Some(method.clone()),
                });
            }
        }
        Ok(())
    }

    /// Every path of an item in the table.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let open = self.open.iter().flat_map(|opener| opener.function.iter().chain(&opener.on));
        open.chain(&self.types).chain(&self.items).map(String::as_str)
    }
}

impl Value {
    /// Looks for contradictions.
    ///
    /// # Errors
    ///
    /// The first one.
    pub fn check(&self) -> Result<(), Mistake> {
        if self.function.is_none() && self.method.is_none() {
            return Err(Mistake::table("a value has neither `fn` nor `method`"));
        }
        Ok(())
    }

    /// Every path of an item in the table.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.function.iter().chain(&self.on).map(String::as_str)
    }
}

impl Word {
    /// Every path of an item in the table.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.fns.iter().chain(&self.on).chain(&self.types).map(String::as_str)
    }
}

impl Reopen {
    /// Looks for contradictions.
    ///
    /// # Errors
    ///
    /// The first one.
    pub fn check(&self) -> Result<(), Mistake> {
        if self.function.is_none() && self.method.is_none() {
            return Err(Mistake::table("a helper has neither `fn` nor `method`"));
        }
        Ok(())
    }

    /// Every path of an item in the table.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.function.iter().map(String::as_str)
    }
}
