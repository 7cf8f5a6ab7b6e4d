//! Which words forges turn into links, mentions and references, in text that a stranger wrote.
//!
//! They do so after markdown is read, by the text of the page, so that no backslash and no entity
//! prevents it. In code they do not. Code is also what such words are best read as. A word too many is
//! code and no harm; a word too few is a link to wherever the stranger wants, or calls people.

/// Marks behind or between which a number or a name is a reference: `#1`, `o/r!2`, `%v1`, `~bug`,
/// `$3`, `&4`, `^alert#5`.
const SIGILS: &[char] = &['#', '!', '%', '~', '$', '&', '^'];

/// As many hexadecimal digits name a commit.
const COMMIT_DIGITS: usize = 7;

/// Whether a word, in which there is no space, may be turned into something that can be clicked.
pub(super) fn is_live(word: &str) -> bool {
    word.contains(['@', '＠'])
        || word.contains("://")
        || word.contains("//")
        || is_reference(word)
        || has_commit(word)
        || has_host(word)
        || has_issue_key(word)
}

/// A mark with a letter, a digit or a quoted name behind it.
fn is_reference(word: &str) -> bool {
    let mut chars = word.chars().peekable();
    while let Some(char) = chars.next() {
        let is_named = |next: &char| next.is_alphanumeric() || "\"'{".contains(*next);
        if SIGILS.contains(&char) && chars.peek().is_some_and(is_named) {
            return true;
        }
    }
    false
}

/// A name of a commit, alone or in a range.
fn has_commit(word: &str) -> bool {
    word.split(|char: char| !char.is_ascii_alphanumeric()).any(|part| {
        part.len() >= COMMIT_DIGITS && part.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Letters or digits, a dot, and at least two letters: a host, or a file of which the ending is one
/// of a country.
fn has_host(word: &str) -> bool {
    let mut parts = word.split(['.', '。', '．', '｡']).peekable();
    while let Some(part) = parts.next() {
        let is_after_name = part.chars().next_back().is_some_and(char::is_alphanumeric);
        let next = parts.peek().copied().unwrap_or_default();
        let letters = next.chars().take_while(|char| char.is_alphanumeric()).count();
        let begins = next.chars().next().is_some_and(char::is_alphabetic);
        if is_after_name && begins && letters >= 2 {
            return true;
        }
    }
    false
}

/// A key of an issue tracker, such as `GH-1` and `ABC-12`.
fn has_issue_key(word: &str) -> bool {
    let mut parts = word.split('-').peekable();
    while let Some(part) = parts.next() {
        let key =
            part.rsplit(|char: char| !char.is_ascii_alphanumeric()).next().unwrap_or_default();
        let is_key = key.len() >= 2
            && key.starts_with(|char: char| char.is_ascii_alphabetic())
            && key.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        let is_number = |next: &&str| next.starts_with(|char: char| char.is_ascii_digit());
        if is_key && parts.peek().is_some_and(is_number) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::{code, escape};

    /// All that GitHub, GitLab, Gitea, Bitbucket and Azure turn into something else.
    const LIVE: &[&str] = &[
        "https://evil.example/x?y=1#z",
        "HTTP://EVIL.EXAMPLE",
        "ftp://evil.example",
        "vscode://evil",
        "//evil.example",
        "www.evil.example",
        "WWW.evil",
        "evil.example",
        "evil.com/login",
        "evil。com",
        "me@evil.example",
        "mailto:me@evil.example",
        "xmpp:me@evil.example/x",
        "@everyone",
        "@org/team",
        "x@people",
        "#1",
        "#1234",
        "org/repo#1",
        "!7",
        "org/repo!7",
        "$3",
        "&4",
        "%5",
        "%\"next",
        "~bug",
        "~\"a",
        "^alert#1",
        "GH-1",
        "AB#12",
        "ABC-12",
        "1a2b3c4",
        "1A2B3C4D5E",
        "0123456789abcdef0123456789abcdef01234567",
        "org/repo@1a2b3c4",
        "1a2b3c4...5d6e7f8",
    ];

    #[test]
    fn words_that_forges_obey_become_code_wherever_they_stand() {
        for live in LIVE {
            assert_eq!(escape(live), code(live));
            for (before, after) in [
                ("(", ")"),
                ("see:", ","),
                ("\"", "\""),
                ("_", "_"),
                ("*", "*"),
                ("<", ">"),
                ("–", "…"),
            ] {
                let word = format!("{before}{live}{after}");
                assert_eq!(escape(&word), code(&word), "a word is code as a whole");
            }
            let quoted = code(live);
            assert_eq!(escape(&format!("a {live}  b")), format!("a {quoted}  b"));
            assert_eq!(escape(&format!("a|{live}|b")), format!("a\\|{quoted}\\|b"));
            assert_eq!(escape(&format!("`{live}`")), format!("\\`{quoted}\\`"));
        }
    }

    #[test]
    fn plain_words_stay_words() {
        for plain in [
            "Score 8.5 of 10: 1 proven issue, 2 observations; reaches the threshold of 7.",
            "a sum, e.g. of numbers, i.e. all; 100 % and 3/4 of it... at 12:30",
            "hadolint/DL3006, src/numbers, read-only, P3, 123456",
        ] {
            assert_eq!(escape(plain), plain);
        }
        for (text, escaped) in [
            ("a ! b & c # d ~ e", "a \\! b \\& c \\# d \\~ e"),
            ("C# [x](y)", "C\\# \\[x\\]\\(y\\)"),
            ("src/numbers.js loses", "`src/numbers.js` loses"),
        ] {
            assert_eq!(escape(text), escaped);
        }
    }
}
