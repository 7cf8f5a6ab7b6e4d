//! `review.yml`, version 1.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_saphyr::{Location, Spanned};

use super::{PatternError, ProofConfig, ReviewConfig, Weights, paths::Patterns};
use probity_proof::{Level, ProofOptions};

use crate::Category;

/// The JSON Schema of the file, for editors.
pub const SCHEMA: &str = include_str!("../../schema/review.yml.schema.json");

/// Longer than any list of globs has to be.
const MAX_BYTES: usize = 1 << 20;

/// What is wrong with a configuration, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("unknown profile `{name}`, expected one of {known}")]
    UnknownProfile { name: String, known: String },
    #[error("it has {bytes} bytes, the limit is {MAX_BYTES}")]
    TooLarge { bytes: usize },
    #[error("{place}{message}")]
    Wrong { place: LineColumn, message: String },
}

/// Line and column from 1; nothing where it is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn(Option<(u64, u64)>);

impl std::fmt::Display for LineColumn {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some((line, column)) => write!(formatter, "{line}:{column}: "),
            None => Ok(()),
        }
    }
}

impl From<Location> for LineColumn {
    fn from(location: Location) -> Self {
        let (line, column) = (location.line(), location.column());
        Self((line != 0).then_some((line, column)))
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: Option<Spanned<String>>,
    #[serde(default)]
    severity_weights: FileWeights,
    categories: Option<Spanned<BTreeMap<String, Spanned<FileCategory>>>>,
    include: Option<Vec<Spanned<String>>>,
    exclude: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    proof: FileProof,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileWeights {
    critical: Option<Spanned<f64>>,
    high: Option<Spanned<f64>>,
    medium: Option<Spanned<f64>>,
    low: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileCategory {
    enabled: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileProof {
    level: Option<Spanned<String>>,
    runs: Option<Spanned<u32>>,
    timeout_seconds: Option<Spanned<u64>>,
}

pub(super) fn read(text: &str, below: Option<&ReviewConfig>) -> Result<ReviewConfig, ConfigError> {
    if text.len() > MAX_BYTES {
        return Err(ConfigError::TooLarge { bytes: text.len() });
    }
    let file: Option<File> = serde_saphyr::from_str(text).map_err(|error| located(&error))?;
    let file = file.unwrap_or_default();
    if let Some(version) = &file.version
        && version.value != "1"
    {
        let message = format!("version `{}` is not known, expected \"1\"", version.value);
        return Err(wrong(version.referenced, message));
    }
    let default = Weights { critical: 3.0, high: 1.5, medium: 1.0, low: 0.5 };
    let weights = weights(&file.severity_weights, below.map_or(default, |config| config.weights))?;
    let categories = match (&file.categories, below) {
        (Some(written), below) => categories(written, below.map(|config| &*config.categories))?,
        (None, Some(below)) => below.categories.clone(),
        (None, None) => Category::ALL.to_vec(),
    };
    let globs = |written: Option<Vec<Spanned<String>>>, inherited: Option<&Patterns>| match (
        written, inherited,
    ) {
        (Some(written), _) => patterns(written),
        (None, Some(inherited)) => Ok(inherited.clone()),
        (None, None) => patterns(Vec::new()),
    };
    let include = globs(file.include, below.map(|below| &below.include))?;
    let exclude = globs(file.exclude, below.map(|below| &below.exclude))?;
    let paths = globs(None, below.map(|below| &below.paths))?;
    let default = ProofConfig { level: Level::Flips, pairs: ProofOptions::PAIRS, seconds: 30 };
    let proof = proof(&file.proof, below.map_or(default, |below| below.proof))?;
    Ok(ReviewConfig { weights, categories, proof, include, exclude, paths })
}

fn weights(file: &FileWeights, below: Weights) -> Result<Weights, ConfigError> {
    let weight = |written: &Option<Spanned<f64>>, below: f64| match written {
        None => Ok(below),
        Some(written) if (0.0..f64::INFINITY).contains(&written.value) => Ok(written.value),
        Some(written) => {
            let message = format!("a weight is a number from 0 on, not {}", written.value);
            Err(wrong(written.referenced, message))
        }
    };
    Ok(Weights {
        critical: weight(&file.critical, below.critical)?,
        high: weight(&file.high, below.high)?,
        medium: weight(&file.medium, below.medium)?,
        low: weight(&file.low, below.low)?,
    })
}

/// Those that are enabled. If a file only disables some, all others stay as they are.
fn categories(
    written: &Spanned<BTreeMap<String, Spanned<FileCategory>>>,
    below: Option<&[Category]>,
) -> Result<Vec<Category>, ConfigError> {
    let (mut enabled, mut disabled) = (Vec::new(), Vec::new());
    for (name, category) in &written.value {
        let known: Category =
            name.parse().map_err(|error| wrong(category.referenced, format!("{error}")))?;
        let list = if category.value.enabled { &mut enabled } else { &mut disabled };
        list.push(known);
    }
    if enabled.is_empty() && !disabled.is_empty() {
        let others = below.unwrap_or(Category::ALL.as_slice()).iter();
        enabled.extend(others.filter(|category| !disabled.contains(category)));
    }
    if enabled.is_empty() {
        let message = "no category is enabled; enable one that is to be reviewed".to_owned();
        return Err(wrong(written.referenced, message));
    }
    enabled.sort_unstable();
    Ok(enabled)
}

fn patterns(written: Vec<Spanned<String>>) -> Result<Patterns, ConfigError> {
    for glob in &written {
        let one = Patterns::new(vec![glob.value.clone()]);
        one.map_err(|error: PatternError| wrong(glob.referenced, error.to_string()))?;
    }
    let all = written.into_iter().map(|glob| glob.value).collect();
    let unknown = LineColumn(None);
    Patterns::new(all)
        .map_err(|error| ConfigError::Wrong { place: unknown, message: error.to_string() })
}

fn proof(file: &FileProof, below: ProofConfig) -> Result<ProofConfig, ConfigError> {
    let level = match &file.level {
        None => below.level,
        Some(level) => match Level::from_name(&level.value) {
            Some(known) if known > Level::Claimed => known,
            _ => {
                let message = format!("unknown level `{}`, expected P1, P2 or P3", level.value);
                return Err(wrong(level.referenced, message));
            }
        },
    };
    let pairs = match &file.runs {
        None => below.pairs,
        Some(runs) if (1..=20).contains(&runs.value) => {
            runs.value.clamp(ProofOptions::LEAST_PAIRS, ProofOptions::MOST_PAIRS)
        }
        Some(runs) => {
            let message = format!("runs are between 1 and 20, not {}", runs.value);
            return Err(wrong(runs.referenced, message));
        }
    };
    let seconds = match &file.timeout_seconds {
        None => below.seconds,
        Some(seconds) if (1..=3600).contains(&seconds.value) => seconds.value,
        Some(seconds) => {
            let message = format!("a test gets between 1 and 3600 seconds, not {}", seconds.value);
            return Err(wrong(seconds.referenced, message));
        }
    };
    Ok(ProofConfig { level, pairs, seconds })
}

fn wrong(location: Location, message: String) -> ConfigError {
    ConfigError::Wrong { place: location.into(), message }
}

/// The reader's own message without its excerpt of the file, which may hold what is not ours.
fn located(error: &serde_saphyr::Error) -> ConfigError {
    let place = error.location().map_or(LineColumn(None), LineColumn::from);
    let text = error.without_snippet().to_string();
    let message = text.lines().next().unwrap_or_default().trim();
    // Our own place stands in front, and one is enough.
    let message = message.split(" at line ").next().unwrap_or(message).trim_end_matches([',', ':']);
    // The parser's advice is for those who write Rust.
    let message = message.split(", set ").next().unwrap_or(message);
    ConfigError::Wrong { place, message: message.to_owned() }
}
