//! Prints the needles of the whole catalog, one a line, for comparing the search with other tools.

use std::io::{self, Write};

use rideout_rules::catalog::{builtin, needles};

fn main() -> io::Result<()> {
    let mut all: Vec<String> = builtin().iter().flat_map(needles).map(|needle| needle.text).collect();
    all.sort();
    all.dedup();
    let mut out = io::stdout().lock();
    all.iter().try_for_each(|needle| writeln!(out, "{needle}"))
}
