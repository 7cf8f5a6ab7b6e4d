//! What the machine says about look-ups: which platform, which proxies.

use std::{collections::BTreeMap, env};

use probity_registry::{Platform, Proxies};

/// What `docker build` would build for without a flag.
pub(super) fn build_platform() -> Platform {
    let named = env::var("DOCKER_DEFAULT_PLATFORM").ok();
    let named = named.as_deref().and_then(Platform::parse);
    named.unwrap_or_else(|| Platform::new("linux", env::consts::ARCH, None))
}

pub(super) fn proxies() -> Proxies {
    let variable = |names: &[&str]| {
        let mut values = names.iter().filter_map(|name| env::var(name).ok());
        values.find(|value| !value.is_empty())
    };
    Proxies {
        // The upper-case form of this one is a header of requests in CGI programs.
        http: variable(&["http_proxy"]),
        https: variable(&["https_proxy", "HTTPS_PROXY"]),
        except: variable(&["no_proxy", "NO_PROXY"]),
    }
}

/// Entries `registry=mirror`; one without a registry is a mirror of Docker Hub.
pub(super) fn mirrors(entries: &[String]) -> BTreeMap<String, Vec<String>> {
    let mut mirrors: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in entries {
        let (registry, mirror) = entry.split_once('=').unwrap_or(("docker.io", entry));
        let host = mirror.trim().trim_start_matches("https://").trim_end_matches('/');
        mirrors.entry(registry.trim().to_owned()).or_default().push(host.to_owned());
    }
    mirrors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_belong_to_a_registry_or_to_docker_hub() {
        let entries = ["https://mirror.example/", "ghcr.io=a.example:5000", "b.example"];
        let made = mirrors(&entries.map(str::to_owned));
        assert_eq!(made["docker.io"], ["mirror.example", "b.example"]);
        assert_eq!(made["ghcr.io"], ["a.example:5000"]);
    }
}
