//! A Dockerfile, and what has to be known about it before a builder sees it.
//!
//! This crate does not parse Dockerfiles; its caller does and fills in a [`Recipe`].

/// A Dockerfile, and what has to be known about it before a builder sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recipe {
    pub text: String,
    /// Images that it names, stages and `scratch` excluded.
    pub images: Vec<String>,
    /// The image base of the last stage, if it is one of them.
    pub base: Option<String>,
    /// `# syntax=`: an image that would be pulled to read the file.
    pub frontend: Option<String>,
    /// What `ADD` copies, but for words that name a file of the context in every build.
    pub sources: Vec<AddSource>,
    /// Every flag of every `RUN`.
    pub flags: Vec<RunFlag>,
}

/// A source of an `ADD`, which the builder itself fetches if it is remote: outside of the build, and
/// whatever network `RUN` has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddSource {
    pub line: usize,
    /// As written.
    pub text: String,
    pub origin: Origin,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Remote,
    /// Its variables have values that only the build knows.
    Unknown,
    /// A file of the context, unless the base image sets one of these variables: the environment of
    /// an image wins over `ARG`.
    Local {
        variables: Vec<String>,
    },
}

/// `RUN --name=value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFlag {
    pub line: usize,
    pub name: String,
    pub value: Option<String>,
    /// The parts of `--mount`; the keys are in lower case.
    pub options: Vec<(String, Option<String>)>,
}

impl AddSource {
    /// Whether a builder might take an expanded word for a URL or a git repository. All of those have
    /// a colon, but for the short form of GitHub's, which some builders know.
    pub fn is_remote(word: &str) -> bool {
        word.contains(':') || word.to_ascii_lowercase().contains("github.com/")
    }
}
