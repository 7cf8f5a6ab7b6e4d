//! Which format a file has, by its name.

use std::fmt;

/// The formats that describe builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Compose,
    BakeHcl,
    BakeJson,
}

impl Format {
    /// The format of a file of this name, without its directory. Names of Dockerfiles and of other
    /// YAML, JSON and HCL files give `None`.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let (stem, extension) = name.rsplit_once('.')?;
        let is_compose = |stem: &str| {
            let stem = stem.strip_prefix("docker-").unwrap_or(stem);
            stem == "compose" || stem.starts_with("compose.") || stem.starts_with("compose-")
        };
        let is_bake = stem == "docker-bake"
            || stem.starts_with("docker-bake.")
            || stem.starts_with("docker-bake-");
        match extension {
            "yaml" | "yml" if is_compose(stem) => Some(Self::Compose),
            "hcl" if is_bake => Some(Self::BakeHcl),
            "json" if is_bake => Some(Self::BakeJson),
            _ => None,
        }
    }

    /// The names of files that change the meaning of the file of this name, if they are beside it. Of
    /// each inner list only the first that exists counts. A file that has no default name has none.
    #[must_use]
    pub fn overrides_of(name: &str) -> &'static [&'static [&'static str]] {
        match name {
            "compose.yaml" | "compose.yml" | "docker-compose.yml" | "docker-compose.yaml" => &[&[
                "compose.override.yml",
                "compose.override.yaml",
                "docker-compose.override.yml",
                "docker-compose.override.yaml",
            ]],
            "docker-bake.json" | "docker-bake.hcl" => {
                &[&["docker-bake.override.json"], &["docker-bake.override.hcl"]]
            }
            _ => &[],
        }
    }

    /// The format of a file that the user named, though its name does not say it.
    #[must_use]
    pub fn of_named_file(name: &str) -> Option<Self> {
        Self::of_name(name).or_else(|| match name.rsplit_once('.')?.1 {
            "yaml" | "yml" => Some(Self::Compose),
            "hcl" => Some(Self::BakeHcl),
            _ => None,
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Compose => "services",
            Self::BakeHcl | Self::BakeJson => "targets and groups",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_format() {
        for (name, format) in [
            ("compose.yaml", Some(Format::Compose)),
            ("docker-compose.yml", Some(Format::Compose)),
            ("docker-compose.override.yml", Some(Format::Compose)),
            ("compose-dev.yaml", Some(Format::Compose)),
            ("docker-bake.hcl", Some(Format::BakeHcl)),
            ("docker-bake.override.hcl", Some(Format::BakeHcl)),
            ("docker-bake.json", Some(Format::BakeJson)),
            ("Dockerfile", None),
            ("compose", None),
            ("composer.json", None),
            ("values.yaml", None),
            ("main.hcl", None),
        ] {
            assert_eq!(Format::of_name(name), format, "{name}");
        }
        assert_eq!(Format::of_named_file("stack.yml"), Some(Format::Compose));
        assert_eq!(Format::of_named_file("images.hcl"), Some(Format::BakeHcl));
        assert_eq!(Format::of_named_file("package.json"), None);
        assert_eq!(Format::of_named_file("api.Dockerfile"), None);
    }
}
