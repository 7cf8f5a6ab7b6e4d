//! Where a process runs: uncontained, in bubblewrap, under Landlock, or in a docker or podman container.
//!
//! Owns process groups, limits, mounts and workspace roots. Neutral to any async runtime: it
//! returns pipes and a handle.
//!
//! **Invariant:** a process started here never outlives the handle, and neither do its children;
//! nothing runs uncontained unless the caller asked for exactly that.
//!
//! What is promised when we are killed with SIGKILL and can do nothing ourselves:
//!
//! | backend | the process | its group | children that left the group and the session |
//! |---|---|---|---|
//! | bubblewrap | dies | dies | die: the pid namespace ends |
//! | landlock | dies | dies | die: no process leaves its domain, and the watchdog ends all in it |
//! | none, cgroups writable | dies | dies | die: the watchdog empties the cgroup |
//! | docker, podman | dies | dies | die: a second `exec` finds them by a mark and kills them |
//! | none otherwise | dies | dies | **survive**: no unprivileged means reaches them |

mod allow;
#[cfg(target_os = "linux")]
mod approximate;
mod backend;
#[cfg(target_os = "linux")]
mod bubblewrap;
mod cgroup;
mod child;
mod choose;
#[cfg(target_os = "linux")]
mod door;
mod engine;
mod error;
mod keeper;
#[cfg(target_os = "linux")]
mod landlock;
mod limits;
mod lookup;
mod own_keys;
mod probe;
mod promises;
mod run;
mod spawner;
mod spec;
#[cfg(target_os = "linux")]
mod system;
mod tool;
mod tree;
mod uncontained;
mod unusable;
mod user;
mod usual;
mod watchdog;
mod workspace;

pub use allow::{AllowError, Allowlist};
pub use backend::{Backend, spawn};
pub use cgroup::abandoned_cgroups;
pub use child::{Child, Exit, LimitedBy, Signal, Usage};
pub use choose::{BackendKind, Choice, Preference, Suits, choose, choose_here, enforces_allowlist};
pub use engine::{Container, Engine, containers, has_container, has_image, remove_container};
pub use error::SpawnError;
pub use own_keys::tool_variables;
pub use probe::{FoundProgram, Machine, find as find_program, look_for, probe};
pub use promises::{Kept, PROMISES, Promise, PromiseName, keeps, promises_table};
pub use run::{Outcome, run};
pub use spec::{Limits, Mount, Network, Spec, Stream, Streams, User};
pub use unusable::{ForbiddingSetting, Unusable};
#[cfg(target_os = "linux")]
pub use workspace::{ByteText, Guard, GuardedEnd, Snapshot};
pub use workspace::{
    HeldTree, Identity, Root, RootError, RootKind, Stray, StrayKind, clean_git_directory,
    clean_worktree, directory_root, harmless_git_settings, is_dot_git, runs_nothing,
    without_commands, workspace_root,
};
