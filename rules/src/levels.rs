//! The levels that a configuration gives to rules.

use std::collections::BTreeMap;

use crate::{
    Rule,
    model::{Finding, Level},
};

/// What a configuration may say about a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Each finding counts, those that belong to the pedantic level by themselves too.
    Deny,
    /// Findings are reported and counted only on request.
    Pedantic,
    /// Findings are dropped.
    Off,
}

impl Setting {
    /// The words for them.
    pub const NAMES: [&str; 3] = ["deny", "pedantic", "off"];

    /// The rules that hold the run itself to what it says. They can only be deny.
    pub const FIXED: [&str; 2] = ["unread-file", "invalid-suppression"];

    /// The setting of this name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "deny" => Self::Deny,
            "pedantic" => Self::Pedantic,
            "off" => Self::Off,
            _ => return None,
        })
    }
}

/// Settings by rule. A rule without one leaves each finding the level that it has by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels(BTreeMap<&'static str, Setting>);

impl Levels {
    /// Settles the level of a rule.
    pub fn set(&mut self, rule: &'static Rule, setting: Setting) {
        self.0.insert(rule.id, setting);
    }

    /// The finding at its level, or nothing if its rule is off.
    pub(crate) fn apply(&self, finding: Finding) -> Option<Finding> {
        let level = match self.0.get(finding.rule) {
            None => finding.level,
            Some(Setting::Deny) => Level::Deny,
            Some(Setting::Pedantic) => Level::Pedantic,
            Some(Setting::Off) => return None,
        };
        Some(Finding { level, ..finding })
    }
}

#[cfg(test)]
mod tests {
    use super::Setting;
    use crate::RULES;

    #[test]
    fn names_lead_to_settings_and_fixed_rules_exist() {
        assert!(Setting::NAMES.iter().all(|name| Setting::named(name).is_some()));
        assert!(Setting::FIXED.iter().all(|id| RULES.iter().any(|rule| rule.id == *id)));
    }
}
