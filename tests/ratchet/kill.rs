//! A writer that is killed leaves the old or the new file.

use std::{
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::repo::{Repo, run_in};

const TRIES: u32 = 200;

#[test]
fn a_killed_tighten_leaves_the_old_or_the_new_file() {
    let repo = Repo::held(&[("a", &["one"]), ("b", &["last"])]);
    // Long enough that a write would be seen half done.
    repo.edit("baseline.toml", |text| text.to_owned() + &"# a long comment of somebody\n".repeat(4_000));
    let old = repo.baseline();
    repo.mend("b", "last");
    let begun = Instant::now();
    assert_eq!(run_in(&repo.dir, &["baseline", "tighten", "-q"], &[]).code, Some(0));
    let whole = begun.elapsed();
    let new = repo.baseline();
    assert_ne!(old, new);
    let (mut olds, mut news) = (0, 0);
    // The kill closes in on the moment of the write, wherever the load of the machine puts it.
    let mut share = whole;
    for _ in 0..TRIES {
        repo.write("baseline.toml", &old);
        let mut child = Command::new(env!("CARGO_BIN_EXE_cargo-rideout"))
            .args(["baseline", "tighten", "-q"])
            .current_dir(&repo.dir)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(share.min(Duration::from_secs(10)));
        let _ = child.kill();
        child.wait().unwrap();
        let found = repo.baseline();
        match () {
            () if found == old => {
                olds += 1;
                share = share.mul_f64(1.04);
            }
            () if found == new => {
                news += 1;
                share = share.mul_f64(0.96);
            }
            () => panic!("neither the old nor the new file after {share:?}: {} bytes", found.len()),
        }
    }
    assert!(olds > 0 && news > 0, "{olds} old and {news} new: no kill came in between");
    // What a killed writer has left beside it hinders nobody.
    repo.write("baseline.toml", &old);
    assert_eq!(repo.run(&["baseline", "tighten", "-q"]).code, Some(0));
    assert_eq!(repo.baseline(), new);
}
