//! The faults of one value of a source: the catalog's, as the calls that made the value change them.

use rideout_rules::{
    catalog::{FaultFact, Shape, Source, Then, When, Within},
    model::ShowsAs,
};

use super::{
    fill::mentions,
    made::{Found, Made},
};
use crate::facts::ty::Call;

/// What is known of a value that its source's facts may depend on.
pub(super) struct Evidence<'a> {
    /// The calls that made it.
    pub(super) chain: &'a [Call],
    pub(super) made: &'a Made,
    /// The files in which it is made and asked.
    pub(super) texts: Vec<&'a str>,
}

/// The faults that can reach the consumer. `None`: the value is no watch.
pub(super) fn faults(source: &Source, evidence: &Evidence<'_>) -> Option<Vec<FaultFact>> {
    let mut faults = source.faults.clone();
    for when in source.whens.iter().filter(|when| evidence.holds(when)) {
        match when.then {
            Then::Paced => faults.iter_mut().for_each(|fault| fault.paced = true),
            Then::Heals => faults.clear(),
            Then::Kept => faults.iter_mut().for_each(|fault| fault.restored_by.clear()),
            Then::Faults => faults.clone_from(&when.faults),
            Then::NotAWatch => return None,
        }
    }
    for fault in &mut faults {
        // Whoever never subscribes has no subscription to lose.
        let subscribes = |method: &String| evidence.written(&format!(".{method}("));
        if !fault.restored_by.iter().any(subscribes) {
            fault.restored_by.clear();
        }
    }
    Some(faults)
}

/// Whether what a poll gives has room for a fault.
pub(super) fn shows(fault: &FaultFact, gives: &Shape) -> bool {
    match fault.shows_as {
        ShowsAs::ErrorThenEnds | ShowsAs::ErrorLatched | ShowsAs::ErrorHeals | ShowsAs::CallError => {
            mentions(gives, "Result")
        }
        ShowsAs::Ends | ShowsAs::Variant | ShowsAs::Silent => true,
    }
}

/// A `None` that says that the connection was lost and is back.
pub(super) fn healing_none() -> FaultFact {
    FaultFact {
        shows_as: ShowsAs::Variant,
        text: "a lost connection that is being made again arrives as None, and the next call goes on"
            .to_owned(),
        paced: true,
        variant: Some("None".to_owned()),
        in_item: true,
        heals: true,
        transient: Vec::new(),
        others: Vec::new(),
        pattern: None,
        announced_by: None,
        healed_by: Vec::new(),
        restored_by: Vec::new(),
        restored_on: None,
    }
}

impl Evidence<'_> {
    fn holds(&self, when: &When) -> bool {
        let argument = when.argument.as_deref();
        let found = match when.within {
            Within::Chain => self.chain.iter().any(|call| {
                when.calls.contains(&call.name)
                    && argument.is_none_or(|wanted| call.argument.as_deref() == Some(wanted))
            }),
            Within::Value => match self.made.has(&when.calls, argument) {
                Found::Yes => true,
                Found::No => false,
                Found::Unseen => self.calls_written(&when.calls, argument),
                // What cannot be told is taken for the answer that finds nothing.
                Found::Perhaps => when.then != Then::Faults,
            },
            Within::File => self.calls_written(&when.calls, argument),
        };
        found && !self.prevented(when)
    }

    /// Whether a call that keeps a fact from holding is made.
    fn prevented(&self, when: &When) -> bool {
        let prevents = || when.unless.iter();
        let chained = || self.chain.iter().any(|call| prevents().any(|name| *name == call.name));
        match when.within {
            _ if when.unless.is_empty() => false,
            Within::Chain => chained(),
            Within::Value => match self.made.has(&when.unless, None) {
                Found::Unseen => self.calls_written(&when.unless, None),
                found => found == Found::Yes,
            },
            Within::File => self.calls_written(&when.unless, None),
        }
    }

    fn calls_written(&self, names: &[String], argument: Option<&str>) -> bool {
        names.iter().any(|name| match argument {
            Some(argument) => self.texts.iter().any(|text| {
                text.match_indices(&format!("{name}("))
                    .any(|(at, found)| text[at + found.len()..].trim_start().starts_with(argument))
            }),
            None => ["(", ":"].iter().any(|end| self.written(&format!("{name}{end}"))),
        })
    }

    fn written(&self, code: &str) -> bool {
        self.texts.iter().any(|text| text.contains(code))
    }
}
