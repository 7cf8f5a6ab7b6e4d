//! What is known about the images that most files start from: whether they are root, and which
//! shell they have beside `sh`.
//!
//! Where a registry was asked, its answer counts. Otherwise the names of official images say it, and
//! about others nothing is known.

use probity_dockerfile::{Base, ImageRef, Manager, Os, ShellSource, Stage};

use crate::{engine::context::Context, facts::base_images::BaseConfiguration};

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
    if let Some(base) = configuration(context, instruction)
        && base.shell.first().is_some_and(|program| program.ends_with("bash"))
    {
        return Some(BaseShell::Bash);
    }
    let image = root_image(context, instruction)?;
    let name = image.familiar_name();
    let is_alpine = image.tag.as_deref().is_some_and(|tag| tag.contains("alpine"));
    if name == "alpine" || name == "busybox" {
        return Some(BaseShell::Ash);
    }
    WITH_BASH.contains(&name.as_str()).then_some(if is_alpine {
        BaseShell::Ash
    } else {
        BaseShell::Bash
    })
}

/// Whether an instruction runs as root for certain: `USER` says so, or nobody says otherwise and the
/// image is one that does.
pub(crate) fn is_root(context: &Context<'_>, instruction: usize) -> bool {
    let Some(state) = context.facts.state(instruction) else { return false };
    match state.user.as_deref() {
        Some(user) => {
            let name = user.constant_value().unwrap_or_default();
            let name = name.split(':').next().unwrap_or_default();
            matches!(name, "root" | "0")
        }
        None => match configuration(context, instruction) {
            Some(base) => base.is_root(),
            None => shell(context, instruction).is_some(),
        },
    }
}

/// What the registry says about the image below an instruction's stage. The image of a build argument
/// is not asked about: the build may name another one.
pub(crate) fn configuration<'a>(
    context: &Context<'a>,
    instruction: usize,
) -> Option<&'a BaseConfiguration> {
    let stage = context.facts.stage_of(instruction)?;
    let root = context.facts.stages().get(stage.root)?;
    if !root.image.is_constant() {
        return None;
    }
    context.base_images?.found(root)?.configuration.as_ref()
}

/// Whether the image below an instruction's stage is known to set a working directory.
pub(crate) fn sets_workdir(context: &Context<'_>, instruction: usize) -> bool {
    let directory = configuration(context, instruction).and_then(|it| it.working_dir.as_deref());
    directory.is_some_and(|directory| directory != "/")
}

/// Whether commands in shell form run in the shell of the image below, which is known to have
/// `pipefail`.
pub(crate) fn shell_sets_pipefail(context: &Context<'_>, instruction: usize) -> bool {
    let is_inherited = context
        .facts
        .state(instruction)
        .is_some_and(|state| state.shell.source == ShellSource::Default);
    is_inherited
        && configuration(context, instruction)
            .is_some_and(|base| base.shell.iter().any(|word| word == "pipefail"))
}

/// Official images of systems and languages whose containers start as root, beside those with bash.
const ROOT_IMAGES: &[&str] = &[
    "alpine",
    "archlinux",
    "busybox",
    "clojure",
    "dart",
    "elixir",
    "erlang",
    "gradle",
    "haskell",
    "julia",
    "oven/bun",
    "photon",
    "pypy",
    "r-base",
    "swift",
];

/// Those with bash that are servers: they change their user themselves.
const SERVERS: &[&str] = &["httpd", "mysql", "nginx", "postgres", "redis"];

/// Whether containers of the image below an instruction's stage start as root if nobody says
/// otherwise; not for images that are not known, and for servers that have their own entrypoint.
pub(crate) fn starts_as_root(context: &Context<'_>, instruction: usize) -> bool {
    let stages = context.facts.stages();
    let root = context.facts.stage_of(instruction).and_then(|stage| stages.get(stage.root));
    if root.is_some_and(|root| root.base == Base::Scratch && root.os == Os::Linux) {
        return true;
    }
    if let Some(base) = configuration(context, instruction) {
        if !base.is_root() {
            return false;
        }
        // An entrypoint of the image may change the user itself.
        if base.entrypoint.is_empty() {
            return true;
        }
    }
    let Some(image) = root_image_by_default(context, instruction) else { return false };
    let tag = image.tag.as_deref().unwrap_or_default();
    if ["nonroot", "chiseled", "rootless", "unprivileged"].iter().any(|word| tag.contains(word)) {
        return false;
    }
    let (name, full) = (image.familiar_name(), image.name());
    let last = full.rsplit('/').next().unwrap_or_default();
    match image.domain.as_str() {
        "gcr.io" => image.path.starts_with("distroless/"),
        "mcr.microsoft.com" => image.path.starts_with("dotnet/"),
        "registry.access.redhat.com" => last.starts_with("ubi"),
        "public.ecr.aws" if image.path.starts_with("docker/library/") => is_root_name(last),
        _ => is_root_name(&name),
    }
}

