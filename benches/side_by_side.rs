//! Measures `check` side by side with ripgrep and ast-grep on a tree, and prints the ratios.
//!
//! `cargo bench --bench side_by_side -- TREE`

#[path = "support/plain.rs"]
mod plain;
#[path = "support/timing.rs"]
mod timing;
#[path = "support/watched.rs"]
mod watched;

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    thread::available_parallelism,
};

use anyhow::{Context, Result, bail};
use clap::Parser;
use plain::Plain;
use rideout_rules::catalog::{builtin, needles};
use timing::{Program, Spread};

/// What ast-grep looks for: three shapes of a watch.
const PATTERNS: [&str; 3] = [
    "while let Some($P) = $S.next().await { $$$B }",
    "while let Ok($P) = $S.recv().await { $$$B }",
    "loop { $$$A match $S.recv().await { $$$B } $$$C }",
];

/// What the wanted ratios are meant for, at least.
const MEGABYTES: usize = 25;
const WATCHES: usize = 60;

/// So many files are tried to find the one that takes longest alone.
const TRIED: usize = 12;

/// Measures `cargo rideout check` side by side with ripgrep and ast-grep.
#[derive(Parser)]
struct Args {
    /// A folder of Rust code. None: a workspace made for the purpose.
    tree: Option<PathBuf>,
    /// Rounds in which each command runs once, after one to warm up.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// A tool to leave out.
    #[arg(long, value_parser = ["ast-grep"])]
    without: Option<String>,
    /// Passed on by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    match measure(&Args::parse(), &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // With stderr gone there is nobody left to tell.
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn measure(args: &Args, out: &mut dyn Write) -> Result<()> {
    installed("rg", "apt install ripgrep")?;
    if args.without.is_none() {
        installed("ast-grep", "cargo install ast-grep --locked, or leave it out with `--without ast-grep`")?;
    }
    let made;
    let tree = match &args.tree {
        Some(tree) => tree,
        None => {
            made = workspace()?;
            made.path()
        }
    };
    let tree = fs::canonicalize(tree).with_context(|| format!("`{}`", tree.display()))?;
    let watched = Watched::find(&tree)?;
    let (files, megabytes) = size(&tree)?;
    let cores = available_parallelism()?;
    let Watched { watches, .. } = watched;
    writeln!(out, "{megabytes:.1} MB of Rust in {files} files with {watches} watches, on {cores} cores")?;

    let scratch = tempfile::tempdir()?;
    let needles = scratch.path().join("needles");
    fs::write(&needles, all_needles())?;
    let needles = needles.to_str().context("the folder for temporary files is not UTF-8")?;
    let mut rg = Entrant::new("rg", Program::new("rg", &["-c", "-F", "-f", needles, "-g", "*.rs", "."]));
    let mut check = Entrant::new("check", Program::rideout(&["check", "."]));
    let mut file = match watched.slowest(&tree)? {
        Some(file) => Some(Entrant::new(&format!("check {file}"), Program::rideout(&["check", &file]))),
        None => None,
    };
    let scan = || {
        Entrant::new("ast-grep scan", Program::new("ast-grep", &["scan", "--inline-rules", &rules(), "."]))
    };
    let mut ast_grep = args.without.is_none().then(scan);

    for round in 0..=args.rounds {
        let entrants = [Some(&mut rg), Some(&mut check), file.as_mut(), ast_grep.as_mut()];
        for entrant in entrants.into_iter().flatten() {
            let seconds = entrant.program.seconds(&tree)?;
            if round > 0 {
                entrant.seconds.push(seconds);
            }
        }
    }

    writeln!(out, "seconds: median (range) of {} rounds", args.rounds)?;
    for entrant in [Some(&rg), Some(&check), file.as_ref(), ast_grep.as_ref()].into_iter().flatten() {
        let spread = Spread::of(entrant.seconds.iter().copied()).context("no rounds")?;
        writeln!(out, "  {spread:.3}  {}", entrant.name)?;
    }
    writeln!(out, "ratios, round by round: median (range)")?;
    writeln!(out, "  {}  check / rg; wanted: at most 5", check.over(&rg)?)?;
    if let Some(file) = &file {
        writeln!(out, "  {}  check FILE / rg; wanted: at most 2", file.over(&rg)?)?;
    }
    if let Some(ast_grep) = &ast_grep {
        writeln!(out, "  {}  ast-grep scan / check; wanted: at least 20", ast_grep.over(&check)?)?;
    }
    if megabytes < MEGABYTES as f64 || watches < WATCHES {
        let tree = format!("trees of at least {MEGABYTES} MB with at least {WATCHES} watches");
        writeln!(out, "the wanted ratios are meant for {tree}")?;
    }
    Ok(())
}

/// Code of this repository without a needle, and a service with watches, in one workspace.
fn workspace() -> Result<Plain> {
    let mut workspace = Plain::new()?;
    watched::service(&workspace.path().join("crates/watched"), WATCHES)?;
    workspace.grow(MEGABYTES * 1_000_000)?;
    Ok(workspace)
}

/// A command and how long each of its runs took.
struct Entrant {
    name: String,
    program: Program,
    seconds: Vec<f64>,
}

impl Entrant {
    fn new(name: &str, program: Program) -> Self {
        Self { name: name.to_owned(), program, seconds: Vec::new() }
    }

