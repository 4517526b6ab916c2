//! `cargo rideout`: finds the standing watches that a transient fault kills.
//!
//! Data flows one way: `cli` -> `workspace` (files, packages, texts with a needle) -> `syntax` -> `facts` -> `flow` -> `watches`
//! (each fault walked to its end, judged by the rules) -> `ratchet` (held against the baseline) -> `report`. No stage reaches back.

mod analysis;
mod baseline;
mod cargo;
mod cfg;
mod cli;
mod facts;
mod flow;
mod ratchet;
mod report;
mod run;
mod syntax;
mod watches;
mod workspace;

use std::{
    collections::HashMap,
    ffi::OsString,
    io::{self, IsTerminal, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    process::ExitCode,
    thread::available_parallelism,
};

use analysis::Analysis;
use anyhow::{Context, Result, anyhow};
use cargo::{Compiled, Packages};
use cli::{CheckArgs, Command, Format, ListArgs, ListFormat, ScopeArgs};
use report::{Color, Look, Report};
use workspace::Workspace;

/// Stack of each thread that parses: syn recurses as deep as the code is nested.
const STACK: usize = 256 << 20;

/// More would reserve more memory than some machines give.
const MOST_THREADS: usize = 16;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// No findings.
    Clean,
    /// Findings.
    Findings,
    /// Could not run: usage, configuration, input.
    Failed,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Clean => Self::SUCCESS,
            Exit::Findings => Self::from(1),
            Exit::Failed => Self::from(2),
        }
    }
}

/// Runs one command: the report goes to `stdout`; progress, warnings and errors go to `stderr`.
pub fn run(args: impl IntoIterator<Item = OsString>, stdout: &mut dyn Write, stderr: &mut dyn Write) -> Exit {
    let done = match cli::parse(args) {
        Ok(command) => execute(&command, stdout, stderr),
        Err(message) => usage(&message, stdout, stderr),
    };
    match done {
        Ok(exit) => exit,
        Err(error) => {
            // With stderr gone there is nobody left to tell.
            let _ = writeln!(stderr, "error: {error:#}");
            Exit::Failed
        }
    }
}

