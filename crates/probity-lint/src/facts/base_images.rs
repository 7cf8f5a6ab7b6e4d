//! What registries say about the images that a file starts from.
//!
//! Rules never wait. The caller asks which images matter for a Dockerfile, looks them up, and hands
//! the answers in. An image without an answer is one that nothing is known about.

use std::collections::{BTreeMap, BTreeSet};

use probity_dockerfile::{Base, ImageRef, Stage};

use crate::{BuildUses, Parsed, engine::uses};

/// A Dockerfile that names more is not one that somebody wrote.
const MOST_IMAGES: usize = 64;

/// An image and the platform that it is wanted for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WantedImage {
    /// As a build calls it.
    pub name: String,
    /// None for the platform of the build.
    pub platform: Option<String>,
}

impl WantedImage {
    /// The images that the stages of a file start from in its builds.
    #[must_use]
    pub fn all(parsed: &Parsed<'_>, uses: Option<&BuildUses>) -> BTreeSet<Self> {
        let views = uses::views(parsed, uses, None);
        let stages = views.iter().flat_map(|view| view.facts.stages());
        stages.filter_map(Self::of).take(MOST_IMAGES).collect()
    }

    /// None for stages that start from another stage, from nothing, or from what only the build knows.
    pub(crate) fn of(stage: &Stage) -> Option<Self> {
        let Base::Image(name) = &stage.base else { return None };
        let platform = stage.platform.as_ref().filter(|platform| platform.is_constant());
        Some(Self { name: name.clone(), platform: platform.and_then(|text| text.value.clone()) })
    }
}

/// The answers of registries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaseImages {
    /// The platform that the build is for.
    pub platform: String,
    answers: BTreeMap<WantedImage, ImageAnswer>,
}

/// What a registry says about one image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageAnswer {
    /// The tag or the repository does not exist.
    Missing,
    Found(Box<BaseImage>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaseImage {
    /// The digest that the name means: of the index, if the image has several platforms.
    pub digest: String,
    /// Whether the image has several platforms.
    pub is_index: bool,
    /// What became of the tag of an image that is named by tag and digest.
    pub tag: Option<TagNow>,
    /// The platforms that the image exists for.
    pub platforms: Vec<String>,
    /// None if the image does not exist for the wanted platform.
    pub configuration: Option<BaseConfiguration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagNow {
    /// The digest that the tag names now.
    Names(String),
    Missing,
}

/// What a build inherits from the image; absent and empty values are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BaseConfiguration {
    /// Whether the platform of the configuration is the wanted one, or runs there.
    pub fits_platform: bool,
    pub user: Option<String>,
    pub env: Vec<(String, String)>,
    pub shell: Vec<String>,
    pub working_dir: Option<String>,
    pub entrypoint: Vec<String>,
    pub cmd: Vec<String>,
    /// `["NONE"]`, `["CMD", …]` or `["CMD-SHELL", …]`.
    pub healthcheck: Vec<String>,
    pub volumes: Vec<String>,
    pub exposed_ports: Vec<String>,
    pub on_build: Vec<String>,
}

impl BaseConfiguration {
    /// Whether containers of the image start as root.
    pub(crate) fn is_root(&self) -> bool {
        let user = self.user.as_deref().unwrap_or_default();
        matches!(user.split(':').next(), None | Some("" | "root" | "0"))
    }
}

impl BaseImages {
    #[must_use]
    pub fn new(platform: String) -> Self {
        Self { platform, answers: BTreeMap::new() }
    }

    /// Keeps an answer, also under the name that the image has once it is pinned.
    pub fn insert(&mut self, wanted: WantedImage, answer: ImageAnswer) {
        if let ImageAnswer::Found(image) = &answer
            && let Some(name) = pinned(&wanted.name, &image.digest)
        {
            let tag = Some(TagNow::Names(image.digest.clone()));
            let image = BaseImage { tag, ..BaseImage::clone(image) };
            let wanted = WantedImage { name, ..wanted.clone() };
            self.answers.entry(wanted).or_insert(ImageAnswer::Found(Box::new(image)));
        }
        self.answers.insert(wanted, answer);
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// What is known about the image of a stage that starts from one.
    pub(crate) fn answer(&self, stage: &Stage) -> Option<&ImageAnswer> {
        self.answers.get(&WantedImage::of(stage)?)
    }

    /// The same, if the image exists.
    #[must_use]
    pub fn found(&self, stage: &Stage) -> Option<&BaseImage> {
        match self.answer(stage)? {
            ImageAnswer::Found(image) => Some(image),
            ImageAnswer::Missing => None,
        }
    }
}

/// Whether the image is listed for a platform; one without a variant is any of its variants.
pub(crate) fn exists_for(image: &BaseImage, wanted: &str) -> bool {
    let is_part = |whole: &str, part: &str| {
        whole.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    image.platforms.iter().any(|own| is_part(own, wanted) || is_part(wanted, own))
}

/// The name of an image by tag and digest; none for one that has a digest, or is not a name.
pub(crate) fn pinned(name: &str, digest: &str) -> Option<String> {
    let image = ImageRef::parse(name).ok()?;
    let tag = if image.tag.is_none() { ":latest" } else { "" };
    image.digest.is_none().then(|| format!("{name}{tag}@{digest}"))
}
