//! Abstract values of the walk, and the places that hold them.

use std::{collections::BTreeMap, rc::Rc};

use rideout_rules::model::Location;

use crate::{
    facts::FnId,
    flow::graph::{BodyId, Place},
};

/// The name of a value of which only some fields are known.
pub(super) const PARTLY: &str = "_";

/// The name of an error that is not tried again.
pub(super) const PERMANENT: &str = "permanent";

/// What is known of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Val {
    /// Anything; nothing to do with the fault.
    #[default]
    Unknown,
    Unit,
    Bool(bool),
    Int(String),
    /// The path of a constant, a unit variant or a function.
    Path(String),
    /// The payload of the fault's error.
    Fault,
    /// An item that says the fault: the variant's name.
    FaultItem(String),
    /// Made out of the fault, or made in its arm.
    Derived,
    /// True if the fault is the named transient one.
    Singles(String, bool),
    /// A variant or struct with its fields. `fault` marks an end that is the fault.
    Variant {
        name: String,
        fields: BTreeMap<String, Val>,
        fault: bool,
    },
    /// The watch at hand.
    Ours,
    /// The watch, opened anew.
    Fresh,
    /// A stream that is over.
    Ended,
    /// A stream that gives this and is over then.
    Raises(Box<Val>),
    /// A poll that never completes.
    Pending,
    /// A future that waits for some time.
    Sleep,
    /// A call of an async function that has not started.
    Future(FnId, Vec<Val>),
    /// A closure, `async` block or generator that has not run; the frame whose locals it shares.
    Body(FnId, BodyId, usize),
    /// A future that completes with this.
    Done(Box<Val>),
    /// A closure that returns this.
    Returns(Box<Val>),
    /// The handle of a task or thread that has ended with this.
    Handle(Box<Val>),
    /// The handle of a task or thread that runs this.
    Running(Box<Val>),
    /// A set of futures, one of which has completed with this.
    Set(Box<Val>),
    /// A panic on its way.
    Panic,
    /// A call of a function that is already running further out, and the call in the outermost frame that led there.
    Again(Location, FnId),
}

impl Val {
    /// A variant with at most one field.
    pub(super) fn variant(name: &str, inner: Option<Val>) -> Self {
        let fields = inner.into_iter().map(|value| ("0".to_owned(), value)).collect();
        Self::Variant { name: name.to_owned(), fields, fault: false }
    }

    /// `None` as the end of the watch.
    pub(super) fn end() -> Self {
        Self::Variant { name: "None".to_owned(), fields: BTreeMap::new(), fault: true }
    }

    /// What joining a task gives that has ended with this.
    pub(super) fn joined(ended: Val) -> Self {
        match ended {
            Self::Panic => Self::variant("Err", Some(Self::Fault)),
            value => Self::variant("Ok", Some(value)),
        }
    }

    pub(super) fn tuple(parts: Vec<Val>) -> Self {
        let fields = parts.into_iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect();
        Self::Variant { name: String::new(), fields, fault: false }
    }

    /// Whether the fault, or something made of it, is in it.
    pub(super) fn carries(&self) -> bool {
        match self {
            Self::Fault | Self::FaultItem(_) | Self::Derived | Self::Singles(..) | Self::Panic => true,
            Self::Variant { fields, fault, .. } => *fault || fields.values().any(Self::carries),
            Self::Done(inner)
            | Self::Returns(inner)
            | Self::Handle(inner)
            | Self::Set(inner)
            | Self::Raises(inner) => inner.carries(),
            _ => false,
        }
    }

    /// Whether one of these variants is in it.
    pub(super) fn says(&self, wanted: &[String]) -> bool {
        let is = |name: &str| wanted.iter().any(|wanted| wanted == name);
        match self {
            Self::Variant { name, fields, .. } => is(name) || fields.values().any(|value| value.says(wanted)),
            Self::Path(path) => is(path.rsplit("::").next().unwrap_or(path)),
            Self::Done(inner) => inner.says(wanted),
            _ => false,
        }
    }

    /// Whether the fault's own error or end is in it.
    pub(super) fn is_fault(&self) -> bool {
        match self {
            Self::Fault | Self::FaultItem(_) => true,
            Self::Variant { fields, fault, .. } => *fault || fields.values().any(Self::is_fault),
            Self::Done(inner)
            | Self::Returns(inner)
            | Self::Handle(inner)
            | Self::Set(inner)
            | Self::Raises(inner) => inner.is_fault(),
            _ => false,
        }
    }

    pub(super) fn is_variant(&self, wanted: &str) -> bool {
        matches!(self, Self::Variant { name, .. } if name == wanted)
    }

    /// What a future or a closure gives when it is done.
    pub(super) fn completed(&self) -> &Val {
        match self {
            Self::Done(inner) | Self::Returns(inner) => inner.completed(),
            other => other,
        }
    }

    /// What the only field of a variant is.
    pub(super) fn payload(&self) -> Val {
        match self {
            Self::Variant { fields, .. } => fields.get("0").cloned().unwrap_or_default(),
            other => other.clone(),
        }
    }

