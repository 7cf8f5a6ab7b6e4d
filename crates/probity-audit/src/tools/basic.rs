//! Patterns as grep reads them, in the words of our own engine.
//!
//! In a basic expression of POSIX, parentheses, braces, bars, plus signs and question marks stand for
//! themselves unless a backslash precedes them; in an extended one it is the other way round.
//! Models write either, often without knowing.

/// The pattern read as a basic expression.
pub(super) fn from_basic(pattern: &str) -> String {
    let chars: Vec<char> = pattern.chars().collect();
    let mut regex = String::new();
    let mut at = 0;
    // Whether a star here would have nothing to repeat, and a caret would be an anchor.
    let mut is_start = true;
    while let Some(&c) = chars.get(at) {
        at += 1;
        let mut starts = false;
        match c {
            '\\' => {
                let escaped = chars.get(at).copied().unwrap_or('\\');
                at += 1;
                match escaped {
                    '(' | '|' => {
                        regex.push(escaped);
                        starts = true;
                    }
                    ')' | '{' | '}' | '+' | '?' => regex.push(escaped),
                    '<' => regex.push_str(r"\b{start}"),
                    '>' => regex.push_str(r"\b{end}"),
                    'w' | 'W' | 's' | 'S' | 'b' | 'B' => regex.extend(['\\', escaped]),
                    other => literal(other, &mut regex),
                }
            }
            '[' => at = bracket(&chars, at, &mut regex),
            '*' if is_start => literal('*', &mut regex),
            '^' if is_start => {
                regex.push('^');
                starts = true;
            }
            '$' if is_end(&chars, at) => regex.push('$'),
            '.' | '*' => regex.push(c),
            other => literal(other, &mut regex),
        }
        is_start = starts;
    }
    regex
}

/// The pattern read as an extended expression, or as what most languages call a regular one.
pub(super) fn from_extended(pattern: &str) -> String {
    let chars: Vec<char> = pattern.chars().collect();
    let mut regex = String::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        at += 1;
        match c {
            '\\' => match chars.get(at) {
                Some('<') => regex.push_str(r"\b{start}"),
                Some('>') => regex.push_str(r"\b{end}"),
                Some(other) => regex.extend(['\\', *other]),
                None => regex.push_str(r"\\"),
            },
            '[' => at = bracket(&chars, at, &mut regex),
            // A brace that counts nothing is one of the program's.
            '{' if !chars.get(at).is_some_and(char::is_ascii_digit) => regex.push_str(r"\{"),
            other => regex.push(other),
        }
        if c == '\\' {
            at += 1;
        }
    }
    regex
}

fn is_end(chars: &[char], at: usize) -> bool {
    let rest = chars.get(at..).unwrap_or_default();
    rest.is_empty() || rest.starts_with(&['\\', ')']) || rest.starts_with(&['\\', '|'])
}

fn literal(c: char, regex: &mut String) {
    if c.is_ascii_punctuation()
        && !matches!(
            c,
            '<' | '>' | '_' | '"' | '\'' | '/' | '@' | '!' | ',' | ';' | ':' | '=' | '%' | '`'
        )
    {
        regex.push('\\');
    }
    regex.push(c);
}

/// Copies a bracket expression, in which a backslash is a character and our engine's own operators
/// are none. Gives the place behind it.
fn bracket(chars: &[char], start: usize, regex: &mut String) -> usize {
    let mut at = start;
    let negated = chars.get(at) == Some(&'^');
    at += usize::from(negated);
    let first = at;
    let mut inside = String::new();
    loop {
        match chars.get(at) {
            None => {
                // Nothing closes the bracket: it is a character.
                regex.push_str(r"\[");
                return start;
            }
            Some(']') if at > first => break,
            Some('[') if matches!(chars.get(at + 1), Some(':')) => {
                let rest: String = chars.get(at..).unwrap_or_default().iter().collect();
                match rest.find(":]") {
                    Some(end) => {
                        let class = rest.get(..end + 2).unwrap_or_default();
                        inside.push_str(class);
                        at += class.chars().count();
                        continue;
                    }
                    None => inside.push_str(r"\["),
                }
            }
            Some('-') => inside.push('-'),
            // As people write it in brackets in every language but this one.
            Some('\\') if chars.get(at + 1).is_some_and(|c| "wsdWSD".contains(*c)) => {
                inside.push('\\');
                inside.extend(chars.get(at + 1));
                at += 1;
            }
            Some(c) if c.is_ascii_punctuation() => inside.extend(['\\', *c]),
            Some(c) => inside.push(*c),
        }
        at += 1;
    }
    // A dash at either end is a character; in the middle it makes a range.
    regex.push('[');
    if negated {
        regex.push('^');
    }
    regex.push_str(&inside);
    regex.push(']');
    at + 1
}

#[cfg(test)]
mod tests {
    use grep_regex::RegexMatcherBuilder;
    use grep_searcher::{Searcher, sinks};

    use super::*;

    fn hits(regex: &str, text: &str) -> bool {
        let matcher = RegexMatcherBuilder::new().build(regex).unwrap();
        let mut hit = false;
        let sink = sinks::Lossy(|_, _| {
            hit = true;
            Ok(true)
        });
        Searcher::new().search_slice(&matcher, text.as_bytes(), sink).unwrap();
        hit
    }

    #[test]
    fn basic_expressions_mean_what_they_mean_to_grep() {
        for (pattern, text, expected) in [
            ("has(x)", "has(x)", true),
            (r"\(ab\)\{2\}", "abab", true),
            (r"a\|b", "b", true),
            ("a|b", "b", false),
            ("a|b", "a|b", true),
            ("a+", "a+", true),
            ("a+", "aa", false),
            (r"a\+b", "aaab", true),
            ("*a", "*a", true),
            ("^*a", "*a", true),
            ("a^b", "a^b", true),
            ("a$b", "a$b", true),
            ("^a$", "a", true),
            (r"a\.b", "axb", false),
            ("a.b", "axb", true),
            ("[[:digit:]]x", "7x", true),
            ("[]a]", "]", true),
            ("[^]a]", "]", false),
            ("[a-c]", "b", true),
            (r"[a\]", "\\", true),
            ("[&&]", "&", true),
            ("x[", "x[", true),
            (r"\<ab\>", "x ab y", true),
            (r"\<ab\>", "xaby", false),
            ("fn {", "fn {", true),
            (r"a\", "a\\", true),
            (r"\d", "d", true),
            ("a #b", "a #b", true),
        ] {
            let regex = from_basic(pattern);
            assert_eq!(hits(&regex, text), expected, "{pattern} is {regex} on {text}");
        }
    }

    #[test]
    fn extended_expressions_take_braces_that_count_nothing_as_characters() {
        for (pattern, text, expected) in [
            ("value|lovelace", "lovelace", true),
            (r"has\(", "has(", true),
            ("State {", "State {", true),
            ("a{2}", "aa", true),
            (r"\d+", "12", true),
            (r"[\w]+:", "ab:", true),
            (r"\bfn\b", "a fn b", true),
        ] {
            let regex = from_extended(pattern);
            assert_eq!(hits(&regex, text), expected, "{pattern} is {regex} on {text}");
        }
    }
}
