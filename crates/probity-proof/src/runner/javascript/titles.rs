//! The titles of tests: as they run, and as the source has them.
//!
//! A test of `test.each` runs by titles that stand nowhere, made of one that does; and a suite may be
//! named for what is in it. Who wrote the test knows what is written.

/// Whether a test, by its whole title, is the one of this name, or one that a template or a suite of
/// this name stands for.
pub(super) fn is_wanted(title: &str, name: &str) -> bool {
    let spaced = |text: &str| text.replace(" > ", " ");
    let last = name.rsplit(" > ").next().unwrap_or_default();
    let own = title.rsplit(" > ").next().unwrap_or_default();
    name.is_empty()
        || [name, last].iter().any(|name| title == *name || title.ends_with(&format!(" > {name}")))
        || spaced(title) == spaced(name)
        || is_template(last) && fits(last, own)
        || title.contains(&format!("{last} > "))
}

/// The title of the only test in a source; none if there are several, or if it is put together.
pub(super) fn only(source: &str) -> Option<String> {
    let is_word = |character: char| character.is_alphanumeric() || "_$.".contains(character);
    let calls = ["test(", "it("].into_iter().flat_map(|call| {
        let begins = |at: &usize| !source.get(..*at).unwrap_or_default().ends_with(is_word);
        let places = source.match_indices(call).map(|(at, _)| at).filter(begins);
        places.filter_map(move |at| source.get(at + call.len()..)).collect::<Vec<_>>()
    });
    let calls: Vec<&str> = calls.collect();
    let [arguments] = calls[..] else { return None };
    let arguments = arguments.trim_start();
    let quote = arguments.chars().next().filter(|first| "'\"`".contains(*first))?;
    let (title, _) = arguments.get(1..)?.split_once(quote)?;
    (!title.contains(['\\', '$', '%'])).then(|| title.to_owned())
}

/// The end of the full name, by which all frameworks can choose. A suite is run with all its tests.
pub(super) fn filter(name: &str, source: &str) -> Option<String> {
    let last = name.rsplit(" > ").next().filter(|last| !last.is_empty())?;
    let is_suite = ["'", "\"", "`"].iter().any(|quote| {
        let suite = |call: &str| source.contains(&format!("{call}({quote}{last}{quote}"));
        suite("describe") || suite("suite")
    });
    let patterns: Vec<String> = pieces(last).iter().map(|piece| escaped(piece)).collect();
    (!is_suite).then(|| patterns.join(".*") + "$")
}

fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for character in text.chars() {
        if !character.is_alphanumeric() && !character.is_whitespace() && character != '_' {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

fn is_template(title: &str) -> bool {
    pieces(title).len() > 1
}

/// Whether a title may be made of a template.
fn fits(template: &str, title: &str) -> bool {
    let pieces = pieces(template);
    let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return false };
    let mut rest = title;
    for piece in &pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = rest.get(at + piece.len()..).unwrap_or_default();
    }
    title.starts_with(first) && title.ends_with(last)
}

/// What stands between the places of a template: `%s`, `%i` and their kin, and `$name`.
fn pieces(title: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(found) = title.get(at..).and_then(|rest| rest.find(['%', '$'])) {
        let behind = title.get(at + found + 1..).unwrap_or_default();
        let length = match title.as_bytes().get(at + found) {
            Some(b'%') => usize::from(behind.starts_with(|it: char| "sdifjoOp#".contains(it))),
            _ => {
                let is_name = |it: char| it.is_alphanumeric() || "_.#".contains(it);
                behind.find(|char| !is_name(char)).unwrap_or(behind.len())
            }
        };
        if length > 0 {
            pieces.push(title.get(start..at + found).unwrap_or_default());
            start = at + found + 1 + length;
        }
        at += found + 1 + length;
    }
    pieces.push(title.get(start..).unwrap_or_default());
    pieces
}

#[cfg(test)]
mod tests {
    use super::{filter, fits, is_wanted};

    #[test]
    fn a_name_stands_for_its_test_its_suite_and_its_template() {
        for (title, name, expected) in [
            ("sums > adds", "adds", true),
            ("sums > adds", "sums > adds", true),
            ("sums > adds", "sums adds", true),
            ("sums > adds", "sums", true),
            ("sums > adds 1", "adds %i", true),
            ("a > b", "a > b", true),
            ("sums > adds", "", true),
            ("sums > adds", "add", false),
            ("sums > adds more", "adds", false),
        ] {
            assert_eq!(is_wanted(title, name), expected, "{title} / {name}");
        }
    }

    #[test]
    fn the_only_test_needs_no_name() {
        for (source, expected) in [
            ("test('a b', () => {});", Some("a b")),
            ("describe('x', () => {\n  it(\"y\", () => latest('z'));\n});", Some("y")),
            ("test(`z`, async () => regexp.test('q'));", Some("z")),
            ("test('a', f);\ntest('b', f);", None),
            ("test(`a ${b}`, f);", None),
            ("test(name, f);", None),
            ("f();", None),
        ] {
            assert_eq!(super::only(source).as_deref(), expected, "{source}");
        }
    }

    #[test]
    fn names_become_patterns_that_match_themselves() {
        assert_eq!(filter("suite > a (b)", "").as_deref(), Some("a \\(b\\)$"));
        assert_eq!(filter("", ""), None);
        assert_eq!(filter("rounds %i up, 5%", "").as_deref(), Some("rounds .* up\\, 5\\%$"));
        assert_eq!(filter("$a.b is $b", "").as_deref(), Some(".* is .*$"));
        assert_eq!(filter("sums", "describe('sums', () => {})"), None);
    }

    #[test]
    fn a_template_fits_what_is_made_of_it() {
        for (template, title, expected) in [
            ("rounds %i half up", "rounds 250 half up", true),
            ("rounds %i half up", "rounds half up", false),
            ("$a adds $b", "1 adds 2", true),
            ("withTax(%i) adds", "withTax(1) adds more", false),
            ("costs 5%", "costs 5%", true),
        ] {
            assert_eq!(fits(template, title), expected, "{template} {title}");
        }
    }
}
