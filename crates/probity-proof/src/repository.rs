//! The reviewed repository: what git knows of it, its files, and copies of them.

pub(crate) mod confined;
pub(crate) mod copies;
pub(crate) mod git;
pub(crate) mod stamp;
mod tree;

pub use self::tree::{Tree, TreeError};
