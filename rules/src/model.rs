//! What a rule may ask: the watches of a workspace and where each of their faults leads. Plain data.

use serde::Serialize;

/// A range of bytes of one file of the analysed workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// Index of the file in the analysed set.
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// One subscription to a long-lived stream, held for the life of a task or a process.
#[derive(Clone, Debug)]
pub struct Watch {
    /// What it listens to.
    pub source: Source,
    /// Where the stream was opened, if that is in view.
    pub opener: Option<Location>,
    /// The code of the opener in one line, if it is in view and short.
    pub opening: Option<String>,
    /// The consuming construct: the loop, or the call that holds the watch.
    pub consumer: Location,
    /// The expression that asks for the next item, without the arguments of the call.
    pub poll: Location,
    /// The function that consumes it, as `Type::name` or `name`.
    pub item: String,
    /// Each way in which the stream can fail, walked to its end. At least one.
    pub faults: Vec<FaultPath>,
}

/// The API behind a watch.
#[derive(Clone, Debug)]
pub struct Source {
    /// Identifier of the catalog entry.
    pub id: String,
    /// The crate as it is named in `Cargo.toml`.
    pub package: String,
    /// The API as a person would name it.
    pub api: String,
    /// Whether the source was guessed from a method's name alone.
    pub guessed: bool,
    /// Whether findings belong to the pedantic level when the watch only spins.
    pub spins_pedantic: bool,
    /// The catalog's sentence that tells the way out for this source, without the code.
    pub help: Option<String>,
}

/// The ways in which a transient fault can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShowsAs {
    /// One error, then the end.
    ErrorThenEnds,
    /// The same error at every poll, never an end.
    ErrorLatched,
    /// An error, and healthy again if polled on.
    ErrorHeals,
    /// A variant of the error or of the item.
    Variant,
    /// The call fails and may be made again.
    CallError,
    /// A plain end, no error.
    Ends,
    /// Nothing is delivered any more.
    Silent,
}

impl ShowsAs {
    /// The name used in the catalog and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::ErrorThenEnds => "error-then-ends",
            Self::ErrorLatched => "error-latched",
            Self::ErrorHeals => "error-heals",
            Self::Variant => "variant",
            Self::CallError => "call-error",
            Self::Ends => "ends",
            Self::Silent => "silent",
        }
    }
}

/// One way in which a source can fail.
#[derive(Clone, Debug)]
pub struct Fault {
    /// How the code sees it.
    pub shows_as: ShowsAs,
    /// One sentence for people: what happens and what the stream does afterwards.
    pub text: String,
}

/// One fault of one watch, and where it leads.
#[derive(Clone, Debug)]
pub struct FaultPath {
    /// The fault.
    pub fault: Fault,
    /// Where it leads.
    pub outcome: Outcome,
    /// The first arm that received the fault, if any.
    pub arm: Option<Arm>,
    /// The construct that held the fault when it was lost: the watch's consumer, or that of a caller.
    pub consumer: Location,
    /// The item that holds `consumer` or the arm.
    pub item: String,
    /// Whether that is in an example of a package: a demonstration, which is seldom left to run.
    pub in_example: bool,
    /// The way the fault takes, in order.
    pub path: Vec<Step>,
    /// Where a few words of code would mend it, if that is known.
    pub mend: Option<Mend>,
}

/// A place where a few words of code let the watch live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mend {
    /// The `break` or `return` of an arm that receives this fault alone: `continue` in its place polls again.
    Leaves(Location),
    /// The match arm that receives this fault among others: an arm for this pattern can stand before it, and `continue` polls again.
    Shares {
        /// The arm.
        arm: Location,
        /// The pattern for this fault alone.
        pattern: String,
    },
    /// The head of a `while let Ok(name) = poll`, which this fault ends among others: in a plain loop a `match` can tell them apart.
    Splits {
        /// The head.
        head: Location,
        /// What the loop's body begins with.
        body: Location,
        /// The name that an item is bound to.
        name: String,
        /// The code that asks for the next item.
        poll: String,
        /// The pattern for this fault alone.
        pattern: String,
    },
    /// A place between two attempts, in async code, where a statement can stand.
    Waits {
        /// What the statement comes before, or the whole expression that has to become a block with it.
        before: Location,
        /// Whether it is such an expression.
        alone: bool,
        /// The function that waits.
        sleep: String,
    },
}

