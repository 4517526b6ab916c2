//! Rideout on its own repository: no finding, and nothing in the baseline.

use std::process::Command;

#[test]
fn this_repository_has_no_finding() {
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-rideout"))
        .args(["check", "--workspace", "--pedantic", "--strict", "--color", "never"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    assert!(stdout.starts_with("no new findings\n"), "held by the baseline, which is empty: {stdout}");
}
