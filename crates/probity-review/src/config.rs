//! What is reviewed and what it weighs: a built-in profile, and `review.yml` over it.
//!
//! The file is strict, because a misspelt key would otherwise silently review something else.

mod file;
mod paths;

use self::paths::Patterns;
pub use self::{
    file::{ConfigError, SCHEMA},
    paths::PatternError,
};
use probity_proof::Level;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{Category, Risk};

/// The profiles that are built in. They are read by the reader that reads everybody's file.
const PROFILES: &[(&str, &str)] = &[
    ("default", include_str!("config/profiles/default.yml")),
    ("security", include_str!("config/profiles/security.yml")),
    ("strict", include_str!("config/profiles/strict.yml")),
];

/// What one review is told to look at.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewConfig {
    pub weights: Weights,
    /// The categories that are enabled, in the order of [`Category::ALL`].
    pub categories: Vec<Category>,
    pub proof: ProofConfig,
    include: Patterns,
    exclude: Patterns,
    /// Narrows what is included; empty means no narrowing.
    paths: Patterns,
}

/// How many points an issue of each severity takes away.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    pub critical: f64,
    pub high: f64,
    pub medium: f64,
    pub low: f64,
}

impl Weights {
    #[must_use]
    pub fn of(&self, risk: Risk) -> f64 {
        match risk {
            Risk::Critical => self.critical,
            Risk::High => self.high,
            Risk::Medium => self.medium,
            Risk::Low => self.low,
        }
    }
}

/// What a proof has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProofConfig {
    /// The lowest level that counts.
    #[serde(serialize_with = "level_name", deserialize_with = "level_of_name")]
    pub level: Level,
    /// The least number of pairs of runs that have to agree.
    pub pairs: u32,
    /// For one run of one test.
    pub seconds: u64,
}

impl ReviewConfig {
    /// A built-in profile.
    pub fn profile(name: &str) -> Result<Self, ConfigError> {
        let found = PROFILES.iter().find(|(known, _)| *known == name);
        let (_, text) = found.ok_or_else(|| ConfigError::UnknownProfile {
            name: name.chars().take(40).collect(),
            known: PROFILES.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", "),
        })?;
        file::read(text, None)
    }

    /// A file over a profile. Weights are taken one by one; lists replace the profile's.
    pub fn over(&self, text: &str) -> Result<Self, ConfigError> {
        file::read(text, Some(self))
    }

    /// Only what these globs match is reviewed, and only if it would be anyway. A directory stands
    /// for all that lies in it.
    pub fn narrowed(mut self, globs: &[String]) -> Result<Self, PatternError> {
        let with_directories = globs.iter().flat_map(|glob| {
            let bare = glob.trim_end_matches('/').trim_start_matches("./");
            [bare.to_owned(), format!("{bare}/**")]
        });
        self.paths = Patterns::new(with_directories.collect())?;
        Ok(self)
    }

    /// What these globs match is reviewed too, unless it is excluded.
    pub fn including(mut self, globs: Vec<String>) -> Result<Self, PatternError> {
        // Without a list everything is included already.
        if !self.include.is_empty() {
            self.include = Patterns::new([self.include.globs(), &globs].concat())?;
        }
        Ok(self)
    }

    /// Whether a file, by its path in the repository, is under review.
    #[must_use]
    pub fn should_review(&self, path: &str) -> bool {
        let included = self.include.is_empty() || self.include.matches(path);
        let narrowed = self.paths.is_empty() || self.paths.matches(path);
        included && narrowed && !self.exclude.matches(path)
    }

    #[must_use]
    pub fn is_enabled(&self, category: Category) -> bool {
        self.categories.contains(&category)
    }

    #[must_use]
    pub fn include(&self) -> &[String] {
        self.include.globs()
    }

    #[must_use]
    pub fn exclude(&self) -> &[String] {
        self.exclude.globs()
    }

    /// The globs that narrow, without the forms that were added for directories.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.globs().iter().step_by(2).map(String::as_str)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn level_name<S: Serializer>(level: &Level, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(level.name())
}

fn level_of_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Level, D::Error> {
    let name = String::deserialize(deserializer)?;
    Level::from_name(&name)
        .ok_or_else(|| D::Error::custom(format!("`{name}` is not a level of proof")))
}
