//! A scratch project and a way to run the command in it, with nothing of this machine's environment.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use assert_cmd::Command;
use tempfile::TempDir;

/// A function whose websocket dies at its first error.
pub(crate) const WATCH: &str = "\
use futures_util::StreamExt;

pub async fn run() -> anyhow::Result<()> {
    let (mut socket, _) = tokio_tungstenite::connect_async(\"wss://feed.example\").await?;
    while let Some(Ok(message)) = socket.next().await {
        println!(\"{message}\");
    }
    Ok(())
}
";

/// No UTF-8, and so a finding in any scope that holds it.
pub(crate) const NOT_UTF8: &[u8] = b"fn main() {}\n// \xff\n";

/// A manifest of a package that depends on the websocket crate.
pub(crate) fn manifest(name: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nanyhow = \"1\"\nfutures-util = \"0.3\"\ntokio-tungstenite = \"0.28\"\n"
    )
}

/// A folder that goes away with the test.
pub(crate) struct Project {
    dir: TempDir,
}

/// What a run has said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Project {
    pub(crate) fn empty() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// A package with these files.
    pub(crate) fn package(files: &[(&str, &str)]) -> Self {
        let project = Self::empty();
        project.write("Cargo.toml", manifest("app"));
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Runs `cargo-rideout` in the project's folder.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_in(".", args)
    }

    pub(crate) fn run_in(&self, dir: &str, args: &[&str]) -> Ran {
        ran(command(&self.path(dir)).args(args))
    }
}

/// The command, in a folder, without variables that change what it says. A run that hangs fails.
pub(crate) fn command(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-rideout"));
    command.current_dir(dir).timeout(Duration::from_secs(180));
    for name in [
        "CARGO_TERM_COLOR",
        "NO_COLOR",
        "CLICOLOR_FORCE",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "CI",
        "RUST_BACKTRACE",
    ] {
        command.env_remove(name);
    }
    command
}

pub(crate) fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    let ran = Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    };
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    ran
}
