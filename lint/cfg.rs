//! What names and conditions say of code: whether it is there for tests only.

/// Words that name code for tests.
const TESTING: &[&str] = &[
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "fuzz",
    "fuzzing",
    "mock",
    "mocked",
    "mocking",
    "mocks",
    "test",
    "testing",
    "testkit",
    "tests",
    "testutil",
    "testutils",
];

/// Words that make a name for tests of one of those before them: `test-utils`, `testing_support`.
const SUPPORT: &[&str] = &[
    "common",
    "fixture",
    "fixtures",
    "framework",
    "harness",
    "helper",
    "helpers",
    "support",
    "tools",
    "util",
    "utils",
];

/// Whether the condition of a `cfg`, without its spaces, asks for a build for tests: `test`, or a feature whose name says so.
pub(crate) fn is_for_tests(condition: &str) -> bool {
    if let Some(parts) = inside(condition, "all") {
        return split(parts).any(is_for_tests);
    }
    if let Some(parts) = inside(condition, "any") {
        return !parts.is_empty() && split(parts).all(is_for_tests);
    }
    match condition.strip_prefix("feature=") {
        Some(name) => words(name).any(|word| TESTING.contains(&word)),
        None => condition == "test",
    }
}

/// Whether a package of this name supports tests: `feed-test-utils`, `feed-testing`, `feed-bench`.
pub(crate) fn supports_tests(package: &str) -> bool {
    let mut words = words(package).rev();
    match words.next() {
        Some(last) if TESTING.contains(&last) => words.next().is_some(),
        Some(last) if SUPPORT.contains(&last) => words.next().is_some_and(|word| TESTING.contains(&word)),
        _ => false,
    }
}

fn words(name: &str) -> impl DoubleEndedIterator<Item = &str> {
    name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

fn inside<'t>(condition: &'t str, name: &str) -> Option<&'t str> {
    condition.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')
}

/// The parts of a list, at its commas that are in no parentheses.
fn split(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    list.split(move |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{is_for_tests, supports_tests};

    #[test]
    fn a_condition_is_for_tests_if_nothing_else_can_meet_it() {
        let yes = [
            "test",
            "all(unix,test)",
            "any(test,feature=\"test-utils\")",
            "feature=\"_mock\"",
            "any(all(test,unix),feature=\"bench\",)",
        ];
        let no = [
            "not(test)",
            "any(test,feature=\"server\")",
            "any(test,debug_assertions)",
            "feature=\"testnet\"",
            "all(unix,not(test))",
            "target_os=\"test\"",
        ];
        for condition in yes {
            assert!(is_for_tests(condition), "{condition}");
        }
        for condition in no {
            assert!(!is_for_tests(condition), "{condition}");
        }
    }

    #[test]
    fn a_package_of_test_support_says_so_in_its_name() {
        for name in ["feed-test-utils", "feed_testing", "feed-bench", "feed-mock", "test-support"] {
            assert!(supports_tests(name), "{name}");
        }
        for name in ["test", "test-runner", "testnet", "feed-utils", "latest"] {
            assert!(!supports_tests(name), "{name}");
        }
    }
}
