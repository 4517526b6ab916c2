//! The commands around the baseline: what a check is held against, and what writes the file.

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use crate::{
    Exit, analyse,
    analysis::Analysis,
    cli::{BaselineCommand, DiffFormat, FileArgs, HeldArgs, ListFormat, RecordArgs},
    deliver,
    ratchet::{
        self, Admitted, Base, Change, Comparison, Document, Entry, Git, History, Homes, Place, Sides, Verdict,
    },
    report,
    workspace::Workspace,
};

/// Runs a command of `baseline`.
pub(crate) fn run(command: &BaselineCommand, stdout: &mut dyn Write, stderr: &mut dyn Write) -> Result<Exit> {
    match command {
        BaselineCommand::Init(args) => init(args, stdout, stderr),
        BaselineCommand::Tighten(args) => tighten(args, stdout, stderr),
        BaselineCommand::Adopt { record, reason } => adopt(record, reason.as_deref(), stdout, stderr),
        BaselineCommand::Resolve(args) => resolve(args, stdout),
        BaselineCommand::Diff { old, new, file, format } => diff(old, new.as_deref(), file, *format, stdout),
        BaselineCommand::Stats { file, format } => stats(file, *format, stdout),
    }
}

/// Holds a run against its baseline, and that against its base.
pub(crate) fn verdict(args: &HeldArgs, workspace: &Workspace, analysis: &Analysis) -> Result<Verdict> {
    if args.no_baseline {
        return Ok(Verdict::default());
    }
    let place = Place::find(&workspace.root, &cwd()?, args.baseline.as_deref())?;
    let Some(place) = place else {
        if let Some(asked) = &args.base {
            base(&workspace.root, asked)?;
        }
        return Ok(Verdict::default());
    };
    let (document, _) = place.read()?;
    let mut verdict = Comparison::new(workspace, analysis, &place, &document).verdict();
    verdict.strict = args.strict || is_set("CI");
    if document.is_older() {
        verdict.notes.push(format!(
            "`{}` is of an analysis that sees less than this one; \
             `cargo rideout baseline adopt --reason ..` takes in what is new",
            place.shown
        ));
    }
    if let Some(asked) = &args.base {
        guard(&mut verdict, asked, &place, &document)?;
    }
    Ok(verdict)
}

/// Whether a variable says yes.
fn is_set(name: &str) -> bool {
    env::var(name).is_ok_and(|value| !["", "0", "false"].contains(&value.as_str()))
}

fn cwd() -> Result<PathBuf> {
    let cwd = env::current_dir().context("cannot tell the working folder")?;
    fs::canonicalize(&cwd).with_context(|| format!("cannot enter `{}`", cwd.display()))
}

fn base(dir: &Path, asked: &str) -> Result<(Git, Base)> {
    let git = Git::new(dir).context("cannot read the base")?;
    let base = ratchet::base(&git, asked, &|name| env::var(name).ok()).context("cannot read the base")?;
    Ok((git, base))
}

/// Notes what the baseline has gained over that of the base.
fn guard(verdict: &mut Verdict, asked: &str, place: &Place, document: &Document) -> Result<()> {
    let (git, base) = base(place.folder(), asked)?;
    let Some(bytes) = git.file(&base.commit, &place.name())? else {
        verdict.notes.push(format!("{} has no baseline yet: this one is the first", base.shown));
        return Ok(());
    };
    if ratchet::is_blank(&bytes) {
        verdict.notes.push(format!("the baseline of {} is empty: this one is the first", base.shown));
        return Ok(());
    }
    let before = ratchet::parsed(&bytes, &format!("{} of {}", place.shown, base.shown))?;
    let homes = Homes::new(&place.dir);
    let change = Change::new(&before, document, &|entry| homes.is_gone(entry));
    verdict.raised = change.raises();
    for (by, what) in [(Admitted::Allowed, "allowed by comments"), (Admitted::Adopted, "adopted")] {
        match change.admitted(by) {
            0 => {}
            count => verdict.notes.push(format!("{count} more {what} than at {}", base.shown)),
        }
    }
    verdict.base = Some(base.shown);
    Ok(())
}

/// A line for people, unless they want none.
fn say(args: &RecordArgs, stdout: &mut dyn Write, exit: Exit, line: &str) -> Result<Exit> {
    deliver(stdout, exit, |out| if args.scope.quiet { Ok(()) } else { writeln!(out, "{line}") })
}

