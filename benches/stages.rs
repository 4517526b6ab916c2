//! Where the time of `check` goes: the search, in files without a needle; the analysis, in files with one. In process.
//!
//! `cargo bench` runs all of it, `cargo bench --bench stages -- NAME` a part.

#![expect(clippy::expect_used, reason = "without its tree a benchmark has nothing to measure")]

#[path = "support/plain.rs"]
mod plain;
#[path = "support/watched.rs"]
mod watched;

use std::{ffi::OsString, io, path::Path};

use cargo_rideout::Exit;
use divan::{
    Bencher,
    counter::{BytesCount, ItemsCount},
};

fn main() {
    divan::main();
}

fn run(arguments: &[&str], path: &Path) -> (Exit, Vec<u8>) {
    let arguments = ["cargo-rideout"].iter().chain(arguments).map(OsString::from);
    let mut stdout = Vec::new();
    let exit = cargo_rideout::run(arguments.chain([path.into()]), &mut stdout, &mut io::sink());
    (exit, stdout)
}

fn check(path: &Path, wanted: Exit) {
    assert_eq!(run(&["check", "--quiet"], path).0, wanted);
}

fn count(path: &Path) -> usize {
    let (_, report) = run(&["list", "--quiet", "--format", "json"], path);
    let report: serde_json::Value = serde_json::from_slice(&report).expect("a report");
    report["watches"].as_array().map_or(0, Vec::len)
}

/// Reading and searching: megabytes of code without a needle.
#[divan::bench(args = [1, 4, 16, 64], sample_count = 10, sample_size = 1)]
fn needle_free(bencher: Bencher<'_, '_>, megabytes: usize) {
    let mut tree = plain::Plain::new().expect("this repository's files");
    tree.grow(megabytes * 1_000_000).expect("a folder for temporary files");
    bencher.counter(BytesCount::new(tree.bytes)).bench_local(|| check(tree.path(), Exit::Clean));
}

/// The analysis: files with one watch each.
#[divan::bench(args = [1, 10, 100, 1000], sample_count = 10, sample_size = 1)]
fn watches(bencher: Bencher<'_, '_>, watches: usize) {
    let service = tempfile::tempdir().expect("a folder for temporary files");
    watched::service(service.path(), watches).expect("a folder for temporary files");
    assert_eq!(count(service.path()), watches);
    bencher.counter(ItemsCount::new(watches)).bench_local(|| check(service.path(), Exit::Findings));
}

/// The workspace that the README shows.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn demo(bencher: Bencher<'_, '_>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/workspaces/demo");
    bencher.bench_local(|| check(&path, Exit::Findings));
}

/// Every case of the test suite.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn cases(bencher: Bencher<'_, '_>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    let watches = count(&path);
    bencher.counter(ItemsCount::new(watches)).bench_local(|| check(&path, Exit::Findings));
}
