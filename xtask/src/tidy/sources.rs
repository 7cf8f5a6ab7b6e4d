//! Rust files: they say what they are for, have telling names, and leave nothing for later.

use super::{
    Problem,
    lexer::{self, Token},
    workspace::{Source, Workspace},
};

/// Names that say nothing, and so collect everything.
const EMPTY_NAMES: &[&str] = &["core", "common", "utils", "helpers"];

const NAME_IT: &str = "a name that says nothing collects everything: name it for what it does";

pub(crate) fn check(workspace: &Workspace) -> Vec<Problem> {
    let mut problems = Vec::new();
    for member in &workspace.members {
        let last = member.name.rsplit('-').next().unwrap_or_default();
        if EMPTY_NAMES.contains(&last) {
            problems.push(Problem::new(
                member.manifest_path(),
                None,
                format!("a crate named `{}`", member.name),
                NAME_IT,
            ));
        }
    }
    for source in &workspace.sources {
        problems.extend(check_source(source));
    }
    problems
}

fn check_source(source: &Source) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut add = |line: Option<usize>, what: String, why: &str| {
        problems.push(Problem::new(&source.path, line, what, why));
    };
    let first = source.text.lines().next().unwrap_or_default();
    if first.strip_prefix("//!").is_none_or(|said| said.trim().is_empty()) {
        add(
            Some(1),
            "the first line is not a `//!` line".to_owned(),
            "whoever opens a file wants to know what it is for: say so in one sentence",
        );
    }
    if source.path.ends_with("/mod.rs") {
        add(
            None,
            "a file named mod.rs".to_owned(),
            "editors show ten tabs of that name: move it to `name.rs` beside the directory `name`",
        );
    }
    if let Some(name) = source.path.split('/').map(stem).find(|stem| EMPTY_NAMES.contains(stem)) {
        add(None, format!("a module named `{name}`"), NAME_IT);
    }
    let tokens = lexer::tokens(&source.text);
    for (position, token) in tokens.iter().enumerate() {
        let rest = tokens.get(position..).unwrap_or_default();
        if let Some((what, why)) = unfinished(rest) {
            add(Some(token.line), what, why);
        }
        if is_library(&source.path) && prints(rest) {
            add(
                Some(token.line),
                "a library that prints".to_owned(),
                "CI runners obey commands in what is printed, and `streams` in the binary breaks \
                 them: return the text, or take a writer",
            );
        }
    }
    problems
}

/// In the binary itself, clippy refuses the same.
fn is_library(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/") && !path.starts_with("crates/probity/")
}

/// Whether the code that begins here gets a standard stream to write to.
fn prints(tokens: &[Token<'_>]) -> bool {
    let words: Vec<&str> = tokens.iter().take(5).map(|token| token.text).collect();
    matches!(words.as_slice(), ["io", ":", ":", "stdout" | "stderr", "("])
}

/// What the code that begins here leaves for later.
fn unfinished(tokens: &[Token<'_>]) -> Option<(String, &'static str)> {
    let mut words = [""; 3];
    for (word, token) in words.iter_mut().zip(tokens) {
        *word = token.text;
    }
    match words {
        [name @ ("todo" | "unimplemented"), "!", "(" | "[" | "{"] => Some((
            format!("`{name}!` in code"),
            "no input may end in a panic: finish it, or leave it out until it is needed",
        )),
        ["#", "[", "ignore"] => Some((
            "an ignored test".to_owned(),
            "a test that does not run shows nothing and rots: repair it or remove it",
        )),
        ["#", "[", "cfg_attr"] if ignores_under_condition(tokens) => Some((
            "a test ignored under a condition".to_owned(),
            "a test that does not run shows nothing and rots: compile it out with `cfg`, or let \
             it check what it needs",
        )),
        ["mod", name, "{"] if EMPTY_NAMES.contains(&name) => {
            Some((format!("a module named `{name}`"), NAME_IT))
        }
        _ => None,
    }
}

fn ignores_under_condition(attribute: &[Token<'_>]) -> bool {
    let mut depth = 0_usize;
    let mut previous = "";
    for token in attribute.iter().skip(1) {
        match token.text {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            "ignore" if depth == 2 && previous == "," => return true,
            _ => {}
        }
        if depth == 0 {
            return false;
        }
        previous = token.text;
    }
    false
}

fn stem(component: &str) -> &str {
    component.strip_suffix(".rs").unwrap_or(component)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn expect(path: &str, text: &str, expected: &[(Option<usize>, &str)]) {
        let source = Source { path: path.to_owned(), text: text.to_owned() };
        let problems = check_source(&source);
        let seen: Vec<_> =
            problems.iter().map(|problem| (problem.line, problem.what.as_str())).collect();
        assert_eq!(seen, expected, "{path}\n{text}");
    }

    #[test]
    fn each_rule_finds_its_own_and_nothing_else() {
        let path = "crates/x/src/lib.rs";
        expect(path, "//! Says so.\nfn f() {}\n", &[]);
        expect(path, "", &[(Some(1), "the first line is not a `//!` line")]);
        expect(path, "\n//! Late.\n", &[(Some(1), "the first line is not a `//!` line")]);
        expect(path, "//!\n", &[(Some(1), "the first line is not a `//!` line")]);
        expect("crates/x/src/a/mod.rs", "//! A.\n", &[(None, "a file named mod.rs")]);
        expect("crates/x/src/utils.rs", "//! A.\n", &[(None, "a module named `utils`")]);
        expect("crates/x/tests/common/a.rs", "//! A.\n", &[(None, "a module named `common`")]);
        expect(path, "//! A.\nmod helpers {}\n", &[(Some(2), "a module named `helpers`")]);
        expect(path, "//! A.\nfn f() { todo!() }\n", &[(Some(2), "`todo!` in code")]);
        expect(path, "//! A.\n\nunimplemented! {}\n", &[(Some(3), "`unimplemented!` in code")]);
        expect(path, "//! A.\n#[test]\n#[ignore]\n", &[(Some(3), "an ignored test")]);
        expect(path, "//! A.\n# [ ignore = \"x\" ]\n", &[(Some(2), "an ignored test")]);
        expect(
            path,
            "//! A.\n#[cfg_attr(windows, ignore)]\n",
            &[(Some(2), "a test ignored under a condition")],
        );
        expect(path, "//! A.\n#[cfg_attr(not(ignore), inline)]\nuse ignore::Walk;\n", &[]);
        expect(path, "//! A todo!() #[ignore].\n// todo!()\nconst A: &str = \"todo!()\";\n", &[]);
        expect(path, "//! A.\nfn todo() { if !todo() {} }\n", &[]);
        let prints = "//! A.\nfn f() { std::io::stderr().flush() }\n";
        expect(path, prints, &[(Some(2), "a library that prints")]);
        expect("crates/probity/src/a.rs", prints, &[]);
        expect("crates/x/tests/it/a.rs", prints, &[]);
    }
}
