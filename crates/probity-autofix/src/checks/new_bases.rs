//! Images that a conversion may build on.

use std::collections::BTreeSet;

use probity_dockerfile::{Base, ImageRef, Stage};

use super::{
    Change, Check, Issue, View,
    base_image::base,
    base_needs::lacks,
    belongings::final_chain,
    commands::{self, Linkage},
    final_image::OLDEST_DEBIAN,
    image_kind::{ImageKind, agree},
};

pub(crate) const NEW_BASE: Check = Check::new("new-base", new_base).heuristic();
pub(crate) const GAINS_NOTHING: Check = Check::new("gains-nothing", gains_nothing).heuristic();

/// Official images that programs run on; a name beside them is more likely a slip than a choice.
const OFFICIAL: &[&str] = &[
    "alpine",
    "almalinux",
    "amazoncorretto",
    "amazonlinux",
    "busybox",
    "caddy",
    "composer",
    "debian",
    "eclipse-temurin",
    "elixir",
    "erlang",
    "fedora",
    "golang",
    "gradle",
    "httpd",
    "ibmjava",
    "jetty",
    "julia",
    "maven",
    "nginx",
    "node",
    "openjdk",
    "perl",
    "php",
    "python",
    "rockylinux",
    "ruby",
    "rust",
    "sapmachine",
    "swift",
    "tomcat",
    "ubuntu",
];

/// Anybody can publish an image; those of the original's own publisher and the well-known ones are
/// the only ones that nobody has to look up.
fn new_base(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let before = change.before.facts.stages();
    let copies = change
        .before
        .file
        .instructions
        .iter()
        .filter_map(|instruction| instruction.flag_value("from"));
    let bases = before.iter().map(|stage| stage.image.pattern());
    let known: BTreeSet<&str> = bases.chain(copies.map(|source| source.text.as_str())).collect();
    let platforms: Vec<_> = before.iter().map(|stage| &stage.platform).collect();
    let olds: Vec<ImageRef> = before
        .iter()
        .filter_map(|stage| match &stage.base {
            Base::Image(name) => ImageRef::parse(name).ok(),
            _ => None,
        })
        .collect();
    let mut issues = Vec::new();
    for stage in change.after.facts.stages() {
        let is_fine = known.contains(stage.image.pattern()) || is_allowed(stage, &olds);
        let is_here = stage.platform.is_none()
            || platforms.contains(&&stage.platform)
            || is_native_builder(change, stage);
        if is_fine && is_here {
            continue;
        }
        let message = if is_fine {
            "a platform that the original does not name must not be chosen".to_owned()
        } else {
            format!(
                "`{}` is neither an image of the original, nor of its namespace, nor an official or \
                 a distroless one by a known name without a new digest",
                stage.image.pattern()
            )
        };
        let issue = change.issue(check, &message);
        issues.push(match stage.image_span {
            Some(span) => issue.at(change.after, span),
            None => issue,
        });
    }
    issues
}

/// `FROM --platform=$BUILDPLATFORM` where what is built is for any machine, or for the target's.
fn is_native_builder(change: &Change<'_>, stage: &Stage) -> bool {
    let after = change.after;
    let is_last = after.facts.final_stage().is_some_and(|last| last.root == stage.root);
    let is_builder = stage
        .platform
        .as_ref()
        .is_some_and(|platform| platform.pattern().contains("BUILDPLATFORM"));
    let is_free = match commands::linkage_of(change) {
        Linkage::Portable => !commands::installs_local_packages(change.before),
        Linkage::Static => {
            after.text.contains("GOARCH=$TARGETARCH") || after.text.contains("GOARCH=${TARGETARCH}")
        }
        Linkage::Native => false,
    };
    is_builder && !is_last && is_free
}

fn is_allowed(stage: &Stage, olds: &[ImageRef]) -> bool {
    match &stage.base {
        Base::Stage(_) | Base::Scratch => true,
        Base::Unknown => false,
        Base::Image(name) => ImageRef::parse(name).is_ok_and(|image| {
            let namespace = |image: &ImageRef| {
                let (namespace, _) = image.path.rsplit_once('/').unwrap_or_default();
                (image.domain.clone(), namespace.to_owned())
            };
            let own = namespace(&image);
            let is_library = own == ("docker.io".to_owned(), "library".to_owned());
            let name = image.path.rsplit('/').next().unwrap_or_default();
            let is_known =
                OFFICIAL.contains(&name) || olds.iter().any(|old| old.path == image.path);
            let is_official = is_library && is_known;
            let is_distroless = own == ("gcr.io".to_owned(), "distroless".to_owned());
            // A registry without namespaces has one publisher.
            let has_namespace = !own.1.is_empty() || own.0 != "docker.io";
            let is_sister =
                olds.iter().any(|old| namespace(old) == own) && has_namespace && !is_library;
            image.digest.is_none() && (is_official || is_distroless || is_sister)
        }),
    }
}

