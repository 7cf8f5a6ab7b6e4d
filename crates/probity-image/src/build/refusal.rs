//! What a file asks of the builder that a proof does not grant, found before the builder sees it.
//!
//! The builder does some work itself, outside of what `RUN` is confined to: it fetches the sources of
//! `ADD`, pulls images and frontends, and mounts what `RUN --mount` names. A file that is not plainly
//! free of that is not built.

use super::{BuildOptions, Variant};
use crate::{
    EngineKind, ImageError, Obstacle, Workbench,
    configuration::Configuration,
    engine::Interrupt,
    recipe::{AddSource, Origin, Recipe, RunFlag},
};

/// BuildKit takes arguments of such a name for itself: one of them replaces the frontend.
const BUILDER_ARGUMENTS: &str = "BUILDKIT_";
/// The frontends that BuildKit has built in, and which therefore do nothing else.
const OFFICIAL_FRONTENDS: [&str; 2] = ["docker/dockerfile", "docker.io/docker/dockerfile"];
const MOUNTS: [&str; 5] = ["bind", "cache", "tmpfs", "secret", "ssh"];

/// The first reason not to build a file.
pub(super) fn refusal(
    bench: &Workbench,
    recipe: &Recipe,
    options: &BuildOptions,
    interrupt: Interrupt<'_>,
) -> Result<Option<Obstacle>, ImageError> {
    if let Some(obstacle) = of_the_text(bench.engine.kind, recipe, options) {
        return Ok(Some(obstacle));
    }
    for image in &recipe.images {
        if !bench.engine.has_image(image, interrupt)? {
            if !options.pull {
                return Ok(Some(Obstacle::MissingImage { image: image.clone() }));
            }
            match pull(bench, image, options, interrupt) {
                Err(ImageError::Refused { why, .. }) => {
                    return Ok(Some(Obstacle::Unpulled { image: image.clone(), why }));
                }
                pulled => pulled?,
            }
        }
        let described = bench.engine.describe(image, interrupt)?;
        let Some(triggers) = bench.engine.triggers(&described, interrupt)? else {
            return Ok(Some(Obstacle::UnknownTriggers { image: image.clone() }));
        };
        let base = Configuration { on_build: triggers, ..described.configuration };
        if let Some(obstacle) = of_a_base(image, &base, recipe, options.network) {
            return Ok(Some(obstacle));
        }
    }
    Ok(None)
}

/// A builder that pulls an image itself obeys its triggers before anybody could have looked at them.
fn pull(
    bench: &Workbench,
    image: &str,
    options: &BuildOptions,
    interrupt: Interrupt<'_>,
) -> Result<(), ImageError> {
    let platform =
        options.variant.platform.as_ref().map(|platform| format!("--platform={platform}"));
    let mut words = vec!["pull"];
    words.extend(platform.as_deref());
    words.push(image);
    bench.engine.must(&words, options.timeout, interrupt).map(drop)
}

fn of_the_text(engine: EngineKind, recipe: &Recipe, options: &BuildOptions) -> Option<Obstacle> {
    let Variant { arguments, .. } = &options.variant;
    if let Some((name, _)) = arguments.iter().find(|(name, _)| name.starts_with(BUILDER_ARGUMENTS))
    {
        return Some(Obstacle::BuilderArgument { name: name.clone() });
    }
    if let Some(flag) = recipe.flags.iter().find(|flag| !is_granted(flag, engine)) {
        let (line, engine) = (flag.line, engine.name());
        return Some(Obstacle::RunFlag { line, flag: shown(flag), engine });
    }
    if let Some(image) = &recipe.frontend {
        if !options.pull {
            return Some(Obstacle::Frontend { image: image.clone() });
        }
        if !options.network && !is_official(image) {
            return Some(Obstacle::ForeignFrontend { image: image.clone() });
        }
    }
    if options.network {
        return None;
    }
    recipe.sources.iter().find_map(|source| {
        let AddSource { line, text, origin } = source;
        let (line, source) = (*line, text.clone());
        match origin {
            Origin::Remote => Some(Obstacle::RemoteSource { line, source }),
            Origin::Unknown => Some(Obstacle::UnknownSource { line, source }),
            Origin::Local { .. } => None,
        }
    })
}

/// What a base image brings into the build: triggers, and variables that win over those of the file.
fn of_a_base(
    image: &str,
    base: &Configuration,
    recipe: &Recipe,
    network: bool,
) -> Option<Obstacle> {
    if let Some(trigger) = base.on_build.iter().find(|trigger| has_flags(trigger)) {
        let (image, trigger) = (image.to_owned(), trigger.clone());
        return Some(Obstacle::TriggerFlags { image, trigger });
    }
    if network {
        return None;
    }
    let is_open = |trigger: &&String| fetches(trigger);
    if let Some(trigger) = base.on_build.iter().find(is_open) {
        let (image, trigger) = (image.to_owned(), trigger.clone());
        return Some(Obstacle::Trigger { image, trigger });
    }
    recipe.sources.iter().find_map(|source| {
        let Origin::Local { variables } = &source.origin else { return None };
        let is_set = variables.iter().any(|name| base.environment.contains_key(name));
        let (line, source) = (source.line, source.text.clone());
        is_set.then_some(Obstacle::UnknownSource { line, source })
    })
}

