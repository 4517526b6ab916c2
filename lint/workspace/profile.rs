//! What a manifest says of panics.

use serde::Deserialize;

#[derive(Deserialize)]
struct Manifest {
    profile: Option<Profiles>,
}

#[derive(Deserialize)]
struct Profiles {
    release: Option<Profile>,
}

#[derive(Deserialize)]
struct Profile {
    panic: Option<String>,
}

/// Whether a panic aborts the process in what this manifest of a workspace builds for release.
pub(crate) fn panic_aborts(manifest: &str) -> bool {
    let release = || toml::from_str::<Manifest>(manifest).ok()?.profile?.release?.panic;
    manifest.contains("abort") && release().is_some_and(|panic| panic == "abort")
}

#[cfg(test)]
mod tests {
    use super::panic_aborts;

    #[test]
    fn only_the_release_profile_counts() {
        assert!(panic_aborts("[package]\nname = \"a\"\n\n[profile.release]\npanic = \"abort\"\n"));
        assert!(!panic_aborts("[package]\nname = \"a\"\n\n[profile.dev]\npanic = \"abort\"\n"));
        assert!(!panic_aborts("[profile.release]\nlto = true # no panic = \"abort\"\n"));
    }
}
