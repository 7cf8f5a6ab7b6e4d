//! The image below the final stage: what it may be replaced by.

use probity_dockerfile::{Base, ImageRef};

use super::{
    Change, Check, Explained, Issue, View,
    commands::{Linkage, linkage_of},
    image_kind::{ImageKind, agree, release_named},
    slim_packages::copies_machine_code,
};

pub(crate) const MUST_CHANGE_BASE: Check = Check::new("patch/must-change-base", must_change_base);
pub(crate) const BASE_FAMILY: Check = Check::new("base-family", base_family);

/// Releases of Debian, as tags name them behind the variant.
pub(super) const RELEASES: &[&str] = &["buster", "bullseye", "bookworm", "trixie"];

/// Parts of a tag that name a small variant.
const SMALL: &[&str] = &["slim", "alpine", "minimal"];

/// The name of the image at the bottom of the final stage.
pub(crate) fn base(view: &View<'_>) -> Option<String> {
    let root = view.facts.final_stage()?.root;
    match &view.facts.stages().get(root)?.base {
        Base::Image(name) => Some(name.clone()),
        Base::Scratch => Some("scratch".to_owned()),
        Base::Stage(_) | Base::Unknown => None,
    }
}

/// Whether an image holds neither a shell nor the tools of one.
pub(crate) fn is_bare(image: &str) -> bool {
    let is_chainguard = image.starts_with("cgr.dev/chainguard/")
        && !image.contains("-dev")
        && !image.contains("busybox")
        && !image.contains("wolfi-base");
    image == "scratch"
        || image.contains("-chiseled")
        || is_chainguard
        || (is_distroless(image) && !image.contains("debug"))
}

/// The FROM of the image below the final stage.
pub(crate) fn explained(change: &Change<'_>) -> Explained {
    let from = |view: &View<'_>| {
        let root = view.facts.final_stage().and_then(|stage| view.facts.stages().get(stage.root));
        root.map(|stage| stage.instruction).into_iter().collect()
    };
    Explained { before: from(change.before), after: from(change.after) }
}

fn must_change_base(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    if base(change.before) != base(change.after) {
        return Vec::new();
    }
    vec![change.issue(check, "the final stage is still based on the same image")]
}

/// Another image is another program; a small variant of the same version is not.
fn base_family(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let (Some(old), Some(new)) = (base(change.before), base(change.after)) else {
        return vec![
            change.issue(check, "probity cannot determine the base image of the final stage"),
        ];
    };
    if old == new
        || is_matching_distroless(change, &old, &new)
        || is_small_sister(&old, &new)
        || is_run_time(&old, &new)
        || is_slim_of_any_release(change, &old, &new)
    {
        return Vec::new();
    }
    let message = format!(
        "`{new}` is neither a small variant of the same version of `{old}` nor a distroless image"
    );
    vec![change.issue(check, &message)]
}

fn is_distroless(image: &str) -> bool {
    image.starts_with("gcr.io/distroless/")
}

/// A distroless image holds one language or none, and it has to be that of the original.
fn is_matching_distroless(change: &Change<'_>, old: &str, new: &str) -> bool {
    let kinds = (ImageKind::of(old), ImageKind::of(new));
    let versions = kinds.0.and_then(|kind| kind.version).zip(kinds.1.and_then(|kind| kind.version));
    let (Ok(old), Ok(new)) = (ImageRef::parse(old), ImageRef::parse(new)) else { return false };
    let name = old.path.rsplit('/').next().unwrap_or_default();
    let families: &[&str] = match name {
        "python" => &["python3"],
        "node" => &["nodejs"],
        "java" | "openjdk" | "eclipse-temurin" => &["java"],
        "golang" | "rust" => &["static", "base", "cc"],
        "debian" if is_same_release(&old, &new) => match linkage_of(change) {
            Linkage::Static => &["static", "base", "cc"],
            _ => &["base", "cc"],
        },
        _ => &[],
    };
    let image = new.path.strip_prefix("distroless/").unwrap_or_default();
    new.domain == "gcr.io"
        && new.digest.is_none()
        && versions.is_none_or(|(old, new)| agree(&old, &new))
        && families.iter().any(|family| image.starts_with(family))
}

/// Whether two images are on the same release of a distribution, as far as their tags tell.
fn is_same_release(old: &ImageRef, new: &ImageRef) -> bool {
    let release =
        |image: &ImageRef| ImageKind::of(&image.to_string()).and_then(|kind| kind.release);
    release(old).is_some() && release(old) == release(new)
}

