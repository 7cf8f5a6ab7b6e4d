//! Sentences for people: their length, phrases that have to be read twice, and headings that a reader
//! would search for.
//!
//! Documents are looked at as a whole; those that are made from sources stand for the help, the
//! settings and the pages of rules. In sources, only the phrases in literals are looked at.

use super::{
    Problem,
    lexer::{self, Kind, before_tests},
    workspace::Workspace,
};

/// Words of a sentence. What is between back quotes is one word.
const LONGEST: usize = 25;

const SHORTER: &str = "readers lose the thread: say one thing in a sentence";

const SEARCHED: &str = "readers search for nouns and tasks, such as `Output files` or `Suppress a \
                        finding`";

/// Phrases, and what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("address of mail", "email address"),
    ("are no", "are not"),
    ("are told", "probity reports"),
    ("behaviour", "behavior"),
    ("beyond measure", "a number"),
    ("blanks", "spaces"),
    ("called off", "cancelled"),
    ("cannot be told", "probity cannot determine"),
    ("colour", "color"),
    ("contained by", "sandboxed by"),
    ("for ever", "forever"),
    ("in force", "effective"),
    ("in whatever", "in any"),
    ("is no", "is not a"),
    ("is not right", "is not valid"),
    ("is said", "probity reports"),
    ("is there already", "already exists"),
    ("is told", "probity reports"),
    ("licence", "license"),
    ("line end", "newline"),
    ("mend", "fix"),
    ("mends", "fixes"),
    ("nor does", "and it does not"),
    ("nor is", "and it is not"),
    ("search path", "PATH"),
    ("shell text", "script"),
    ("so that", "so"),
    ("stands nowhere", "does not occur"),
    ("taken back", "reverted"),
    ("taken up", "resumed"),
    ("takes back", "reverts"),
    ("took back", "reverted"),
    ("was told", "probity reported"),
    ("were told", "probity reported"),
    ("whoever", "anyone who"),
];

/// What makes a phrase right: `no longer`, and `there is no file`.
const RIGHT_AFTER: &[&str] = &["longer", "more"];
const RIGHT_BEFORE: &[&str] = &["there", "if", "or"];

/// Words with which a heading is a clause.
const CLAUSES: &[&str] = &["how", "that", "what", "where", "which", "who", "why"];

pub(crate) fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for path in workspace.files.iter().filter(|path| is_document(path)) {
        match workspace.read(path) {
            Ok(text) => problems.extend(document(path, &text)),
            Err(error) => problems.push(Problem::new(path, None, error, "it cannot be checked")),
        }
    }
    for source in workspace.sources.iter().filter(|source| is_for_people(&source.path)) {
        problems.extend(literals(&source.path, &source.text));
    }
    problems
}

/// Decisions are notes of their time and stay as they are.
fn is_document(path: &str) -> bool {
    path.ends_with(".md")
        && !path.starts_with("docs/decisions/")
        && (path.starts_with("docs/") || !path.contains('/'))
}

fn is_for_people(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/") && !path.contains("/tests")
}

fn document(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line, part) in parts(text) {
        let heading = part.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim());
        if let Some(heading) = heading {
            let first = words(heading).next().unwrap_or_default();
            if CLAUSES.contains(&first.as_str()) && !path.starts_with("docs/rules/") {
                let what = format!("the heading `{heading}` is a clause");
                problems.push(Problem::new(path, line, what, SEARCHED));
            }
            continue;
        }
        for sentence in sentences(&part) {
            let count = sentence.split_whitespace().count();
            if count > LONGEST {
                let start: Vec<&str> = sentence.split_whitespace().take(6).collect();
                let what = format!("`{} …` has {count} words", start.join(" "));
                problems.push(Problem::new(path, line, what, SHORTER));
            }
        }
        problems.extend(phrases(path, line, &part));
    }
    problems
}

fn literals(path: &str, text: &str) -> Vec<Problem> {
    let tokens = lexer::tokens(text);
    let own = before_tests(&tokens).iter().filter(|token| token.kind == Kind::Literal);
    own.flat_map(|token| phrases(path, token.line, token.text)).collect()
}

fn phrases(path: &str, line: usize, text: &str) -> Vec<Problem> {
    let words: Vec<String> = words(text).collect();
    let mut problems = Vec::new();
    for (phrase, instead) in PHRASES {
        let wanted: Vec<&str> = phrase.split(' ').collect();
        for (position, found) in words.windows(wanted.len()).enumerate() {
            let after = words.get(position + wanted.len()).map(String::as_str).unwrap_or_default();
            let before = position.checked_sub(1).and_then(|before| words.get(before));
            let is_right = RIGHT_AFTER.contains(&after)
                || (phrase.ends_with(" no")
                    && before.is_none_or(|before| RIGHT_BEFORE.contains(&before.as_str())));
            if found == wanted && !is_right {
                let why = format!("strangers had to read it twice: write `{instead}`, or an actor");
                problems.push(Problem::new(path, line, format!("`{phrase}`"), why));
            }
        }
    }
    problems
}

