//! Manifests and indexes of both dialects, OCI's and Docker's.

use serde::Deserialize;

use crate::{Digest, Platform, platform::RawPlatform};

/// Asked for together: a registry answers 404 for an index that nobody accepts.
pub(crate) const ACCEPT: &str = "application/vnd.oci.image.index.v1+json, \
     application/vnd.docker.distribution.manifest.list.v2+json, \
     application/vnd.oci.image.manifest.v1+json, \
     application/vnd.docker.distribution.manifest.v2+json";

/// More platforms are not an index that somebody made to build from.
const MOST_MANIFESTS: usize = 1_000;

/// What a manifest's content is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Manifest {
    /// Manifests by their platform, in the index's order.
    Index(Vec<(Platform, Digest)>),
    /// The digest of the configuration.
    Image(Digest),
}

/// Why a content is not a manifest.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadManifest {
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("its digest `{0}` is not valid")]
    Digest(String),
    #[error("it has neither a configuration nor a list of manifests")]
    Neither,
    #[error("it has more than {MOST_MANIFESTS} manifests")]
    TooMany,
}

impl Manifest {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, BadManifest> {
        let raw: RawManifest = serde_json::from_slice(bytes)?;
        let digest = |text: String| Digest::parse(&text).ok_or(BadManifest::Digest(text));
        match (raw.manifests, raw.config) {
            (Some(manifests), None) => {
                if manifests.len() > MOST_MANIFESTS {
                    return Err(BadManifest::TooMany);
                }
                let images = manifests.into_iter().filter_map(|manifest| {
                    let platform = manifest.platform.as_ref().and_then(RawPlatform::platform)?;
                    Some(digest(manifest.digest).map(|digest| (platform, digest)))
                });
                Ok(Self::Index(images.collect::<Result<_, _>>()?))
            }
            (None, Some(config)) => Ok(Self::Image(digest(config.digest)?)),
            // A content that can be read as both means one thing to one reader and another to the next.
            (Some(_), Some(_)) | (None, None) => Err(BadManifest::Neither),
        }
    }
}

#[derive(Deserialize)]
struct RawManifest {
    manifests: Option<Vec<RawDescriptor>>,
    config: Option<RawDescriptor>,
}

#[derive(Deserialize)]
struct RawDescriptor {
    digest: String,
    platform: Option<RawPlatform>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn an_index_gives_its_images_and_no_attestations() {
        let text = format!(
            r#"{{"manifests":[
                {{"digest":"{DIGEST}","platform":{{"os":"linux","architecture":"arm64","variant":"v8"}}}},
                {{"digest":"{DIGEST}","platform":{{"os":"unknown","architecture":"unknown"}}}},
                {{"digest":"{DIGEST}"}}]}}"#
        );
        let index = Manifest::read(text.as_bytes()).ok();
        let platform = Platform::new("linux", "arm64", None);
        let expected =
            Digest::parse(DIGEST).map(|digest| Manifest::Index(vec![(platform, digest)]));
        assert_eq!(index, expected);
    }

    #[test]
    fn what_is_neither_or_both_is_refused() {
        let config = format!(r#"{{"config":{{"digest":"{DIGEST}"}},"manifests":[]}}"#);
        for text in ["{}", r#"{"config":{"digest":"sha256:1"}}"#, "[]", &config] {
            assert!(Manifest::read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
