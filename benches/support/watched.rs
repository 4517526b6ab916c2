//! A service with any number of standing watches, every other one guarded.

use std::{fmt::Write, fs, path::Path};

use anyhow::Result;

const MANIFEST: &str = r#"[package]
name = "watched"
version = "0.1.0"
edition = "2024"

[dependencies]
futures-util = "0.3"
tokio = { version = "1", features = ["full"] }
tokio-tungstenite = "0.28"
"#;

const DYING: &str = r#"use futures_util::StreamExt;

pub async fn run(url: String) -> anyhow::Result<()> {
    let (mut socket, _) = tokio_tungstenite::connect_async(&url).await?;
    while let Some(Ok(message)) = socket.next().await {
        println!("{message}");
    }
    Ok(())
}
"#;

const GUARDED: &str = r#"use std::time::Duration;

use futures_util::StreamExt;

pub async fn run(url: String) -> anyhow::Result<()> {
    loop {
        match tokio_tungstenite::connect_async(&url).await {
            Ok((mut socket, _)) => {
                while let Some(Ok(message)) = socket.next().await {
                    println!("{message}");
                }
            }
            Err(error) => eprintln!("cannot connect: {error}"),
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
"#;

/// Writes the service into a folder: one watch a file, each in a task of its own.
pub(crate) fn service(dir: &Path, watches: usize) -> Result<()> {
    let src = dir.join("src");
    fs::create_dir_all(&src)?;
    fs::write(dir.join("Cargo.toml"), MANIFEST)?;
    let (mut modules, mut tasks) = (String::new(), String::new());
    for index in 0..watches {
        fs::write(src.join(format!("feed{index}.rs")), if index % 2 == 0 { DYING } else { GUARDED })?;
        writeln!(modules, "mod feed{index};")?;
        writeln!(tasks, "    tokio::spawn(feed{index}::run(url.clone()));")?;
    }
    let main = format!(
        "{modules}\n#[tokio::main]\nasync fn main() {{\n    let url = String::from(\"wss://feed.example\");\n{tasks}    \
         std::future::pending::<()>().await;\n}}\n"
    );
    fs::write(src.join("main.rs"), main)?;
    Ok(())
}
