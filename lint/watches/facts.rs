//! The faults of one value of a source: the catalog's, as the calls that made the value change them.

use rideout_rules::{
    catalog::{FaultFact, Shape, Source, Then, When, Within},
    model::ShowsAs,
};

use super::fill::mentions;
use crate::facts::ty::Call;

/// The faults that can reach the consumer. `None`: the value is no watch.
pub(super) fn faults(source: &Source, calls: &[Call], text: &str) -> Option<Vec<FaultFact>> {
    let mut faults = source.faults.clone();
    for when in source.whens.iter().filter(|when| holds(when, calls, text)) {
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
        if !fault.restored_by.iter().any(|method| text.contains(&format!(".{method}("))) {
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
        announced_by: None,
        restored_by: Vec::new(),
        restored_on: None,
    }
}

fn holds(when: &When, calls: &[Call], text: &str) -> bool {
    match when.within {
        Within::Chain => calls.iter().any(|call| {
            when.calls.contains(&call.name)
                && when.argument.as_ref().is_none_or(|wanted| call.argument.as_ref() == Some(wanted))
        }),
        Within::File => when.calls.iter().any(|name| match &when.argument {
            Some(argument) => text
                .match_indices(&format!("{name}("))
                .any(|(at, found)| text[at + found.len()..].trim_start().starts_with(argument.as_str())),
            None => {
                text.contains(&format!("{name}("))
                    || text.contains(&format!("{name}:"))
                    || text.contains(&format!("{name}::"))
            }
        }),
    }
}
