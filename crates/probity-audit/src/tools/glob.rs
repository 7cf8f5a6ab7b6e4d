//! Shell patterns, as `find -name` has them.

/// Whether the whole name fits the pattern. `*` stands for anything, `?` for one character, and
/// brackets for one of several; a backslash takes the meaning from what follows it.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    // Where to go on if the last star has to stand for one character more.
    let mut star: Option<(usize, usize)> = None;
    while let Some(&c) = name.get(n) {
        if pattern.get(p) == Some(&'*') {
            star = Some((p + 1, n));
            p += 1;
        } else if let Some(next) = one(&pattern, p, c) {
            p = next;
            n += 1;
        } else if let Some((after, at)) = star {
            star = Some((after, at + 1));
            (p, n) = (after, at + 1);
        } else {
            return false;
        }
    }
    pattern.iter().skip(p).all(|c| *c == '*')
}

/// Whether a bracket of the pattern is never closed. Its author meant something else.
pub(super) fn is_open(pattern: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let mut at = 0;
    while let Some(c) = pattern.get(at) {
        at = match c {
            '\\' => at + 2,
            '[' => match class(&pattern, at + 1, ' ') {
                Some((_, next)) => next,
                None => return true,
            },
            _ => at + 1,
        };
    }
    false
}

/// The place after the part of the pattern that matches this character.
fn one(pattern: &[char], at: usize, c: char) -> Option<usize> {
    match pattern.get(at)? {
        '?' => Some(at + 1),
        '\\' => (pattern.get(at + 1) == Some(&c)).then_some(at + 2),
        '[' => match class(pattern, at + 1, c) {
            Some((true, next)) => Some(next),
            Some((false, _)) => None,
            // Without an end the bracket is a character like any other.
            None => (c == '[').then_some(at + 1),
        },
        other => (*other == c).then_some(at + 1),
    }
}

/// Whether a bracket expression holds the character, and where it ends.
fn class(pattern: &[char], start: usize, c: char) -> Option<(bool, usize)> {
    let negated = matches!(pattern.get(start), Some('!' | '^'));
    let first = if negated { start + 1 } else { start };
    let mut at = first;
    let mut found = false;
    loop {
        match *pattern.get(at)? {
            ']' if at > first => return Some((found != negated, at + 1)),
            low => match (pattern.get(at + 1), pattern.get(at + 2)) {
                (Some('-'), Some(&high)) if high != ']' => {
                    found |= (low..=high).contains(&c);
                    at += 3;
                }
                _ => {
                    found |= low == c;
                    at += 1;
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_are_those_of_find() {
        for (pattern, name, expected) in [
            ("*.ak", "spend.ak", true),
            ("*.ak", "spend.akk", false),
            ("*", "", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("?.ak", "ä.ak", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]x]", "]", true),
            ("[x", "[x", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("lib/*.ak", "lib/a/b.ak", true),
            ("-exec", "-exec", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
        let (stars, name) = ("*a".repeat(40), "a".repeat(39));
        assert!(!matches(&stars, &name), "and does not take for ever");
    }
}
