//! One image build, as a Compose service or a Bake target describes it.

use std::collections::BTreeMap;

use crate::InlinePlace;

/// What `docker build` would be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// The service or the target.
    pub name: String,
    pub recipe: Recipe,
    /// Relative to the directory of the description.
    pub context: String,
    pub target: Option<String>,
    /// Names of build arguments, with their values if they are known.
    pub args: BTreeMap<String, Option<String>>,
    pub platforms: Vec<String>,
    /// Additional contexts: names that `FROM` and `COPY --from` may use, and where they lead.
    pub contexts: BTreeMap<String, String>,
}

/// Where the Dockerfile of a build is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipe {
    /// Relative to the directory of the description.
    File(String),
    /// In the description itself.
    Inline { text: String, place: InlinePlace },
    /// In a repository or an archive that a build would fetch.
    Remote,
}

/// Something that a reader should know, and that hides no build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The service or target, if it is about one.
    pub about: Option<String>,
    pub message: String,
}

impl Note {
    pub(crate) fn about(name: &str, message: impl Into<String>) -> Self {
        Self { about: Some(name.to_owned()), message: message.into() }
    }
}

/// Whether a build fetches its context instead of reading it here.
pub(crate) fn is_remote(context: &str) -> bool {
    context.contains("://")
        || context.starts_with("git@")
        || context.starts_with("github.com/")
        || context.starts_with("target:")
}

/// The path of the Dockerfile: absolute ones stay, others are below the context.
pub(crate) fn dockerfile_path(context: &str, dockerfile: Option<&str>) -> String {
    let dockerfile = dockerfile.unwrap_or("Dockerfile");
    let context = context.trim_end_matches('/');
    match context {
        _ if dockerfile.starts_with('/') => dockerfile.to_owned(),
        "" | "." => dockerfile.to_owned(),
        _ => format!("{context}/{dockerfile}"),
    }
}
