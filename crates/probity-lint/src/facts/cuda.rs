//! The official CUDA images: which version of CUDA they have, and how much of it.

use probity_dockerfile::{Base, ImageRef, Stage};

use crate::engine::context::Context;

/// What a CUDA image is made of, by its tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CudaImage {
    pub(crate) flavor: Flavor,
    pub(crate) has_cudnn: bool,
    /// Major and minor, where the tag says so.
    pub(crate) version: Option<Version>,
}

/// `(12, 4)`
pub(crate) type Version = (u32, u32);

/// From the smallest to the largest; each contains the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Flavor {
    Base,
    Runtime,
    Devel,
}

impl CudaImage {
    /// The image that a stage itself starts from, where it is `nvidia/cuda` in every build.
    pub(crate) fn of(stage: &Stage) -> Option<Self> {
        let Base::Image(name) = &stage.base else { return None };
        if !stage.image.is_constant() {
            return None;
        }
        let image = ImageRef::parse(name).ok()?;
        if image.familiar_name() != "nvidia/cuda" {
            return None;
        }
        let tag = image.tag.as_deref().unwrap_or_default();
        let mut parts = tag.split('-');
        let version = parts.next().and_then(dotted);
        let flavors = [("base", Flavor::Base), ("runtime", Flavor::Runtime)];
        let named = flavors.iter().find(|(name, _)| parts.clone().any(|part| part == *name));
        // A tag that names no flavor is that of the largest image.
        let flavor = named.map_or(Flavor::Devel, |(_, flavor)| *flavor);
        Some(Self { flavor, has_cudnn: parts.any(|part| part.starts_with("cudnn")), version })
    }

    /// The image at the bottom of a stage's bases.
    pub(crate) fn below(context: &Context<'_>, stage: &Stage) -> Option<Self> {
        Self::of(context.facts.stages().get(stage.root)?)
    }
}

/// The first two numbers of `12.4.1`.
pub(crate) fn dotted(text: &str) -> Option<Version> {
    let mut numbers = text.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// The version that `cu118` and `cu121` name: the last digit is the minor one.
pub(crate) fn suffix(text: &str) -> Option<Version> {
    let digits = text.strip_prefix("cu")?;
    if digits.len() < 2 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (major, minor) = digits.split_at(digits.len() - 1);
    Some((major.parse().ok()?, minor.parse().ok()?))
}