    /// How many times as long as another it took, round by round.
    fn over(&self, other: &Self) -> Result<Spread> {
        Spread::of(self.seconds.iter().zip(&other.seconds).map(|(own, other)| own / other))
            .context("no rounds")
    }
}

/// The watches of a tree.
struct Watched {
    watches: usize,
    /// The files they are in.
    files: Vec<String>,
}

impl Watched {
    fn find(tree: &Path) -> Result<Self> {
        let report = Program::rideout(&["list", "--format", "json", "."]).report(tree)?;
        let report: serde_json::Value = serde_json::from_slice(&report)?;
        let root = Path::new(report["root"].as_str().context("no root")?);
        let watches = report["watches"].as_array().context("no watches")?;
        let files: BTreeSet<&str> = watches.iter().filter_map(|watch| watch["file"].as_str()).collect();
        let place = |file: &str| {
            let path = root.join(file);
            path.strip_prefix(tree).unwrap_or(&path).to_string_lossy().into_owned()
        };
        Ok(Self { watches: watches.len(), files: files.into_iter().map(place).collect() })
    }

    /// Of some files with a watch, spread over the tree, the one whose check alone takes longest.
    fn slowest(&self, tree: &Path) -> Result<Option<String>> {
        let mut slowest: Option<(f64, &String)> = None;
        for file in self.files.iter().step_by(self.files.len().div_ceil(TRIED).max(1)) {
            let seconds = Program::rideout(&["check", file]).seconds(tree)?;
            if slowest.is_none_or(|(most, _)| seconds > most) {
                slowest = Some((seconds, file));
            }
        }
        Ok(slowest.map(|(_, file)| file.clone()))
    }
}

/// The Rust files of a tree and their megabytes.
fn size(tree: &Path) -> Result<(usize, f64)> {
    let (mut files, mut bytes) = (0, 0);
    for entry in ignore::Walk::new(tree) {
        let entry = entry?;
        if entry.path().extension().is_some_and(|extension| extension == "rs") && entry.path().is_file() {
            files += 1;
            bytes += entry.metadata()?.len();
        }
    }
    Ok((files, bytes as f64 / 1e6))
}

/// The needles of the whole catalog, one a line.
fn all_needles() -> String {
    let all: BTreeSet<String> = builtin().iter().flat_map(needles).map(|needle| needle.text).collect();
    all.into_iter().map(|needle| needle + "\n").collect()
}

/// ast-grep's rules of the patterns.
fn rules() -> String {
    let rule =
        |(index, pattern)| format!("id: shape{index}\nlanguage: rust\nrule: {{ pattern: '{pattern}' }}\n");
    PATTERNS.iter().enumerate().map(rule).collect::<Vec<_>>().join("---\n")
}

fn installed(name: &str, install: &str) -> Result<()> {
    match Command::new(name).arg("--version").output() {
        Ok(output) if output.status.success() => Ok(()),
        _ => bail!("`{name}` cannot be run; install it: {install}"),
    }
}
