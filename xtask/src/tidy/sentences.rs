//! Verdicts, reasons and causes are enums: nothing decides by searching a sentence of our own.
//!
//! Refused in the crates that prove and review: searching for several words or comparing with them, by a
//! literal or by a constant, and searching anything that is named for a sentence. Files that read what
//! other programs and libraries write are left out, because that text is not ours.

use std::collections::BTreeSet;

use super::{
    Problem,
    lexer::{self, Kind, SEARCHES, Token, before_tests},
    workspace::{Source, Workspace},
};

/// Where the rule applies.
const CRATES: &[&str] = &["crates/probity-proof/src/", "crates/probity-review/src/"];

/// Below these, what runners, git and the reader of YAML write is read.
const FOREIGN: &[&str] = &[
    "crates/probity-proof/src/runner/",
    "crates/probity-proof/src/repository/git",
    "crates/probity-review/src/excerpt.rs",
    "crates/probity-review/src/config/file.rs",
];

/// What is named so is a sentence, or becomes one.
const SENTENCES: &[&str] = &["cause", "clause", "reason", "sentence", "to_string", "why"];

const ASK_THE_VALUE: &str = "a decision that searches a sentence breaks when somebody rewrites it: \
                             match on the enum that the sentence is made from";

pub(crate) fn check(workspace: &Workspace) -> Vec<Problem> {
    let sources: Vec<&Source> =
        workspace.sources.iter().filter(|source| is_of(CRATES, &source.path)).collect();
    let constants = sources.iter().flat_map(|source| constants(&source.text)).collect();
    sources.into_iter().flat_map(|source| check_source(source, &constants)).collect()
}

fn is_of(places: &[&str], path: &str) -> bool {
    places.iter().any(|place| path.starts_with(place))
}

fn check_source(source: &Source, constants: &BTreeSet<String>) -> Vec<Problem> {
    if is_of(FOREIGN, &source.path) {
        return Vec::new();
    }
    let tokens = lexer::tokens(&source.text);
    let own = before_tests(&tokens);
    let mut problems = Vec::new();
    for (position, token) in own.iter().enumerate() {
        let rest = own.get(position..).unwrap_or_default();
        if let Some(what) = searched(rest).or_else(|| sought(rest, constants)) {
            problems.push(Problem::new(&source.path, token.line, what, ASK_THE_VALUE));
        }
    }
    problems
}

/// `reason.contains(`, `error.to_string().starts_with(`.
fn searched(tokens: &[Token<'_>]) -> Option<String> {
    let (name, rest) = tokens.split_first().filter(|(name, _)| SENTENCES.contains(&name.text))?;
    let rest = match rest {
        [open, close, rest @ ..] if open.text == "(" && close.text == ")" => rest,
        rest => rest,
    };
    let [dot, search, open, ..] = rest else { return None };
    let is_search = dot.text == "." && SEARCHES.contains(&search.text) && open.text == "(";
    is_search.then(|| format!("`{}` on `{}`, a sentence", search.text, name.text))
}

/// `.contains("several words")`, `.starts_with(PASSES)`, `== "several words"`.
fn sought(tokens: &[Token<'_>], constants: &BTreeSet<String>) -> Option<String> {
    let (how, wanted) = match tokens {
        [dot, search, open, wanted, ..]
            if dot.text == "." && SEARCHES.contains(&search.text) && open.text == "(" =>
        {
            (search.text, wanted)
        }
        [first, equal, wanted, ..] if matches!(first.text, "=" | "!") && equal.text == "=" => {
            ("==", wanted)
        }
        _ => return None,
    };
    let is_sentence = match wanted.kind {
        Kind::Literal => has_words(wanted.text),
        _ => constants.contains(wanted.text),
    };
    is_sentence.then(|| format!("`{how}` with {}, a sentence", wanted.text))
}

/// The names of constants that are sentences.
fn constants(text: &str) -> Vec<String> {
    let tokens = lexer::tokens(text);
    let all = tokens.iter().enumerate().filter(|(_, token)| token.text == "const");
    all.filter_map(|(position, _)| {
        // The type has three or four tokens.
        let mut rest = tokens.get(position + 1..)?.iter().take(8);
        let name = rest.next()?.text;
        rest.find(|token| token.text == "=")?;
        let value = rest.next()?;
        (value.kind == Kind::Literal && has_words(value.text)).then(|| name.to_owned())
    })
    .collect()
}

/// Whether a literal has two words next to each other.
fn has_words(literal: &str) -> bool {
    let inner = literal.trim_matches(|end: char| !end.is_alphanumeric());
    let is_word = |word: &str| {
        let bare = word.trim_end_matches([',', ':', ';', '.']);
        bare.len() > 1 && bare.chars().all(char::is_alphabetic)
    };
    let words: Vec<&str> = inner.split(' ').collect();
    words.windows(2).any(|pair| pair.iter().all(|word| is_word(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "crates/probity-review/src/classify.rs";

    fn found(path: &str, code: &str) -> Vec<String> {
        let text = format!("//! A.\nconst PASSES: &'static str = \"the test passes\";\n{code}\n");
        let source = Source { path: path.to_owned(), text };
        let constants = constants(&source.text).into_iter().collect();
        check_source(&source, &constants).into_iter().map(|problem| problem.what).collect()
    }

    #[test]
    fn decisions_on_sentences_are_found() {
        for (code, expected) in [
            ("text.contains(\"did not compile\")", "`contains` with \"did not compile\""),
            ("text.starts_with(PASSES)", "`starts_with` with PASSES"),
            ("if text == \"the test passes\" {}", "`==` with \"the test passes\""),
            ("if text != PASSES {}", "`==` with PASSES"),
            ("verdict.reason.contains(\"flaky\")", "`contains` on `reason`"),
            ("error.to_string().ends_with('x')", "`ends_with` on `to_string`"),
            ("wording::clause(&v); v.why.find(x)", "`find` on `why`"),
        ] {
            let whole = format!("fn f() {{ {code} }}");
            assert_eq!(found(FILE, &whole), [format!("{expected}, a sentence")], "{code}");
            let in_tests = format!("#[cfg(test)]\nmod tests {{ {code} }}");
            for (path, whole) in [
                (FILE, &in_tests),
                (FILE, &format!("// {code}")),
                ("crates/probity-proof/src/runner/go/output.rs", &whole),
            ] {
                assert_eq!(found(path, whole), [""; 0], "{path} {whole}");
            }
        }
    }

    #[test]
    fn values_paths_and_marks_are_silent() {
        for code in [
            "path.contains(\"test\") || line.starts_with(\"diff --git \")",
            "name == \"build.rs\" && text.contains(\", \")",
            "format!(\"the test passes\")",
            "matches!(verdict.why, Why::Cancelled)",
            "reason.is_empty() || names.contains(&reason)",
            "assert_eq!(PASSES.len(), 1)",
        ] {
            assert_eq!(found(FILE, code), [""; 0], "{code}");
        }
    }
}
