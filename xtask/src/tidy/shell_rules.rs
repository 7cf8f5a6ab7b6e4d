//! Rules about shell commands ask the parsed words, never the text: a pattern over `RUN` text takes a
//! quoted word, a comment or a heredoc for a command.
//!
//! What is refused is looking for something in the text of a shell word, an instruction or a slice of
//! the file, in rule files that read commands. The value of a word (`literal`, `prefix`, `pattern`) may
//! be compared in any way.

use super::{
    Problem,
    lexer::{self, Kind, SEARCHES, Token, before_tests},
    workspace::{Source, Workspace},
};

/// Where rules are.
const RULES: &str = "crates/probity-lint/src/rules/";

/// What gives away a rule that reads commands.
const READERS: &[&str] = &["scripts", "package_calls", "shell_text", "probity_shell"];

/// What holds text as it is written.
const TEXTS: &[&str] = &["text", "body_text", "rest_text", "quoted", "slice"];

const ASK_WORDS: &str = "text that is searched mistakes quotes, comments and heredocs for commands: \
                         ask the words of the command";

pub(crate) fn check(workspace: &Workspace) -> Vec<Problem> {
    workspace.sources.iter().flat_map(check_source).collect()
}

fn check_source(source: &Source) -> Vec<Problem> {
    let is_test = source.path.ends_with("/tests.rs") || source.path.contains("/tests/");
    if !source.path.starts_with(RULES) || is_test {
        return Vec::new();
    }
    let tokens = lexer::tokens(&source.text);
    let own = before_tests(&tokens);
    let reads_commands = own.iter().any(|token| READERS.contains(&token.text));
    let mut problems = Vec::new();
    for (position, token) in own.iter().enumerate() {
        let mut add = |what: String| {
            problems.push(Problem::new(&source.path, Some(token.line), what, ASK_WORDS));
        };
        if matches!(token.text, "regex" | "Regex") {
            add("a regular expression in a rule".to_owned());
        }
        let rest = own.get(position..).unwrap_or_default();
        if let Some(search) = searched(rest).filter(|_| reads_commands) {
            add(format!("`{search}` on `{}` in a rule about commands", token.text));
        }
    }
    problems
}

/// What the text that is named here is searched with: `.text.contains(`, `.body_text().find(`,
/// `.slice(text)?.split(`.
fn searched<'text>(tokens: &[Token<'text>]) -> Option<&'text str> {
    let (first, mut rest) = tokens.split_first()?;
    if !TEXTS.contains(&first.text) {
        return None;
    }
    if rest.first().is_some_and(|token| token.text == "(") {
        rest = rest.get(closing(rest)? + 1..)?;
    }
    let rest = match rest {
        [mark, rest @ ..] if mark.text == "?" => rest,
        rest => rest,
    };
    match rest {
        [dot, method, open, ..] if dot.text == "." && open.text == "(" => {
            let is_search = method.kind == Kind::Word && SEARCHES.contains(&method.text);
            is_search.then_some(method.text)
        }
        _ => None,
    }
}

/// The place of the parenthesis that closes the first one.
fn closing(tokens: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0_usize;
    tokens.iter().position(|token| {
        match token.text {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, code: &str) -> Vec<(Option<usize>, String)> {
        let source = Source { path: path.to_owned(), text: format!("//! A.\n{code}\n") };
        check_source(&source).into_iter().map(|problem| (problem.line, problem.what)).collect()
    }

    const RULE: &str = "crates/probity-lint/src/rules/hadolint/dl9999.rs";

    #[test]
    fn text_that_is_searched_is_found_in_rules_about_commands() {
        for (code, search) in [
            ("word.text.contains(\"x\")", "`contains` on `text`"),
            ("run.body_text().find(\"x\")", "`find` on `body_text`"),
            ("span.slice(context.file.text)?.split(' ')", "`split` on `slice`"),
            ("context.quoted(span).starts_with('x')", "`starts_with` on `quoted`"),
        ] {
            let whole = format!("use probity_shell::Script;\nfn f() {{ {code} }}");
            let says = format!("{search} in a rule about commands");
            assert_eq!(found(RULE, &whole), [(Some(3), says)], "{code}");
            assert_eq!(found("crates/probity-shell/src/x.rs", &whole), [], "{code}");
            assert_eq!(found(RULE, &format!("fn f() {{ {code} }}")), [], "{code}");
            let in_tests = format!("use probity_shell::Script;\n#[cfg(test)]\nmod t {{ {code} }}");
            assert_eq!(found(RULE, &in_tests), [], "{code}");
        }
        let regex = [(Some(2), "a regular expression in a rule".to_owned())];
        assert_eq!(found(RULE, "use regex::Set;"), regex);
    }

    #[test]
    fn values_and_mentions_are_silent() {
        for code in [
            "word.literal().is_some_and(|it| it.contains('x'))",
            "context.scripts(0).text.is_empty()",
            "// word.text.contains('x')",
            "\"word.text.contains('x')\"",
            "word.text == \"x\"",
            "names.contains(&word.text)",
        ] {
            let whole = format!("use probity_shell::Script;\nfn f() {{ {code} }}");
            assert_eq!(found(RULE, &whole), [], "{code}");
        }
    }
}
