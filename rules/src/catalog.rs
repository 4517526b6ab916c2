//! The typed catalog: which APIs open a long-lived stream, how their faults show, and what the code around them may call.
//!
//! An entry is data. `rules/catalog/*.toml` holds one file per crate; `docs/catalog.md` explains each key with examples.
//!
//! **Paths.** `a::b::C` matches exactly the items `R::b::C` for each root `R` of the crate, so each public re-export is listed
//! too. A path with `*` matches at the end of any path, whatever its root (`*_client::*Client`).

use semver::VersionReq;
use serde::Deserialize;

use crate::model::ShowsAs;

mod builtin;
mod check;
mod needles;
mod own;
mod shape;

pub use builtin::builtin;
pub use check::Mistake;
pub use needles::{Needle, PANIC_HOOK, needles};
pub use own::{Own, Transient, check_paths, extended};
pub use shape::Shape;

/// One catalog file: what Rideout knows about one crate.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Crate {
    /// Package name in `Cargo.toml`. `std` is always active.
    pub package: String,
    /// Other packages that re-export the same items, or that make the entry active.
    #[serde(default)]
    pub also: Vec<String>,
    /// First path segments under which the items appear. Default: every package name with `-` as `_`.
    #[serde(default)]
    pub roots: Vec<String>,
    /// The long-lived streams.
    #[serde(default, rename = "source")]
    pub sources: Vec<Source>,
    /// Values that lead to a source, whose type cannot be told from a constructor's name.
    #[serde(default, rename = "value")]
    pub values: Vec<Value>,
    /// Words of the control flow that this crate brings.
    #[serde(default, rename = "word")]
    pub words: Vec<Word>,
    /// Kinds of channels that the crate brings.
    #[serde(default, rename = "channel")]
    pub channels: Vec<Channel>,
    /// Helpers that call a closure again.
    #[serde(default, rename = "reopen")]
    pub reopens: Vec<Reopen>,
    /// Whether the user has written it: its paths stand for themselves, and it is active for every package.
    #[serde(skip)]
    pub own: bool,
}

impl Crate {
    /// The first path segments of this crate's items.
    pub fn roots(&self) -> Vec<String> {
        if self.roots.is_empty() {
            std::iter::once(&self.package).chain(&self.also).map(|name| name.replace('-', "_")).collect()
        } else {
            self.roots.clone()
        }
    }
}

/// One API that hands out a long-lived stream.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Source {
    /// Unique over the whole catalog, kebab-case.
    pub id: String,
    /// The API as a person would name it, `tonic::Streaming`.
    pub api: String,
    /// Where the facts were read: crate, version, file.
    #[serde(default)]
    pub cite: String,
    /// Versions for which the entry holds. Default: all.
    #[serde(default)]
    pub versions: Option<VersionReq>,
    /// How values come to be.
    #[serde(default)]
    pub open: Vec<Opener>,
    /// Paths of the types that are this source, as written in a field, a parameter or a return type; with arguments
    /// (`Stream<TcpStream>`) only if the type has those.
    #[serde(default)]
    pub types: Vec<String>,
    /// Paths of item or error types: a `Stream` (boxed, `impl`) whose item mentions one of them is this source.
    #[serde(default)]
    pub items: Vec<String>,
    /// Shape of an item, for sources that implement `Stream` (or `Iterator`): `T` or `Result<T>`. None: own polls only.
    #[serde(default)]
    pub item: Option<Shape>,
    /// The source's own polling methods. Those of `Stream` and `Iterator` come with `item`.
    #[serde(default)]
    pub polls: Vec<Poll>,
    /// How a transient fault shows. Empty: nothing transient reaches the consumer.
    #[serde(default, rename = "fault")]
    pub faults: Vec<FaultFact>,
    /// Whether the items come in a channel, so that a receiver of `items` is this source.
    #[serde(default)]
    pub channel: bool,
    /// Who takes the sender of the program's own channel, or a closure that sends to it.
    #[serde(default)]
    pub fed: Vec<Feed>,
    /// Builder calls and arguments that change a fact.
    #[serde(default, rename = "when")]
    pub whens: Vec<When>,
    /// Whether a loop that only spins belongs to the pedantic level.
    #[serde(default)]
    pub spins_pedantic: bool,
    /// Whether a server has the same type of each client: then only a stream that is seen to be opened is judged.
    #[serde(default)]
    pub either_side: bool,
    /// The sentence that tells the way out for this source, without the code.
    #[serde(default)]
    pub help: Option<String>,
}

