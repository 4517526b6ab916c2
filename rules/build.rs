//! Collects `catalog/*.toml` into one table, so that adding a crate is adding a file.

use std::{env, error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("catalog");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".toml") {
            names.push(name);
        }
    }
    names.sort();
    let mut table = String::from("&[\n");
    for name in &names {
        let path = folder.join(name);
        table.push_str(&format!("    ({name:?}, include_str!({:?})),\n", path.display().to_string()));
    }
    table.push(']');
    fs::write(Path::new(&env::var("OUT_DIR")?).join("catalog.rs"), table)?;
    Ok(())
}
