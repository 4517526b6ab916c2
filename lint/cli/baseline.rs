//! The words around the baseline.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{ListFormat, ScopeArgs};
use crate::ratchet::AUTO;

/// What the findings are held against.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct HeldArgs {
    /// The baseline, in place of the nearest `baseline.toml` from the root of the workspace up to that of the repository
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Report every finding, whatever a baseline says
    #[arg(long, conflicts_with_all = ["baseline", "base"])]
    pub(crate) no_baseline: bool,
    /// Fail on entries of the baseline that no finding needs any more (on when `CI` is set)
    #[arg(long)]
    pub(crate) strict: bool,
    /// Fail on entries that the baseline has gained since the merge base with this revision. Without one: what the server's variables
    /// say, or the default branch of the remote
    #[arg(long, value_name = "REV", num_args = 0..=1, default_missing_value = AUTO)]
    pub(crate) base: Option<String>,
}

/// The commands of `baseline`.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Write a baseline with every finding that there is now
    Init(RecordArgs),
    /// Take out what has been mended, and follow what has been edited or moved. It never adds
    Tighten(RecordArgs),
    /// Add what a release finds that sees more than the one before, and what comments newly allow
    Adopt {
        #[command(flatten)]
        record: RecordArgs,
        /// Why the list may grow; not needed where all that is new is allowed by comments
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Mend a merge conflict in the baseline: what both sides have kept stays
    Resolve(FileArgs),
    /// Show what has changed between two baselines
    Diff {
        /// A revision or a file
        #[arg(value_name = "OLD", default_value = "HEAD")]
        old: String,
        /// A revision or a file. Default: the baseline as it is
        #[arg(value_name = "NEW")]
        new: Option<String>,
        #[command(flatten)]
        file: FileArgs,
        /// How the changes are written
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        format: DiffFormat,
    },
    /// Show how the list has grown shorter, from the history in git
    Stats {
        #[command(flatten)]
        file: FileArgs,
        /// How the history is written
        #[arg(long, value_name = "FORMAT", default_value = "human")]
        format: ListFormat,
    },
}

/// The options of the commands that look at the code and write the baseline.
#[derive(Clone, Debug, Args)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) file: FileArgs,
    /// Also record what maintainers may argue about
    #[arg(long)]
    pub(crate) pedantic: bool,
}

/// Which baseline.
#[derive(Clone, Debug, Args)]
pub(crate) struct FileArgs {
    /// The baseline, in place of `baseline.toml`
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
}

/// The formats of `baseline diff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// One line a change
    Human,
    /// A list for a comment on a pull request
    Markdown,
    /// One document
    Json,
}