/// How a stream is opened.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Opener {
    /// Path of a free or associated function.
    #[serde(default, rename = "fn")]
    pub function: Option<String>,
    /// Name of a method; `*` is any.
    #[serde(default)]
    pub method: Option<String>,
    /// Types that have the method. Empty: any receiver, and a receiver of unknown type makes the source a guess.
    #[serde(default)]
    pub on: Vec<String>,
    /// Text of a literal, or last name of a path, among the arguments of a function, without which it is not this opener.
    #[serde(default)]
    pub argument: Option<String>,
    /// What it returns, with `Watch` for the stream. Default `Watch`.
    #[serde(default)]
    pub gives: Option<Shape>,
    /// Whether a receiver whose type is unknown is accepted too (the method's name is telling), as a guess.
    #[serde(default)]
    pub telling: bool,
    /// Whether what it gives is as dead as its receiver: asking a dead receiver for another opens nothing.
    #[serde(default)]
    pub borrows: bool,
}

/// A call that takes the sender of a channel, or a closure that sends to it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Feed {
    /// Path of a free or associated function.
    #[serde(default, rename = "fn")]
    pub function: Option<String>,
    /// Name of a method.
    #[serde(default)]
    pub method: Option<String>,
    /// Types that have the method.
    #[serde(default)]
    pub on: Vec<String>,
}

/// A kind of channel: how it is made, and how its receiver is asked.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Channel {
    /// Paths of the functions that make a sender and a receiver.
    pub fns: Vec<String>,
    /// Paths of the types of the receiver.
    pub types: Vec<String>,
    /// The receiver's polling methods.
    pub polls: Vec<Poll>,
}

/// A call that asks a source for its next item.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Poll {
    /// Name of the method; `await` for a source that is itself a future.
    pub method: String,
    /// What it gives, with `T` for the item. `Result<Option<T>>`, `Option<Result<T>>`, `Result<T>`, `T`.
    pub gives: Shape,
    /// Whether the call itself is the standing watch: it runs until the fault (`client.sync().await`).
    #[serde(default)]
    pub runs: bool,
    /// Whether the call hands a callback to the library, which calls it with each item (`set_delegate`).
    #[serde(default)]
    pub callback: bool,
    /// For a callback: which argument after the receiver is the closure that hears of the fault, from 0. Default: the first closure.
    #[serde(default)]
    pub closure: Option<usize>,
    /// For a callback: variants that it returns to end the watch.
    #[serde(default)]
    pub stops: Vec<String>,
    /// Whether the `None` of this call says that the connection was lost, and the source goes on (`PgListener::try_recv`).
    #[serde(default)]
    pub none_heals: bool,
    /// Whether the call skips this source's faults (`async_broadcast::Receiver::next`).
    #[serde(default)]
    pub skips: bool,
}

/// One way in which a source can fail.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FaultFact {
    /// How the code sees it.
    pub shows_as: ShowsAs,
    /// One sentence for people.
    pub text: String,
    /// Whether the source waits by itself before it reports the same fault again. Meant for those that heal.
    #[serde(default)]
    pub paced: bool,
    /// For `variant`: the variant's name.
    #[serde(default)]
    pub variant: Option<String>,
    /// For `variant`: whether it is a value of the item (default: of the error).
    #[serde(default)]
    pub in_item: bool,
    /// For `variant`: whether the source goes on by itself afterwards.
    #[serde(default)]
    pub heals: bool,
    /// Names and numbers in a pattern or guard that single out this transient fault.
    #[serde(default)]
    pub transient: Vec<String>,
    /// Names in a pattern or guard that single out something else, which is no transient fault (`Closed`, `PartitionEOF`).
    #[serde(default)]
    pub others: Vec<String>,
    /// The pattern for this fault alone in what a poll of the source gives, for an arm of its own.
    #[serde(default)]
    pub pattern: Option<String>,
    /// For `ends`: the item's variant that comes right before the end (`Message::Close`).
    #[serde(default)]
    pub announced_by: Option<String>,
    /// Methods that bring the connection back, and not the subscription.
    #[serde(default)]
    pub healed_by: Vec<String>,
    /// Methods that make the watch hear again after a fault which heals the connection but loses the subscription.
    #[serde(default)]
    pub restored_by: Vec<String>,
    /// Name of the item's variant that announces the healed connection.
    #[serde(default)]
    pub restored_on: Option<String>,
}

/// A fact that a builder call or an argument changes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct When {
    /// Methods on the source, its opener or its builder. Any of them.
    pub calls: Vec<String>,
    /// Text of the first argument, if it matters (`false`).
    #[serde(default)]
    pub argument: Option<String>,
    /// Calls, written like `calls`, that keep it from holding.
    #[serde(default)]
    pub unless: Vec<String>,
    /// Where the calls are looked for.
    #[serde(default)]
    pub within: Within,
    /// What holds then.
    pub then: Then,
    /// For `faults`: the faults that hold then.
    #[serde(default)]
    pub faults: Vec<FaultFact>,
}

/// Where a `when` looks for its calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Within {
    /// On the chain of calls that made the value.
    #[default]
    Chain,
    /// On the way of the value, and of what it was made of, wherever in the program that stands. What leaves the view is looked
    /// for in the text of the files that it was seen in.
    Value,
    /// In the text of the files that open and ask it.
    File,
}

