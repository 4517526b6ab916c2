//! Watches that one package of a workspace hands to another.

use crate::support::Project;

/// A workspace of a package that opens a watch and one that consumes it, with these dependencies.
fn workspace(opens: &str, consumes: &str) -> Project {
    let project = Project::empty();
    project.write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"hub\", \"app\"]\n");
    for (name, dependencies) in [("hub", opens), ("app", consumes)] {
        let head = format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n");
        project.write(&format!("{name}/Cargo.toml"), format!("{head}[dependencies]\n{dependencies}"));
    }
    project.write(
        "hub/src/lib.rs",
        "use tokio::sync::broadcast;\n\npub struct Hub {\n    sender: broadcast::Sender<u8>,\n}\n\n\
         impl Hub {\n    pub fn listen(&self) -> broadcast::Receiver<u8> {\n        self.sender.subscribe()\n    }\n}\n",
    );
    project.write(
        "app/src/lib.rs",
        "use hub::Hub;\n\npub async fn run(hub: Hub) {\n    let mut items = hub.listen();\n    \
         while let Ok(item) = items.recv().await {\n        println!(\"{item}\");\n    }\n}\n",
    );
    project
}

#[test]
fn a_watch_is_the_same_in_a_package_that_knows_fewer_sources() {
    let many = "kube = \"5\"\nredis = \"1\"\ntokio = \"1\"\ntonic = \"0.14\"\n";
    let project = workspace(many, "hub = { path = \"../hub\" }\n");
    let ran = project.run(&["--format", "short"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.starts_with("app/src/lib.rs:5:5: error[unguarded-watch]: "), "{}", ran.stdout);
    let list = project.run(&["list"]).stdout;
    assert!(list.contains("tokio::sync::broadcast::Receiver"), "{list}");
}
