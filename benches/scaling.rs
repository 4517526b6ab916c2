//! What a megabyte of code without a needle costs, from a small workspace to a very large one.
//!
//! `cargo bench --bench scaling`. It writes the workspace to the folder for temporary files and deletes it.

#[path = "support/plain.rs"]
mod plain;
#[path = "support/timing.rs"]
mod timing;

use std::io::{self, Write};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use plain::Plain;
use timing::{Program, Spread};

/// Below this many megabytes the start of the process counts.
const LARGE: f64 = 25.0;

/// Shows what a megabyte of code without a needle costs `check`.
#[derive(Parser)]
struct Args {
    /// Sizes of the workspace in megabytes.
    #[arg(long, value_delimiter = ',', default_value = "1,5,25,100,500")]
    sizes: Vec<usize>,
    /// Runs at each size, after one to warm up.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Passed on by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<()> {
    let mut args = Args::parse();
    args.sizes.sort_unstable();
    let mut out = io::stdout().lock();
    writeln!(out, "{:>9}  {:>6}  {:>8}  ms per MB: median (range)", "size", "files", "check")?;
    let check = Program::rideout(&["check"]);
    let mut tree = Plain::new()?;
    let mut large = Vec::new();
    for size in args.sizes {
        tree.grow(size * 1_000_000)?;
        check.seconds(tree.path())?;
        let megabytes = tree.bytes as f64 / 1e6;
        let seconds: Vec<f64> = (0..args.runs).map(|_| check.seconds(tree.path())).collect::<Result<_>>()?;
        let cost = Spread::of(seconds.iter().map(|seconds| seconds * 1e3 / megabytes)).context("no runs")?;
        let took = cost.median * megabytes;
        writeln!(out, "{megabytes:>6.1} MB  {:>6}  {took:>5.0} ms  {cost}", tree.files)?;
        if megabytes >= LARGE {
            large.push(cost.median);
        }
    }
    let report = Program::rideout(&["list", "--format", "json"]).report(tree.path())?;
    let report: serde_json::Value = serde_json::from_slice(&report)?;
    ensure!(report["watches"].as_array().is_some_and(Vec::is_empty), "the workspace is not free of watches");
    if let Some(Spread { least, most, .. }) = Spread::of(large) {
        let apart = (most / least - 1.0) * 100.0;
        writeln!(
            out,
            "from {LARGE} MB up a megabyte costs the same but for {apart:.0} % (wanted: at most 25 %)"
        )?;
    }
    Ok(())
}
