//! Sources, helpers and names of faults that a workspace describes itself.

use serde_json::Value;

use crate::support::Project;

/// The bus's description.
const SOURCE: &str = r#"
[[source]]
id = "acme-bus"
api = "acme_bus::Subscription"
types = ["acme_bus::Subscription"]
open = [{ fn = "acme_bus::Bus::subscribe", gives = "Result<Watch>" }]
polls = [{ method = "recv", gives = "Result<T>" }]

[[source.fault]]
shows-as = "error-latched"
text = "a restarted broker fails every call"
transient = ["NodeMoved"]
"#;

const BUS: &str = "\
pub struct Bus {
    address: String,
}

pub struct Subscription {
    address: String,
}

#[derive(Debug)]
pub enum BusError {
    NodeMoved,
    NoSuchTopic,
}

impl Bus {
    pub async fn subscribe(&self) -> Result<Subscription, BusError> {
        Ok(Subscription { address: self.address.clone() })
    }
}

impl Subscription {
    pub async fn recv(&mut self) -> Result<u8, BusError> {
        Err(BusError::NodeMoved)
    }
}
";

/// A consumer that dies in silence at line 4 of what follows `uses`.
const CONSUMER: &str = "
pub async fn run(bus: &Bus) -> Result<(), BusError> {
    let mut events = bus.subscribe().await?;
    while let Ok(event) = events.recv().await {
        println!(\"{event}\");
    }
    Ok(())
}
";

fn manifest(name: &str, dependencies: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{dependencies}"
    )
}

/// A workspace of the package `acme-bus`, with the bus in a private module, and the package `app`.
fn workspace(config: &str) -> Project {
    let project = Project::empty();
    project.write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"app\", \"bus\"]\n");
    project.write("rideout.toml", config);
    project.write("bus/Cargo.toml", manifest("acme-bus", ""));
    project.write("bus/src/lib.rs", "mod wire;\npub use wire::{Bus, BusError, Subscription};\n");
    project.write("bus/src/wire.rs", BUS);
    project.write("app/Cargo.toml", manifest("app", "acme-bus = { path = \"../bus\" }\n"));
    project
}

fn app(config: &str, uses: &str, code: &str) -> Project {
    let project = workspace(config);
    project.write("app/src/lib.rs", format!("{uses}{code}"));
    project
}

/// Place and rule of each finding.
fn found(project: &Project) -> Vec<String> {
    let ran = project.run(&["--format", "short", "-q", "--pedantic"]);
    assert!(matches!(ran.code, Some(0 | 1)) && ran.stderr.is_empty(), "{ran:?}");
    let lines = ran.stdout.lines();
    lines
        .map(|line| line.split("]: ").next().unwrap().replace(": error[", " ").replace(": warning[", " "))
        .collect()
}

const USES: &str = "use acme_bus::{Bus, BusError};\n";

#[test]
fn another_package_is_seen() {
    assert_eq!(found(&app(SOURCE, USES, CONSUMER)), ["app/src/lib.rs:5:5 unguarded-watch"]);
    assert_eq!(found(&app("", USES, CONSUMER)), [""; 0]);
}

#[test]
fn the_package_itself_is_seen() {
    for (file, uses) in [
        ("bus/src/copy.rs", "use crate::{Bus, BusError};\n"),
        ("bus/src/copy.rs", "use crate::wire::{Bus, BusError};\n"),
        ("bus/src/copy.rs", "use super::{Bus, BusError};\n"),
        ("bus/src/copy.rs", "use crate::wire::*;\n"),
        ("bus/examples/copy.rs", "use acme_bus::{Bus, BusError};\n"),
    ] {
        let project = workspace(SOURCE);
        project.write("app/src/lib.rs", "");
        let lib = "mod copy;\nmod wire;\npub use wire::{Bus, BusError, Subscription};\n";
        project.write("bus/src/lib.rs", lib);
        project.write("bus/src/copy.rs", "");
        project.write(file, format!("{uses}{CONSUMER}"));
        assert_eq!(found(&project), [format!("{file}:5:5 unguarded-watch")], "{uses}");
    }
    let project = workspace(SOURCE);
    project.write("app/src/lib.rs", "");
    project.write("bus/src/wire.rs", format!("{BUS}{CONSUMER}"));
    assert_eq!(found(&project).len(), 1, "in the file that declares the types");
}

