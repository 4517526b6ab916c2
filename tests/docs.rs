//! Docs are outputs: each page's examples run through the binary, and what is generated is current.
//!
//! `RIDEOUT_BLESS=1 cargo test docs` writes the generated parts anew.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use rideout_rules::{RULES, Rule, catalog};

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn rideout(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cargo-rideout"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("CI")
        .env_remove("CARGO_TERM_COLOR")
        .output()
        .unwrap()
}

/// Compares a generated text with its file, or writes it if the tests are asked to.
pub(crate) fn current(path: PathBuf, wanted: &str) {
    if std::env::var_os("RIDEOUT_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, wanted).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "{} is not current: run `RIDEOUT_BLESS=1 cargo test docs`", path.display());
}

/// The fenced blocks of a language under a heading; the whole text with an empty heading.
pub(crate) fn fences<'a>(text: &'a str, heading: &str, language: &str) -> Vec<&'a str> {
    let from = text.find(heading).unwrap();
    let section = &text[from + heading.len()..];
    let section = if heading.is_empty() { section } else { section.split("\n### ").next().unwrap() };
    let opening = format!("```{language}\n");
    section.split(&opening).skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect()
}

/// The rules that one file, alone in a folder, is flagged under.
fn flagged_under(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("example.rs"), text).unwrap();
    let output = rideout(&["check", "--format", "json", "--pedantic", "example.rs"], folder.path());
    let stderr = String::from_utf8_lossy(&output.stderr);
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    let mut rules: Vec<String> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["rule"].as_str().unwrap().to_owned())
        .collect();
    if rules.is_empty() && report["unread"].as_array().is_some_and(|unread| !unread.is_empty()) {
        rules.push("unread-file".to_owned());
    }
    assert_eq!(output.status.code(), Some(i32::from(!rules.is_empty())), "{stderr}");
    rules
}

fn section<'a>(rule: &'a Rule, heading: &str) -> &'a str {
    let blocks = fences(rule.docs, heading, "rust");
    assert_eq!(blocks.len(), 1, "{}: {heading}", rule.id);
    blocks[0]
}