/// A sentence on why nothing was written.
fn refuse(stderr: &mut dyn Write, sentence: &str) -> Exit {
    let _ = writeln!(stderr, "error: {sentence}");
    Exit::Findings
}

/// A baseline that does not see a file would call its findings mended, or new later on.
fn unread(analysis: &Analysis, shown: &str, stderr: &mut dyn Write) -> Option<Exit> {
    let first = analysis.unread.first()?;
    let more = match analysis.unread.len() {
        1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    let line = first.line.map_or(String::new(), |line| format!(":{line}"));
    let sentence = format!(
        "`{shown}` is left as it is, because a file could not be read: {}{line}: {}{more}",
        first.path, first.reason
    );
    Some(refuse(stderr, &sentence))
}

/// Refuses findings that no entry can name.
fn within(workspace: &Workspace, analysis: &Analysis, place: &Place) -> Result<()> {
    match ratchet::outside(workspace, analysis, place) {
        None => Ok(()),
        Some(file) => bail!(
            "`{file}` has a finding and lies outside of the folder of `{}`; name a baseline in a folder above both \
             with `--baseline`",
            place.shown
        ),
    }
}

fn init(args: &RecordArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> Result<Exit> {
    let (workspace, analysis) = analyse(&args.scope, "Recording", stderr)?;
    let place = Place::create(&workspace.root, &cwd()?, args.file.baseline.as_deref())?;
    let shown = &place.shown;
    let before = match fs::read(&place.path) {
        Ok(bytes) if ratchet::is_blank(&bytes) => Some(bytes),
        Ok(_) => {
            bail!("`{shown}` is there already; `cargo rideout baseline tighten` takes out what is mended")
        }
        Err(_) => None,
    };
    if let Some(exit) = unread(&analysis, shown, stderr) {
        return Ok(exit);
    }
    within(&workspace, &analysis, &place)?;
    let found = ratchet::found(&workspace, &analysis, &place);
    let entries: Vec<Entry> =
        found.into_iter().filter(|found| found.counts(args.pedantic)).map(|found| found.entry).collect();
    let mut document = Document::new(before.as_deref());
    let count = entries.len();
    document.rewrite([], entries);
    ratchet::save(&place.path, before.as_deref(), &document.text())?;
    say(args, stdout, Exit::Clean, &format!("{shown}: {} recorded", amount(count)))
}

fn tighten(args: &RecordArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> Result<Exit> {
    let (workspace, analysis) = analyse(&args.scope, "Tightening", stderr)?;
    let place = existing(&workspace.root, &args.file)?;
    let (document, bytes) = place.read()?;
    let shown = &place.shown;
    if let Some(exit) = unread(&analysis, shown, stderr) {
        return Ok(exit);
    }
    within(&workspace, &analysis, &place)?;
    let comparison = Comparison::new(&workspace, &analysis, &place, &document);
    let new = comparison.new_ones(args.pedantic).len();
    if new > 0 {
        return Ok(refuse(
            stderr,
            &format!(
                "`{shown}` is left as it is, because {} not in it: `cargo rideout check` shows what is new",
                are(new)
            ),
        ));
    }
    let tightened = comparison.tightened(&document, Vec::new(), true);
    let text = tightened.text();
    let (out, left) = (comparison.verdict().stale.len(), tightened.entries().count());
    if text.as_bytes() == bytes {
        return say(
            args,
            stdout,
            Exit::Clean,
            &format!("{shown}: nothing to tighten; {} left", amount(left)),
        );
    }
    ratchet::save(&place.path, Some(&bytes), &text)?;
    let followed = match comparison.followed() {
        0 => String::new(),
        count => format!(", {count} edited or moved"),
    };
    say(
        args,
        stdout,
        Exit::Clean,
        &format!("{shown}: {} taken out{followed}; {} left", amount(out), amount(left)),
    )
}

fn adopt(
    args: &RecordArgs,
    reason: Option<&str>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<Exit> {
    if reason.is_some_and(|reason| !reason.contains(char::is_alphanumeric) || reason.contains(['\n', '\r'])) {
        bail!("`--reason` must say why, in one line");
    }
    let (workspace, analysis) = analyse(&args.scope, "Adopting", stderr)?;
    let place = existing(&workspace.root, &args.file)?;
    let (document, bytes) = place.read()?;
    let shown = &place.shown;
    if let Some(exit) = unread(&analysis, shown, stderr) {
        return Ok(exit);
    }
    within(&workspace, &analysis, &place)?;
    let comparison = Comparison::new(&workspace, &analysis, &place, &document);
    let new: Vec<Entry> =
        comparison.new_ones(args.pedantic).into_iter().map(|found| found.entry.clone()).collect();
    let refused = new.iter().filter(|entry| entry.plain && !document.may_grow(entry.rule)).count();
    if refused > 0 {
        return Ok(refuse(
            stderr,
            &format!(
                "`{shown}` is left as it is: {} new and not found by a newer analysis, but come with the code. \
                 Mend the watch, or allow it with a comment and a reason",
                are(refused)
            ),
        ));
    }
    if new.is_empty() && !document.is_older() {
        return say(args, stdout, Exit::Clean, &format!("{shown}: nothing to adopt"));
    }
    let (count, grows) = (new.len(), document.is_older() || new.iter().any(|entry| entry.plain));
    let mut adopted = comparison.tightened(&document, new, false);
    if grows {
        let Some(reason) = reason else { bail!("`--reason` must say why the list may grow") };
        adopted.adopt(reason);
    }
    ratchet::save(&place.path, Some(&bytes), &adopted.text())?;
    let left = amount(adopted.entries().count());
    say(args, stdout, Exit::Clean, &format!("{shown}: {} adopted; {left} now", amount(count)))
}

fn existing(root: &Path, args: &FileArgs) -> Result<Place> {
    Place::find(root, &cwd()?, args.baseline.as_deref())?
        .context("there is no baseline.toml; `cargo rideout baseline init` writes one")
}

fn resolve(args: &FileArgs, stdout: &mut dyn Write) -> Result<Exit> {
    let place = existing(&cwd()?, args)?;
    let shown = &place.shown;
    let bytes = fs::read(&place.path).with_context(|| format!("cannot read `{shown}`"))?;
    let Some(sides) = Sides::find(&place, &bytes)? else {
        return deliver(stdout, Exit::Clean, |out| writeln!(out, "{shown}: no conflict"));
    };
    let merged = sides.merged();
    ratchet::save(&place.path, Some(&bytes), &merged.text())?;
    let count = amount(merged.entries().count());
    deliver(stdout, Exit::Clean, |out| {
        writeln!(out, "{shown}: {count} kept; `git add {shown}` takes it as mended")
    })
}

fn diff(
    old: &str,
    new: Option<&str>,
    args: &FileArgs,
    format: DiffFormat,
    stdout: &mut dyn Write,
) -> Result<Exit> {
    let cwd = cwd()?;
    let place = || existing(&cwd, args);
    let named = |name: &str| -> Result<Document> {
        let path = cwd.join(name);
        if path.is_file() {
            let bytes = fs::read(&path).with_context(|| format!("cannot read `{name}`"))?;
            return ratchet::parsed(&bytes, name);
        }
        let place = place()?;
        let git = Git::new(place.folder())?;
        let Some(commit) = git.commit(name)? else { bail!("there is no file and no revision `{name}`") };
        match git.file(&commit, &place.name())? {
            Some(bytes) if !ratchet::is_blank(&bytes) => {
                ratchet::parsed(&bytes, &format!("{} of {name}", place.shown))
            }
            _ => Ok(Document::new(None)),
        }
    };
    let before = named(old)?;
    let after = new.map_or_else(|| Ok(place()?.read()?.0), named)?;
    let change = Change::new(&before, &after, &|_| true);
    deliver(stdout, Exit::Clean, |out| match format {
        DiffFormat::Human => report::diff(&change, out),
        DiffFormat::Markdown => report::diff_markdown(&change, out),
        DiffFormat::Json => report::diff_json(&change, out),
    })
}

fn stats(args: &FileArgs, format: ListFormat, stdout: &mut dyn Write) -> Result<Exit> {
    let place = existing(&cwd()?, args)?;
    let history = History::read(&place)?;
    deliver(stdout, Exit::Clean, |out| match format {
        ListFormat::Human => report::stats(&history, &place.shown, out),
        ListFormat::Json => report::stats_json(&history, out),
    })
}

fn amount(count: usize) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

fn are(count: usize) -> String {
    if count == 1 { "1 finding is".to_owned() } else { format!("{count} findings are") }
}
