//! The commands around the baseline: what a check is held against, what writes the file, and what git says of it.

mod record;

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use crate::{
    Exit,
    analysis::Analysis,
    cli::{BaselineCommand, DiffFormat, FileArgs, HeldArgs, ListFormat},
    deliver,
    ratchet::{
        self, Admitted, Base, Ceiling, Change, Comparison, Document, Git, History, Homes, Place, Sides,
        Verdict,
    },
    report,
    workspace::Workspace,
};

/// Runs a command of `baseline`.
pub(crate) fn run(command: &BaselineCommand, stdout: &mut dyn Write, stderr: &mut dyn Write) -> Result<Exit> {
    match command {
        BaselineCommand::Init(args) => record::init(args, stdout, stderr),
        BaselineCommand::Tighten(args) => record::tighten(args, stdout, stderr),
        BaselineCommand::Adopt { record, reason } => record::adopt(record, reason.as_deref(), stdout, stderr),
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
    let Some(before) = Ceiling::find(&git, &base.commit, place)? else {
        verdict.notes.push(format!("{} has no baseline yet: this one is the first", base.shown));
        return Ok(());
    };
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
    let change = Change::new(&Ceiling::of(&before), &after, &|_| true);
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
