//! What the sources are written in, by the endings of their names.

use std::path::Path;

/// Decides what the system prompt calls the sources, and which lines of a file are not code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Aiken,
    Python,
    JavaScript,
    Go,
    /// Several, or one that we do not know.
    Other,
}

impl Language {
    pub(crate) fn of_file(file: &str) -> Self {
        let extension = Path::new(file).extension().and_then(|ending| ending.to_str());
        match extension.unwrap_or_default().to_ascii_lowercase().as_str() {
            "ak" => Self::Aiken,
            "py" => Self::Python,
            "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => Self::JavaScript,
            "go" => Self::Go,
            _ => Self::Other,
        }
    }

    /// The one that all sources share. A project of `trix` is one of contracts.
    pub(crate) fn of_sources(sources: &[String]) -> Self {
        let mut languages = sources.iter().map(|source| {
            if source.ends_with(".tx3") { Self::Aiken } else { Self::of_file(source) }
        });
        let first = languages.next().unwrap_or(Self::Aiken);
        if languages.all(|language| language == first) { first } else { Self::Other }
    }

    pub(crate) fn subject(self) -> &'static str {
        match self {
            Self::Aiken => "smart contracts written in Aiken, a language for validators on Cardano",
            Self::Python => "a program written in Python",
            Self::JavaScript => "a program written in JavaScript or TypeScript",
            Self::Go => "a program written in Go",
            Self::Other => "the source code of a program",
        }
    }

    /// Whether a line, without the spaces around it, shows nothing that a program does.
    pub(crate) fn is_idle(self, line: &str) -> bool {
        let starts = |words: &[&str]| words.iter().any(|word| line.starts_with(word));
        line.is_empty()
            || match self {
                Self::Aiken => starts(&["//", "use "]),
                Self::Python => starts(&["#", "import ", "from "]),
                Self::JavaScript => starts(&["//", "/*", "*/", "* ", "import ", "export * from"]),
                Self::Go => starts(&["//", "/*", "*/", "* ", "import ", "package "]),
                Self::Other => starts(&["//", "#", "--", "/*", "*/", "* ", "import "]),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_of_one_language_share_it() {
        for (sources, language) in [
            (&["a.ak", "b.AK"][..], Language::Aiken),
            (&["main.tx3"], Language::Aiken),
            (&["a.py"], Language::Python),
            (&["a.ts", "b.js"], Language::JavaScript),
            (&["a.go", "b.py"], Language::Other),
            (&[], Language::Aiken),
        ] {
            let sources: Vec<String> = sources.iter().map(|source| (*source).to_owned()).collect();
            assert_eq!(Language::of_sources(&sources), language, "{sources:?}");
        }
    }

    #[test]
    fn comments_and_imports_are_idle() {
        assert!(Language::Aiken.is_idle("use aiken/list"));
        assert!(Language::Aiken.is_idle("/// a page"));
        assert!(!Language::Aiken.is_idle("user == owner"));
        assert!(Language::Python.is_idle("from os import path"));
        assert!(!Language::Go.is_idle("*pointer = 5"));
    }
}
