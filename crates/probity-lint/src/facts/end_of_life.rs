//! Releases of official images that nobody supports any more, by a table with a date.
//!
//! Rules have no clock: the table contains what had ended on its own date, and nothing that is to end.

use probity_dockerfile::ImageRef;

/// The day that the table was written. Nobody has compared it with the announcements of the projects
/// since then; a date that is wrong is a bug.
pub(crate) const TABLE_DATE: &str = "2026-11-16";

/// The day that security updates end, by the image and the beginning of its tag.
const TABLE: &[(&str, &[(&str, &str)])] = &[
    (
        "alpine",
        &[
            ("3.10", "2021-05-01"),
            ("3.11", "2021-11-01"),
            ("3.12", "2022-05-01"),
            ("3.13", "2022-11-01"),
            ("3.14", "2023-05-01"),
            ("3.15", "2023-11-01"),
            ("3.16", "2024-05-23"),
            ("3.17", "2024-11-22"),
            ("3.18", "2025-05-09"),
            ("3.19", "2025-11-01"),
            ("3.20", "2026-04-01"),
            ("3.21", "2026-11-01"),
        ],
    ),
    ("amazonlinux", &[("1", "2023-12-31"), ("2", "2026-06-30")]),
    (
        "centos",
        &[
            ("5", "2017-03-31"),
            ("6", "2020-11-30"),
            ("7", "2024-06-30"),
            ("8", "2021-12-31"),
            ("centos5", "2017-03-31"),
            ("centos6", "2020-11-30"),
            ("centos7", "2024-06-30"),
            ("centos8", "2021-12-31"),
        ],
    ),
    (
        "debian",
        &[
            ("7", "2018-05-31"),
            ("8", "2020-06-30"),
            ("9", "2022-06-30"),
            ("10", "2024-06-30"),
            ("11", "2026-08-31"),
            ("wheezy", "2018-05-31"),
            ("jessie", "2020-06-30"),
            ("stretch", "2022-06-30"),
            ("buster", "2024-06-30"),
            ("bullseye", "2026-08-31"),
        ],
    ),
    (
        "golang",
        &[
            ("1.18", "2023-02-01"),
            ("1.19", "2023-08-08"),
            ("1.20", "2024-02-06"),
            ("1.21", "2024-08-13"),
            ("1.22", "2025-02-11"),
            ("1.23", "2025-08-12"),
        ],
    ),
    ("mysql", &[("5.6", "2021-02-05"), ("5.7", "2023-10-31"), ("8.0", "2026-04-30")]),
    (
        "node",
        &[
            ("10", "2021-04-30"),
            ("12", "2022-04-30"),
            ("14", "2023-04-30"),
            ("16", "2023-09-11"),
            ("17", "2022-06-01"),
            ("18", "2025-04-30"),
            ("19", "2023-06-01"),
            ("20", "2026-04-30"),
            ("21", "2024-06-01"),
            ("23", "2025-06-01"),
        ],
    ),
    (
        "php",
        &[("5", "2018-12-31"), ("7", "2022-11-28"), ("8.0", "2023-11-26"), ("8.1", "2025-12-31")],
    ),
    (
        "postgres",
        &[("10", "2022-11-10"), ("11", "2023-11-09"), ("12", "2024-11-21"), ("13", "2025-11-13")],
    ),
    (
        "python",
        &[
            ("2", "2020-01-01"),
            ("3.5", "2020-09-30"),
            ("3.6", "2021-12-23"),
            ("3.7", "2023-06-27"),
            ("3.8", "2024-10-07"),
            ("3.9", "2025-10-31"),
        ],
    ),
    (
        "ruby",
        &[("2", "2023-03-31"), ("3.0", "2024-04-23"), ("3.1", "2025-03-26"), ("3.2", "2026-03-31")],
    ),
    (
        "ubuntu",
        &[
            ("14.04", "2019-04-25"),
            ("16.04", "2021-04-30"),
            ("18.04", "2023-05-31"),
            ("20.04", "2025-05-31"),
            ("trusty", "2019-04-25"),
            ("xenial", "2021-04-30"),
            ("bionic", "2023-05-31"),
            ("focal", "2025-05-31"),
        ],
    ),
];

