//! The configuration of an image: what a container of it starts with, and what a build inherits.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::{Platform, platform::RawPlatform};

/// What a configuration blob says; absent and empty values are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    pub platform: Option<Platform>,
    pub user: Option<String>,
    pub env: Vec<(String, String)>,
    pub shell: Vec<String>,
    pub working_dir: Option<String>,
    pub entrypoint: Vec<String>,
    pub cmd: Vec<String>,
    /// `["NONE"]`, `["CMD", …]` or `["CMD-SHELL", …]`; empty if there is none.
    pub healthcheck: Vec<String>,
    pub volumes: Vec<String>,
    pub exposed_ports: Vec<String>,
    pub on_build: Vec<String>,
}

impl Configuration {
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let raw: RawBlob = serde_json::from_slice(bytes)?;
        let config = raw.config.unwrap_or_default();
        let text = |value: Option<String>| value.filter(|value| !value.is_empty());
        let names = |map: Option<BTreeMap<String, Value>>| {
            map.unwrap_or_default().into_keys().collect::<Vec<_>>()
        };
        let pair = |entry: String| match entry.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => (entry, String::new()),
        };
        Ok(Self {
            platform: raw.platform.platform(),
            user: text(config.user),
            env: config.env.unwrap_or_default().into_iter().map(pair).collect(),
            shell: config.shell.unwrap_or_default(),
            working_dir: text(config.working_dir),
            entrypoint: config.entrypoint.unwrap_or_default(),
            cmd: config.cmd.unwrap_or_default(),
            healthcheck: config.healthcheck.and_then(|check| check.test).unwrap_or_default(),
            volumes: names(config.volumes),
            exposed_ports: names(config.exposed_ports),
            on_build: config.on_build.unwrap_or_default(),
        })
    }
}

#[derive(Deserialize)]
struct RawBlob {
    #[serde(flatten)]
    platform: RawPlatform,
    config: Option<RawConfig>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RawConfig {
    user: Option<String>,
    env: Option<Vec<String>>,
    shell: Option<Vec<String>>,
    working_dir: Option<String>,
    entrypoint: Option<Vec<String>>,
    cmd: Option<Vec<String>>,
    healthcheck: Option<RawHealthcheck>,
    volumes: Option<BTreeMap<String, Value>>,
    exposed_ports: Option<BTreeMap<String, Value>>,
    on_build: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RawHealthcheck {
    test: Option<Vec<String>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_and_missing_values_are_empty() {
        for text in [
            "{}",
            r#"{"os":"","architecture":"","config":null}"#,
            r#"{"config":{"User":"","Env":null,"Healthcheck":null,"Volumes":null,"OnBuild":null}}"#,
        ] {
            let read = Configuration::read(text.as_bytes()).unwrap_or_else(|error| Configuration {
                user: Some(error.to_string()),
                ..Configuration::default()
            });
            assert_eq!(read, Configuration::default(), "{text}");
        }
    }

    #[test]
    fn a_broken_blob_is_an_error_and_not_an_empty_configuration() {
        for text in ["", "[]", r#"{"config":{"Env":"A=1"}}"#, r#"{"config":[1]}"#] {
            assert!(Configuration::read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
