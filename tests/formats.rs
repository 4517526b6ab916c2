//! The formats for editors and servers: what they promise to the programs that read them.

use std::collections::BTreeSet;

use cargo_metadata::{Message, diagnostic::DiagnosticLevel};
use serde_json::Value;

use crate::support::{NOT_UTF8, Project, Ran, WATCH, manifest};

/// The folder of the package in its repository, and a file in it: they hold whatever a format could stumble over.
const FOLDER: &str = "a b: 100%, c";
const HARD: &str = "src/c,d:e%25\u{1f980}.rs";

/// A package in a folder of a repository, with the watch behind a tab, an emoji of two units of UTF-16, an accent of its own and an
/// emoji of three characters; one in a file with a hard name; and a file that cannot be read.
fn project() -> Project {
    let project = Project::empty();
    project.write(".git/HEAD", "ref: refs/heads/main\n");
    let write = |path: &str, text: &[u8]| project.write(&format!("{FOLDER}/{path}"), text);
    let lib = WATCH.replace("fn run", "fn plain");
    let path = HARD.trim_start_matches("src/");
    let lib = format!("{lib}\nmod bytes;\nmod wide;\n#[path = \"{path}\"]\nmod hard;\n");
    let wide = WATCH.replace("    while", "\t/* \u{1f980} e\u{301} \u{1f469}\u{200d}\u{1f4bb} */ while");
    write("Cargo.toml", manifest("app").as_bytes());
    write("src/lib.rs", lib.as_bytes());
    write("src/wide.rs", wide.as_bytes());
    write(HARD, WATCH.as_bytes());
    write("src/bytes.rs", NOT_UTF8);
    project
}

fn run(args: &[&str]) -> Ran {
    project().run_in(FOLDER, args)
}

/// Where each finding of `project` is: its path in the package, its line, and the columns of `while` in characters, UTF-16 and bytes.
const PLACES: [(&str, usize, [usize; 3]); 4] = [
    ("src/bytes.rs", 2, [1, 1, 1]),
    (HARD, 5, [5, 5, 5]),
    ("src/lib.rs", 5, [5, 5, 5]),
    ("src/wide.rs", 5, [17, 20, 29]),
];

/// `while let Some(Ok(message)) = socket.next().await`
const LOOP: usize = 49;

fn document(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

fn messages(ran: &Ran) -> Vec<cargo_metadata::CompilerMessage> {
    let mut messages = Vec::new();
    for message in Message::parse_stream(ran.stdout.as_bytes()) {
        match message.unwrap() {
            Message::CompilerMessage(message) => messages.push(message),
            Message::BuildFinished(_) => {}
            other => panic!("{other:?}"),
        }
    }
    messages
}

#[test]
fn findings_are_a_failure_but_for_editors_and_code_scanning() {
    for (format, code) in [("cargo", 0), ("sarif", 0), ("github", 1), ("gitlab", 1), ("rdjson", 1)] {
        let ran = run(&["--format", format]);
        assert_eq!(ran.code, Some(code), "{format}: {}", ran.stderr);
    }
}

#[test]
fn a_clean_run_is_a_document_too() {
    let project = Project::package(&[("src/main.rs", "fn main() {}\n")]);
    for (format, wanted) in [
        ("cargo", "{\"reason\":\"build-finished\",\"success\":true}\n"),
        ("github", ""),
        ("gitlab", "[]\n"),
        ("rdjson", "{\n  \"source\": {\n    \"name\": \"rideout\"\n  },\n  \"diagnostics\": []\n}\n"),
    ] {
        let ran = project.run(&["--format", format]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), wanted), "{format}");
    }
    assert_eq!(
        document(&project.run(&["--format", "sarif"]))["runs"][0]["results"],
        Value::Array(Vec::new())
    );
}