/// A code path that receives a fault: a match arm, an `if let`, a `let else`, a closure.
#[derive(Clone, Debug)]
pub struct Arm {
    /// Where it stands.
    pub location: Location,
    /// Whether it writes a log line.
    pub logs: bool,
    /// The transient classification that it singles out (`Lagged`, `Code::Cancelled`), if it does.
    pub transient: Option<String>,
}

/// One labelled place on a fault's way.
#[derive(Clone, Debug)]
pub struct Step {
    /// Where.
    pub location: Location,
    /// What happens there.
    pub label: String,
}

/// Where a fault leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A top-level take ends the stream by design.
    OneShot,
    /// The source is opened again.
    Reopens {
        /// Whether something waits between two attempts.
        paced: bool,
        /// The loop that opens it again.
        by: Location,
    },
    /// Polled again, and this source goes on after this fault.
    Continues {
        /// Whether something waits between two polls.
        paced: bool,
        /// The loop that polls it again.
        by: Location,
    },
    /// A fallback stream takes over.
    Catches,
    /// The fault goes to a sink, a channel or a request's client.
    Forwards,
    /// Returned to a caller that handles it, or the process ends.
    Surfaces,
    /// The arm releases the handle so that the next caller opens anew.
    Releases,
    /// The watch is over and nothing else happens.
    Ends,
    /// Polled again though it has ended.
    Spins,
    /// Re-opened from inside its own error path.
    Nests {
        /// The inner call.
        call: Location,
    },
    /// A bounded reopen stops without a word.
    GivesUp {
        /// Where it leaves.
        at: Location,
    },
    /// A reopen helper's factory hands back the captured stream.
    Stale {
        /// The factory.
        factory: Location,
    },
    /// The value leaves what can be seen.
    Unknown,
}

impl Outcome {
    /// Whether the fault leaves the watch dead: over, latched, or spinning on a dead handle.
    pub fn is_dead(self) -> bool {
        matches!(self, Self::Ends | Self::Spins)
    }

    /// The word that `list` prints.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneShot => "one-shot",
            Self::Reopens { paced: true, .. } => "reopens",
            Self::Reopens { paced: false, .. } => "reopens unpaced",
            Self::Continues { paced: true, .. } => "continues",
            Self::Continues { paced: false, .. } => "continues unpaced",
            Self::Catches => "catches",
            Self::Forwards => "forwards",
            Self::Surfaces => "surfaces",
            Self::Releases => "releases",
            Self::Ends => "ends",
            Self::Spins => "spins",
            Self::Nests { .. } => "nests",
            Self::GivesUp { .. } => "gives up",
            Self::Stale { .. } => "stale factory",
            Self::Unknown => "unknown",
        }
    }
}

/// Whether a finding counts by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Counted.
    Deny,
    /// Reported and counted only on request.
    Pedantic,
}

/// A watch that a fault kills, or that comes back wrongly.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Id of the rule.
    pub rule: &'static str,
    /// Whether it counts by default.
    pub level: Level,
    /// One sentence.
    pub message: String,
    /// The construct to look at: the loop, the arm, the call.
    pub primary: Location,
    /// What the primary place is.
    pub label: String,
    /// The function it is in.
    pub item: String,
    /// The API behind the watch.
    pub source: Source,
    /// Where the stream was opened.
    pub opener: Option<Location>,
    /// Where it is consumed.
    pub consumer: Location,
    /// The fault that shows the defect.
    pub fault: Fault,
    /// The way the fault takes.
    pub path: Vec<Step>,
    /// Why it matters, in one sentence.
    pub why: String,
    /// The way out.
    pub help: String,
    /// The way out as a change of the code, where that is mechanical.
    pub suggestion: Option<Suggestion>,
}

/// A change of the code that mends a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// What it does, in one clause.
    pub message: String,
    /// What is put where. Together they are the whole change.
    pub edits: Vec<Edit>,
    /// How much thought it needs.
    pub applicability: Applicability,
}

/// One replaced place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; nothing if it is empty.
    pub location: Location,
    /// The new code. Lines after the first one are indented as the line is on which it is put.
    pub text: String,
}

/// Whether a suggestion can be taken without a look, in the words of rustc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Applicability {
    /// It is what is meant.
    MachineApplicable,
    /// It compiles and is complete, but may have to be adapted.
    MaybeIncorrect,
}
