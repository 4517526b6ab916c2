//! Runs commands and times them.

use std::{
    fmt,
    path::Path,
    process::{Command, Output, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, ensure};

/// A command to measure.
pub(crate) struct Program {
    name: String,
    arguments: Vec<String>,
}

impl Program {
    pub(crate) fn new(name: &str, arguments: &[&str]) -> Self {
        Self { name: name.to_owned(), arguments: arguments.iter().map(|part| (*part).to_owned()).collect() }
    }

    /// The `cargo-rideout` that cargo has built for this benchmark.
    pub(crate) fn rideout(arguments: &[&str]) -> Self {
        Self::new(env!("CARGO_BIN_EXE_cargo-rideout"), arguments)
    }

    /// Runs it once in a folder and tells the seconds of wall time. The report is thrown away.
    pub(crate) fn seconds(&self, folder: &Path) -> Result<f64> {
        let start = Instant::now();
        self.run(folder, Stdio::null())?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// Runs it once in a folder for its report.
    pub(crate) fn report(&self, folder: &Path) -> Result<Vec<u8>> {
        Ok(self.run(folder, Stdio::piped())?.stdout)
    }

    /// Status 0 says that nothing was found, 1 that something was; any other is no measurement.
    fn run(&self, folder: &Path, stdout: Stdio) -> Result<Output> {
        let name = &self.name;
        let mut command = Command::new(name);
        command.args(&self.arguments).current_dir(folder).stdin(Stdio::null()).stdout(stdout);
        let output = command.output().with_context(|| format!("cannot run `{name}`"))?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        let ran = matches!(output.status.code(), Some(0 | 1));
        ensure!(ran, "`{name}` ended with {}: {}", output.status, stderr.trim());
        Ok(output)
    }
}

/// The median of measured values, and how far they lie apart.
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Spread {
    /// None of no values.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = *values.get(middle)?;
        let median = if values.len() % 2 == 0 { f64::midpoint(values[middle - 1], median) } else { median };
        Some(Self { median, least: *values.first()?, most: *values.last()? })
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { median, least, most } = self;
        let digits = f.precision().unwrap_or(2);
        write!(f, "{median:.digits$} ({least:.digits$} to {most:.digits$})")
    }
}
