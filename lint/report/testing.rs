//! A made-up analysis for the tests of the formats.

use rideout_rules::model::{
    Applicability, Edit, Fault, Finding, Level, Location, ShowsAs, Source, Step, Suggestion,
};

use crate::analysis::{Analysis, FileText, Suppression, Unread};

/// Where `needle` stands in the text of a file.
pub(super) fn at(analysis: &Analysis, file: usize, needle: &str) -> Location {
    let start = analysis.files[file].text.find(needle).unwrap();
    let offset = |byte: usize| u32::try_from(byte).unwrap();
    Location { file: offset(file), start: offset(start), end: offset(start + needle.len()) }
}

/// One finding over two files, one unread file with and one without its text.
pub(super) fn analysis() -> Analysis {
    let watch = "\u{feff}fn run() {\n\tlet \u{1f980} = (); while let Some(m) = s.next().await {\n\t}\n}\n";
    let text = |path: &str, text: &str| FileText { path: path.into(), text: text.into() };
    let mut analysis = Analysis {
        files: vec![
            text("src/run.rs", watch),
            text("src/open.rs", "let s = connect_async(url).await?;\n"),
            text("src/bad.rs", "\nfn main( {\n"),
        ],
        unread: vec![
            Unread { path: "src/bad.rs".into(), reason: "expected `)`".into(), line: Some(2) },
            Unread {
                path: "src/utf16.rs".into(),
                reason: "the file is not valid UTF-8".into(),
                line: Some(3),
            },
        ],
        ..Analysis::default()
    };
    let primary = at(&analysis, 0, "while let Some(m) = s.next().await {\n\t}");
    let opener = at(&analysis, 1, "connect_async(url)");
    let finding = Finding {
        rule: "unguarded-watch",
        level: Level::Deny,
        message: "this watch on `connect_async` is over after its first error".into(),
        primary,
        label: "an `Err` ends this loop".into(),
        item: "run".into(),
        source: Source {
            id: "demo".into(),
            package: "tokio-tungstenite".into(),
            api: "connect_async".into(),
            guessed: false,
            spins_pedantic: false,
            help: None,
        },
        opener: Some(opener),
        consumer: primary,
        fault: Fault { shows_as: ShowsAs::ErrorThenEnds, text: "the socket fails and then ends".into() },
        path: vec![Step { location: opener, label: "opened here, and only here".into() }],
        why: "nothing opens it again".into(),
        help: "open it again:\nloop {\n}".into(),
        suggestion: None,
    };
    let pedantic = Finding { level: Level::Pedantic, rule: "unpaced-reopen", ..finding.clone() };
    analysis.findings = vec![(finding, "9f3c1a2e".into()), (pedantic, "00000000".into())];
    analysis
}

/// Lets the first finding have a suggestion that replaces its place.
pub(super) fn suggest(analysis: &mut Analysis) {
    let finding = &mut analysis.findings[0].0;
    finding.suggestion = Some(Suggestion {
        message: "open it again".into(),
        edits: vec![Edit { location: finding.primary, text: "loop {\n}".into() }],
        applicability: Applicability::MaybeIncorrect,
    });
}

/// Suppresses all findings of the first file, and adds a suppression without use to the second.
pub(super) fn suppress(analysis: &mut Analysis) {
    let comment = "// rideout: allow(stale-factory): one feed";
    analysis.files[1].text = format!("let s = connect_async(url).await?; {comment}\n").into();
    let unused = Suppression {
        location: at(analysis, 1, comment),
        rule: "stale-factory",
        reason: "one feed".into(),
        covers: Vec::new(),
        findings: Vec::new(),
    };
    let findings = std::mem::take(&mut analysis.findings);
    let used =
        Suppression { location: at(analysis, 0, "let"), rule: "unguarded-watch", findings, ..unused.clone() };
    analysis.suppressions = vec![used, unused];
}