#[test]
fn cargos_own_parser_reads_the_lines() {
    let project = project();
    let messages = messages(&project.run_in(FOLDER, &["--message-format=json"]));
    assert_eq!(messages.len(), PLACES.len());
    for (message, (path, line, [column, ..])) in messages.iter().zip(PLACES) {
        assert!(message.package_id.repr.starts_with("path+file://"), "{message:?}");
        assert!(message.package_id.repr.ends_with("app@0.1.0"), "{message:?}");
        assert_eq!(message.target.name, "app");
        let found = &message.message;
        assert_eq!(found.level, DiagnosticLevel::Error);
        assert!(found.code.as_ref().unwrap().code.starts_with("rideout::un"));
        assert!(found.rendered.as_ref().unwrap().starts_with("error["));
        let span = found.spans.iter().find(|span| span.is_primary).unwrap();
        assert_eq!((span.file_name.as_str(), span.line_start, span.column_start), (path, line, column));
        if span.text.is_empty() {
            continue;
        }
        assert_eq!(span.column_end, column + LOOP);
        let bytes = std::fs::read(project.path(FOLDER).join(path)).unwrap();
        let code = std::str::from_utf8(&bytes[span.byte_start as usize..span.byte_end as usize]).unwrap();
        assert!(code.starts_with("while let ") && code.ends_with(".await"), "{code}");
        let text = &span.text[0];
        let shown: String = text.text.chars().skip(text.highlight_start - 1).take(LOOP).collect();
        assert_eq!(shown, code);
        assert!(found.spans.iter().any(|span| !span.is_primary && span.label.is_some()), "{found:?}");
    }
}

#[test]
fn packages_go_by_the_ids_that_cargo_metadata_gives() {
    let project = Project::empty();
    project.write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"a\", \"b\"]\n");
    for name in ["a", "b"] {
        project.write(&format!("{name}/Cargo.toml"), manifest(name));
        project.write(&format!("{name}/src/main.rs"), "mod feed;\nfn main() {}\n");
        project.write(&format!("{name}/src/feed.rs"), WATCH);
    }
    let metadata = cargo_metadata::MetadataCommand::new()
        .manifest_path(project.path("Cargo.toml"))
        .no_deps()
        .other_options(["--offline".to_owned()])
        .exec()
        .unwrap();
    let wanted: Vec<_> = metadata.packages.iter().map(|package| package.id.clone()).collect();
    let messages = messages(&project.run(&["--format", "cargo", "--workspace"]));
    let found: Vec<_> = messages.iter().map(|message| message.package_id.clone()).collect();
    assert_eq!(found, wanted);
    assert_eq!(messages[1].target, metadata.packages[1].targets[0]);
    assert_eq!(messages[1].message.spans[0].file_name, "b/src/feed.rs");
}

#[test]
fn a_file_of_no_package_has_lines_too() {
    let project = Project::empty();
    project.write("feed.rs", WATCH);
    let messages = messages(&project.run(&["--format", "cargo", "feed.rs"]));
    assert_eq!(messages.len(), 1);
    assert_eq!(
        (messages[0].target.name.as_str(), messages[0].message.spans[0].file_name.as_str()),
        ("feed", "feed.rs")
    );
}