/// A final stage on an image with tools holds all that it held before, unless a RUN brought them and
/// that RUN is not below it. On any other image it gains if nothing is built below it.
fn gains_nothing(check: &Check, change: &Change<'_>) -> Vec<Issue> {
    let stages = change.after.facts.stages();
    let [_, .., last] = stages else { return Vec::new() };
    let old = base(change.before);
    let kind = old.as_deref().and_then(ImageKind::of);
    let new = base(change.after);
    let is_variant = match (&kind, new.as_deref().and_then(ImageKind::of)) {
        (Some(old), Some(new)) => new.name == old.name && new.is_toolchain(),
        _ => false,
    };
    let is_same = old.is_some() && (new == old || is_variant);
    let builds_below = final_chain(change.after).into_iter().any(|index| builds(change, index));
    let is_toolchain = kind.as_ref().is_some_and(ImageKind::is_toolchain);
    let keeps_tools = builds_below || kind.is_none_or(|kind| kind.is_full());
    if is_same && (is_toolchain || (keeps_tools && !leaves_tools_behind(change))) {
        let message = "the final stage is still based on what builds, so nothing is gained";
        let issue = change.issue(check, message);
        return vec![match last.image_span {
            Some(span) => issue.at(change.after, span),
            None => issue,
        }];
    }
    // Another image below the steps that build is another compiler.
    let is_fit = |stage: &&Stage| {
        let root = stages.get(stage.root).map(|root| &root.base);
        let (Some(Base::Image(name)), Some(old)) = (root, &old) else { return false };
        is_same_tools(change, name, old) || is_for_pages(change, stage, name)
    };
    let is_builder = |stage: &&Stage| stage.instructions.clone().any(|index| builds(change, index));
    let is_moved = stages.iter().filter(is_builder).any(|stage| !is_fit(&stage));
    if old.is_none() || (stages.iter().any(|stage| is_fit(&stage)) && !is_moved) {
        return Vec::new();
    }
    vec![change.issue(check, "a stage that builds is not based on the image of the original")]
}

fn builds(change: &Change<'_>, index: usize) -> bool {
    change.after.called(index).iter().any(commands::Called::is_build)
}

/// Whether a stage only runs Node's package managers on Node's image, in a file that installed Node
/// beside another language: the pages that it makes are for browsers.
fn is_for_pages(change: &Change<'_>, stage: &Stage, image: &str) -> bool {
    let old = base(change.before).as_deref().and_then(ImageKind::of);
    let is_other = old.is_some_and(|old| old.language != Some("node"));
    let is_node = ImageKind::of(image).is_some_and(|kind| kind.language == Some("node"));
    let mut called = stage.instructions.clone().flat_map(|index| change.after.called(index));
    is_other && is_node && called.all(|call| call.is_any(commands::NODE_TOOLS))
}

/// Whether an image is a variant of another: the same tools of the same version, and on the same
/// release where what is built depends on that.
fn is_same_tools(change: &Change<'_>, image: &str, old: &str) -> bool {
    if image == old {
        return true;
    }
    let (Some(new), Some(old)) = (ImageKind::of(image), ImageKind::of(old)) else { return false };
    let is_version = match (&new.version, &old.version) {
        (Some(new), Some(old)) => agree(new, old),
        (new, old) => new == old,
    };
    // A tag without a release is that of the latest one.
    let is_release = match (&new.release, &old.release) {
        (Some(new), Some(old)) => agree(new, old),
        (Some(new), None) => new.parse().unwrap_or(OLDEST_DEBIAN) >= OLDEST_DEBIAN,
        (None, _) => true,
    };
    let is_system = new.is_system() && new.distribution == old.distribution;
    let is_distribution = is_release && new.distribution == old.distribution;
    let is_independent = match commands::linkage_of(change) {
        Linkage::Static => old.language == Some("go") && has_all_tools(change, image),
        Linkage::Portable => old.language == Some("java") && has_all_tools(change, image),
        Linkage::Native => false,
    };
    let is_java = new.language == Some("java") && old.language == Some("java");
    let is_variant = (new.name == old.name || is_java) && is_version;
    (is_variant && (is_distribution || is_independent))
        || (is_system && is_distribution && new.release.is_some() && new.release == old.release)
}

/// Whether nothing that steps on an image call is known to be missing in it.
fn has_all_tools(change: &Change<'_>, image: &str) -> bool {
    let after = change.after;
    let installed = commands::installed(after);
    let stages = after.facts.stages();
    let is_on = |stage: &&Stage| matches!(stages.get(stage.root).map(|root| &root.base), Some(Base::Image(name)) if name == image);
    let indices = stages.iter().filter(is_on).flat_map(|stage| stage.instructions.clone());
    let mut called = indices.flat_map(|index| after.called(index));
    called.all(|call| !lacks(image, &call.name) || installed.contains(&call.name))
}

/// Whether an install of build packages of the original is not in the final image.
fn leaves_tools_behind(change: &Change<'_>) -> bool {
    let packages = |view: &View<'_>, chain: Option<Vec<usize>>| -> BTreeSet<String> {
        let is_in = |index: usize| chain.as_ref().is_none_or(|chain| chain.contains(&index));
        let calls = commands::calls(view).filter(|(index, _)| is_in(*index));
        let names = calls.flat_map(|(_, call)| commands::names(call));
        names.filter(|name| commands::is_build_package(name)).collect()
    };
    let left = packages(change.after, Some(final_chain(change.after)));
    packages(change.before, None).iter().any(|name| !left.contains(name))
}
