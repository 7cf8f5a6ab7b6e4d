//! On which terms processes are sandboxed: the choice of a sandbox, its image, limits and network.

use std::{fmt, str::FromStr};

use probity_sandbox::{Allowlist, Kind, Limits, Network, Preference};

/// The image of a container for which nobody names another.
pub const DEFAULT_IMAGE: &str = "containai:latest";

/// The choices of every `--sandbox` flag, and of the keys that say the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sandbox {
    /// What the caller's policy finds first.
    #[default]
    Auto,
    Bubblewrap,
    Docker,
    Podman,
    /// Without a sandbox, with all the user's rights.
    None,
}

impl Sandbox {
    pub const ALL: [Self; 5] =
        [Self::Auto, Self::Bubblewrap, Self::Docker, Self::Podman, Self::None];

    /// The words, in the order of [`Self::ALL`].
    pub const WORDS: &[&str] = &["auto", "bwrap", "docker", "podman", "none"];

    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Bubblewrap => "bwrap",
            Self::Docker => "docker",
            Self::Podman => "podman",
            Self::None => "none",
        }
    }

    /// What is looked for, where `auto` means this order.
    #[must_use]
    pub const fn preference(self, order: Preference) -> Preference {
        match self {
            Self::Auto => order,
            Self::Bubblewrap => Preference::Only(Kind::Bubblewrap),
            Self::Docker => Preference::Only(Kind::Docker),
            Self::Podman => Preference::Only(Kind::Podman),
            Self::None => Preference::Only(Kind::None),
        }
    }
}

impl fmt::Display for Sandbox {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

impl FromStr for Sandbox {
    type Err = UnknownSandbox;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|sandbox| sandbox.word() == word);
        found.ok_or_else(|| UnknownSandbox(word.to_owned()))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a sandbox (valid: auto, bwrap, docker, podman, none)")]
pub struct UnknownSandbox(String);

/// What the configuration says about sandboxes.
#[derive(Clone, Debug)]
pub struct Terms {
    /// What `auto` stands for.
    pub sandbox: Sandbox,
    /// Absent where nobody names one.
    pub image: Option<String>,
    pub limits: Limits,
    pub network: Network,
    /// With a closed network: the hosts that can be reached all the same.
    pub reach: Option<Allowlist>,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            sandbox: Sandbox::Auto,
            image: None,
            limits: Limits::usual(),
            network: Network::Open,
            reach: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_back() {
        assert_eq!(Sandbox::ALL.map(Sandbox::word), Sandbox::WORDS);
        for sandbox in Sandbox::ALL {
            assert_eq!(sandbox.word().parse(), Ok(sandbox));
        }
        assert!("chroot".parse::<Sandbox>().is_err());
    }
}
