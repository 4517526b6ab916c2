//! How the baseline has grown shorter, as bars and for machines.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
};

use serde::Serialize;

use super::{Color, Look, json, table::table};
use crate::ratchet::{History, Point};

/// The longest bar.
const WIDTH: usize = 48;

/// The most bars.
const BARS: usize = 30;

/// A bar for the start and one for each day on which the baseline has changed, at most [`BARS`], then the rules at the start and now.
pub(crate) fn stats(history: &History, shown: &str, out: &mut dyn Write) -> io::Result<()> {
    let (Some(first), Some(last)) = (history.points.first(), history.points.last()) else {
        return writeln!(out, "{shown} is in no commit yet");
    };
    let boxes = Look::new(Color::Never, false, false).boxes;
    let most = history.points.iter().map(Point::count).max().unwrap_or_default();
    let digits = most.to_string().len();
    for point in bars(&history.points) {
        let count = point.count();
        let length = (count * WIDTH).div_ceil(most.max(1));
        let bar = if boxes { "\u{2588}" } else { "#" }.repeat(length);
        writeln!(out, "{}", format!("{:<10}  {count:>digits$}  {bar}", point.day).trim_end())?;
    }
    let rules: BTreeSet<&str> = first.rules.keys().chain(last.rules.keys()).copied().collect();
    let row = |name: &str, of: &dyn Fn(&Point) -> usize| {
        [name.to_owned(), of(first).to_string(), of(last).to_string()]
    };
    let mut rows: Vec<[String; 3]> = rules
        .into_iter()
        .map(|rule| row(rule, &|point| point.rules.get(rule).copied().unwrap_or_default()))
        .collect();
    if first.allowed + last.allowed > 0 {
        rows.push(row("allowed by comments", &|point| point.allowed));
    }
    rows.push(row("all", &Point::count));
    write!(out, "\n{}", table(["RULE", "FIRST", "NOW"], &rows))?;
    if history.unread > 0 {
        let commits = if history.unread == 1 { "commit" } else { "commits" };
        writeln!(out, "not shown: {} {commits} whose baseline cannot be read", history.unread)?;
    }
    if history.shallow {
        writeln!(out, "not shown: what this shallow clone has cut off")?;
    }
    Ok(())
}

/// The first point and the last one of each day, evenly thinned out if there are too many.
fn bars(points: &[Point]) -> Vec<&Point> {
    let mut days: Vec<&Point> = points.first().into_iter().collect();
    for point in points.iter().skip(1) {
        match days.split_first_mut().and_then(|(_, later)| later.last_mut()) {
            Some(last) if last.day == point.day => *last = point,
            _ => days.push(point),
        }
    }
    let last = days.len().saturating_sub(1);
    if last < BARS {
        return days;
    }
    (0..BARS).filter_map(|bar| days.get(bar * last / (BARS - 1)).copied()).collect()
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    points: Vec<PointRow<'a>>,
    unread: usize,
    shallow: bool,
}

#[derive(Serialize)]
struct PointRow<'a> {
    /// Null for the file as it is now.
    commit: Option<&'a str>,
    day: Option<&'a str>,
    count: usize,
    rules: &'a BTreeMap<&'static str, usize>,
    allowed: usize,
}

/// Every point, for machines.
pub(crate) fn stats_json(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let points = history.points.iter().map(|point| PointRow {
        commit: point.commit.as_deref(),
        day: point.commit.is_some().then_some(point.day.as_str()),
        count: point.count(),
        rules: &point.rules,
        allowed: point.allowed,
    });
    let History { unread, shallow, .. } = *history;
    json::write(out, &Document { version: json::VERSION, points: points.collect(), unread, shallow })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{BARS, bars, stats};
    use crate::ratchet::{History, Point};

    fn point(day: usize, count: usize) -> Point {
        Point {
            commit: Some("c".into()),
            day: format!("2026-01-{day:02}"),
            rules: BTreeMap::from([("unguarded-watch", count)]),
            allowed: 0,
        }
    }

    #[test]
    fn bars_are_as_long_as_the_list() {
        let history = History { points: vec![point(1, 40), point(2, 10), point(2, 5)], ..History::default() };
        let mut out = Vec::new();
        stats(&history, "baseline.toml", &mut out).unwrap();
        let text = String::from_utf8(out).unwrap().replace('\u{2588}', "#");
        let wanted = format!(
            "2026-01-01  40  {}\n2026-01-02   5  {}\n\n\
             RULE             FIRST  NOW\nunguarded-watch  40     5\nall              40     5\n",
            "#".repeat(48),
            "#".repeat(6)
        );
        assert_eq!(text, wanted);
    }

    #[test]
    fn many_days_are_thinned_out_between_the_first_and_the_last() {
        let points: Vec<_> = (0..100).map(|day| point(day, 100 - day)).collect();
        let shown = bars(&points);
        assert_eq!((shown.len(), shown[0], shown[BARS - 1]), (BARS, &points[0], &points[99]));
    }
}