/// Releases whose packages have left the mirrors, by the first part of the tag.
const GONE: &[(&str, &[&str])] = &[
    ("centos", &["5", "6", "7", "8", "centos5", "centos6", "centos7", "centos8"]),
    ("debian", &["7", "8", "9", "10", "wheezy", "jessie", "stretch", "buster"]),
];

/// A release that had ended when the table was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndedRelease {
    pub(crate) name: &'static str,
    pub(crate) release: &'static str,
    pub(crate) date: &'static str,
}

/// The release of an official image that has ended: its own, or that of the system that its tag names
/// (`python:3.13-bullseye`).
pub(crate) fn ended(image: &ImageRef) -> Option<EndedRelease> {
    let name = image.familiar_name();
    let tag = image.tag.as_deref()?;
    let version = tag.split('-').next().unwrap_or_default();
    let find = |name: &str, matches: &dyn Fn(&str) -> bool| {
        let (name, releases) = TABLE.iter().find(|(known, _)| *known == name)?;
        let (release, date) = releases.iter().find(|(release, _)| matches(release))?;
        Some(EndedRelease { name, release, date })
    };
    let is_version = |release: &str| {
        version.strip_prefix(release).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if let Some(own) = find(&name, &is_version) {
        return Some(own);
    }
    if image.domain != "docker.io" || !image.path.starts_with("library/") {
        return None;
    }
    tag.split('-').skip(1).find_map(|part| match part.strip_prefix("alpine") {
        Some(version) => find("alpine", &|release| release == version),
        None => {
            let is_name = part.bytes().all(|byte| byte.is_ascii_lowercase());
            let named = |release: &str| is_name && release == part;
            find("debian", &named).or_else(|| find("ubuntu", &named))
        }
    })
}

/// The release whose packages have left the mirrors, as the tag writes it.
pub(crate) fn gone(image: &ImageRef) -> Option<(String, &str)> {
    let name = image.familiar_name();
    let tag = image.tag.as_deref().unwrap_or_default();
    let version = tag.split(['-', '.']).next().unwrap_or_default();
    let is_gone = GONE.iter().any(|(known, tags)| *known == name && tags.contains(&version));
    is_gone.then_some((name, version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_table_ends_after_its_date() {
        for (name, releases) in TABLE {
            for (release, date) in *releases {
                let numbers: Vec<&str> = date.split('-').collect();
                assert!(
                    matches!(numbers[..], [y, m, d] if (y.len(), m.len(), d.len()) == (4, 2, 2))
                );
                assert!(*date <= TABLE_DATE, "{name} {release} {date}");
            }
        }
    }

    #[test]
    fn tags_are_compared_by_whole_numbers() {
        for (image, expected) in [
            ("debian:11", Some("debian 11")),
            ("debian:11.9-slim", Some("debian 11")),
            ("debian:bullseye-20240904", Some("debian bullseye")),
            ("debian:12", None),
            ("python:3.9", Some("python 3.9")),
            ("python:3.9.18-slim", Some("python 3.9")),
            ("python:3.90", None),
            ("python:3", None),
            ("python:3.13-slim-bullseye", Some("debian bullseye")),
            ("node:22-alpine3.18", Some("alpine 3.18")),
            ("node:22-alpine3.22", None),
            ("node:22-bookworm", None),
            ("node:2", None),
            ("alpine:3.2", None),
            ("alpine", None),
            ("ghcr.io/a/python:3.8", None),
            ("a/node:22-bullseye", None),
        ] {
            let image_ref = ImageRef::parse(image).unwrap();
            let found =
                ended(&image_ref).map(|release| format!("{} {}", release.name, release.release));
            assert_eq!(found.as_deref(), expected, "{image}");
        }
    }
}
