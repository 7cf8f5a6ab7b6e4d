//! Certificates, time zones and locales that were there are there.

use super::Pair;
use crate::{Difference, Root};

pub(super) fn check(pair: &Pair<'_>) -> Vec<Difference> {
    let (before, after) = (&pair.original.root, &pair.proposal.root);
    let mut found = Vec::new();
    let mut lost = |what: &'static str, places: &[&str]| {
        let has = |root: &Root, place: &str| {
            let found = root.resolve(place).map(|(path, entry)| (path, entry.size));
            let (path, size) = found.unwrap_or_else(|| (place.to_owned(), 0));
            size > 0 || root.below(&path).next().is_some()
        };
        let was = places.iter().find(|place| has(before, place));
        let is = places.iter().any(|place| has(after, place));
        if let (Some(path), false) = (was, is) {
            found.push(Difference::SharedDataMissing { what, path: format!("/{path}") });
        }
    };
    lost("certificate authorities", CERTIFICATES);
    lost("time zones", &["usr/share/zoneinfo"]);
    let environment = &pair.original.configuration.environment;
    if let Some(zone) = environment.get("TZ") {
        lost("time zone", &[&format!("usr/share/zoneinfo/{zone}")]);
    }
    for variable in ["LC_ALL", "LANG"] {
        let Some(locale) = environment.get(variable) else { continue };
        // As the C library names its directories.
        let (name, set) = locale.split_once('.').unwrap_or((locale, ""));
        let set = set.to_lowercase().replace('-', "");
        let directory = format!("usr/lib/locale/{name}.{set}");
        lost("locale", &[&directory, "usr/lib/locale/locale-archive"]);
    }
    found
}

const CERTIFICATES: &[&str] = &[
    "etc/ssl/certs/ca-certificates.crt",
    "etc/ssl/cert.pem",
    "etc/pki/tls/certs/ca-bundle.crt",
    "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
];
