//! What is known about the images that most files start from: whether they are root, and which
//! shell they have beside `sh`.
//!
//! Nothing is looked up; the names of official images say it. About others nothing is known.

use probity_dockerfile::{Base, ImageRef, Os, Stage};

use crate::context::Context;

/// The better shell of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BaseShell {
    Bash,
    /// That of busybox, in images made from Alpine.
    Ash,
}

/// Official images with bash whose user is root, but for tags that say `alpine`.
const WITH_BASH: &[&str] = &[
    "almalinux",
    "amazoncorretto",
    "amazonlinux",
    "buildpack-deps",
    "centos",
    "debian",
    "eclipse-temurin",
    "fedora",
    "gcc",
    "golang",
    "httpd",
    "maven",
    "mysql",
    "nginx",
    "node",
    "openjdk",
    "oraclelinux",
    "perl",
    "php",
    "postgres",
    "python",
    "redis",
    "rockylinux",
    "ruby",
    "rust",
    "tomcat",
    "ubuntu",
];

/// The shell of the image that an instruction's stage starts from in the end; none where the image
/// is not one of those that are known. All that are known run as root.
pub(crate) fn shell(context: &Context<'_>, instruction: usize) -> Option<BaseShell> {
    let image = root_image(context, instruction)?;
    let name = image.familiar_name();
    let is_alpine = image.tag.as_deref().is_some_and(|tag| tag.contains("alpine"));
    if name == "alpine" || name == "busybox" {
        return Some(BaseShell::Ash);
    }
    WITH_BASH.contains(&name.as_str()).then_some(match is_alpine {
        true => BaseShell::Ash,
        false => BaseShell::Bash,
    })
}

/// Whether an instruction runs as root for certain: `USER` says so, or nobody says otherwise and the
/// image is one that does.
pub(crate) fn is_root(context: &Context<'_>, instruction: usize) -> bool {
    let Some(state) = context.facts.state(instruction) else { return false };
    match state.user.as_deref() {
        Some(user) => {
            let name = user.value.as_deref().filter(|_| user.is_constant()).unwrap_or_default();
            let name = name.split(':').next().unwrap_or_default();
            matches!(name, "root" | "0")
        }
        None => shell(context, instruction).is_some(),
    }
}

/// The image at the bottom of the stages, by a name that is the same in every build.
pub(crate) fn root_image(context: &Context<'_>, instruction: usize) -> Option<ImageRef> {
    let stage = context.facts.stage_of(instruction)?;
    let root: &Stage = context.facts.stages().get(stage.root)?;
    let Base::Image(name) = &root.base else { return None };
    let is_certain = root.image.is_constant() && root.os == Os::Linux;
    ImageRef::parse(name).ok().filter(|_| is_certain)
}