/// What a `when` changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Then {
    /// The source waits by itself.
    Paced,
    /// No transient fault reaches the consumer.
    Heals,
    /// The subscription survives (drops `restored-by` demands).
    Kept,
    /// The entry's faults are replaced by `faults`.
    Faults,
    /// The value is another thing and no watch.
    NotAWatch,
}

/// A value on the way to a source: what calling a method or function gives.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Value {
    /// Path of a free or associated function.
    #[serde(default, rename = "fn")]
    pub function: Option<String>,
    /// Name of a method.
    #[serde(default)]
    pub method: Option<String>,
    /// Types that have the method.
    #[serde(default)]
    pub on: Vec<String>,
    /// Path of the type it gives (`redis::aio::PubSub`), maybe in `Result<..>` or a tuple.
    pub gives: Shape,
    /// Whether what it gives is as dead as its receiver.
    #[serde(default)]
    pub borrows: bool,
}

/// What a word of the control flow means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meaning {
    /// Waits: a sleep, a tick, a backoff.
    Wait,
    /// Writes a log line.
    Log,
    /// Ends the process, or tells a supervisor to.
    Exit,
    /// Runs a future or a closure beside the caller and gives a handle.
    Spawn,
    /// Hands a value to a sink or a channel.
    Send,
    /// Passes its first argument or receiver through (`Box::pin`, `boxed`).
    Same,
    /// Wraps a future's result in `Ok`, or gives `Err` when time is up.
    Timeout,
    /// Runs a future or a closure, and gives `Err` for a panic in it.
    Catch,
    /// A type whose presence among a function's parameters makes it the handler of one request or client.
    Request,
    /// A type whose drop tells the process or a supervisor.
    Guard,
    /// A call that waits for a spawned task.
    Join,
    /// A future that never completes.
    Pending,
    /// Makes an error that a retry helper does not try again.
    Permanent,
    /// A type that a request carries for its answer, and whose drop tells whoever asks.
    Reply,
}

/// Words of the control flow, by meaning.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Word {
    /// What they mean.
    pub means: Meaning,
    /// Paths of free or associated functions.
    #[serde(default)]
    pub fns: Vec<String>,
    /// Names of methods, on any receiver or on those of `on`.
    #[serde(default)]
    pub methods: Vec<String>,
    /// Types that have the methods. Empty: any.
    #[serde(default)]
    pub on: Vec<String>,
    /// Names of macros.
    #[serde(default)]
    pub macros: Vec<String>,
    /// Paths of types.
    #[serde(default)]
    pub types: Vec<String>,
}

impl Word {
    /// The function of this package that waits for a duration in async code. The standard library's blocks the thread.
    pub fn pause(&self, package: &str) -> Option<&str> {
        let root = package.replace('-', "_");
        let own = |path: &&str| {
            path.ends_with("::sleep") && path.split("::").next() == Some(&root) && root != "std"
        };
        let waits = self.fns.iter().filter(|_| self.means == Meaning::Wait);
        waits.map(String::as_str).find(own)
    }
}

/// A helper that calls a closure again when it fails.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Reopen {
    /// Path of a free or associated function.
    #[serde(default, rename = "fn")]
    pub function: Option<String>,
    /// Name of a method, on the closure or on a policy.
    #[serde(default)]
    pub method: Option<String>,
    /// Types of the policy that has the method. Empty: it is one of the closure.
    #[serde(default)]
    pub on: Vec<String>,
    /// Which argument is the closure, from 0. For a method the receiver is 0.
    #[serde(default)]
    pub closure: usize,
    /// Whether an `Ok` result makes it call again too (a factory of streams).
    #[serde(default)]
    pub on_ok: bool,
    /// Whether it waits between two calls.
    #[serde(default = "yes")]
    pub paced: bool,
    /// Whether it stops after a number of calls or a time by default.
    #[serde(default)]
    pub bounded: bool,
    /// Calls on the policy, their first arguments, or fields with their values (`a: b`), that lift the bound.
    #[serde(default)]
    pub unbounded_by: Vec<String>,
    /// Calls on the policy or the chain that set a bound.
    #[serde(default)]
    pub bounded_by: Vec<String>,
    /// Whether the closure gives a stream, which the helper reads and asks the closure for anew after a fault.
    #[serde(default)]
    pub factory: bool,
    /// Where the facts were read.
    #[serde(default)]
    pub cite: String,
}

fn yes() -> bool {
    true
}

/// Reads one catalog file.
///
/// # Errors
///
/// The parser's message, with line and column, for unknown keys, bad values and contradictions.
pub fn parse(text: &str) -> Result<Crate, String> {
    let entry: Crate = toml::from_str(text).map_err(|error| error.to_string())?;
    for source in &entry.sources {
        source.check().map_err(|mistake| mistake.sentence)?;
    }
    for value in &entry.values {
        value.check().map_err(|mistake| mistake.sentence)?;
    }
    for reopen in &entry.reopens {
        reopen.check().map_err(|mistake| mistake.sentence)?;
    }
    Ok(entry)
}
