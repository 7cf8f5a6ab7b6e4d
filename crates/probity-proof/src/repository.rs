//! The reviewed repository: what git knows of it, its files, and copies of them.

pub(crate) mod copies;
#[cfg_attr(
    not(test),
    expect(
        clippy::disallowed_methods,
        reason = "the git directory of the reviewed repository is never mounted"
    )
)]
pub(crate) mod git;
pub(crate) mod stamp;
mod tree;

pub use self::tree::{Tree, TreeError};