#[test]
fn paths_may_be_those_of_the_declaration_or_of_a_re_export() {
    for path in ["acme_bus::wire::", "acme_bus::prelude::", "acme_bus::"] {
        let project = app(&SOURCE.replace("acme_bus::", path), USES, CONSUMER);
        assert_eq!(found(&project), ["app/src/lib.rs:5:5 unguarded-watch"], "{path}");
    }
    let project = app(SOURCE, "use acme_bus::wire::*;\n", CONSUMER);
    assert_eq!(found(&project), ["app/src/lib.rs:5:5 unguarded-watch"]);
}

#[test]
fn two_types_of_one_name_are_told_apart_by_their_module() {
    let project = app(
        &SOURCE.replace("acme_bus::", "acme_bus::wire::"),
        "use acme_bus::test_bus::{Bus, BusError};\n",
        CONSUMER,
    );
    project.write("bus/src/lib.rs", "pub mod test_bus;\npub mod wire;\n");
    project.write("bus/src/test_bus.rs", BUS);
    assert_eq!(found(&project), [""; 0]);
    project.write("app/src/lib.rs", format!("use acme_bus::wire::{{Bus, BusError}};\n{CONSUMER}"));
    assert_eq!(found(&project), ["app/src/lib.rs:5:5 unguarded-watch"]);
}

