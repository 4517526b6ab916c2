//! The options of `cargo check` that editors pass to whatever command they run in its place.

use std::ffi::OsString;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum, error::Error};

use super::{CheckArgs, Format, ScopeArgs};

/// What is for cargo.
#[derive(Clone, Debug, Args)]
pub(crate) struct CargoArgs {
    /// Run `cargo check` (or `clippy`) first and pass its lines on, with `--format cargo`. Its options that choose what to compile
    /// (`--all-targets`, `--features`, `--target`, ..) are handed to it
    #[arg(long, value_name = "COMMAND", num_args = 0..=1, require_equals = true, default_missing_value = "check")]
    pub(crate) with_cargo_check: Option<Checker>,
    /// The format as cargo names it: `json`, and what begins with it, is `cargo`. Then `--config` is cargo's
    #[arg(long, value_name = "FORMAT", value_parser = message_format, conflicts_with = "format")]
    pub(crate) message_format: Option<MessageFormat>,
    #[command(flatten)]
    passed: Passed,
}

/// The commands of cargo that check code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Checker {
    /// `cargo check`
    Check,
    /// `cargo clippy`
    Clippy,
}

impl Checker {
    /// The name of the command.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Clippy => "clippy",
        }
    }
}

/// What `--message-format` asks for.
#[derive(Clone, Debug)]
pub(crate) struct MessageFormat {
    /// The format of Rideout's own findings.
    pub(crate) format: Format,
    /// Whether the texts in the lines have colour.
    pub(crate) ansi: bool,
    written: String,
}

fn message_format(written: &str) -> Result<MessageFormat, String> {
    let mut parts = written.split(',');
    let format = match written {
        "human" => Format::Human,
        "short" => Format::Short,
        _ if parts.clone().all(|part| part == "json" || part.starts_with("json-")) => Format::Cargo,
        _ => return Err("it is one of human, short, json and the kinds of json that cargo has".to_owned()),
    };
    let ansi = parts.any(|part| part == "json-diagnostic-rendered-ansi");
    Ok(MessageFormat { format, ansi, written: written.to_owned() })
}

impl CheckArgs {
    /// How the findings are written.
    pub(crate) fn format(&self) -> Format {
        self.cargo.message_format.as_ref().map_or(self.format, |format| format.format)
    }

    /// What is read, and how it is shown.
    pub(crate) fn scope(&self) -> ScopeArgs {
        let config = self.scope.config.clone().filter(|_| self.cargo.message_format.is_none());
        ScopeArgs { config, ..self.scope.clone() }
    }

    /// The arguments for cargo's own check.
    pub(crate) fn cargo_check(&self) -> Vec<OsString> {
        let (scope, format) = (&self.scope, self.cargo.message_format.as_ref());
        let written = format.map_or("json", |format| &format.written);
        let mut arguments = vec![format!("--message-format={written}").into()];
        arguments.extend(self.cargo.passed.0.iter().cloned());
        let mut option = |name: &str, value: OsString| arguments.extend([name.into(), value]);
        scope.package.iter().for_each(|package| option("--package", package.into()));
        scope.exclude.iter().for_each(|package| option("--exclude", package.into()));
        scope.manifest_path.iter().for_each(|path| option("--manifest-path", path.into()));
        scope.config.iter().filter(|_| format.is_some()).for_each(|config| option("--config", config.into()));
        if scope.workspace {
            arguments.push("--workspace".into());
        }
        arguments
    }
}

/// Options that are known by name only, as they were given.
#[derive(Clone, Debug, Default)]
struct Passed(Vec<OsString>);

const SWITCHES: &[&str] = &[
    "all-features",
    "all-targets",
    "benches",
    "bins",
    "examples",
    "frozen",
    "keep-going",
    "lib",
    "locked",
    "no-default-features",
    "offline",
    "release",
    "tests",
];

const VALUES: &[(&str, Option<char>)] = &[
    ("bench", None),
    ("bin", None),
    ("example", None),
    ("features", Some('F')),
    ("jobs", Some('j')),
    ("profile", None),
    ("target", None),
    ("target-dir", None),
    ("test", None),
    ("unstable", Some('Z')),
];

