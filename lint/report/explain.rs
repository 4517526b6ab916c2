//! The pages of the rules.

use std::io::{self, Write};

use rideout_rules::{RULES, Rule};

use super::table::table;

/// The page of one rule, or a table of all.
pub(crate) fn explain(rule: Option<&Rule>, out: &mut dyn Write) -> io::Result<()> {
    match rule {
        Some(rule) => out.write_all(rule.page().as_bytes()),
        None => {
            let rows: Vec<[String; 2]> =
                RULES.iter().map(|rule| [rule.id.to_owned(), rule.summary.to_owned()]).collect();
            out.write_all(table(["RULE", "FLAGS"], &rows).as_bytes())
        }
    }
}