#[test]
fn each_example_is_flagged_under_its_rule_alone() {
    let wrong: Vec<String> = RULES
        .iter()
        .map(|rule| (rule.id, flagged_under(section(rule, "### Example"))))
        .filter(|(id, rules)| rules != &[id.to_string()])
        .map(|(id, rules)| format!("{id}: {rules:?}"))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn each_way_out_is_clean() {
    let wrong: Vec<String> = RULES
        .iter()
        .map(|rule| (rule.id, flagged_under(section(rule, "### Use instead"))))
        .filter(|(_, rules)| !rules.is_empty())
        .map(|(id, rules)| format!("{id}: {rules:?}"))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn pages_are_current() {
    for rule in RULES {
        current(root().join(format!("docs/rules/{}.md", rule.id)), &rule.page());
    }
    for entry in fs::read_dir(root().join("docs/rules")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(
            RULES.iter().any(|rule| name == format!("{}.md", rule.id)),
            "docs/rules/{name} belongs to no rule"
        );
    }
}

#[test]
fn explain_prints_the_page() {
    for rule in RULES {
        let output = rideout(&["explain", rule.id], root());
        assert!(output.status.success(), "{}", rule.id);
        assert_eq!(String::from_utf8(output.stdout).unwrap(), rule.page());
    }
}

#[test]
fn every_rule_has_a_file_of_its_name_and_every_such_file_is_registered() {
    let mut found: Vec<String> = fs::read_dir(root().join("rules/src"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file() && fs::read_to_string(path).unwrap().contains("const RULE: Rule"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().replace('_', "-"))
        .collect();
    let mut registered: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
    found.sort();
    registered.sort_unstable();
    assert_eq!(found, registered);
}

#[test]
fn no_rule_is_younger_than_this_version() {
    let version = semver::Version::parse(env!("CARGO_PKG_VERSION")).unwrap();
    for rule in RULES {
        assert!(semver::Version::parse(rule.since).unwrap() <= version, "{}", rule.id);
    }
}

#[test]
fn the_changelog_has_this_version_and_every_rule() {
    let text = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    assert!(text.contains(&format!("\n## [{}]", env!("CARGO_PKG_VERSION"))));
    for rule in RULES {
        assert!(text.contains(&format!("- `{}`\n", rule.id)), "{}", rule.id);
    }
}

/// The `rideout::a::b` paths in a text.
fn runtime_items(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("rideout::").map(|(at, _)| {
        let rest = &text[at..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(rest.len());
        rest[..end].trim_end_matches(':')
    })
}

#[test]
fn runtime_items_that_texts_name_exist() {
    let mut runtime = String::new();
    let mut texts: Vec<(PathBuf, String)> = Vec::new();
    let walk = |folder: &str| {
        ignore::Walk::new(root().join(folder))
            .filter_map(Result::ok)
            .map(ignore::DirEntry::into_path)
            .filter(|path| path.is_file())
    };
    for path in walk("runtime/src") {
        runtime.push_str(&fs::read_to_string(path).unwrap());
    }
    for path in walk("rules").chain(walk("docs")).chain([root().join("README.md")]) {
        texts.push((path.clone(), fs::read_to_string(path).unwrap()));
    }
    for (path, text) in &texts {
        for item in runtime_items(text).filter(|item| *item != "rideout") {
            let name = item.rsplit("::").next().unwrap();
            let there = ["fn", "struct", "enum", "trait", "mod", "type", "const", "use"].iter().any(|kind| {
                runtime.contains(&format!("pub {kind} {name}"))
                    || runtime.contains(&format!("pub async {kind} {name}"))
            });
            assert!(there, "{}: the runtime has no `{item}`", path.display());
        }
    }
}

#[test]
fn the_catalogs_page_parses() {
    let text = fs::read_to_string(root().join("docs/catalog.md")).unwrap();
    let blocks = fences(&text, "", "toml");
    assert!(blocks.len() > 5);
    for block in blocks {
        if let Err(error) = catalog::parse(block) {
            panic!("{error}\n{block}");
        }
    }
}

/// The keys of a table and of the tables in it.
fn keys(table: &toml::Table, found: &mut BTreeSet<String>) {
    let tables = |value: &toml::Value| match value {
        toml::Value::Table(table) => vec![table.clone()],
        toml::Value::Array(items) => items.iter().filter_map(|item| item.as_table().cloned()).collect(),
        _ => Vec::new(),
    };
    for (key, value) in table {
        found.insert(key.clone());
        tables(value).iter().for_each(|table| keys(table, found));
    }
}

#[test]
fn the_catalogs_page_has_every_key_in_use() {
    let mut used = BTreeSet::new();
    for entry in walkdir::WalkDir::new(root().join("rules/catalog")).min_depth(1) {
        keys(&fs::read_to_string(entry.unwrap().path()).unwrap().parse().unwrap(), &mut used);
    }
    let page = fs::read_to_string(root().join("docs/catalog.md")).unwrap();
    let missing: Vec<&String> = used
        .iter()
        .filter(|key| {
            ![format!("`{key}`"), format!("{key} ="), format!("{key}]]")]
                .iter()
                .any(|form| page.contains(form))
        })
        .collect();
    assert!(used.len() > 30 && missing.is_empty(), "{missing:?}");
}

/// The text of a file with the part between two marks replaced.
pub(crate) fn replaced(text: &str, mark: &str, part: &str) -> String {
    let (open, close) = (format!("<!-- {mark}:begin -->\n"), format!("<!-- {mark}:end -->"));
    let start = text.find(&open).unwrap_or_else(|| panic!("no {open}")) + open.len();
    let end = text.find(&close).unwrap_or_else(|| panic!("no {close}"));
    format!("{}{part}{}", &text[..start], &text[end..])
}

#[test]
fn the_readme_shows_every_rule_and_the_binarys_own_output() {
    let path = root().join("README.md");
    let text = fs::read_to_string(&path).unwrap();
    let mut table = String::from("| rule | flags |\n|---|---|\n");
    for rule in RULES {
        table.push_str(&format!("| [`{0}`](docs/rules/{0}.md) | {1} |\n", rule.id, rule.summary));
    }
    let command = text.lines().find_map(|line| line.strip_prefix("$ cargo rideout ")).unwrap();
    let mut arguments: Vec<&str> = command.split_whitespace().collect();
    arguments.extend(["--color", "never"]);
    let output = rideout(&arguments, root());
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let shown = String::from_utf8(output.stdout).unwrap();
    let finding = format!("```console\n$ cargo rideout {command}\n{}\n```\n", shown.trim_end());
    current(path, &replaced(&replaced(&text, "rules", &table), "finding", &finding));
}

#[test]
fn the_demo_has_three_dying_watches_and_three_guarded_ones() {
    let output = rideout(&["check", "--format", "json", "fixtures/workspaces/demo"], root());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut found: Vec<(String, String)> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| {
            let file = finding["file"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
            (file, finding["rule"].as_str().unwrap().to_owned())
        })
        .collect();
    found.sort();
    let wanted = [
        ("audit.rs", "transient-as-terminal"),
        ("prices.rs", "unguarded-watch"),
        ("pricing.rs", "log-only-error-arm"),
    ];
    assert_eq!(found, wanted.map(|(file, rule)| (file.to_owned(), rule.to_owned())));
    assert_eq!(output.status.code(), Some(1));

    let list = rideout(&["list", "fixtures/workspaces/demo", "--color", "never"], root());
    let list = String::from_utf8(list.stdout).unwrap();
    for file in ["audit.rs", "outbox.rs", "prices.rs", "pricing.rs", "tenants.rs", "ticks.rs"] {
        assert!(list.contains(file), "no watch of {file} in\n{list}");
    }
}
