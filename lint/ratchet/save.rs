//! Writes a file so that whoever looks finds the old or the new one, whenever the writer is stopped.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process,
    time::{Duration, SystemTime},
};

use anyhow::{Context, Result, bail};

/// What a writer that was stopped has left is taken away after this time.
const LEFT_OVER: Duration = Duration::from_secs(60);

/// Replaces a file, which must still be as it was read; None if it is to be there for the first time.
///
/// # Errors
///
/// When somebody else has changed it, or the folder cannot be written.
pub(crate) fn save(path: &Path, before: Option<&[u8]>, text: &str) -> Result<()> {
    // A link stays one: what it points at is replaced.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let cannot = || format!("cannot write `{}`", path.display());
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { bail!(cannot()) };
    let start = format!(".{}.", name.to_string_lossy());
    sweep(folder, &start);
    let new = folder.join(format!("{start}{}.tmp", process::id()));
    let written = fill(&new, text, before.and_then(|_| fs::metadata(&path).ok()));
    let replaced = written.with_context(cannot).and_then(|()| {
        if fs::read(&path).ok().as_deref() != before {
            bail!("`{}` has changed in the meantime; nothing is written", path.display());
        }
        fs::rename(&new, &path).with_context(cannot)
    });
    if replaced.is_err() {
        let _ = fs::remove_file(&new);
        return replaced;
    }
    // The name is safe with its folder; where folders cannot be opened the rename has to do.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

fn fill(path: &PathBuf, text: &str, like: Option<fs::Metadata>) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    if let Some(like) = like {
        file.set_permissions(like.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Takes away what writers that were stopped have left.
fn sweep(folder: &Path, start: &str) {
    let is_old = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let age = || SystemTime::now().duration_since(entry.metadata().ok()?.modified().ok()?).ok();
        name.starts_with(start) && name.ends_with(".tmp") && age().is_some_and(|age| age > LEFT_OVER)
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(is_old) {
        let _ = fs::remove_file(entry.path());
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::save;

    #[test]
    fn a_file_that_has_changed_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("baseline.toml");
        save(&path, None, "one").unwrap();
        assert!(save(&path, None, "two").is_err(), "it is there already");
        assert!(save(&path, Some(b"other"), "two").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        save(&path, Some(b"one"), "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left over");
    }

    #[test]
    fn the_old_file_is_never_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let (path, old) = (folder.path().join("baseline.toml"), folder.path().join("old"));
        save(&path, None, "one").unwrap();
        fs::hard_link(&path, &old).unwrap();
        save(&path, Some(b"one"), "two").unwrap();
        assert_eq!(fs::read_to_string(&old).unwrap(), "one", "the same file under another name");
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&file, "one").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("a", &link).unwrap();
        save(&link, Some(b"one"), "two").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "two");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