/// Lower-case words without the marks around them. Code is no word here.
fn words(text: &str) -> impl Iterator<Item = String> {
    without_code(text)
        .split_whitespace()
        .map(|word| word.trim_matches(|mark: char| !mark.is_alphanumeric()).to_lowercase())
        .collect::<Vec<_>>()
        .into_iter()
}

/// Headings, paragraphs, items of lists and cells of tables, each with its line; no fenced blocks.
fn parts(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut is_fenced, mut is_open) = (false, false);
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let is_fence = line.starts_with("```");
        is_fenced ^= is_fence;
        if is_fenced || is_fence || line.is_empty() || line.starts_with('<') {
            is_open = false;
        } else if line.starts_with('|') {
            found.extend(line.split('|').map(|cell| (index + 1, cell.trim().to_owned())));
            is_open = false;
        } else if line.starts_with('#') || is_item(line) || !is_open {
            is_open = !line.starts_with('#');
            found.push((index + 1, line.trim_start_matches(['-', '*', ' ']).to_owned()));
        } else if let Some((_, part)) = found.last_mut() {
            part.push(' ');
            part.push_str(line);
        }
    }
    found
}

fn is_item(line: &str) -> bool {
    let number = line.trim_start_matches(|digit: char| digit.is_ascii_digit());
    line.starts_with("- ") || line.starts_with("* ") || number.starts_with(". ")
}

/// The sentences of a part, with code and the targets of links as single words.
fn sentences(part: &str) -> Vec<String> {
    let plain = without_code(part);
    let mut found = vec![String::new()];
    for word in plain.split_whitespace() {
        if let Some(last) = found.last_mut() {
            last.push_str(word);
            last.push(' ');
        }
        if word.ends_with(['.', '!', '?', ':', ';']) || word.ends_with(".)") {
            found.push(String::new());
        }
    }
    found
}

/// The text with `x` for everything between back quotes, and without the targets of links.
fn without_code(text: &str) -> String {
    let mut plain = String::new();
    for (index, piece) in text.split('`').enumerate() {
        plain.push_str(if index % 2 == 0 { piece } else { "x" });
    }
    let mut without = String::new();
    let mut rest = plain.as_str();
    while let Some((before, after)) = rest.split_once("](") {
        without.push_str(before);
        without.push(']');
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    without + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        document("docs/a.md", text).into_iter().map(|problem| problem.what).collect()
    }

    #[test]
    fn long_sentences_clauses_and_phrases_are_found() {
        let long = "word ".repeat(26);
        for (text, expected) in [
            (format!("One. {long}"), "`word word word word word word …` has 26 words"),
            (format!("- an item\n  {long}"), "`an item word word word word …` has 28 words"),
            (format!("| a | {long} |"), "`word word word word word word …` has 26 words"),
            ("## What is told".to_owned(), "the heading `What is told` is a clause"),
            ("Write it down so that\nit lasts.".to_owned(), "`so that`"),
            ("A link is no file.".to_owned(), "`is no`"),
        ] {
            assert_eq!(found(&text), [expected], "{text}");
        }
    }

    #[test]
    fn plain_text_code_and_fences_are_left_alone() {
        let long = "word ".repeat(26);
        for text in [
            format!("```text\n{long}\n```"),
            format!("Run `{long}` now."),
            "There is no file, and it is no longer read.".to_owned(),
            "See [the page](so that).".to_owned(),
            "## Output files".to_owned(),
            format!("{}. {}.", "word ".repeat(25).trim(), "word ".repeat(25).trim()),
        ] {
            assert_eq!(found(&text), [""; 0], "{text}");
        }
        let rules = document("docs/rules/a.md", "# What it does");
        assert_eq!(rules, []);
    }

    #[test]
    fn literals_are_looked_at_and_comments_and_tests_are_not() {
        let code = "// so that\nfn f() { fail(\"it is no file\"); }\n\
                    #[cfg(test)]\nmod tests { const A: &str = \"so that\"; }";
        let found = literals("crates/a/src/b.rs", code);
        let found: Vec<_> = found.iter().map(|problem| (problem.line, &*problem.what)).collect();
        assert_eq!(found, [(Some(2), "`is no`")]);
    }
}
