//! What the name of an image tells: its distribution and release, its C library, its language.

mod defaults;

use probity_dockerfile::ImageRef;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Distribution {
    Debian,
    Ubuntu,
    Alpine,
    RedHat,
    /// `scratch`, and images without a C library.
    Bare,
}

/// What is known about an image; nothing is looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImageKind {
    /// The last part of the repository.
    pub(crate) name: String,
    pub(crate) tag: String,
    pub(crate) distribution: Option<Distribution>,
    /// As a number: `12`, `22.04`, `3.20`.
    pub(crate) release: Option<String>,
    pub(crate) language: Option<&'static str>,
    pub(crate) version: Option<String>,
}

/// Repositories and the language that their images are for.
const LANGUAGES: &[(&str, &str)] = &[
    ("python", "python"),
    ("node", "node"),
    ("ruby", "ruby"),
    ("php", "php"),
    ("golang", "go"),
    ("rust", "rust"),
    ("gcc", "c"),
    ("maven", "java"),
    ("gradle", "java"),
    ("openjdk", "java"),
    ("eclipse-temurin", "java"),
    ("amazoncorretto", "java"),
    ("sapmachine", "java"),
    ("ibmjava", "java"),
    ("tomcat", "java"),
    ("jetty", "java"),
    ("perl", "perl"),
];

/// Languages whose programs are read by a run time of a certain version.
const INTERPRETED: &[&str] = &["python", "node", "ruby", "php", "java", "dotnet", "perl"];

const CODENAMES: &[(&str, Distribution, &str)] = &[
    ("buster", Distribution::Debian, "10"),
    ("bullseye", Distribution::Debian, "11"),
    ("bookworm", Distribution::Debian, "12"),
    ("trixie", Distribution::Debian, "13"),
    ("focal", Distribution::Ubuntu, "20.04"),
    ("jammy", Distribution::Ubuntu, "22.04"),
    ("noble", Distribution::Ubuntu, "24.04"),
];

/// The number of a release by its name.
pub(crate) fn release_named(name: &str) -> Option<&'static str> {
    CODENAMES.iter().find(|(own, ..)| *own == name).map(|(.., release)| *release)
}

impl ImageKind {
    pub(crate) fn of(image: &str) -> Option<Self> {
        if image == "scratch" {
            return Some(Self {
                name: image.to_owned(),
                tag: String::new(),
                distribution: Some(Distribution::Bare),
                release: None,
                language: None,
                version: None,
            });
        }
        let reference = ImageRef::parse(image).ok()?;
        let tag = reference.tag.clone().unwrap_or_default();
        let name = reference.path.rsplit('/').next().unwrap_or_default().to_owned();
        if reference.domain == "gcr.io" && reference.path.starts_with("distroless/") {
            return Some(distroless(name, tag));
        }
        let is_dotnet = reference.path.starts_with("dotnet/");
        let language = if is_dotnet {
            Some("dotnet")
        } else {
            LANGUAGES.iter().find(|(image, _)| *image == name).map(|(_, language)| *language)
        };
        let version = match language {
            Some("java") => java_version(&name, &tag),
            _ => number(&tag),
        };
        let (distribution, release) = released(&name, &tag, language);
        Some(Self { name, tag, distribution, release, language, version })
    }

    pub(crate) fn is_musl(&self) -> bool {
        self.distribution == Some(Distribution::Alpine)
    }

    /// Whether the files of a program are all that its run time reads, of any machine.
    pub(crate) fn is_interpreted(&self) -> bool {
        self.language.is_some_and(|language| INTERPRETED.contains(&language))
    }

    /// Whether it is a plain system: no program of its own starts in it.
    pub(crate) fn is_plain(&self) -> bool {
        self.language.is_some() || self.is_system()
    }

    pub(crate) fn is_system(&self) -> bool {
        const SYSTEMS: &[&str] = &["debian", "ubuntu", "alpine", "busybox", "scratch"];
        SYSTEMS.contains(&self.name.as_str()) || self.distribution == Some(Distribution::RedHat)
    }

    /// The part of a tag that chooses the program which an image starts: `php:8.3-fpm`.
    pub(crate) fn flavor(&self) -> Option<&str> {
        let mut parts = self.tag.split('-');
        parts.find(|part| matches!(*part, "apache" | "fpm" | "zts" | "onbuild"))
    }

    /// Whether it is there to build: nobody needs what it brings at run time.
    pub(crate) fn is_toolchain(&self) -> bool {
        let is_kit = matches!(self.name.as_str(), "maven" | "gradle" | "sdk" | "swift");
        let is_java = self.language == Some("java") && !self.tag.contains("jre");
        let is_compiled = matches!(self.language, Some("go" | "rust" | "c"));
        is_kit || is_java || is_compiled
    }

    /// Whether it is the variant of a language's image that has compilers and headers.
    pub(crate) fn is_full(&self) -> bool {
        let is_small = ["slim", "alpine", "minimal"].iter().any(|part| self.tag.contains(part));
        matches!(self.language, Some("python" | "node" | "ruby" | "perl" | "go" | "rust" | "c"))
            && !is_small
    }
}

