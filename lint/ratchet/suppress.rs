//! Findings that a comment in the code allows, and comments that allow nothing.

use memchr::memmem;
use rideout_rules::{
    model::Location,
    suppression::{self, MARK},
};

use crate::{
    analysis::{Analysis, Invalid, Suppression},
    syntax::{self, tree},
};

/// What the comments of files say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comments {
    pub(crate) suppressions: Vec<Suppression>,
    pub(crate) invalid: Vec<Invalid>,
}

impl Comments {
    /// Reads those of one file. What stands in code that only tests have is about findings that are not looked for.
    pub(crate) fn read(&mut self, file: u32, text: &str, tree: &tree::File) {
        if memmem::find(text.as_bytes(), MARK.as_bytes()).is_none() {
            return;
        }
        let tests = tree.tests();
        let at = |span: tree::Span| Location { file, start: span.start, end: span.end };
        for comment in syntax::comments(text, MARK) {
            let place = comment.span;
            let code = text.get(place.start as usize..place.end as usize).unwrap_or_default();
            if tests.iter().any(|test| test.start <= place.start && place.end <= test.end) {
                continue;
            }
            match suppression::read(code) {
                None => {}
                Some(Err(reason)) => self.invalid.push(Invalid { location: at(place), reason }),
                Some(Ok(read)) => self.suppressions.extend(read.rules.iter().map(|rule| Suppression {
                    rule,
                    location: at(place),
                    covers: comment.covers.iter().copied().map(at).collect(),
                    reason: read.reason.clone(),
                    findings: Vec::new(),
                })),
            }
        }
    }
}

/// Moves each finding that a comment allows to that comment; of several, to the one that stands last.
pub(crate) fn suppress(analysis: &mut Analysis) {
    let Analysis { findings, suppressions, .. } = analysis;
    suppressions.sort_by_key(|suppression| suppression.location);
    *findings = std::mem::take(findings)
        .into_iter()
        .filter_map(|found| {
            let place = found.0.primary;
            let covers =
                |part: &Location| part.file == place.file && (part.start..part.end).contains(&place.start);
            let allows = |suppression: &&mut Suppression| {
                suppression.rule == found.0.rule && suppression.covers.iter().any(covers)
            };
            match suppressions.iter_mut().rev().find(allows) {
                Some(suppression) => {
                    suppression.findings.push(found);
                    None
                }
                None => Some(found),
            }
        })
        .collect();
}

#[cfg(test)]
mod tests {
    use super::Comments;
    use crate::syntax::{self, Interest};

    fn read(text: &str) -> Comments {
        let mut comments = Comments::default();
        comments.read(3, text, &syntax::parse(text, &Interest::ALL).unwrap());
        comments
    }

    #[test]
    fn each_rule_of_a_comment_is_one_suppression() {
        let text = "fn f() {\n    // rideout: allow(stale-factory, unpaced-reopen): one feed\n    a();\n}\n";
        let found = read(text).suppressions;
        assert_eq!(
            found.iter().map(|found| found.rule).collect::<Vec<_>>(),
            ["stale-factory", "unpaced-reopen"]
        );
        for found in found {
            assert_eq!((found.location.file, found.reason.as_str()), (3, "one feed"));
            let code = found.covers[0];
            assert_eq!(&text[code.start as usize..code.end as usize], "a();\n");
        }
    }

    #[test]
    fn code_of_tests_is_not_looked_at() {
        let bad = "{ // rideout: alow\n }\n";
        let tests = format!(
            "#[test]\nfn a() {bad}#[cfg(test)]\nmod b {{ fn c() {bad} }}\nmod d {{ #[cfg(test)] impl E {bad} }}\n"
        );
        assert!(read(&tests).invalid.is_empty());
        let invalid = read(&format!("{tests}fn f() {bad}")).invalid;
        assert_eq!(invalid.len(), 1);
        assert!(invalid[0].location.start as usize > tests.len());
    }
}
