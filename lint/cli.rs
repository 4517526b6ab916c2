//! The command line. Words and their meaning only: nothing here does any work.

mod baseline;
mod cargo_args;

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use rideout_rules::{RULES, Rule};

pub(crate) use self::{
    baseline::{BaselineCommand, DiffFormat, FileArgs, HeldArgs, RecordArgs},
    cargo_args::CargoArgs,
};
use crate::{report::Color, workspace::Request};

/// What to do.
#[derive(Debug)]
pub(crate) enum Command {
    /// Report findings.
    Check(CheckArgs),
    /// Report watches.
    List(ListArgs),
    /// Look after the baseline.
    Baseline(BaselineCommand),
    /// Print the page of a rule.
    Explain(Option<&'static Rule>),
}

const AFTER_CHECK: &str = "\
With a `baseline.toml` in the root of the workspace, only what is not in it counts.
A comment on the line of a finding or directly above it suppresses it: `// rideout: allow(rule): reason`.

Exit status: 0 nothing counts, 1 findings, 2 could not run. With `--format cargo` and `sarif` findings are 0.";

#[derive(Debug, Parser)]
#[command(
    name = "cargo-rideout",
    bin_name = "cargo rideout",
    version,
    about = "Finds the standing watches that a transient fault kills",
    after_help = AFTER_CHECK,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Subcommands>,
    #[command(flatten)]
    check: CheckArgs,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    /// Report the watches that a fault kills (what is done without a command)
    #[command(after_help = AFTER_CHECK)]
    Check(CheckArgs),
    /// List every standing watch and where each of its faults leads
    List(ListArgs),
    /// Record what is there, and keep the record from growing
    #[command(subcommand)]
    Baseline(BaselineCommand),
    /// Print the page of a rule, or the names of all rules
    Explain {
        /// The rule's name
        #[arg(value_parser = rule)]
        rule: Option<&'static Rule>,
    },
}

/// The options of `check`.
#[derive(Clone, Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) held: HeldArgs,
    /// How the findings are written
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
    #[command(flatten)]
    pub(crate) cargo: CargoArgs,
    /// Also report and count what maintainers may argue about
    #[arg(long)]
    pub(crate) pedantic: bool,
}

/// The options of `list`.
#[derive(Clone, Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// How the watches are written
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: ListFormat,
}

/// What is read, and how it is shown.
#[derive(Clone, Debug, Args)]
pub(crate) struct ScopeArgs {
    /// Files and folders to report on; a folder is read whole. Default: the packages that cargo would check
    #[arg(value_name = "PATHS")]
    paths: Vec<PathBuf>,
    /// Every package of the workspace
    #[arg(long)]
    workspace: bool,
    /// Only this package of the workspace (may be repeated; `*` and `?` are wildcards)
    #[arg(short, long, value_name = "NAME")]
    package: Vec<String>,
    /// All packages but this one (may be repeated; `*` and `?` are wildcards)
    #[arg(long, value_name = "NAME", requires = "workspace")]
    exclude: Vec<String>,
    /// The Cargo.toml to start from
    #[arg(long, value_name = "PATH")]
    manifest_path: Option<PathBuf>,
    /// The configuration, in place of `rideout.toml` or `[workspace.metadata.rideout]` in the root of the workspace
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Read `tests` and `benches` folders and code under `#[cfg(test)]` too
    #[arg(long)]
    pub(crate) include_tests: bool,
    /// Whether to use colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// No progress and no summary
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl ScopeArgs {
    /// The request that goes to the workspace.
    pub(crate) fn request(&self, cwd: PathBuf) -> Request {
        Request {
            cwd,
            paths: self.paths.clone(),
            manifest_path: self.manifest_path.clone(),
            all: self.workspace,
            packages: self.package.iter().map(|spec| cargo_args::package_name(spec).to_owned()).collect(),
            exclude: self.exclude.clone(),
            include_tests: self.include_tests,
            config: self.config.clone(),
        }
    }
}

/// The formats of `check`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Code with labels, and a summary
    Human,
    /// One line a finding
    Short,
    /// One document, described by `lint/report/schema.json`
    Json,
    /// The lines of `cargo check --message-format=json`, for editors. Findings are no failure
    Cargo,
    /// A SARIF 2.1.0 document, for code scanning. Findings are no failure
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// A code quality report of GitLab
    Gitlab,
    /// A document for reviewdog
    Rdjson,
}

/// The formats of `list`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// A table
    Human,
    /// One document
    Json,
}

/// Parses the arguments of `cargo rideout ..` and of `cargo-rideout ..`. The error may be a request for help.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, clap::Error> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    if args.get(1).is_some_and(|first| first == "rideout") {
        args.remove(1);
    }
    let matches = Cli::command().try_get_matches_from(args)?;
    let cli = Cli::from_arg_matches(&matches)?;
    Ok(match cli.command {
        None => Command::Check(cli.check),
        Some(Subcommands::Check(check)) => Command::Check(check),
        Some(Subcommands::List(list)) => Command::List(list),
        Some(Subcommands::Baseline(baseline)) => Command::Baseline(baseline),
        Some(Subcommands::Explain { rule }) => Command::Explain(rule),
    })
}

/// A command that stands after an option and was therefore taken for a path.
pub(crate) fn misplaced(request: &Request) -> Option<&'static str> {
    let first = request.paths.first()?;
    ["check", "list", "baseline", "explain"].into_iter().find(|command| first.as_os_str() == *command)
}

fn rule(name: &str) -> Result<&'static Rule, String> {
    RULES.iter().find(|rule| rule.id == name).ok_or_else(|| {
        let names: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
        format!("there is no such rule; the rules are {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::CommandFactory;

    use super::{Cli, Command, Format, parse};

    fn parsed(args: &[&str]) -> Command {
        parse(args.iter().map(OsString::from)).unwrap()
    }

    #[test]
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn check_is_what_is_done_without_a_command() {
        for args in [
            &["cargo-rideout", "--format", "json", "src"][..],
            &["cargo-rideout", "rideout", "check", "--format", "json", "src"],
        ] {
            let Command::Check(check) = parsed(args) else { panic!("{args:?}") };
            assert_eq!(check.format(), Format::Json);
            assert_eq!(check.scope.request("/".into()).paths, [std::path::PathBuf::from("src")]);
        }
    }

    #[test]
    fn only_the_first_word_is_cargos() {
        let Command::Check(check) = parsed(&["cargo-rideout", "rideout", "rideout"]) else { panic!() };
        assert_eq!(check.scope.request("/".into()).paths.len(), 1);
    }

    #[test]
    fn explain_knows_the_rules() {
        let Command::Explain(Some(rule)) = parsed(&["x", "explain", "unread-file"]) else { panic!() };
        assert_eq!(rule.id, "unread-file");
        assert!(parse(["x", "explain", "nonsense"].map(OsString::from)).is_err());
    }
}
