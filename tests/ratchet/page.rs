//! `docs/baseline.md` and the README's part on the ratchet: what they show is what the binary does in the demo.

use std::{fs, path::Path};

use super::repo::{git_in, run_in};
use crate::docs::{current, replaced, root};

/// The watch on changed prices, opened again.
const MENDED: &str = "\
/// Forgets each price that another service announces as changed.
pub async fn start(client: redis::Client, cache: Arc<PriceCache>) {
    loop {
        if let Ok(mut pubsub) = client.get_async_pubsub().await
            && pubsub.subscribe(\"prices:changed\").await.is_ok()
        {
            let mut changes = pubsub.on_message();
            while let Some(change) = changes.next().await {
                if let Ok(sku) = change.get_payload::<String>() {
                    cache.forget(&sku);
                }
            }
        }
        tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    }
}
";

/// Another that dies.
const ADDED: &str = "\
use futures::StreamExt;

pub async fn follow(client: redis::Client) -> redis::RedisResult<()> {
    let mut pubsub = client.get_async_pubsub().await?;
    pubsub.subscribe(\"rates\").await?;
    let mut rates = pubsub.on_message();
    while let Some(rate) = rates.next().await {
        tracing::info!(?rate);
    }
    Ok(())
}
";

/// A copy of the demo under git, in which time goes by.
struct Demo {
    scratch: tempfile::TempDir,
}

impl Demo {
    fn new() -> Self {
        let demo = Self { scratch: tempfile::tempdir().unwrap() };
        let from = root().join("fixtures/workspaces/demo");
        for entry in walkdir::WalkDir::new(&from).into_iter().map(Result::unwrap) {
            let to = demo.dir().join(entry.path().strip_prefix(&from).unwrap());
            if entry.file_type().is_dir() {
                fs::create_dir_all(to).unwrap();
            } else {
                fs::copy(entry.path(), to).unwrap();
            }
        }
        git_in(demo.dir(), &["init", "-q", "-b", "main"]);
        demo
    }

    fn dir(&self) -> &Path {
        self.scratch.path()
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.dir().join(path)
    }

    fn commit(&self, day: u32) {
        git_in(self.dir(), &["add", "-A"]);
        let day = format!("2026-01-{day:02}T12:00:00Z");
        let status = std::process::Command::new("git")
            .current_dir(self.dir())
            .args(["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "work"])
            .env("GIT_COMMITTER_DATE", day)
            .status();
        assert!(status.unwrap().success());
    }

    /// A command line and what it prints.
    fn shown(&self, command: &str, code: i32) -> String {
        let arguments: Vec<&str> = command.split(' ').collect();
        let ran = run_in(self.dir(), &arguments, &[]);
        assert_eq!(ran.code, Some(code), "{command}: {ran:?}");
        format!("$ cargo rideout {command}\n{}", ran.stdout)
    }

    fn mend(&self) {
        let text = fs::read_to_string(self.path("src/prices.rs")).unwrap();
        let (head, _) = text.split_once("/// Forgets each price").unwrap();
        fs::write(self.path("src/prices.rs"), head.to_owned() + MENDED).unwrap();
    }

    /// Adds a module with one more watch that dies, or takes it away.
    fn add(&self, there: bool) {
        let text = fs::read_to_string(self.path("src/main.rs")).unwrap();
        let with = text.replace("mod prices;", "mod prices;\nmod rates;");
        assert_ne!(text, with);
        if there {
            fs::write(self.path("src/main.rs"), with).unwrap();
            fs::write(self.path("src/rates.rs"), ADDED).unwrap();
        } else {
            fs::write(self.path("src/main.rs"), text.replace("\nmod rates;", "")).unwrap();
            fs::remove_file(self.path("src/rates.rs")).unwrap();
        }
    }
}

fn console(parts: &[&str]) -> String {
    format!("```console\n{}```\n", parts.concat())
}

#[test]
fn the_pages_show_what_happens() {
    let demo = Demo::new();
    let init = demo.shown("baseline init", 0);
    let check = demo.shown("check", 0);
    let file = fs::read_to_string(demo.path("baseline.toml")).unwrap();
    demo.commit(5);
    let start = git_in(demo.dir(), &["rev-parse", "--short=10", "HEAD"]);

    demo.mend();
    demo.add(true);
    let swap = demo.shown("check --format short", 1);
    let swap_summary = demo.shown("check", 1);
    let swap_summary = &swap_summary[swap_summary.find("baseline.toml:").unwrap()..];
    demo.add(false);
    let tighten = demo.shown("baseline tighten", 0);
    let diff: String = git_in(demo.dir(), &["diff", "-U0", "baseline.toml"])
        .lines()
        .skip_while(|line| !line.starts_with("@@"))
        .skip(1)
        .map(|line| format!("{line}\n"))
        .collect();
    let diff = format!("$ git diff baseline.toml\n{diff}");
    demo.commit(9);

    demo.add(true);
    fs::remove_file(demo.path("baseline.toml")).unwrap();
    assert_eq!(run_in(demo.dir(), &["baseline", "init", "-q"], &[]).code, Some(0));
    let raised = demo.shown("check --base HEAD~1 --format short", 1).replace(&start, "4c1a90fe27");
    demo.add(false);
    git_in(demo.dir(), &["checkout", "-q", "baseline.toml"]);
    let stats = demo.shown("baseline stats", 0);

    let readme = root().join("README.md");
    let text = fs::read_to_string(&readme).unwrap();
    current(readme, &replaced(&text, "ratchet", &console(&[&init, "\n", &check, "\n", &tighten, &diff])));

    let page = root().join("docs/baseline.md");
    let mut text = fs::read_to_string(&page).unwrap();
    for (mark, part) in [
        ("start", console(&[&init, "\n", &check])),
        ("file", format!("```toml\n{file}```\n")),
        ("swap", console(&[&swap, "\n$ cargo rideout | tail -6\n", swap_summary])),
        ("tighten", console(&[&tighten, &diff])),
        ("raised", console(&[&raised])),
        ("stats", console(&[&stats])),
    ] {
        text = replaced(&text, mark, &part);
    }
    current(page, &text);
}