#[test]
fn a_guarded_watch_is_listed_with_its_crate() {
    let guarded = "
pub async fn keep(bus: &Bus) {
    loop {
        if let Ok(mut events) = bus.subscribe().await {
            while let Ok(event) = events.recv().await {
                println!(\"{event}\");
            }
        }
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
}
";
    let project = app(SOURCE, USES, guarded);
    project.write("app/Cargo.toml", manifest("app", "acme-bus = { path = \"../bus\" }\ntokio = \"1\"\n"));
    assert_eq!(found(&project), [""; 0]);
    let list: Value = serde_json::from_str(&project.run(&["list", "--format", "json"]).stdout).unwrap();
    let watch = &list["watches"][0];
    assert_eq!(
        (&watch["source"]["id"], &watch["source"]["crate"], &watch["source"]["api"]),
        (&"acme-bus".into(), &"acme-bus".into(), &"acme_bus::Subscription".into())
    );
    assert_eq!(watch["faults"][0]["outcome"], "reopens");
    assert_eq!(watch["opener"]["file"], "app/src/lib.rs");
}

#[test]
fn the_type_alone_is_enough() {
    let only = SOURCE.lines().filter(|line| !line.starts_with("open")).collect::<Vec<_>>().join("\n");
    assert_eq!(found(&app(&only, USES, CONSUMER)), ["app/src/lib.rs:5:5 unguarded-watch"]);
    let unpaced = "
pub async fn keep(bus: &Bus) {
    loop {
        let Ok(mut events) = bus.subscribe().await else { continue };
        while let Ok(event) = events.recv().await {
            println!(\"{event}\");
        }
    }
}
";
    for config in [SOURCE, &only] {
        assert_eq!(found(&app(config, USES, unpaced)), ["app/src/lib.rs:4:5 unpaced-reopen"]);
    }
}

#[test]
fn what_is_described_is_not_looked_into() {
    let unpaced = "
pub async fn keep(bus: &Bus) {
    loop {
        let Ok(mut events) = bus.subscribe().await else { continue };
        while let Ok(event) = events.recv().await {
            println!(\"{event}\");
        }
    }
}
";
    let project = app(SOURCE, USES, unpaced);
    project.write(
        "bus/src/wire.rs",
        BUS.replace("Ok(Subscription { address: self.address.clone() })", "attach!(self)"),
    );
    assert_eq!(found(&project), ["app/src/lib.rs:4:5 unpaced-reopen"]);
}

#[test]
fn a_bus_behind_a_trait_is_one() {
    let described = SOURCE.replace("acme_bus::Bus::subscribe", "acme_bus::Topics::subscribe");
    let described = described.replace("types = [\"acme_bus::Subscription\"]\n", "");
    let project = app(&described, "", "");
    let lib = "mod wire;\npub use wire::{Bus, BusError, Subscription};\n\
        pub trait Topics {\n    async fn subscribe(&self) -> Result<Subscription, BusError>;\n}\n";
    project.write("bus/src/lib.rs", lib);
    for bus in ["bus: &dyn Topics", "bus: &impl Topics", "bus: std::sync::Arc<dyn Topics>"] {
        let code = CONSUMER.replace("bus: &Bus", bus);
        project.write("app/src/lib.rs", format!("use acme_bus::{{BusError, Topics}};\n{code}"));
        assert_eq!(found(&project), ["app/src/lib.rs:5:5 unguarded-watch"], "{bus}");
    }
    let generic = CONSUMER.replace("run(bus: &Bus)", "run<T: Topics>(bus: &T)");
    project.write("app/src/lib.rs", format!("use acme_bus::{{BusError, Topics}};\n{generic}"));
    assert_eq!(found(&project), ["app/src/lib.rs:5:5 unguarded-watch"], "generic");
}

#[test]
fn what_is_inside_the_source_is_still_looked_at() {
    let inner = BUS.replace("Err(BusError::NodeMoved)\n", "self.pump().await;\n        Err(BusError::NodeMoved)\n").replace(
        "impl Subscription {",
        "impl Subscription {\n    async fn pump(&mut self) {\n        \
         while let Ok(item) = self.inner.recv().await {\n            println!(\"{item}\");\n        }\n    }\n",
    );
    let inner = inner.replace(
        "pub struct Subscription {",
        "pub struct Subscription {\n    inner: tokio::sync::broadcast::Receiver<u8>,",
    );
    let project = workspace(SOURCE);
    project.write("app/src/lib.rs", "");
    project.write("bus/Cargo.toml", manifest("acme-bus", "tokio = \"1\"\n"));
    project.write("bus/src/wire.rs", inner);
    let list = project.run(&["list"]).stdout;
    assert!(list.contains("tokio::sync::broadcast::Receiver"), "{list}");
}

#[test]
fn a_third_partys_crate_may_be_described() {
    let config = SOURCE.replace("acme_bus", "other_bus");
    let project = app(&config, "use other_bus::{Bus, BusError};\n", CONSUMER);
    assert_eq!(found(&project), ["app/src/lib.rs:5:5 unguarded-watch"]);
    for (versions, count) in [("<2", 0), (">=2", 1)] {
        let config = config.replace("id =", &format!("versions = \"{versions}\"\nid ="));
        let project = app(&config, "use other_bus::{Bus, BusError};\n", CONSUMER);
        project.write("app/Cargo.toml", manifest("app", "other-bus = \"2.3.0\"\n"));
        assert_eq!(found(&project).len(), count, "{versions}");
    }
}

#[test]
fn a_helper_that_reopens_is_believed() {
    let code = "
pub async fn run(bus: &Bus) {
    elsewhere::keep(|| session(bus)).await;
}

async fn session(bus: &Bus) -> Result<(), BusError> {
    let mut events = bus.subscribe().await?;
    loop {
        println!(\"{}\", events.recv().await?);
    }
}
";
    let outcome = |config: &str, code: &str| {
        let list = app(config, USES, code).run(&["list", "--format", "json"]).stdout;
        let list: Value = serde_json::from_str(&list).unwrap();
        list["watches"][0]["faults"][0]["outcome"].as_str().unwrap().to_owned()
    };
    let helper = "\n[[reopen]]\nfn = \"elsewhere::keep\"\nclosure = 0\n";
    assert_eq!(outcome(SOURCE, code), "unknown");
    assert_eq!(outcome(&format!("{SOURCE}{helper}"), code), "reopens");
    assert_eq!(outcome(&format!("{SOURCE}{helper}paced = false\n"), code), "reopens unpaced");

    // One whose body is in view is not looked into.
    let own = code.replace("elsewhere::keep", "keep")
        + "\nasync fn keep<F: Future<Output = Result<(), BusError>>>(mut run: impl FnMut() -> F) {\n    let _ = run().await;\n}\n";
    assert_eq!(outcome(SOURCE, &own), "ends");
    let described = helper.replace("elsewhere", "app");
    assert_eq!(outcome(&format!("{SOURCE}{described}"), &own), "reopens");
}

#[test]
fn words_and_values_of_the_workspace_count_too() {
    let code = "
pub async fn keep(address: &str) {
    loop {
        let bus = connect(address);
        let Ok(mut events) = bus.subscribe().await else { continue };
        while let Ok(event) = events.recv().await {
            println!(\"{event}\");
        }
        breathe().await;
    }
}
";
    let uses = "use acme_bus::connect;\nuse acme_util::breathe;\n";
    let value = "\n[[value]]\nfn = \"acme_bus::connect\"\ngives = \"acme_bus::Bus\"\n";
    let word = "\n[[word]]\nmeans = \"wait\"\nfns = [\"acme_util::breathe\"]\n";
    let rules = |config: &str| {
        let found = found(&app(config, uses, code));
        found.into_iter().map(|line| line.split(' ').next_back().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(rules(SOURCE), [""; 0]);
    assert_eq!(rules(&format!("{SOURCE}{value}")), ["unpaced-reopen"]);
    let patient = code.replace("else { continue }", "else { breathe().await; continue }");
    let project = app(&format!("{SOURCE}{value}{word}"), uses, &patient);
    assert_eq!(found(&project), [""; 0]);
    assert!(project.run(&["list"]).stdout.contains("reopens\n"));
}

#[test]
fn names_of_transient_faults_are_added_to_sources() {
    let code = "
pub async fn run(bus: &Bus) -> Result<(), BusError> {
    let mut events = bus.subscribe().await?;
    loop {
        match events.recv().await {
            Ok(event) => println!(\"{event}\"),
            Err(BusError::Draining) => return Ok(()),
            Err(error) => panic!(\"{error:?}\"),
        }
    }
}
";
    let transient = "\n[[transient]]\nnames = [\"Draining\"]\n";
    assert_eq!(found(&app(SOURCE, USES, code)), [""; 0]);
    let wanted = ["app/src/lib.rs:8:13 transient-as-terminal"];
    assert_eq!(found(&app(&format!("{SOURCE}{transient}"), USES, code)), wanted);
    let to = |source: &str| format!("{SOURCE}{transient}sources = [\"{source}\"]\n");
    assert_eq!(found(&app(&to("acme-bus"), USES, code)), wanted);
    assert_eq!(found(&app(&to("tonic-streaming"), USES, code)), [""; 0]);
}

/// A source that ships with Rideout, described by the user.
const BROADCAST: &str = r#"
[[source]]
id = "ID"
api = "our broadcast"
types = ["tokio::sync::broadcast::Receiver"]
open = [{ fn = "tokio::sync::broadcast::channel", gives = "(_, Watch)" }]
polls = [{ method = "recv", gives = "Result<T>" }]
"#;

#[test]
fn a_source_of_the_user_comes_before_those_that_ship() {
    let code = "
use tokio::sync::broadcast::{self, Receiver};

pub async fn run(mut items: Receiver<u8>) {
    while let Ok(item) = items.recv().await {
        println!(\"{item}\");
    }
}

pub async fn own() {
    let (_sender, mut items) = broadcast::channel::<u8>(1);
    while let Ok(item) = items.recv().await {
        println!(\"{item}\");
    }
}
";
    let apis = |config: &str| {
        let project = app(config, "", code);
        project.write("app/Cargo.toml", manifest("app", "tokio = \"1\"\n"));
        let list: Value = serde_json::from_str(&project.run(&["list", "--format", "json"]).stdout).unwrap();
        let watches = list["watches"].as_array().unwrap().clone();
        watches.iter().map(|watch| watch["source"]["api"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(apis(""), ["tokio::sync::broadcast::Receiver"; 2]);
    let fault = "[[source.fault]]\nshows-as = \"ends\"\ntext = \"it ends\"\n";
    for id in ["ours", "tokio-broadcast"] {
        assert_eq!(apis(&format!("{}{fault}", BROADCAST.replace("ID", id))), ["our broadcast"; 2], "{id}");
    }
    // Without a fault nothing can kill it, and the one that ships is gone.
    assert_eq!(apis(&BROADCAST.replace("ID", "tokio-broadcast")), [""; 0]);
}