/// `eclipse-temurin:21-jre` for `eclipse-temurin:21` and `eclipse-temurin:21-jdk`.
fn is_run_time(old: &str, new: &str) -> bool {
    let (Ok(old), Ok(new)) = (ImageRef::parse(old), ImageRef::parse(new)) else { return false };
    let (old_tag, new_tag) =
        (old.tag.clone().unwrap_or_default(), new.tag.clone().unwrap_or_default());
    let mut parts: Vec<&str> = old_tag.split('-').collect();
    let has_jdk = parts.contains(&"jdk");
    parts.retain(|part| *part != "jdk");
    let Some((version, release)) = parts.split_first() else { return false };
    let mut wanted: Vec<String> = vec![[&[*version, "jre"], release].concat().join("-")];
    if release.is_empty() {
        wanted.extend(["jammy", "noble"].map(|name| format!("{version}-jre-{name}")));
    }
    wanted.push(format!("{version}-jre-alpine"));
    let is_java = ImageKind::of(&old.to_string()).is_some_and(|kind| kind.language == Some("java"));
    // The images of openjdk ended, and those of Temurin follow them.
    let is_successor = old.name() == "docker.io/library/openjdk"
        && new.name() == "docker.io/library/eclipse-temurin";
    is_java
        && (old.name() == new.name() || is_successor)
        && new.digest.is_none()
        && (has_jdk || !old_tag.contains("jre"))
        && wanted.contains(&new_tag)
}

/// `python:3.12-slim` for `python:3.12-bookworm`: it may be on a newer release, which only what was built
/// for the older one would notice.
fn is_slim_of_any_release(change: &Change<'_>, old: &str, new: &str) -> bool {
    let release = RELEASES.iter().find(|release| old.ends_with(&format!("-{release}")));
    let plain = release.and_then(|release| old.strip_suffix(&format!("-{release}")));
    plain.is_some_and(|plain| new == format!("{plain}-slim")) && !copies_machine_code(change.before)
}

/// The same image in the same version: its tag gains a small variant and keeps its other parts. Where the
/// original names no release, the newest ones may be named; and no digest that nobody looked up.
fn is_small_sister(old: &str, new: &str) -> bool {
    let (Ok(old), Ok(new)) = (ImageRef::parse(old), ImageRef::parse(new)) else { return false };
    let old_tag = old.tag.clone().filter(|tag| tag != "latest").unwrap_or_default();
    let new_tag = new.tag.clone().unwrap_or_default();
    let was: Vec<&str> = old_tag.split('-').filter(|part| !part.is_empty()).collect();
    let is: Vec<&str> = new_tag.split('-').collect();
    let is_alpine = |part: &str| {
        let version = part.strip_prefix("alpine");
        version.is_some_and(|version| {
            version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        })
    };
    let is_small = |part: &str| SMALL.contains(&part) || is_alpine(part);
    let has_release = was.iter().any(|part| RELEASES.contains(part));
    let kinds = (ImageKind::of(&old.to_string()), ImageKind::of(&new.to_string()));
    let releases = (kinds.0.and_then(|kind| kind.release), kinds.1.and_then(|kind| kind.release));
    // `python:3.12.4-slim` is on Debian 12 as `python:3.12.4-bookworm` is.
    let is_same_release = releases.0.is_some() && releases.0 == releases.1;
    let is_newest = |part: &str| match &releases.0 {
        Some(release) => release_named(part) == Some(release),
        // The images of openjdk ended before Debian 12.
        None if old.name() == "docker.io/library/openjdk" => !has_release && part == "bullseye",
        None => !has_release && matches!(part, "bookworm" | "trixie"),
    };
    let gains = is.iter().filter(|part| !was.contains(part));
    // Alpine has releases of its own.
    let is_other = is.iter().any(|part| is_alpine(part));
    let losses = was.iter().filter(|part| !is.contains(part));
    old.name() == new.name()
        && new.digest.is_none()
        && was.first().is_none_or(|version| is.first() == Some(version))
        && gains.clone().any(|part| is_small(part))
        && gains.into_iter().all(|part| is_small(part) || is_newest(part))
        && losses.into_iter().all(|loss| {
            // The images of PHP are for the command line unless they say otherwise.
            let is_default = *loss == "cli" && old.name() == "docker.io/library/php";
            is_default || ((is_other || is_same_release) && RELEASES.contains(loss))
        })
}