/// Whether a trigger has a flag, which could name a mount or another image.
fn has_flags(trigger: &str) -> bool {
    trigger.split_whitespace().any(|word| word.starts_with("--"))
}

/// Whether a trigger has the builder fetch something.
fn fetches(trigger: &str) -> bool {
    let mut words = trigger.split_whitespace();
    let is_add = words.next().unwrap_or_default().eq_ignore_ascii_case("ADD");
    is_add && words.any(|word| word.contains('$') || AddSource::is_remote(word))
}

fn is_official(frontend: &str) -> bool {
    let name = frontend.split_once('@').map_or(frontend, |(name, _)| name);
    let name = name.split_once(':').map_or(name, |(name, _)| name);
    OFFICIAL_FRONTENDS.contains(&name)
}

/// Whether a flag of `RUN` takes nothing of the machine. A flag that is not known here is not granted.
fn is_granted(flag: &RunFlag, engine: EngineKind) -> bool {
    match flag.name.as_str() {
        "network" => {
            flag.value.as_deref().is_some_and(|value| ["none", "default"].contains(&value))
        }
        "security" => flag.value.as_deref() == Some("sandbox"),
        "mount" => is_granted_mount(flag, engine),
        _ => false,
    }
}

/// BuildKit confines what a mount names, and has caches of a proof's own by their namespace. Buildah
/// does neither: a link of the context or of a stage leads a bind mount to any directory of the
/// machine, writable too, and so does a cache's id with `..` in it.
fn is_granted_mount(flag: &RunFlag, engine: EngineKind) -> bool {
    let values = |keys: &[&str]| -> Vec<&str> {
        let named = flag.options.iter().filter(|(key, _)| keys.contains(&key.as_str()));
        named.map(|(_, value)| value.as_deref().unwrap_or_default()).collect()
    };
    let kinds = values(&["type"]);
    let kind = match kinds.as_slice() {
        [] => "bind".to_owned(),
        [kind] => kind.to_lowercase(),
        _ => return false,
    };
    if !MOUNTS.contains(&kind.as_str()) {
        return false;
    }
    if !engine.builds_with_buildah() {
        return true;
    }
    match kind.as_str() {
        "bind" => false,
        "cache" => {
            values(&["from", "source", "src"]).is_empty()
                && values(&["id"]).iter().all(|id| is_plain_id(id))
                && values(&["target", "dst", "destination"]).iter().all(|path| is_plain_path(path))
        }
        _ => true,
    }
}

/// One name of a directory.
fn is_plain_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !id.is_empty() && id.bytes().all(is_plain) && !id.starts_with('.')
}

fn is_plain_path(path: &str) -> bool {
    !path.contains('$') && path.split('/').all(|part| part != "..")
}

fn shown(flag: &RunFlag) -> String {
    match &flag.value {
        Some(value) => format!("--{}={value}", flag.name),
        None => format!("--{}", flag.name),
    }
}

#[cfg(test)]
mod tests {
    use std::{path::PathBuf, time::Duration};

    use super::*;

    fn options(network: bool, pull: bool, arguments: &[&str]) -> BuildOptions {
        let arguments = arguments.iter().map(|name| ((*name).to_owned(), String::new())).collect();
        BuildOptions {
            context: PathBuf::from("/"),
            ignore_file: None,
            variant: Variant { arguments, target: None, platform: None },
            network,
            pull,
            timeout: Duration::from_secs(1),
            memory: 1 << 30,
        }
    }

    fn flag(text: &str) -> RunFlag {
        let (name, value) = text.split_once('=').map_or((text, None), |(a, b)| (a, Some(b)));
        let parts = value.into_iter().flat_map(|value| value.split(','));
        let options = parts.map(|part| match part.split_once('=') {
            Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
            None => (part.to_owned(), None),
        });
        let options = options.collect();
        RunFlag { line: 2, name: name.to_owned(), value: value.map(str::to_owned), options }
    }

