//! What a rule is. A rule is a constant: its words for people, and one pure function over a fault's path.

use crate::model::{Fault, FaultPath, Finding, Level, Location, ShowsAs, Source, Watch};
use crate::suggestion::suggestion;

/// A defect that Rideout knows by name.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Kebab-case, the name of the defect. The rule's file has the same name.
    pub id: &'static str,
    /// The version of Rideout that brought it.
    pub since: &'static str,
    /// What it flags, in one line without a final dot.
    pub summary: &'static str,
    /// Why that is a defect, in one sentence without a final dot.
    pub why: &'static str,
    /// The item of the crate `rideout` that does what the page says to do instead.
    pub runtime: Option<&'static str>,
    /// The page, in Markdown: what it flags, why it is bad, known limits, an example, what to use instead.
    pub docs: &'static str,
    /// Judges where one fault of a watch leads.
    pub judge: fn(&Watch, &FaultPath) -> Option<Verdict>,
}

/// What a rule says about one fault of one watch.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The construct to look at.
    pub primary: Location,
    /// What the primary place is.
    pub label: String,
    /// One sentence that names the source and what kills the watch.
    pub message: String,
    /// The way out: a sentence, then lines of code for this site.
    pub help: String,
}

impl Rule {
    /// The page that `explain` prints and `docs/rules` holds.
    pub fn page(&self) -> String {
        let allowed = if self.can_be_allowed() {
            format!(
                "A comment on the line of a finding, or directly above it, allows it: `// rideout: allow({}): reason`.",
                self.id
            )
        } else {
            "No comment allows a finding of this rule.".to_owned()
        };
        let runtime = self.runtime.map_or_else(String::new, |item| {
            format!("The recovery runtime, crate `rideout`, has it ready: `{item}`.\n\n")
        });
        format!("# {}\n\nFlags {}.\n\n{}\n\n{runtime}{allowed}\n", self.id, self.summary, self.docs.trim())
    }

    /// Whether a comment may suppress its findings. Not those that say that something was not understood.
    pub fn can_be_allowed(&self) -> bool {
        ![crate::unread_file::RULE.id, crate::invalid_suppression::RULE.id].contains(&self.id)
    }

    /// The finding of this rule for one fault, if it matches.
    pub(crate) fn finding(&self, watch: &Watch, path: &FaultPath) -> Option<Finding> {
        let verdict = (self.judge)(watch, path)?;
        let spins = self.id == crate::unpaced_reopen::RULE.id && watch.source.spins_pedantic;
        Some(Finding {
            rule: self.id,
            level: if watch.source.guessed || path.in_example || spins {
                Level::Pedantic
            } else {
                Level::Deny
            },
            message: verdict.message,
            primary: verdict.primary,
            label: verdict.label,
            item: path.item.clone(),
            source: watch.source.clone(),
            opener: watch.opener,
            consumer: path.consumer,
            fault: path.fault.clone(),
            path: path.path.clone(),
            why: self.why.to_owned(),
            help: verdict.help,
            suggestion: suggestion(path),
        })
    }

    /// A finding with no watch behind it: source and fault are empty but for the text.
    pub(crate) fn without_watch(&self, verdict: Verdict, text: &str) -> Finding {
        Finding {
            rule: self.id,
            level: Level::Deny,
            message: verdict.message,
            primary: verdict.primary,
            label: verdict.label,
            item: String::new(),
            source: Source {
                id: String::new(),
                package: String::new(),
                api: String::new(),
                guessed: false,
                spins_pedantic: false,
                help: None,
            },
            opener: None,
            consumer: verdict.primary,
            fault: Fault { shows_as: ShowsAs::Silent, text: text.to_owned() },
            path: Vec::new(),
            why: self.why.to_owned(),
            help: verdict.help,
            suggestion: None,
        }
    }
}
