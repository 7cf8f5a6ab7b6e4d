//! The closed choices of hadolint, as flags, variables and its file spell them.

use probity_finding::Severity;

use crate::config::word::words;

/// From which severity on findings make the run fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Tty,
    Json,
    Checkstyle,
    Codeclimate,
    GitlabCodeclimate,
    Gnu,
    Codacy,
    Sonarqube,
    Sarif,
    Junit,
}

/// What the value of a label has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// The rule that looks at the values of such labels. Whether one is empty is asked of all.
    pub(crate) fn rule(self) -> Option<&'static str> {
        match self {
            Self::Text => None,
            Self::Url => Some("hadolint/DL3052"),
            Self::Rfc3339 => Some("hadolint/DL3053"),
            Self::Spdx => Some("hadolint/DL3054"),
            Self::Hash => Some("hadolint/DL3055"),
            Self::Semver => Some("hadolint/DL3056"),
            Self::Email => Some("hadolint/DL3058"),
        }
    }
}

words! {
    Threshold {
        Error = "error", Warning = "warning", Info = "info", Style = "style", Ignore = "ignore",
        None = "none",
    }
    Format {
        Tty = "tty", Json = "json", Checkstyle = "checkstyle", Codeclimate = "codeclimate",
        GitlabCodeclimate = "gitlab_codeclimate", Gnu = "gnu", Codacy = "codacy",
        Sonarqube = "sonarqube", Sarif = "sarif", Junit = "junit",
    }
    LabelType {
        Text = "text", Rfc3339 = "rfc3339", Semver = "semver", Url = "url", Hash = "hash",
        Spdx = "spdx", Email = "email",
    }
}
