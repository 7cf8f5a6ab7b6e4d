//! The release of Debian behind tags of the official images that name none.
//!
//! The publishers stop building a tag with all numbers of a version when the next version is out, so its
//! release stays. Debian 12 became the default of these images in June 2023, Debian 13 in August 2025. Versions
//! that were current while a default changed are left out, and so are tags that move on: `python:3.12`.

type Version = (u32, u32, u32);

/// Images, the first and the last of their versions on a release of Debian, and the release.
const ROWS: &[(&str, Version, Version, &str)] = &[
    ("node", (18, 19, 0), (18, 20, 8), "12"),
    ("node", (20, 9, 0), (20, 19, 3), "12"),
    ("node", (21, 0, 0), (21, 7, 3), "12"),
    ("node", (22, 0, 0), (22, 16, 0), "12"),
    ("node", (23, 0, 0), (23, 11, 1), "12"),
    ("python", (3, 8, 12), (3, 8, 16), "11"),
    ("python", (3, 8, 18), (3, 8, 20), "12"),
    ("python", (3, 9, 7), (3, 9, 16), "11"),
    ("python", (3, 9, 18), (3, 9, 22), "12"),
    ("python", (3, 10, 0), (3, 10, 11), "11"),
    ("python", (3, 10, 13), (3, 10, 17), "12"),
    ("python", (3, 11, 0), (3, 11, 3), "11"),
    ("python", (3, 11, 5), (3, 11, 12), "12"),
    ("python", (3, 12, 0), (3, 12, 10), "12"),
    ("python", (3, 13, 0), (3, 13, 4), "12"),
    ("ruby", (3, 0, 3), (3, 0, 5), "11"),
    ("ruby", (3, 0, 7), (3, 0, 7), "12"),
    ("ruby", (3, 1, 0), (3, 1, 3), "11"),
    ("ruby", (3, 1, 5), (3, 1, 7), "12"),
    ("ruby", (3, 2, 0), (3, 2, 1), "11"),
    ("ruby", (3, 2, 3), (3, 2, 8), "12"),
    ("ruby", (3, 3, 0), (3, 3, 8), "12"),
    ("ruby", (3, 4, 0), (3, 4, 4), "12"),
    ("rust", (1, 72, 0), (1, 87, 0), "12"),
];

/// The release below an image whose tag has all numbers of its version and names no release.
pub(super) fn release(image: &str, version: &str) -> Option<&'static str> {
    let mut numbers = version.split('.').map(str::parse::<u32>);
    // `node:20.14` is one of `20.14.0`, `20.14.1` and so on.
    let (low, high) = match (numbers.next(), numbers.next(), numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch)), None) => {
            ((major, minor, patch), (major, minor, patch))
        }
        (Some(Ok(major)), Some(Ok(minor)), None, None) => {
            ((major, minor, 0), (major, minor, u32::MAX))
        }
        _ => return None,
    };
    let mut rows = ROWS.iter();
    let row = rows.find(|(name, first, last, _)| *name == image && *first <= low && high <= *last);
    row.map(|(.., release)| *release)
}
