//! The comment that allows findings at one place: `// rideout: allow(rule, rule): reason`.

use crate::RULES;

/// What every such comment holds; a second colon after it makes it a path and no mark.
pub const MARK: &str = "rideout:";

/// What a well-formed comment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// The ids of the rules whose findings it allows, as written. At least one.
    pub rules: Vec<&'static str>,
    /// Why, for people. It holds at least one letter or digit.
    pub reason: String,
}

/// Reads a line comment, its slashes included. None: it does not begin with the mark and so is about something else.
///
/// # Errors
///
/// One clause without a final dot, where it begins with the mark and goes on in another way than it must.
pub fn read(comment: &str) -> Option<Result<Suppression, String>> {
    let rest = comment.trim_start_matches('/').trim_start().strip_prefix(MARK)?;
    if rest.starts_with(':') { None } else { Some(allowed(rest.trim())) }
}

fn allowed(text: &str) -> Result<Suppression, String> {
    let (rules, rest) = text
        .strip_prefix("allow")
        .and_then(|rest| rest.trim_start().strip_prefix('('))
        .and_then(|rest| rest.split_once(')'))
        .ok_or_else(|| format!("it does not say `allow(rule): reason` but `{text}`"))?;
    let rules = rules.split(',').map(|name| rule(name.trim())).collect::<Result<_, _>>()?;
    let reason = rest.trim_start().strip_prefix(':').map_or("", str::trim);
    if !reason.contains(char::is_alphanumeric) {
        return Err("it gives no reason".to_owned());
    }
    Ok(Suppression { rules, reason: reason.to_owned() })
}

fn rule(name: &str) -> Result<&'static str, String> {
    match RULES.iter().find(|rule| rule.id == name) {
        Some(rule) if rule.can_be_allowed() => Ok(rule.id),
        Some(_) => Err(format!("no comment allows `{name}`")),
        None if name.is_empty() => Err("it leaves out the name of a rule".to_owned()),
        None => Err(format!("there is no rule `{name}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Suppression, read};

    fn error(comment: &str) -> String {
        read(comment).unwrap().unwrap_err()
    }

    #[test]
    fn white_space_is_free() {
        let rules = vec!["unguarded-watch", "unpaced-reopen"];
        let wanted = Suppression { rules, reason: "one feed: see (a) and b".to_owned() };
        for comment in [
            "// rideout: allow(unguarded-watch, unpaced-reopen): one feed: see (a) and b",
            "//rideout:allow(unguarded-watch,unpaced-reopen):one feed: see (a) and b",
            "//\trideout:  allow ( unguarded-watch ,unpaced-reopen ) :  one feed: see (a) and b \r",
        ] {
            assert_eq!(read(comment), Some(Ok(wanted.clone())), "{comment}");
        }
    }

    #[test]
    fn what_does_not_begin_with_the_mark_is_about_something_else() {
        for comment in [
            "// a comment",
            "// rideout is a linter",
            "// rideout allow(unguarded-watch): reason",
            concat!("// rideout:", ":x is a path"),
            "// see rideout: allow(unguarded-watch): reason",
            "// rideouts: allow(unguarded-watch): reason",
            "//",
        ] {
            assert_eq!(read(comment), None, "{comment}");
        }
    }

    #[test]
    fn a_reason_is_asked_for() {
        for end in ["", ":", ": ", ": -", " one feed", " - one feed"] {
            assert_eq!(
                error(&format!("// rideout: allow(unguarded-watch){end}")),
                "it gives no reason",
                "{end}"
            );
        }
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(
            error("// rideout: alow(unguarded-watch): one feed"),
            "it does not say `allow(rule): reason` but `alow(unguarded-watch): one feed`"
        );
        for text in ["allow", "allow unguarded-watch: one feed", "allow(unguarded-watch: one feed", ""] {
            let error = error(&format!("// rideout: {text}"));
            assert!(error.starts_with("it does not say `allow(rule): reason`"), "{text}: {error}");
        }
        assert_eq!(error("// rideout: allow(unguarded_watch): r"), "there is no rule `unguarded_watch`");
        assert_eq!(error("// rideout: allow(unguarded-watch, all): r"), "there is no rule `all`");
        assert_eq!(error("// rideout: allow(unread-file): r"), "no comment allows `unread-file`");
        assert_eq!(
            error("// rideout: allow(invalid-suppression): r"),
            "no comment allows `invalid-suppression`"
        );
        for rules in ["", "unguarded-watch,"] {
            assert_eq!(error(&format!("// rideout: allow({rules}): r")), "it leaves out the name of a rule");
        }
    }
}
