//! Whether what a test waits for is its own, or made of what the code has returned.
//!
//! `want := got + 1` complains of something else for every value and accepts none. It is known by
//! what it says itself: as soon as the code returns what was wanted, the test wants something else,
//! and so it does for another value. What a true test waits for stays, whatever it gets. Only where
//! the code is called once: two calls may be compared with one another, before and after something.

use super::alter::Mark;

/// What the complaints of altered runs tell of what is waited for. By kinds of values, because one
/// that the test has no use for makes it complain in another way.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    of_numbers: Told,
    of_others: Told,
}

#[derive(Debug, Default)]
struct Told {
    /// What was wanted was returned, and something else was wanted.
    refused: bool,
    /// Another value was returned, and something else again was wanted.
    moved: bool,
    /// It is the test's own, or nobody can tell.
    stands: bool,
}

impl Wanted {
    /// Takes in a run that failed while a function returned this value.
    pub(super) fn saw(&mut self, value: &str, original: &Mark, seen: &Mark) {
        if seen == original {
            return;
        }
        let told = match parts(value).next().unwrap_or(value).parse::<f64>() {
            Ok(_) => &mut self.of_numbers,
            Err(_) => &mut self.of_others,
        };
        match (original.complaints.as_slice(), seen.complaints.as_slice()) {
            ([(place, before)], [(here, now)]) if place == here => match pair(value, before, now) {
                Some((before, now)) if before != now && !is_one_of(now, value) => {
                    let returned = is_one_of(before, value);
                    told.refused |= returned;
                    told.moved |= !returned;
                }
                _ => told.stands = true,
            },
            _ => told.stands = true,
        }
    }

    /// Whether more runs may show that nothing will ever do.
    pub(super) fn is_suspect(&self) -> bool {
        self.both().iter().any(|told| !told.stands && (told.refused || told.moved))
    }

    pub(super) fn is_made_of_the_code(&self) -> bool {
        self.both().iter().any(|told| !told.stands && told.refused && told.moved)
    }

    fn both(&self) -> [&Told; 2] {
        [&self.of_numbers, &self.of_others]
    }
}

/// What was wanted before and what is wanted now, if a complaint differs in nothing but that and
/// the value that was returned.
fn pair<'a>(value: &str, before: &'a str, now: &'a str) -> Option<(&'a str, &'a str)> {
    let (before, now) = (tokens(before), tokens(now));
    if before.len() != now.len() {
        return None;
    }
    let mut got = false;
    let mut wanted = None;
    for (before, now) in before.into_iter().zip(now).filter(|(before, now)| before != now) {
        if is_one_of(now, value) {
            got = true;
        } else if wanted.is_some_and(|known| known != (before, now)) {
            return None;
        } else {
            wanted = Some((before, now));
        }
    }
    wanted.filter(|_| got)
}

fn is_one_of(token: &str, value: &str) -> bool {
    parts(value).any(|part| plain(part) == token && !token.is_empty())
}

/// Results of one function are put together by commas, and JavaScript's numbers are in parentheses.
fn parts(value: &str) -> impl Iterator<Item = &str> {
    value.split(", ").map(|part| part.trim_matches(['(', ')']))
}

fn tokens(text: &str) -> Vec<&str> {
    // Go frames what it says with control characters.
    let end = |it: char| it.is_whitespace() || it.is_control() || ",;:()[]{}=`".contains(it);
    text.split(end).map(plain).filter(|token| !token.is_empty()).collect()
}

fn plain(token: &str) -> &str {
    token.trim_matches(|it: char| "\"'.".contains(it))
}

#[cfg(test)]
mod tests {
    use super::{super::alter::Mark, Wanted};

    /// A value, and where the test complains of what then.
    type Altered = (&'static str, u32, &'static str);

    #[test]
    fn what_moves_with_every_value_is_made_of_the_code_and_what_stays_is_not() {
        let mark = |line: u32, text: &str| Mark {
            complaints: vec![(vec![line], text.to_owned())],
            ..Mark::default()
        };
        let yes: &[(&str, &[Altered])] = &[
            ("got 3, want 4", &[("4", 5, "got 4, want 5"), ("0", 5, "got 0, want 1")]),
            (
                "3 !== 4",
                &[
                    ("3", 5, "3 !== 4"),
                    ("(4)", 5, "4 !== 5"),
                    ("(7)", 5, "7 !== 8"),
                    ("\"a\"", 5, "+ 'a'"),
                ],
            ),
            (
                "assert 3 == (3 + 1)\n3 == 4",
                &[("4", 5, "assert 4 == (4 + 1)\n4 == 5"), ("1", 5, "assert 1 == (1 + 1)\n1 == 2")],
            ),
            (
                "got \"a\", want \"ab\"",
                &[
                    ("ab", 5, "got \"ab\", want \"abb\""),
                    ("probity", 5, "got \"probity\", want \"probityb\""),
                ],
            ),
            (
                "got 3, want 4\x0e",
                &[("4, ", 5, "got 4, want 5\x0e"), ("0, ", 5, "got 0, want 1\x0e")],
            ),
        ];
        let no: &[(&str, &[Altered])] = &[
            // The usual test.
            ("got 3, want 4", &[("0", 5, "got 0, want 4"), ("7", 5, "got 7, want 4")]),
            // One that says only what it got.
            ("got 3", &[("0", 5, "got 0"), ("7", 5, "got 7")]),
            // A table: the first case is content, and the second is not.
            ("got 4, want 3", &[("3", 5, "got 3, want 5"), ("7", 5, "got 7, want 3")]),
            ("got 4, want 3", &[("3", 5, "got 3, want 5")]),
            // What was wanted was never returned.
            ("got 3, want 4", &[("0", 5, "got 0, want 1"), ("7", 5, "got 7, want 8")]),
            // It fails elsewhere then, or says more.
            ("got 3, want 4", &[("4", 6, "got 4, want 5"), ("0", 5, "got 0, want 1")]),
            ("got 3, want 4", &[("4", 5, "got 4, want 5 or 6"), ("0", 5, "got 0, want 1")]),
            // Two results.
            ("low 5, high 3", &[("3, 1", 5, "low 3, high 1"), ("7, 5", 5, "low 7, high 5")]),
            ("", &[("", 5, "x")]),
        ];
        for (cases, expected) in [(yes, true), (no, false)] {
            for (original, runs) in cases {
                let mut wanted = Wanted::default();
                for (value, line, text) in *runs {
                    wanted.saw(value, &mark(5, original), &mark(*line, text));
                }
                assert_eq!(wanted.is_made_of_the_code(), expected, "{original} {runs:?}");
            }
        }
    }
}
