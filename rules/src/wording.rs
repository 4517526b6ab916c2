//! The sentences that several rules share: how a watch dies, and the code that would have kept it alive.

use crate::model::{FaultPath, Outcome, ShowsAs, Watch};

/// How the watch dies, up to the colon: ``this watch on `tonic::Streaming` is over after its first error``.
pub(crate) fn death(watch: &Watch, path: &FaultPath) -> String {
    let state = match (path.outcome, path.fault.shows_as) {
        (Outcome::Spins, _) => "polls a dead stream for ever",
        (_, ShowsAs::Silent) => "hears nothing more",
        _ => "is over",
    };
    let blow = match path.fault.shows_as {
        ShowsAs::ErrorThenEnds | ShowsAs::ErrorLatched | ShowsAs::ErrorHeals => "after its first error",
        ShowsAs::Variant => "after its first fault",
        ShowsAs::CallError => "after its first failed call",
        ShowsAs::Ends => "as soon as its stream ends",
        ShowsAs::Silent => "after its first lost connection",
    };
    format!("this watch on `{}` {state} {blow}", watch.source.api)
}

/// The way out for a dead watch: what its source asks for, then code.
pub(crate) fn way_out(watch: &Watch, path: &FaultPath) -> String {
    let own = watch.source.help.as_deref();
    match path.fault.shows_as {
        ShowsAs::ErrorThenEnds | ShowsAs::ErrorLatched | ShowsAs::Ends | ShowsAs::Silent => with_code(
            own.unwrap_or("open the stream again after a pause, on an error as on an end, or return the fault to a caller"),
            &reopen(watch),
        ),
        ShowsAs::ErrorHeals => {
            with_code(own.unwrap_or("this stream heals when it is polled again: log the error and go on"), GO_ON)
        }
        ShowsAs::CallError => {
            with_code(own.unwrap_or("make the call again after a pause, whatever the error says"), GO_ON)
        }
        ShowsAs::Variant => own.unwrap_or("give this fault an arm of its own that goes on").to_owned(),
    }
}

/// A sentence and the lines of code that belong to it.
pub(crate) fn with_code(sentence: &str, code: &str) -> String {
    format!("{sentence}:\n{code}")
}

/// The plain loop that opens the stream again.
pub(crate) fn reopen(watch: &Watch) -> String {
    let place =
        watch.opening.as_ref().map_or(String::new(), |opening| format!(" // {opening}, and what follows it"));
    format!(
        "\
loop {{
    match open().await {{{place}
        Ok(stream) => consume(stream).await, // until it fails or ends
        Err(error) => warn!(%error, \"could not open\"),
    }}
    tokio::time::sleep(pause).await;
}}"
    )
}

const GO_ON: &str = "\
Err(error) => {
    warn!(%error, \"going on\");
    tokio::time::sleep(pause).await;
    continue;
}";

#[cfg(test)]
mod tests {
    use super::{death, way_out};
    use crate::model::{Outcome, ShowsAs};
    use crate::testing::{path, watch};

    #[test]
    fn a_spinning_watch_is_not_called_over() {
        let spins = path(ShowsAs::ErrorLatched, Outcome::Spins);
        let message = death(&watch(vec![]), &spins);
        assert_eq!(
            message,
            "this watch on `demo::Stream` polls a dead stream for ever after its first error"
        );
    }

    #[test]
    fn the_catalogs_sentence_comes_first() {
        let mut demo = watch(vec![]);
        demo.source.help = Some("subscribe again after a pause".into());
        let help = way_out(&demo, &path(ShowsAs::Ends, Outcome::Ends));
        assert!(help.starts_with("subscribe again after a pause:\nloop {\n"), "{help}");
    }

    #[test]
    fn the_code_names_the_call_that_opened_the_watch() {
        let mut demo = watch(vec![]);
        demo.opening = Some("client.feed()".into());
        let help = way_out(&demo, &path(ShowsAs::Ends, Outcome::Ends));
        assert!(help.contains("match open().await { // client.feed(), and what follows it\n"), "{help}");
    }
}