fn distroless(name: String, tag: String) -> ImageKind {
    let (stem, release) = name.split_once("-debian").unwrap_or((&name, ""));
    let (language, version) = match stem.trim_end_matches(|it: char| it.is_ascii_digit()) {
        "python" => (Some("python"), None),
        "nodejs" => (Some("node"), number(stem.trim_start_matches("nodejs"))),
        "java" => (Some("java"), number(stem.trim_start_matches("java"))),
        _ => (None, None),
    };
    let is_bare = stem == "static";
    let distribution = if is_bare { Distribution::Bare } else { Distribution::Debian };
    let release = (!release.is_empty()).then(|| release.to_owned());
    ImageKind { tag, distribution: Some(distribution), release, language, version, name }
}

fn released(
    name: &str,
    tag: &str,
    language: Option<&str>,
) -> (Option<Distribution>, Option<String>) {
    let mut parts = tag.split('-');
    if name == "alpine" {
        return (Some(Distribution::Alpine), number(tag));
    }
    if let Some(part) = parts.clone().find(|part| part.starts_with("alpine")) {
        return (Some(Distribution::Alpine), number(part.trim_start_matches("alpine")));
    }
    let codename = |part: &str| CODENAMES.iter().find(|(name, ..)| *name == part);
    if let Some((_, distribution, release)) = parts.find_map(codename) {
        return (Some(*distribution), Some((*release).to_owned()));
    }
    match name {
        "debian" => {
            let major =
                number(tag).and_then(|release| release.split('.').next().map(str::to_owned));
            (Some(Distribution::Debian), major)
        }
        "ubuntu" => (Some(Distribution::Ubuntu), number(tag)),
        "fedora" | "rockylinux" | "almalinux" | "centos" | "amazonlinux" | "oraclelinux" => {
            (Some(Distribution::RedHat), number(tag))
        }
        "eclipse-temurin" | "maven" | "gradle" | "swift" => (Some(Distribution::Ubuntu), None),
        _ if language.is_some() => {
            let version = number(tag).unwrap_or_default();
            let release = defaults::release(name, &version).map(str::to_owned);
            (Some(Distribution::Debian), release)
        }
        _ => (None, None),
    }
}

/// `3.9-eclipse-temurin-21`, `8.7-jdk17`, `17-jdk-slim`
fn java_version(name: &str, tag: &str) -> Option<String> {
    let parts: Vec<&str> = tag.split('-').collect();
    let named = parts.iter().find_map(|part| {
        let rest = part.strip_prefix("jdk").or_else(|| part.strip_prefix("jre"))?;
        number(rest)
    });
    if named.is_some() {
        return named;
    }
    if matches!(name, "maven" | "gradle" | "tomcat" | "jetty") {
        return parts.iter().skip(1).find_map(|part| number(part));
    }
    number(tag).and_then(|version| version.split('.').next().map(str::to_owned))
}

/// The number that a text begins with.
fn number(text: &str) -> Option<String> {
    let end = text
        .find(|character: char| !character.is_ascii_digit() && character != '.')
        .unwrap_or(text.len());
    let number = text.get(..end)?.trim_matches('.');
    (!number.is_empty()).then(|| number.to_owned())
}

/// Whether one number is the other, or says no more than its beginning.
pub(crate) fn agree(one: &str, other: &str) -> bool {
    one.split('.').zip(other.split('.')).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_distribution_release_language_and_version() {
        let rows = [
            ("debian:12.5-slim", Some(Distribution::Debian), "12", "", ""),
            ("golang:1.22-bookworm", Some(Distribution::Debian), "12", "go", "1.22"),
            ("golang:1.22", Some(Distribution::Debian), "", "go", "1.22"),
            ("python:3.12.4-slim", Some(Distribution::Debian), "12", "python", "3.12.4"),
            ("python:3.12-slim", Some(Distribution::Debian), "", "python", "3.12"),
            ("ubuntu:jammy", Some(Distribution::Ubuntu), "22.04", "", ""),
            ("python:3.12-alpine3.20", Some(Distribution::Alpine), "3.20", "python", "3.12"),
            ("maven:3.9-eclipse-temurin-21", Some(Distribution::Ubuntu), "", "java", "21"),
            ("gradle:8.7-jdk17-alpine", Some(Distribution::Alpine), "", "java", "17"),
            ("openjdk:17-jdk-slim", Some(Distribution::Debian), "", "java", "17"),
            (
                "mcr.microsoft.com/dotnet/aspnet:8.0",
                Some(Distribution::Debian),
                "",
                "dotnet",
                "8.0",
            ),
            ("gcr.io/distroless/java17-debian12", Some(Distribution::Debian), "12", "java", "17"),
            ("gcr.io/distroless/static-debian12", Some(Distribution::Bare), "12", "", ""),
            ("example.com/base:1", None, "", "", ""),
        ];
        for (image, distribution, release, language, version) in rows {
            let kind = ImageKind::of(image).unwrap();
            assert_eq!(kind.distribution, distribution, "{image}");
            assert_eq!(kind.release.as_deref().unwrap_or_default(), release, "{image}");
            assert_eq!(kind.language.unwrap_or_default(), language, "{image}");
            if !language.is_empty() {
                assert_eq!(kind.version.as_deref().unwrap_or_default(), version, "{image}");
            }
        }
        assert!(agree("20", "20.11") && !agree("3.12", "3.11") && agree("3", "3.20"));
    }
}
