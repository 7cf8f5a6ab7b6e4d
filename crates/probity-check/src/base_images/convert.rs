//! From the answers of a registry to the facts that rules read.

use probity_lint::{BaseConfiguration, BaseImage, TagNow};
use probity_registry::{Configuration, Image, Platform, Question, TagNow as Now};

pub(super) fn answer_of(image: &Image, question: &Question) -> BaseImage {
    BaseImage {
        digest: image.digest.to_string(),
        is_index: image.is_index,
        tag: match &image.tag {
            Some(Now::Names(digest)) => Some(TagNow::Names(digest.to_string())),
            Some(Now::Missing) => Some(TagNow::Missing),
            Some(Now::Unknown) | None => None,
        },
        platforms: image.platforms.iter().map(Platform::to_string).collect(),
        configuration: image.configuration.as_ref().map(|it| configuration_of(it, question)),
    }
}

fn configuration_of(read: &Configuration, question: &Question) -> BaseConfiguration {
    // A configuration without a platform says nothing against the wanted one.
    let fits = |have: &Platform| have.rank_for(&question.platform).is_some();
    BaseConfiguration {
        fits_platform: read.platform.as_ref().is_none_or(fits),
        user: read.user.clone(),
        env: read.env.clone(),
        shell: read.shell.clone(),
        working_dir: read.working_dir.clone(),
        entrypoint: read.entrypoint.clone(),
        cmd: read.cmd.clone(),
        healthcheck: read.healthcheck.clone(),
        volumes: read.volumes.clone(),
        exposed_ports: read.exposed_ports.clone(),
        on_build: read.on_build.clone(),
    }
}
