//! One entry of the baseline: a finding that was there when the gate was turned on, or that a comment in the code allows.

use rideout_rules::{RULES, Rule};

/// What a finding is recognised by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Entry {
    /// Path relative to the folder of the baseline, with forward slashes.
    pub(crate) file: String,
    /// Whether no comment in the code allows it.
    pub(crate) plain: bool,
    /// Id of the rule.
    pub(crate) rule: &'static str,
    /// The function, as `Type::name` or `name`.
    pub(crate) item: String,
    /// The number of the code that consumes the watch.
    pub(crate) fingerprint: String,
}

/// What marks the key of an entry that a comment allows.
const ALLOW: &str = "allow ";

/// The rules whose findings a baseline may hold, by id.
pub(crate) fn rules() -> Vec<&'static str> {
    let mut ids: Vec<&str> = RULES.iter().filter(|rule| rule.can_be_allowed()).map(|rule| rule.id).collect();
    ids.sort_unstable();
    ids
}

impl Entry {
    /// The key of the entry: all but the file and the fingerprint. `number` counts those that are alike, from 1.
    pub(crate) fn key(&self, number: usize) -> String {
        let allow = if self.plain { "" } else { ALLOW };
        let item = if self.item.is_empty() { String::new() } else { format!(" {}", self.item) };
        let number = if number < 2 { String::new() } else { format!(" #{number}") };
        format!("{allow}{}{item}{number}", self.rule)
    }

    /// `src/feed.rs: unguarded-watch Feed::run`, for people.
    pub(crate) fn shown(&self) -> String {
        format!("{}: {}", self.file, self.key(1))
    }

    /// What two entries of a file share if only the watch's code differs.
    pub(crate) fn place(&self) -> (bool, &'static str, &str) {
        (self.plain, self.rule, &self.item)
    }
}

/// Reads a key: whether it is plain, the rule, the item and the number. The error is one clause.
pub(super) fn read_key(key: &str) -> Result<(bool, &'static str, &str, usize), String> {
    let (plain, rest) = key.strip_prefix(ALLOW).map_or((true, key), |rest| (false, rest));
    let (id, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let rule = match RULES.iter().find(|rule| rule.id == id) {
        Some(rule) if Rule::can_be_allowed(rule) => rule.id,
        Some(_) => return Err(format!("no baseline holds a finding of `{id}`")),
        None => return Err(format!("there is no rule `{id}`")),
    };
    let Some((item, number)) = numbered(rest) else { return Ok((plain, rule, rest, 1)) };
    match number.parse::<usize>() {
        Ok(number) if number >= 2 => Ok((plain, rule, item, number)),
        _ => Err(format!("`#{number}` is no number from 2 on")),
    }
}

/// An item and the digits behind its `#`.
fn numbered(text: &str) -> Option<(&str, &str)> {
    let (item, number) = text.rsplit_once('#')?;
    let plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let item = if item.is_empty() { item } else { item.strip_suffix(' ')? };
    plain.then_some((item, number)).filter(|_| !number.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::{Entry, read_key};

    #[test]
    fn a_key_is_read_as_it_was_written() {
        for (plain, item, number) in
            [(true, "Feed::run", 1), (false, "run", 12), (true, "", 1), (true, "", 2), (true, "a b", 3)]
        {
            let entry = Entry {
                file: "src/a.rs".into(),
                plain,
                rule: "unguarded-watch",
                item: item.into(),
                fingerprint: "00000000".into(),
            };
            let key = entry.key(number);
            assert_eq!(read_key(&key), Ok((plain, "unguarded-watch", item, number)), "{key}");
        }
    }

    #[test]
    fn only_rules_that_find_watches_have_entries() {
        assert!(read_key("unread-file").unwrap_err().contains("no baseline"));
        assert!(read_key("nonsense run").unwrap_err().contains("no rule `nonsense`"));
        assert!(read_key("unguarded-watch run #1").unwrap_err().contains("from 2"));
    }
}
