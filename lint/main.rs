//! The command `cargo rideout`.

use std::{
    io::{self, BufWriter},
    process::ExitCode,
};

fn main() -> ExitCode {
    let mut stdout = BufWriter::new(io::stdout().lock());
    cargo_rideout::run(std::env::args_os(), &mut stdout, &mut io::stderr()).into()
}
