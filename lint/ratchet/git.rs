//! What git knows, by asking the `git` on the path.

use std::{
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
};

use anyhow::{Context, Result, anyhow, bail};

/// A folder in a work tree.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    dir: PathBuf,
}

impl Git {
    /// Git in a folder.
    ///
    /// # Errors
    ///
    /// No git, or no repository around the folder.
    pub(crate) fn new(dir: &Path) -> Result<Self> {
        let git = Self { dir: dir.to_owned() };
        let output = git.output(&["rev-parse", "--is-inside-work-tree"])?;
        if output.stdout.trim_ascii() == b"true" {
            return Ok(git);
        }
        bail!("`{}` is in no git repository{}", dir.display(), said(&output))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.dir).args(args).env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
        command
    }

    fn output(&self, args: &[&str]) -> Result<Output> {
        self.command(args).output().map_err(|error| match error.kind() {
            ErrorKind::NotFound => anyhow!("there is no `git` to ask"),
            _ => anyhow!("cannot run `git`: {error}"),
        })
    }

    /// What a command prints, without white space around it. None: it has failed.
    pub(crate) fn ask(&self, args: &[&str]) -> Result<Option<String>> {
        let output = self.output(args)?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(output.status.success().then_some(text))
    }

    /// What a command prints.
    ///
    /// # Errors
    ///
    /// When it fails, with what it says.
    pub(crate) fn bytes(&self, args: &[&str]) -> Result<Vec<u8>> {
        let output = self.output(args)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        bail!("`git {}` has failed{}", args.join(" "), said(&output))
    }

    /// The commit that a revision names, if it is here.
    pub(crate) fn commit(&self, revision: &str) -> Result<Option<String>> {
        let commit = format!("{revision}^{{commit}}");
        Ok(self
            .ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])?
            .filter(|id| !id.is_empty()))
    }

    /// The parents of a commit as it was made, also those that a shallow clone has cut off.
    pub(crate) fn parents(&self, commit: &str) -> Result<Vec<String>> {
        let text = self.bytes(&["cat-file", "commit", commit])?;
        let text = String::from_utf8_lossy(&text);
        let head = text.split("\n\n").next().unwrap_or_default();
        Ok(head.lines().filter_map(|line| line.strip_prefix("parent ")).map(str::to_owned).collect())
    }

    /// Whether the history is cut off.
    pub(crate) fn is_shallow(&self) -> Result<bool> {
        Ok(self.ask(&["rev-parse", "--is-shallow-repository"])?.as_deref() == Some("true"))
    }

    /// The last commit that two have in common.
    pub(crate) fn merge_base(&self, left: &str, right: &str) -> Result<Option<String>> {
        Ok(self.ask(&["merge-base", left, right])?.filter(|id| !id.is_empty()))
    }

    /// A file of this folder as it is in a commit. None: it is not there.
    pub(crate) fn file(&self, commit: &str, name: &str) -> Result<Option<Vec<u8>>> {
        let listed = self.bytes(&["ls-tree", "-z", commit, "--", &format!("./{name}")])?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        // `mode type id<tab>path`
        let Some((about, _)) = listed.split_once('\t') else { return Ok(None) };
        let id = about.rsplit(' ').next().unwrap_or_default();
        self.bytes(&["cat-file", "blob", id])
            .map(Some)
            .with_context(|| format!("cannot read `{name}` of {}", short(commit)))
    }

    /// The top folder of the work tree.
    pub(crate) fn top(&self) -> Result<PathBuf> {
        let top = self.bytes(&["rev-parse", "--show-toplevel"])?;
        Ok(PathBuf::from(String::from_utf8_lossy(top.trim_ascii_end()).into_owned()))
    }

    /// The files of a commit that have this name, in whatever folder, by their paths from the top.
    pub(crate) fn named(&self, commit: &str, name: &str) -> Result<Vec<String>> {
        let listed = self.bytes(&["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit])?;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        let is_named = |path: &&str| path.rsplit('/').next() == Some(name);
        Ok(listed.split('\0').filter(is_named).map(str::to_owned).collect())
    }

    /// A file of this folder as it is in each of many commits, in their order. None where it is not there.
    pub(crate) fn files(&self, commits: &[&str], name: &str) -> Result<Vec<Option<Vec<u8>>>> {
        let prefix = self.bytes(&["rev-parse", "--show-prefix"])?;
        let prefix = String::from_utf8_lossy(prefix.trim_ascii_end()).into_owned();
        let asked: String = commits.iter().map(|commit| format!("{commit}:{prefix}{name}\n")).collect();
        let mut command = self.command(&["cat-file", "--batch"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take();
        // A pipe holds little: what is asked and what is answered must flow at the same time.
        let writer = thread::spawn(move || input.map(|mut input| input.write_all(asked.as_bytes())));
        let output = child.wait_with_output()?;
        let _ = writer.join();
        let mut rest = output.stdout.as_slice();
        let files = commits.iter().map(|_| batched(&mut rest));
        Ok(files.collect())
    }
}

/// Takes one answer of `cat-file --batch`: `id type size`, then the content; or `name missing`.
fn batched(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let line = rest.split(|byte| *byte == b'\n').next()?;
    *rest = rest.get(line.len() + 1..)?;
    let size = String::from_utf8_lossy(line).rsplit(' ').next()?.parse::<usize>().ok()?;
    let file = rest.get(..size)?.to_vec();
    *rest = rest.get(size + 1..).unwrap_or_default();
    Some(file)
}

/// The first characters of a commit's name.
pub(crate) fn short(commit: &str) -> &str {
    let is_name = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_name { commit.get(..10).unwrap_or(commit) } else { commit }
}

/// What git has said about a failure.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let line = line.trim_start_matches("fatal: ").trim_start_matches("error: ").trim();
    if line.is_empty() { String::new() } else { format!(": {line}") }
}
