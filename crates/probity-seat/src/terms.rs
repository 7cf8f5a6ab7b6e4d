//! On which terms processes are sandboxed: the choice of a sandbox, its image, limits and network.

use probity_sandbox::{Allowlist, BackendKind, Limits, Mount, Network, Preference};

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
    Landlock,
    /// Without a sandbox, with all the user's rights.
    None,
}

impl Sandbox {
    /// What is looked for, where `auto` means this order.
    #[must_use]
    pub const fn preference(self, order: Preference) -> Preference {
        match self {
            Self::Auto => order,
            Self::Bubblewrap => Preference::Only(BackendKind::Bubblewrap),
            Self::Docker => Preference::Only(BackendKind::Docker),
            Self::Podman => Preference::Only(BackendKind::Podman),
            Self::Landlock => Preference::Only(BackendKind::Landlock),
            Self::None => Preference::Only(BackendKind::None),
        }
    }
}

/// What the configuration says about sandboxes.
#[derive(Clone, Debug)]
pub struct Terms {
    /// What `auto` stands for.
    pub sandbox: Sandbox,
    /// Absent where nobody names one.
    pub image: Option<String>,
    /// Further variables and mounts of what runs in a workspace.
    pub variables: Vec<(String, String)>,
    pub mounts: Vec<Mount>,
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
            variables: Vec::new(),
            mounts: Vec::new(),
            limits: Limits::usual(),
            network: Network::Open,
            reach: None,
        }
    }
}
