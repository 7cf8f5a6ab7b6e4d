//! Platforms, and which one of an index a build takes.

use std::fmt;

use serde::Deserialize;

/// An operating system and a processor, in canonical form: `linux/arm64` has no variant.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Platform {
    pub os: String,
    pub architecture: String,
    pub variant: Option<String>,
}

impl Platform {
    #[must_use]
    pub fn new(os: &str, architecture: &str, variant: Option<&str>) -> Self {
        let os = match os.to_ascii_lowercase().as_str() {
            "macos" => "darwin".to_owned(),
            other => other.to_owned(),
        };
        let architecture = architecture.to_ascii_lowercase();
        let variant = variant.map(str::to_ascii_lowercase).filter(|variant| !variant.is_empty());
        let (architecture, variant) = match (architecture.as_str(), variant.as_deref()) {
            ("x86_64" | "x86-64" | "amd64", None | Some("v1")) => ("amd64", None),
            ("x86_64" | "x86-64", other) => ("amd64", other),
            ("aarch64" | "arm64", None | Some("8" | "v8")) => ("arm64", None),
            ("aarch64", other) => ("arm64", other),
            ("armhf", _) => ("arm", Some("v7")),
            ("armel", _) => ("arm", Some("v6")),
            ("arm", None | Some("7")) => ("arm", Some("v7")),
            ("arm", Some("5")) => ("arm", Some("v5")),
            ("arm", Some("6")) => ("arm", Some("v6")),
            ("arm", Some("8")) => ("arm", Some("v8")),
            ("i386" | "i686" | "x86", _) => ("386", None),
            (other, variant) => (other, variant),
        };
        let (architecture, variant) = (architecture.to_owned(), variant.map(str::to_owned));
        Self { os, architecture, variant }
    }

    /// `os/architecture/variant`; none if the text does not name both system and architecture.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let (os, architecture) = (parts.next()?, parts.next()?);
        let variant = parts.next();
        let is_word = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        };
        let is_valid = is_word(os)
            && is_word(architecture)
            && variant.is_none_or(is_word)
            && parts.next().is_none();
        is_valid.then(|| Self::new(os, architecture, variant))
    }

    /// Whether an image for `self` runs on the `wanted` platform; the lowest rank is the best match.
    #[must_use]
    pub fn rank_for(&self, wanted: &Self) -> Option<usize> {
        if self.os != wanted.os {
            return None;
        }
        let level = |platform: &Self| -> usize {
            let text = platform.variant.as_deref().and_then(|variant| variant.strip_prefix('v'));
            text.and_then(|text| text.parse().ok()).unwrap_or(1)
        };
        match (wanted.architecture.as_str(), self.architecture.as_str()) {
            ("amd64", "amd64") | ("arm", "arm") => level(wanted).checked_sub(level(self)),
            ("amd64", "386") => Some(100),
            ("arm64", "arm64") => match (&wanted.variant, &self.variant) {
                (wanted, have) if wanted == have => Some(0),
                (Some(_), None) => Some(1),
                _ => None,
            },
            ("arm64", "arm") => (level(self) <= 8).then(|| 100 + 8 - level(self)),
            (wanted_one, own) => (wanted_one == own && wanted.variant == self.variant).then_some(0),
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.os, self.architecture)?;
        match &self.variant {
            Some(variant) => write!(formatter, "/{variant}"),
            None => Ok(()),
        }
    }
}

/// A platform as manifests and configurations write it.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct RawPlatform {
    os: Option<String>,
    architecture: Option<String>,
    variant: Option<String>,
}

impl RawPlatform {
    /// None for what is not an image for a platform: attestations are `unknown/unknown`.
    pub(crate) fn platform(&self) -> Option<Platform> {
        let (os, architecture) = (self.os.as_deref()?, self.architecture.as_deref()?);
        let is_known = |word: &str| !word.is_empty() && word != "unknown";
        let is_image = is_known(os) && is_known(architecture);
        is_image.then(|| Platform::new(os, architecture, self.variant.as_deref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_platform_that_runs_is_taken() {
        let all = [
            "linux/386",
            "linux/amd64",
            "linux/amd64/v3",
            "linux/arm/v6",
            "linux/arm/v7",
            "linux/arm64",
            "linux/s390x",
            "windows/amd64",
        ];
        let all: Vec<Platform> = all.iter().filter_map(|text| Platform::parse(text)).collect();
        for (wanted, expected) in [
            ("linux/amd64", Some("linux/amd64")),
            ("linux/x86_64", Some("linux/amd64")),
            ("linux/amd64/v2", Some("linux/amd64")),
            ("linux/amd64/v4", Some("linux/amd64/v3")),
            ("linux/arm64/v8", Some("linux/arm64")),
            ("linux/arm", Some("linux/arm/v7")),
            ("linux/arm/v8", Some("linux/arm/v7")),
            ("linux/arm/v5", None),
            ("linux/ppc64le", None),
            ("windows/amd64", Some("windows/amd64")),
            ("windows/arm64", None),
        ] {
            let wanted = Platform::parse(wanted).unwrap_or_default();
            let best = all.iter().filter_map(|have| Some((have.rank_for(&wanted)?, have))).min();
            let best = best.map(|(_, platform)| platform.to_string());
            assert_eq!(best.as_deref(), expected, "{wanted}");
        }
        for text in ["linux", "", "a/b/c/d", "linux/", "linux/am d64"] {
            assert_eq!(Platform::parse(text), None, "{text}");
        }
    }
}