    /// The names and numbers in a value, outermost first.
    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Self::Path(path) => vec![path.rsplit("::").next().unwrap_or(path).to_owned()],
            Self::Int(digits) => vec![digits.clone()],
            Self::Variant { name, fields, .. } => {
                let inner = fields.values().flat_map(Self::names);
                std::iter::once(name.clone()).filter(|name| !name.is_empty()).chain(inner).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A field, as far as it is known.
    pub(super) fn field(&self, name: &str) -> Val {
        match self {
            Self::Variant { fields, .. } => fields.get(name).cloned().unwrap_or_default(),
            Self::FaultItem(_) | Self::Ours | Self::Fresh | Self::Handle(_) | Self::Running(_) => {
                self.clone()
            }
            Self::Fault | Self::Derived => Val::Derived,
            _ => Val::Unknown,
        }
    }

    /// Sets a field, however deep, of a value of which nothing else is known.
    fn put(&mut self, path: &[String], value: Val) {
        let Some((first, rest)) = path.split_first() else {
            *self = value;
            return;
        };
        if !matches!(self, Self::Variant { .. }) {
            *self = Self::Variant { name: PARTLY.to_owned(), fields: BTreeMap::new(), fault: false };
        }
        if let Self::Variant { fields, .. } = self {
            fields.entry(first.clone()).or_default().put(rest, value);
        }
    }

    /// The first handle of an ended task in it.
    pub(super) fn handle(&self) -> Option<&Val> {
        match self {
            Self::Handle(inner) | Self::Set(inner) => Some(inner),
            Self::Variant { fields, .. } => fields.values().find_map(Self::handle),
            Self::Done(inner) => inner.handle(),
            _ => None,
        }
    }

    /// Whether the handle of a task is in it, of one that has ended or of one that runs.
    pub(super) fn holds_task(&self) -> bool {
        match self {
            Self::Handle(_) | Self::Running(_) | Self::Set(_) => true,
            Self::Variant { fields, .. } => fields.values().any(Self::holds_task),
            Self::Done(inner) => inner.holds_task(),
            _ => false,
        }
    }

    /// Whether a closure or `async` block that shares these locals is in it.
    pub(super) fn captures(&self, env: usize) -> bool {
        match self {
            Self::Body(_, _, own) => *own == env,
            Self::Variant { fields, .. } => fields.values().any(|value| value.captures(env)),
            Self::Done(inner)
            | Self::Returns(inner)
            | Self::Handle(inner)
            | Self::Running(inner)
            | Self::Set(inner) => inner.captures(env),
            Self::Future(_, args) => args.iter().any(|value| value.captures(env)),
            _ => false,
        }
    }

    /// What was opened anew is the watch from now on.
    fn adopt(&mut self) {
        match self {
            Self::Fresh => *self = Self::Ours,
            Self::Variant { fields, .. } => fields.values_mut().for_each(Self::adopt),
            Self::Done(inner) | Self::Returns(inner) | Self::Handle(inner) => inner.adopt(),
            Self::Future(_, args) => args.iter_mut().for_each(Self::adopt),
            _ => {}
        }
    }

    /// Whether another value is in it.
    pub(super) fn holds(&self, wanted: &Val) -> bool {
        self == wanted
            || match self {
                Self::Variant { fields, .. } => fields.values().any(|value| value.holds(wanted)),
                Self::Done(inner) | Self::Returns(inner) | Self::Handle(inner) | Self::Set(inner) => {
                    inner.holds(wanted)
                }
                _ => false,
            }
    }
}

/// What the walk knows of a function's places. Cheap to copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Env(Rc<BTreeMap<Place, Val>>);

impl Env {
    pub(super) fn get(&self, place: &Place) -> Val {
        if let Some(value) = self.0.get(place) {
            return value.clone();
        }
        for length in (0..place.fields.len()).rev() {
            let prefix = Place { local: place.local, fields: place.fields[..length].to_vec() };
            if let Some(value) = self.0.get(&prefix) {
                return place.fields[length..].iter().fold(value.clone(), |value, field| value.field(field));
            }
        }
        self.gather(place)
    }

    /// What was opened anew is the watch from now on.
    pub(super) fn adopt(&mut self) {
        if self.0.values().any(|value| value.holds(&Val::Fresh)) {
            Rc::make_mut(&mut self.0).values_mut().for_each(Val::adopt);
        }
    }

    /// What is known of a place's fields, as one value.
    fn gather(&self, place: &Place) -> Val {
        let first = Place::local(place.local);
        let mut whole = Val::Unknown;
        for (known, value) in self.0.range(first..).take_while(|(known, _)| known.local == place.local) {
            if known.fields.len() > place.fields.len() && known.fields.starts_with(&place.fields) {
                whole.put(&known.fields[place.fields.len()..], value.clone());
            }
        }
        whole
    }

    pub(super) fn set(&mut self, place: &Place, value: Val) {
        let map = Rc::make_mut(&mut self.0);
        map.retain(|known, _| {
            !(known.local == place.local
                && known.fields.len() > place.fields.len()
                && known.fields.starts_with(&place.fields))
        });
        let nested = |length: usize| Place { local: place.local, fields: place.fields[..length].to_vec() };
        let has_outer = (0..place.fields.len()).any(|length| map.contains_key(&nested(length)));
        if matches!(value, Val::Unknown) && !has_outer {
            map.remove(place);
        } else {
            map.insert(place.clone(), value);
        }
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&Place, &Val)> {
        self.0.iter()
    }
}
