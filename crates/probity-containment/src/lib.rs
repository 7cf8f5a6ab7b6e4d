//! What a sandboxed session leaves behind, and what of a repository is trusted before it begins.
//!
//! [`Watch`] looks at a workspace before a session and after it: what the host would obey is moved to
//! [`quarantine`] or named. [`RepositoryFile`] tells whether the user trusts a configuration, in its
//! very bytes.
//!
//! **Invariant:** nothing of a workspace is reached through a link that a session could have made.

#![cfg_attr(
    not(test),
    warn(
        clippy::disallowed_methods,
        reason = "the caller prints, and `probity_scope` opens files"
    )
)]

mod implicit;
pub mod quarantine;
mod session;
mod trust;
mod watch;

pub use crate::{
    quarantine::Quarantine,
    session::killed_workspaces,
    trust::{RepositoryFile, Trust, TrustError},
    watch::{Watch, WatchError, make_up},
};