    #[test]
    fn flags_that_reach_the_machine_are_not_granted() {
        use EngineKind::{Buildah, Docker, Podman};
        for (text, docker, buildah) in [
            ("network=none", true, true),
            ("network=default", true, true),
            ("network=host", false, false),
            ("network=$N", false, false),
            ("network", false, false),
            ("security=sandbox", true, true),
            ("security=insecure", false, false),
            ("device=nvidia.com/gpu", false, false),
            ("new-flag=x", false, false),
            ("mount=type=cache,target=/c", true, true),
            ("mount=type=cache,id=go-build,target=/c", true, true),
            ("mount=type=cache,id=../../../root,target=/c", true, false),
            ("mount=type=cache,id=..,target=/c", true, false),
            ("mount=type=cache,id=$ID,target=/c", true, false),
            ("mount=type=cache,target=../../c", true, false),
            ("mount=type=cache,target=$C", true, false),
            ("mount=type=cache,target=/c,from=a,source=/link", true, false),
            ("mount=type=bind,source=link,target=/x", true, false),
            ("mount=type=bind,from=a,source=/link,target=/x,rw", true, false),
            ("mount=target=/x", true, false),
            ("mount=type=tmpfs,target=/t", true, true),
            ("mount=type=secret,id=s", true, true),
            ("mount=type=ssh", true, true),
            ("mount=type=$T,target=/x", false, false),
            ("mount=type=cache,type=bind,target=/x", false, false),
            ("mount=type=host,target=/x", false, false),
        ] {
            assert_eq!(is_granted(&flag(text), Docker), docker, "{text}");
            assert_eq!(is_granted(&flag(text), Podman), buildah, "{text}");
            assert_eq!(is_granted(&flag(text), Buildah), buildah, "{text}");
        }
    }

    #[test]
    fn a_closed_network_refuses_what_the_builder_would_fetch() {
        let source = |origin| AddSource { line: 3, text: "$URL".to_owned(), origin };
        let with = |origin| Recipe { sources: vec![source(origin)], ..Recipe::default() };
        let judge = |origin, network| {
            of_the_text(EngineKind::Docker, &with(origin), &options(network, false, &[]))
        };
        let (line, text) = (3, "$URL".to_owned());
        let remote = Obstacle::RemoteSource { line, source: text.clone() };
        assert_eq!(judge(Origin::Remote, false), Some(remote));
        let unknown = Obstacle::UnknownSource { line, source: text.clone() };
        assert_eq!(judge(Origin::Unknown, false), Some(unknown.clone()));
        let local = || Origin::Local { variables: vec!["URL".to_owned()] };
        assert_eq!(judge(local(), false), None);
        for origin in [Origin::Remote, Origin::Unknown, local()] {
            assert_eq!(judge(origin, true), None);
        }
        let mut base = Configuration::default();
        assert_eq!(of_a_base("a", &base, &with(local()), false), None);
        base.environment.insert("URL".to_owned(), "http://x/y".to_owned());
        assert_eq!(of_a_base("a", &base, &with(local()), false), Some(unknown));
    }

    #[test]
    fn triggers_of_a_base_image_are_plain_or_refused() {
        for (trigger, is_plain) in [
            ("RUN npm install", true),
            ("COPY . /app", true),
            ("ADD . /app", true),
            ("ADD https://x.invalid/a /a", false),
            ("add $URL /a", false),
            ("ADD git@x.invalid:a/b.git /a", false),
            ("COPY --from=other /a /a", false),
            ("RUN --mount=type=cache,target=/x true", false),
            ("RUN --network=host true", false),
        ] {
            assert_eq!(!has_flags(trigger) && !fetches(trigger), is_plain, "{trigger}");
            let base = Configuration { on_build: vec![trigger.to_owned()], ..Default::default() };
            for network in [false, true] {
                let refused = of_a_base("a", &base, &Recipe::default(), network);
                let is_refused = has_flags(trigger) || fetches(trigger) && !network;
                assert_eq!(refused.is_some(), is_refused, "{trigger}");
            }
        }
    }

    #[test]
    fn arguments_and_frontends_do_not_steer_the_builder() {
        let judge = |recipe: &Recipe, options: &BuildOptions| {
            of_the_text(EngineKind::Docker, recipe, options)
        };
        let none = Recipe::default();
        for name in ["BUILDKIT_SYNTAX", "BUILDKIT_CACHE_MOUNT_NS"] {
            let refused = Obstacle::BuilderArgument { name: name.to_owned() };
            assert_eq!(judge(&none, &options(true, true, &["V", name])), Some(refused));
        }
        assert_eq!(judge(&none, &options(false, false, &["V"])), None);
        for (image, is_official) in [
            ("docker/dockerfile:1", true),
            ("docker.io/docker/dockerfile:1@sha256:0", true),
            ("docker/dockerfile-upstream", false),
            ("x.invalid:5000/docker/dockerfile", false),
        ] {
            let image = image.to_owned();
            let recipe = Recipe { frontend: Some(image.clone()), ..Recipe::default() };
            let refused =
                (!is_official).then(|| Obstacle::ForeignFrontend { image: image.clone() });
            assert_eq!(judge(&recipe, &options(false, true, &[])), refused);
            assert_eq!(judge(&recipe, &options(true, true, &[])), None);
            let refused = Obstacle::Frontend { image };
            assert_eq!(judge(&recipe, &options(true, false, &[])), Some(refused));
        }
    }
}