impl Args for Passed {
    fn augment_args(command: Command) -> Command {
        let switches = SWITCHES.iter().map(|name| Arg::new(*name).long(*name).action(ArgAction::SetTrue));
        let values = VALUES.iter().map(|(name, short)| {
            let value = Arg::new(*name).action(ArgAction::Append).value_parser(clap::value_parser!(OsString));
            match short {
                Some('Z') => value.short('Z'),
                Some(short) => value.long(*name).short(*short),
                None => value.long(*name),
            }
        });
        command.args(switches.chain(values).map(|arg| arg.hide(true)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Passed {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut passed = Self::default();
        passed.update_from_arg_matches(matches)?;
        Ok(passed)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        let switches = SWITCHES.iter().filter(|name| matches.get_flag(name));
        self.0 = switches.map(|name| format!("--{name}").into()).collect();
        for (name, _) in VALUES {
            let option = if *name == "unstable" { "-Z".to_owned() } else { format!("--{name}") };
            for value in matches.get_many::<OsString>(name).into_iter().flatten() {
                self.0.extend([option.clone().into(), value.clone()]);
            }
        }
        Ok(())
    }
}

/// The name in a package id specification: `path+file:///w/app#0.1.0`, `app@0.1.0`, `app`.
pub(super) fn package_name(spec: &str) -> &str {
    let (url, fragment) = spec.rsplit_once('#').unwrap_or(("", spec));
    let name = fragment.split('@').next().unwrap_or(fragment);
    if !url.is_empty() && name.starts_with(|c: char| c.is_ascii_digit()) {
        return url.trim_end_matches('/').rsplit('/').next().unwrap_or(url);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::{Checker, message_format, package_name};
    use crate::cli::{Command, Format, parse};

    fn check(args: &str) -> crate::cli::CheckArgs {
        let args = ["cargo-rideout", "rideout"].into_iter().chain(args.split(' '));
        let Ok(Command::Check(check)) = parse(args.map(Into::into)) else { panic!("not a check") };
        check
    }

    #[test]
    fn what_rust_analyzer_passes_is_understood() {
        let all = "--workspace --message-format=json-diagnostic-rendered-ansi --manifest-path /w/Cargo.toml --keep-going \
                   --target wasm32-unknown-unknown --all-targets --no-default-features --features a,b --config /w/c.toml \
                   --target-dir /w/target/ra --with-cargo-check";
        let check = check(all);
        assert_eq!(check.format(), Format::Cargo);
        assert!(check.cargo.message_format.as_ref().unwrap().ansi);
        assert_eq!(check.cargo.with_cargo_check, Some(Checker::Check));
        let arguments = check.cargo_check();
        let arguments: Vec<&str> = arguments.iter().map(|argument| argument.to_str().unwrap()).collect();
        assert_eq!(
            arguments.join(" "),
            "--message-format=json-diagnostic-rendered-ansi --all-targets --keep-going --no-default-features \
             --features a,b --target wasm32-unknown-unknown --target-dir /w/target/ra \
             --manifest-path /w/Cargo.toml --config /w/c.toml --workspace"
        );
        assert_eq!(check.scope().request("/".into()).config, None, "it is cargo's");
    }

    #[test]
    fn clippy_checks_too() {
        let checker = |args| check(args).cargo.with_cargo_check;
        assert_eq!(checker("--format cargo --with-cargo-check=clippy"), Some(Checker::Clippy));
        assert_eq!(checker("--format cargo --with-cargo-check src"), Some(Checker::Check));
        assert_eq!(checker("--format cargo"), None);
    }

    #[test]
    fn one_package_and_one_target() {
        let check =
            check("-p path+file:///w/app#0.1.0 --bin tool --message-format=json --lib --bins --examples");
        assert_eq!(check.scope().request("/".into()).packages, ["app"]);
        assert!(check.cargo_check().contains(&"path+file:///w/app#0.1.0".into()));
    }

    #[test]
    fn a_configuration_is_rideouts_own_in_its_own_words() {
        let check = check("--format cargo --config rideout.toml");
        assert_eq!(check.scope().request("/".into()).config, Some("rideout.toml".into()));
    }

    #[test]
    fn formats_have_cargos_names() {
        let format = |written| message_format(written).map(|found| (found.format, found.ansi));
        assert_eq!(format("json"), Ok((Format::Cargo, false)));
        assert_eq!(format("json,json-diagnostic-rendered-ansi"), Ok((Format::Cargo, true)));
        assert_eq!(format("short"), Ok((Format::Short, false)));
        assert!(format("sarif").is_err() && format("jsonx").is_err());
    }

    #[test]
    fn a_package_has_many_spellings() {
        for spec in [
            "app",
            "app@0.1.0",
            "path+file:///w/app#0.1.0",
            "path+file:///w/x#app@0.1.0",
            "file:///w/app#1.0.0",
        ] {
            assert_eq!(package_name(spec), "app", "{spec}");
        }
        assert_eq!(package_name("app-*"), "app-*");
    }
}