/// The schema of OASIS.
pub(crate) fn sarif() -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(include_str!("../fixtures/schemas/sarif-2.1.0.json")).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn sarif_is_what_its_schema_and_github_ask_for() {
    let schema = sarif();
    let log = document(&run(&["--format", "sarif"]));
    let faults: Vec<String> = schema.iter_errors(&log).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let mut wrong = log.clone();
    wrong["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0.into();
    assert!(!schema.is_valid(&wrong));

    let filled = |value: &Value| assert!(value.as_str().is_some_and(|text| !text.is_empty()), "{value}");
    filled(&log["$schema"]);
    let run = &log["runs"][0];
    filled(&run["tool"]["driver"]["name"]);
    for rule in run["tool"]["driver"]["rules"].as_array().unwrap() {
        for place in
            ["/id", "/shortDescription/text", "/fullDescription/text", "/help/text", "/help/markdown"]
        {
            filled(rule.pointer(place).unwrap());
        }
        assert!(rule["fullDescription"]["text"].as_str().unwrap().len() <= 1024);
    }
    let mut prints = BTreeSet::new();
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), PLACES.len());
    for (result, (path, line, [_, column, _])) in results.iter().zip(PLACES) {
        filled(&result["message"]["text"]);
        filled(&result["partialFingerprints"]["primaryLocationLineHash"]);
        assert!(prints.insert(result["partialFingerprints"]["primaryLocationLineHash"].to_string()));
        let rule = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(run["tool"]["driver"]["rules"][rule]["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        assert!(uri.is_ascii() && !uri.contains([' ', ':']), "{uri}");
        assert_eq!(decoded(uri), format!("{FOLDER}/{path}"));
        assert_eq!(
            (&place["region"]["startLine"], &place["region"]["startColumn"]),
            (&line.into(), &column.into())
        );
        for key in ["startLine", "startColumn", "endLine", "endColumn"] {
            assert!(place["region"][key].as_u64().is_some_and(|number| number > 0), "{place}");
        }
    }
}

fn decoded(uri: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = uri.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next().unwrap(), rest.next().unwrap()];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// Reads workflow commands as the runner does: properties end at a comma, values are unescaped.
fn commands(text: &str) -> Vec<(Vec<(String, String)>, String)> {
    let plain = |text: &str| {
        text.replace("%0D", "\r")
            .replace("%0A", "\n")
            .replace("%3A", ":")
            .replace("%2C", ",")
            .replace("%25", "%")
    };
    let command = |line: &str| {
        let (head, message) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
        let (_, properties) = head.split_once(' ').unwrap();
        let pair = |property: &str| {
            let (name, value) = property.split_once('=').unwrap();
            (name.to_owned(), plain(value))
        };
        (properties.split(',').map(pair).collect(), plain(message))
    };
    text.lines().map(command).collect()
}

#[test]
fn githubs_runner_reads_the_commands() {
    let ran = run(&["--format", "github"]);
    let commands = commands(&ran.stdout);
    assert_eq!(commands.len(), PLACES.len(), "{}", ran.stdout);
    for ((properties, message), (path, line, [column, ..])) in commands.iter().zip(PLACES) {
        let property = |name: &str| properties.iter().find(|(key, _)| key == name).unwrap().1.as_str();
        assert_eq!(property("file"), format!("{FOLDER}/{path}"));
        assert_eq!((property("line"), property("endLine")), (&*line.to_string(), &*line.to_string()));
        assert_eq!(property("col"), column.to_string());
        assert!(message.contains("\nhelp: ") && property("title").starts_with("un"), "{message}");
    }
}

#[test]
fn gitlab_gets_paths_of_the_repository_and_fingerprints_that_last() {
    let project = Project::empty();
    project.write(".git/HEAD", "ref: refs/heads/main\n");
    project.write("back end/Cargo.toml", manifest("app"));
    project.write("back end/src/lib.rs", WATCH);
    let report = document(&project.run_in("back end", &["--format", "gitlab"]));
    assert_eq!(report[0]["location"]["path"], "back end/src/lib.rs");
    assert_eq!(report[0]["location"]["lines"]["begin"], 5);
    assert_eq!(report[0]["severity"], "major");
    project.write("back end/src/lib.rs", format!("\n\n{WATCH}"));
    let moved = document(&project.run_in("back end", &["--format", "gitlab"]));
    assert_eq!(moved[0]["fingerprint"], report[0]["fingerprint"]);
    assert_eq!(moved[0]["location"]["lines"]["begin"], 7);
    for format in ["github", "sarif", "rdjson"] {
        let text = project.run_in("back end", &["--format", format]).stdout;
        assert!(
            text.contains("back end/src/lib.rs") || text.contains("back%20end/src/lib.rs"),
            "{format}: {text}"
        );
    }
}

#[test]
fn gitlab_reviewdog_and_json_get_paths_and_columns_as_they_are() {
    let gitlab = document(&run(&["--format", "gitlab"]));
    let rdjson = document(&run(&["--format", "rdjson"]));
    let json = document(&run(&["--format", "json"]));
    for (index, (path, line, [characters, _, bytes])) in PLACES.into_iter().enumerate() {
        assert_eq!(json["findings"][index]["file"], path);
        assert_eq!(json["findings"][index]["span"]["start"]["column"], characters);
        let path = format!("{FOLDER}/{path}");
        assert_eq!(gitlab[index]["location"]["path"], path);
        assert_eq!(gitlab[index]["location"]["lines"]["begin"], line);
        let place = &rdjson["diagnostics"][index]["location"];
        assert_eq!(place["path"], path);
        assert_eq!(
            (&place["range"]["start"]["line"], &place["range"]["start"]["column"]),
            (&line.into(), &bytes.into())
        );
    }
    let prints: BTreeSet<String> =
        gitlab.as_array().unwrap().iter().map(|entry| entry["fingerprint"].to_string()).collect();
    assert_eq!(prints.len(), PLACES.len());
}

/// A repository with a baseline that holds its one watch.
fn held() -> Project {
    let project = Project::empty();
    project.write(".git/HEAD", "ref: refs/heads/main\n");
    project.write("app/Cargo.toml", manifest("app"));
    project.write("app/src/lib.rs", WATCH);
    assert_eq!(project.run_in("app", &["baseline", "init"]).code, Some(0));
    project
}

const FORMATS: [&str; 5] = ["cargo", "sarif", "github", "gitlab", "rdjson"];

#[test]
fn what_the_baseline_holds_is_told_in_json_alone() {
    let project = held();
    project.write("app/src/new.rs", WATCH);
    project.write("app/src/lib.rs", format!("mod new;\n{WATCH}"));
    let told = |format| {
        let ran = project.run_in("app", &["--format", format]);
        assert!(ran.stdout.contains("src/new.rs"), "{format}: {}", ran.stdout);
        ran
    };
    assert_eq!(messages(&told("cargo")).len(), 1);
    assert_eq!(commands(&told("github").stdout).len(), 1);
    for (format, rows) in [("gitlab", ""), ("rdjson", "/diagnostics"), ("sarif", "/runs/0/results")] {
        let document = document(&told(format));
        assert_eq!(document.pointer(rows).unwrap().as_array().unwrap().len(), 1, "{format}");
    }
    let json = document(&project.run_in("app", &["--format", "json"]));
    let states: Vec<&Value> = json["findings"].as_array().unwrap().iter().map(|row| &row["state"]).collect();
    assert_eq!(states, ["known", "new"]);
    project.write("app/src/lib.rs", WATCH);
    for format in FORMATS {
        assert_eq!(project.run_in("app", &["--format", format, "--strict"]).code, Some(0), "{format}");
    }
}

#[test]
fn an_entry_that_fails_the_run_is_told_at_its_line() {
    let project = held();
    project.write("app/src/lib.rs", "pub fn run() {}\n");
    let baseline = std::fs::read_to_string(project.path("app/baseline.toml")).unwrap();
    let line = baseline.lines().position(|line| line.contains("unguarded-watch run")).unwrap() + 1;
    let run = |format| {
        assert_eq!(project.run_in("app", &["--format", format]).code, Some(0), "{format}: only a note");
        let ran = project.run_in("app", &["--format", format, "--strict"]);
        assert_eq!(ran.code, Some(1), "{format}: {ran:?}");
        ran
    };
    let github = commands(&run("github").stdout);
    let (properties, message) = &github[0];
    assert_eq!(
        properties[..2],
        [("file".into(), "app/baseline.toml".into()), ("line".into(), line.to_string())]
    );
    assert!(message.starts_with("stale entry: "), "{message}");
    let gitlab = document(&run("gitlab"));
    assert_eq!(gitlab[0]["location"]["path"], "app/baseline.toml");
    assert_eq!(gitlab[0]["location"]["lines"]["begin"], line);
    let rdjson = document(&run("rdjson"));
    assert_eq!(rdjson["diagnostics"][0]["location"]["path"], "app/baseline.toml");
    assert_eq!(rdjson["diagnostics"][0]["location"]["range"]["start"]["line"], line);
}

/// Whatever a name of a file and a user's own words can hold.
const NAME: &str = "a b\n::error::c,d:e%25\u{1f980}.rs";
const API: &str = "acme::Feed, 100%: a\r\n::stop-commands::\u{1f980}";

#[test]
fn no_name_and_no_word_breaks_out_of_its_format() {
    let project = Project::empty();
    project.write(
        "rideout.toml",
        format!(
            "[[source]]\nid = \"feed\"\napi = {API:?}\ntypes = [\"acme::Feed\"]\n\
             polls = [{{ method = \"recv\", gives = \"Result<T>\" }}]\n\n\
             [[source.fault]]\nshows-as = \"error-latched\"\ntext = \"it fails\"\n"
        )
        .replace("\\u{1f980}", "\u{1f980}"),
    );
    let code = "pub async fn run(mut feed: acme::Feed) {\n    while let Ok(_) = feed.recv().await {}\n}\n";
    project.write(NAME, code);
    let run = |format| project.run(&["--config", "rideout.toml", "--format", format, NAME]);

    let github = commands(&run("github").stdout);
    assert_eq!(github.len(), 1, "{github:?}");
    assert_eq!(github[0].0[0], ("file".to_owned(), NAME.to_owned()));
    assert!(github[0].1.contains(API), "{github:?}");
    let gitlab = document(&run("gitlab"));
    assert_eq!(gitlab[0]["location"]["path"], NAME);
    assert!(gitlab[0]["description"].as_str().unwrap().contains(API), "{gitlab}");
    let rdjson = document(&run("rdjson"));
    assert_eq!(rdjson["diagnostics"][0]["location"]["path"], NAME);
    assert!(rdjson["diagnostics"][0]["message"].as_str().unwrap().contains(API), "{rdjson}");
    let log = document(&run("sarif"));
    assert!(sarif().is_valid(&log));
    let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(decoded(place["artifactLocation"]["uri"].as_str().unwrap()), NAME);
    let cargo = messages(&run("cargo"));
    assert_eq!(cargo[0].message.spans[0].file_name, NAME);
    assert!(cargo[0].message.message.contains(API));
}