fn is_root_name(name: &str) -> bool {
    ROOT_IMAGES.contains(&name) || WITH_BASH.contains(&name) && !SERVERS.contains(&name)
}

/// The beginnings of the variables that official images set, by the image.
const VARIABLES: &[(&str, &[&str])] = &[
    ("amazoncorretto", &["JAVA_", "LANG"]),
    ("composer", &["COMPOSER_"]),
    ("eclipse-temurin", &["JAVA_", "LANG", "LC_ALL"]),
    ("elixir", &["ELIXIR_", "LANG"]),
    ("erlang", &["OTP_", "REBAR"]),
    ("ghost", &["GHOST_", "NODE_", "YARN_", "GOSU_"]),
    ("golang", &["GOLANG_", "GOPATH", "GOTOOLCHAIN"]),
    ("gradle", &["GRADLE_", "JAVA_"]),
    ("haproxy", &["HAPROXY_"]),
    ("httpd", &["HTTPD_"]),
    ("julia", &["JULIA_"]),
    ("mariadb", &["MARIADB_", "GOSU_", "LANG"]),
    ("maven", &["MAVEN_", "JAVA_"]),
    ("mongo", &["MONGO_", "GOSU_", "HOME"]),
    ("mysql", &["MYSQL_", "GOSU_"]),
    ("nginx", &["NGINX_", "NJS_", "PKG_RELEASE", "DYNPKG_"]),
    ("node", &["NODE_", "YARN_"]),
    ("openjdk", &["JAVA_", "LANG"]),
    ("perl", &["PERL_"]),
    ("php", &["PHP_", "PHPIZE_", "APACHE_", "GPG_KEYS"]),
    ("postgres", &["PG", "GOSU_", "LANG", "POSTGRES_"]),
    ("python", &["PYTHON_", "GPG_KEY", "LANG"]),
    ("rabbitmq", &["RABBITMQ_", "HOME", "LANG"]),
    ("redis", &["REDIS_", "GOSU_"]),
    ("ruby", &["RUBY_", "GEM_", "BUNDLE_", "LANG"]),
    ("rust", &["RUST", "CARGO_HOME"]),
    ("swift", &["SWIFT_"]),
    ("tomcat", &["CATALINA_", "TOMCAT_", "JAVA_", "LD_LIBRARY_PATH"]),
    ("wordpress", &["PHP_", "PHPIZE_", "APACHE_"]),
];

/// Whether the image below an instruction's stage may set a variable: an official image is known to,
/// and about any other image nothing is known unless its registry was asked.
pub(crate) fn may_define(context: &Context<'_>, instruction: usize, variable: &str) -> bool {
    if let Some(base) = configuration(context, instruction) {
        return base.env.iter().any(|(name, _)| name == variable);
    }
    let Some(image) = root_image_by_default(context, instruction) else { return false };
    let name = image.familiar_name();
    if image.domain != "docker.io" || !image.path.starts_with("library/") {
        return true;
    }
    let sets = VARIABLES.iter().find(|(known, _)| *known == name).map(|(_, variables)| *variables);
    sets.unwrap_or_default().iter().any(|beginning| variable.starts_with(beginning))
}

/// The image at the bottom of the stages, by the name that it has in a build without arguments.
pub(crate) fn root_image_by_default(context: &Context<'_>, instruction: usize) -> Option<ImageRef> {
    let stage = context.facts.stage_of(instruction)?;
    own_image_by_default(context.facts.stages().get(stage.root)?)
}

/// The image that a stage itself starts from, by the name that it has in a build without arguments.
pub(crate) fn own_image_by_default(stage: &Stage) -> Option<ImageRef> {
    let Base::Image(name) = &stage.base else { return None };
    if stage.os != Os::Linux {
        return None;
    }
    ImageRef::parse(name).ok()
}

/// Whether instructions install packages from the mirrors of a system, and not from its archive.
pub(crate) fn installs_from_mirrors(
    context: &Context<'_>,
    instructions: std::ops::Range<usize>,
) -> bool {
    const MANAGERS: &[Manager] = &[Manager::AptGet, Manager::Apt, Manager::Yum, Manager::Dnf];
    let scripts = instructions.clone().flat_map(|index| context.scripts(index));
    let mut words = scripts.flat_map(|script| &script.commands).flat_map(|command| &command.words);
    let is_moved = words.any(|word| {
        let value = word.prefix();
        value.contains("vault.centos.org") || value.contains("archive.debian.org")
    });
    let mut calls = instructions.flat_map(|index| context.package_calls(index));
    !is_moved && calls.any(|call| MANAGERS.contains(&call.manager))
}

/// The image at the bottom of the stages, by a name that is the same in every build.
pub(crate) fn root_image(context: &Context<'_>, instruction: usize) -> Option<ImageRef> {
    let stage = context.facts.stage_of(instruction)?;
    let root = context.facts.stages().get(stage.root)?;
    if !root.image.is_constant() {
        return None;
    }
    root_image_by_default(context, instruction)
}
