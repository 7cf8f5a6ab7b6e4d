//! Keeps a process that shares the host's network from the host's abstract sockets.
//!
//! Sockets with a name in the file system are hidden with the file system. Abstract ones belong to
//! the network namespace, and behind some of them, such as a desktop's message bus, is the whole
//! session. Landlock can close them. It restricts nothing else here: a ruleset about files would
//! keep `bwrap` from mounting, and mounts contain better.

use std::os::fd::OwnedFd;

use landlock::{
    CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreated, RulesetError, Scope,
};

/// The kernel cannot close them; in words for a report.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("abstract sockets of the host can be reached (they are closed from Linux 6.12 on)")]
pub(crate) struct OpenSockets;

/// The ruleset to submit to.
pub(crate) fn ruleset() -> Result<OwnedFd, OpenSockets> {
    let create = || -> Result<RulesetCreated, RulesetError> {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .scope(Scope::AbstractUnixSocket)?
            .create()
    };
    let descriptor: Option<OwnedFd> = create().ok().and_then(Into::into);
    descriptor.ok_or(OpenSockets)
}