/// Help and version go to stdout, mistakes to stderr.
fn usage(message: &clap::Error, stdout: &mut dyn Write, stderr: &mut dyn Write) -> Result<Exit> {
    let fails = message.use_stderr();
    let terminal = if fails { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
    let text = message.render();
    let text = if Look::new(Color::Auto, false, terminal).color {
        text.ansi().to_string()
    } else {
        text.to_string()
    };
    if fails {
        let _ = stderr.write_all(text.as_bytes());
        return Ok(Exit::Failed);
    }
    deliver(stdout, Exit::Clean, |out| out.write_all(text.as_bytes()))
}

fn execute(command: &Command, stdout: &mut dyn Write, stderr: &mut dyn Write) -> Result<Exit> {
    match command {
        Command::Check(args) => check(args, stdout, stderr),
        Command::List(args) => list(args, stdout, stderr),
        Command::Baseline(command) => baseline::run(command, stdout, stderr),
        Command::Explain(rule) => deliver(stdout, Exit::Clean, |out| report::explain(*rule, out)),
    }
}

fn check(args: &CheckArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> Result<Exit> {
    let format = args.format();
    let mut compiles = true;
    if let Some(checker) = args.cargo.with_cargo_check {
        if format != Format::Cargo {
            return Err(anyhow!("`--with-cargo-check` needs `--format cargo`"));
        }
        compiles = cargo::check(checker.name(), &args.cargo_check(), stdout)?;
    }
    let (workspace, analysis) = analyse(&args.scope(), "Checking", stderr)?;
    let verdict = baseline::verdict(&args.held, &workspace, &analysis)?;
    let report = Report::held(&workspace.root, &analysis, args.pedantic, verdict);
    let exit = match format {
        _ if !compiles => Exit::Failed,
        Format::Cargo | Format::Sarif => Exit::Clean,
        _ if report.fails() => Exit::Findings,
        _ => Exit::Clean,
    };
    deliver(stdout, exit, |out| match format {
        Format::Human => report::human(&report, look(&args.scope), out),
        Format::Short => report::short(&report, out),
        Format::Json => report::json(&report, out),
        Format::Cargo => {
            let color = args.cargo.message_format.as_ref().is_some_and(|format| format.ansi);
            let look = Look { color, ..Look::default() };
            report::cargo(&report, &compilers(&workspace, &report), compiles, look, out)
        }
        Format::Sarif => report::sarif(&report, out),
        Format::Github => report::github(&report, out),
        Format::Gitlab => report::gitlab(&report, out),
        Format::Rdjson => report::rdjson(&report, out),
    })
}

/// Tells who compiles a file of the report.
fn compilers(workspace: &Workspace, report: &Report<'_>) -> impl Fn(&Path) -> Compiled {
    let files: HashMap<PathBuf, PathBuf> = report
        .over()
        .filter_map(|row| {
            let path = report.sources.path(row.finding.primary.file);
            let file = workspace.files.iter().find(|file| file.rel == path)?;
            Some((file.path.clone(), workspace.packages[file.package].dir.clone()))
        })
        .collect();
    let packages = Packages::around(files.values().map(PathBuf::as_path));
    let root = workspace.root.clone();
    move |file| packages.compiled(files.get(file).unwrap_or(&root), file)
}

fn list(args: &ListArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> Result<Exit> {
    let (workspace, analysis) = analyse(&args.scope, "Listing", stderr)?;
    let report = Report::new(&workspace.root, &analysis, false);
    deliver(stdout, Exit::Clean, |out| match args.format {
        ListFormat::Human => report::list(&report, look(&args.scope), out),
        ListFormat::Json => report::list_json(&report, out),
    })
}

fn look(args: &ScopeArgs) -> Look {
    Look::new(args.color, args.quiet, io::stdout().is_terminal())
}

/// Threads with large stacks, and so not too many of them.
fn pool() -> Result<rayon::ThreadPool> {
    let mut builder = rayon::ThreadPoolBuilder::new().stack_size(STACK);
    if std::env::var_os("RAYON_NUM_THREADS").is_none() {
        builder = builder.num_threads(available_parallelism().map_or(1, usize::from).min(MOST_THREADS));
    }
    builder.build().context("cannot start threads")
}

/// Loads and analyses on those threads.
fn analyse(args: &ScopeArgs, verb: &str, stderr: &mut dyn Write) -> Result<(Workspace, Analysis)> {
    let cwd = std::env::current_dir().context("cannot tell the working folder")?;
    let pool = pool()?;
    let request = args.request(cwd);
    let workspace = fenced(|| pool.install(|| workspace::load(&request)))?.map_err(|error| {
        match cli::misplaced(&request) {
            Some(command) => anyhow!(
                "{error}; to run the command, write `cargo rideout {command}` first and its options after it"
            ),
            None => error,
        }
    })?;
    for warning in &workspace.warnings {
        let _ = writeln!(stderr, "warning: {warning}");
    }
    if !args.quiet {
        let _ = writeln!(stderr, "{verb:>12} {}", workspace.describe());
    }
    let analysis = fenced(|| pool.install(|| run::analyse(&workspace)))?;
    Ok((workspace, analysis))
}

/// A panic is a mistake of ours, and the run has then failed; it is neither clean nor has it findings.
fn fenced<T>(work: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        anyhow!("internal error, which is a bug in cargo-rideout; please report it with the lines above")
    })
}

/// Writes the report. A reader that has seen enough (`| head`) changes nothing.
fn deliver(
    stdout: &mut dyn Write,
    exit: Exit,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Exit> {
    match write(stdout).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(exit),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(exit),
        Err(error) => Err(error).context("cannot write the report"),
    }
}
