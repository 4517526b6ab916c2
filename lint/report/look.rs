//! What the terminal can show: colour, and more than ASCII.

use std::env;

/// How human output looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// Colour, as ANSI escapes.
    pub(crate) color: bool,
    /// Lines drawn with box characters. Else ASCII.
    pub(crate) boxes: bool,
    /// Findings only, no summary.
    pub(crate) quiet: bool,
}

/// The user's word on colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// If stdout is a terminal and no variable says otherwise.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Look {
    /// Decides by the option, then `CARGO_TERM_COLOR`, `NO_COLOR`, `CLICOLOR_FORCE`, then the terminal.
    pub(crate) fn new(color: Color, quiet: bool, terminal: bool) -> Self {
        let variable = |name: &str| env::var(name).ok();
        Self { color: colored(color, &variable, terminal), boxes: cfg!(windows) || unicode(&variable), quiet }
    }
}

fn colored(color: Color, variable: &dyn Fn(&str) -> Option<String>, terminal: bool) -> bool {
    let set = |name| variable(name).is_some_and(|value| !value.is_empty());
    match (color, variable("CARGO_TERM_COLOR").as_deref()) {
        (Color::Always, _) | (Color::Auto, Some("always")) => true,
        (Color::Never, _) | (Color::Auto, Some("never")) => false,
        (Color::Auto, _) if set("NO_COLOR") => false,
        (Color::Auto, _) if set("CLICOLOR_FORCE") => {
            variable("CLICOLOR_FORCE").as_deref() != Some("0") || terminal
        }
        (Color::Auto, _) => terminal && variable("TERM").as_deref() != Some("dumb"),
    }
}

/// Whether the locale is UTF-8, by the first variable that is set, as POSIX has it.
fn unicode(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable).find(|value| !value.is_empty());
    locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::{Color, colored, unicode};

    fn variables<'a>(set: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn the_option_wins_over_variables_and_those_over_the_terminal() {
        type Set<'a> = &'a [(&'a str, &'a str)];
        let cases: &[(Color, Set<'_>, bool, bool)] = &[
            (Color::Always, &[("NO_COLOR", "1"), ("CARGO_TERM_COLOR", "never")], false, true),
            (Color::Never, &[("CLICOLOR_FORCE", "1")], true, false),
            (Color::Auto, &[("CARGO_TERM_COLOR", "always"), ("NO_COLOR", "1")], false, true),
            (Color::Auto, &[("CARGO_TERM_COLOR", "never")], true, false),
            (Color::Auto, &[("CARGO_TERM_COLOR", "auto"), ("NO_COLOR", "1")], true, false),
            (Color::Auto, &[("NO_COLOR", "")], true, true),
            (Color::Auto, &[("CLICOLOR_FORCE", "1")], false, true),
            (Color::Auto, &[("CLICOLOR_FORCE", "0")], false, false),
            (Color::Auto, &[("TERM", "dumb")], true, false),
            (Color::Auto, &[], false, false),
        ];
        for (color, set, terminal, wanted) in cases {
            assert_eq!(colored(*color, &variables(set), *terminal), *wanted, "{color:?} {set:?} {terminal}");
        }
    }

    #[test]
    fn the_first_locale_variable_that_is_set_decides() {
        assert!(unicode(&variables(&[("LANG", "en_GB.UTF-8")])));
        assert!(unicode(&variables(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8"), ("LANG", "C")])));
        assert!(!unicode(&variables(&[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")])));
        assert!(!unicode(&variables(&[])));
    }
}
