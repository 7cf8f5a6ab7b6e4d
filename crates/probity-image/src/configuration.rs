//! What an image says about how it is started.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::ImageError;

/// The part of an image's configuration that a container gets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    pub entrypoint: Vec<String>,
    pub command: Vec<String>,
    pub environment: BTreeMap<String, String>,
    pub user: String,
    pub directory: String,
    pub volumes: Vec<String>,
    pub ports: Vec<String>,
    pub labels: BTreeMap<String, String>,
    /// As written: `CMD` or `CMD-SHELL` first, then the words.
    pub healthcheck: Vec<String>,
    pub stop_signal: String,
    pub shell: Vec<String>,
    pub on_build: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Inspected {
    id: String,
    #[serde(default)]
    size: u64,
    config: Option<Wire>,
    healthcheck: Option<WireHealth>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct BuildahInspected {
    #[serde(rename = "FromImageID")]
    id: String,
    /// A text in the text.
    manifest: String,
    docker: DockerImage,
}

#[derive(Deserialize)]
struct DockerImage {
    config: Option<Wire>,
}

#[derive(Deserialize)]
struct Manifest {
    layers: Vec<Layer>,
}

#[derive(Deserialize)]
struct Layer {
    size: u64,
}

/// As the engines write it.
#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Wire {
    entrypoint: Option<Vec<String>>,
    cmd: Option<Vec<String>>,
    env: Option<Vec<String>>,
    user: Option<String>,
    working_dir: Option<String>,
    volumes: Option<BTreeMap<String, serde_json::Value>>,
    exposed_ports: Option<BTreeMap<String, serde_json::Value>>,
    labels: Option<BTreeMap<String, String>>,
    healthcheck: Option<WireHealth>,
    stop_signal: Option<String>,
    shell: Option<Vec<String>>,
    on_build: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct WireHealth {
    test: Option<Vec<String>>,
}

/// An image as its engine describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Described {
    pub(crate) id: String,
    pub(crate) size: u64,
    pub(crate) configuration: Configuration,
}

/// Reads the answer of `image inspect`.
pub(crate) fn read(answer: &[u8]) -> Result<Described, ImageError> {
    let images: Vec<Inspected> = serde_json::from_slice(answer)
        .map_err(|error| ImageError::Answer { what: "image inspect", why: error.to_string() })?;
    let image = images.into_iter().next();
    let image = image.ok_or_else(|| ImageError::Answer {
        what: "image inspect",
        why: "it describes no image".to_owned(),
    })?;
    let mut wire = image.config.unwrap_or_default();
    wire.healthcheck = wire.healthcheck.or(image.healthcheck);
    Ok(Described { id: image.id, size: image.size, configuration: of_wire(wire) })
}

/// Reads the answer of `buildah inspect`, which has no size but those of the layers.
pub(crate) fn read_buildah(answer: &[u8]) -> Result<Described, ImageError> {
    let unreadable = |error: serde_json::Error| ImageError::Answer {
        what: "buildah inspect",
        why: error.to_string(),
    };
    let image: BuildahInspected = serde_json::from_slice(answer).map_err(unreadable)?;
    let manifest: Manifest = serde_json::from_str(&image.manifest).map_err(unreadable)?;
    let size = manifest.layers.iter().map(|layer| layer.size).sum();
    let configuration = of_wire(image.docker.config.unwrap_or_default());
    Ok(Described { id: format!("sha256:{}", image.id), size, configuration })
}

/// The triggers in a configuration as images have it.
pub(crate) fn stored_triggers(stored: &[u8]) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Stored {
        config: Option<Wire>,
    }
    let stored: Stored = serde_json::from_slice(stored).ok()?;
    Some(stored.config.and_then(|wire| wire.on_build).unwrap_or_default())
}

fn of_wire(wire: Wire) -> Configuration {
    let health = wire.healthcheck.unwrap_or_default();
    let mut labels = wire.labels.unwrap_or_default();
    labels.retain(|name, _| name != crate::LABEL && !name.starts_with("io.buildah"));
    let pairs = wire.env.unwrap_or_default().into_iter().filter_map(|pair| {
        pair.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))
    });
    Configuration {
        entrypoint: wire.entrypoint.unwrap_or_default(),
        command: wire.cmd.unwrap_or_default(),
        environment: pairs.collect(),
        user: wire.user.unwrap_or_default(),
        directory: wire.working_dir.unwrap_or_default(),
        volumes: wire.volumes.unwrap_or_default().into_keys().collect(),
        ports: wire.exposed_ports.unwrap_or_default().into_keys().collect(),
        labels,
        healthcheck: health.test.unwrap_or_default(),
        stop_signal: wire.stop_signal.unwrap_or_default(),
        shell: wire.shell.unwrap_or_default(),
        on_build: wire.on_build.unwrap_or_default(),
    }
}

impl Configuration {
    /// The words of the first process.
    pub fn start(&self) -> Vec<&str> {
        self.entrypoint.iter().chain(&self.command).map(String::as_str).collect()
    }

    /// Where programs are looked for.
    pub(crate) fn path(&self) -> Vec<&str> {
        const DEFAULT: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        let path = self.environment.get("PATH").map_or(DEFAULT, String::as_str);
        path.split(':').filter(|directory| !directory.is_empty()).collect()
    }

    /// An absolute path, as a process in the container would understand it.
    pub(crate) fn absolute(&self, path: &str) -> String {
        if path.starts_with('/') {
            return path.to_owned();
        }
        format!("/{}/{path}", self.directory.trim_matches('/'))
    }
}
