//! Every standing watch and where each of its faults leads: what a green run means.

use std::io::{self, Write};

use rideout_rules::model::{ShowsAs, Watch};
use serde::Serialize;

use super::{
    Look, Report, json,
    json::{Span, TOOL, Tool, UnreadFile, VERSION},
    table::table,
};

/// A table, one line for each fault of each watch.
pub(crate) fn list(report: &Report<'_>, look: Look, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Vec::new();
    for watch in report.watches {
        let place = report.sources.place_of(watch.consumer);
        let mut seen = Vec::new();
        for path in &watch.faults {
            let cells = [path.fault.shows_as.name().to_owned(), path.outcome.name().to_owned()];
            if !seen.contains(&cells) {
                let [fault, outcome] = cells.clone();
                rows.push([place.clone(), watch.item.clone(), watch.source.api.clone(), fault, outcome]);
                seen.push(cells);
            }
        }
    }
    if !rows.is_empty() {
        out.write_all(table(["PLACE", "ITEM", "SOURCE", "FAULT", "OUTCOME"], &rows).as_bytes())?;
    }
    for unread in report.unread {
        let line = unread.line.map_or(String::new(), |line| format!(":{line}"));
        writeln!(out, "{}{line}  unread: {}", unread.path, unread.reason)?;
    }
    if rows.is_empty() && report.unread.is_empty() && !look.quiet {
        writeln!(out, "no standing watches")?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    tool: Tool,
    root: String,
    unread: Vec<UnreadFile<'a>>,
    watches: Vec<WatchRow<'a>>,
}

#[derive(Serialize)]
struct WatchRow<'a> {
    file: &'a str,
    span: Span,
    item: &'a str,
    source: SourceRow<'a>,
    opener: Option<PlaceRow<'a>>,
    faults: Vec<FaultRow<'a>>,
}

#[derive(Serialize)]
struct SourceRow<'a> {
    id: &'a str,
    #[serde(rename = "crate")]
    package: &'a str,
    api: &'a str,
    guessed: bool,
}

#[derive(Serialize)]
struct PlaceRow<'a> {
    file: &'a str,
    span: Span,
}

#[derive(Serialize)]
struct FaultRow<'a> {
    shows_as: ShowsAs,
    text: &'a str,
    outcome: &'static str,
    item: &'a str,
}

/// The same for machines.
pub(crate) fn list_json(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    json::write(
        out,
        &Document {
            version: VERSION,
            tool: TOOL,
            root: json::root(report),
            unread: json::unread(report),
            watches: report.watches.iter().map(|watch| row(report, watch)).collect(),
        },
    )
}

fn row<'a>(report: &'a Report<'_>, watch: &'a Watch) -> WatchRow<'a> {
    let sources = &report.sources;
    let faults = watch.faults.iter().map(|path| FaultRow {
        shows_as: path.fault.shows_as,
        text: &path.fault.text,
        outcome: path.outcome.name(),
        item: &path.item,
    });
    WatchRow {
        file: sources.path(watch.consumer.file),
        span: json::span(sources, watch.consumer),
        item: &watch.item,
        source: SourceRow {
            id: &watch.source.id,
            package: &watch.source.package,
            api: &watch.source.api,
            guessed: watch.source.guessed,
        },
        opener: watch
            .opener
            .map(|opener| PlaceRow { file: sources.path(opener.file), span: json::span(sources, opener) }),
        faults: faults.collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rideout_rules::model::{Fault, FaultPath, Outcome, ShowsAs, Watch};
    use serde_json::Value;

    use super::{list, list_json};
    use crate::{
        analysis::Analysis,
        report::{Look, Report, testing},
    };

    fn analysis() -> Analysis {
        let mut analysis = testing::analysis();
        let (finding, _) = analysis.findings[0].clone();
        let path = |shows_as, outcome| FaultPath {
            in_example: false,
            fault: Fault { shows_as, text: "it ends".into() },
            outcome,
            arm: None,
            consumer: finding.consumer,
            item: "run".into(),
            path: Vec::new(),
            mend: None,
        };
        analysis.watches = vec![Watch {
            source: finding.source.clone(),
            opener: finding.opener,
            opening: None,
            consumer: finding.consumer,
            poll: finding.consumer,
            item: "Feed::run".into(),
            faults: vec![
                path(ShowsAs::ErrorThenEnds, Outcome::Ends),
                path(ShowsAs::ErrorThenEnds, Outcome::Ends),
                path(ShowsAs::Ends, Outcome::Unknown),
            ],
        }];
        analysis
    }

    #[test]
    fn one_line_for_each_way_of_a_fault() {
        let analysis = analysis();
        let mut out = Vec::new();
        list(&Report::new(Path::new("/w"), &analysis, false), Look::default(), &mut out).unwrap();
        let wanted = "\
PLACE            ITEM       SOURCE         FAULT            OUTCOME
src/run.rs:2:14  Feed::run  connect_async  error-then-ends  ends
src/run.rs:2:14  Feed::run  connect_async  ends             unknown
src/bad.rs:2  unread: expected `)`
src/utf16.rs:3  unread: the file is not valid UTF-8
";
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }

    #[test]
    fn the_document_keeps_every_path() {
        let analysis = analysis();
        let mut out = Vec::new();
        list_json(&Report::new(Path::new("/w"), &analysis, false), &mut out).unwrap();
        let document: Value = serde_json::from_slice(&out).unwrap();
        let watch = &document["watches"][0];
        assert_eq!((&watch["file"], &watch["opener"]["file"]), (&"src/run.rs".into(), &"src/open.rs".into()));
        assert_eq!(watch["faults"].as_array().unwrap().len(), 3);
        assert_eq!(watch["faults"][2]["outcome"], "unknown");
    }
}
