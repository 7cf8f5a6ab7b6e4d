//! The closed choices of hadolint, as flags, variables and its file spell them.

use clap::ValueEnum;
use probity_finding::Severity;

/// From which severity on findings make the run fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Threshold {
    Error,
    Warning,
    Info,
    Style,
    Ignore,
    None,
}

impl Threshold {
    /// The least severity that fails. Whatever is reported is above `ignore`, and `none` is the same:
    /// it does not mean that nothing fails.
    pub(crate) fn least(self) -> Severity {
        match self {
            Self::Error => Severity::Error,
            Self::Warning => Severity::Warning,
            Self::Info => Severity::Info,
            Self::Style | Self::Ignore | Self::None => Severity::Style,
        }
    }
}

/// How findings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Tty,
    Json,
    Checkstyle,
    Codeclimate,
    #[value(name = "gitlab_codeclimate")]
    GitlabCodeclimate,
    Gnu,
    Codacy,
    Sonarqube,
    Sarif,
    Junit,
}

/// What the value of a label has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabelType {
    Text,
    Rfc3339,
    Semver,
    Url,
    Hash,
    Spdx,
    Email,
}

impl LabelType {
    /// The rule that looks at the values of such labels.
    pub(crate) fn rule(self) -> &'static str {
        match self {
            Self::Text => "hadolint/DL3051",
            Self::Url => "hadolint/DL3052",
            Self::Rfc3339 => "hadolint/DL3053",
            Self::Spdx => "hadolint/DL3054",
            Self::Hash => "hadolint/DL3055",
            Self::Semver => "hadolint/DL3056",
            Self::Email => "hadolint/DL3058",
        }
    }
}

/// The word of a choice.
pub(crate) fn word(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
