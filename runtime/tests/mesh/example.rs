//! The storm that `cargo run -p rideout --example ride_out` shows.

#[path = "../../examples/ride_out.rs"]
mod ride_out;

use std::sync::{Arc, Mutex};

#[test]
fn the_example_lives_through_its_storm() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&lines);
    ride_out::storm(Arc::new(move |line: &str| into.lock().unwrap().push(line.to_owned()))).unwrap();
    let lines = lines.lock().unwrap();
    let all = lines.join("\n");
    let count = |part: &str| lines.iter().filter(|line| line.contains(part)).count();

    for (version, content) in ["first", "second", "third", "fourth", "fifth"].iter().enumerate() {
        assert_eq!(count(&format!("frame: version {}, '{content}'", version + 1)), 1, "{all}");
    }
    let refused =
        "cannot process SubscribeRequest; the address may reactivate (recycle / restart). Rejecting now.";
    let (lets_go, storm, never_does) = (4, 2, 18);
    assert_eq!(count(refused), lets_go + storm + never_does, "{all}");
    assert_eq!(count("resubscribe failed."), lets_go + storm + never_does, "{all}");
    assert_eq!(count("RunLevel=Dead"), lets_go + never_does, "{all}");
    let gave_up: Vec<_> = lines.iter().filter(|line| line.contains("gave up on Tenant/Inst")).collect();
    assert_eq!(gave_up.len(), 1, "{all}");
    assert!(gave_up[0].starts_with("  9.502 [Warning] Stream "), "{all}");
    assert!(lines.last().unwrap().ends_with("ended: NotFound: No node found at 'Tenant/Inst'"), "{all}");
}
