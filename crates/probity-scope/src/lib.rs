//! Confined reading, and creating, below one root directory.
//!
//! Every room that serves files to an agent reads through here: no escape by `..`, by links or by
//! special files, quotas on size and count, and a policy for sensitive files and for those that git
//! ignores.
//!
//! **Invariant:** a path outside the root is refused by the kernel, not by comparing strings. A
//! path is resolved once, to a descriptor, and every later question (is it a regular file, how
//! long is it, what is it really called) is put to that descriptor.
//!
//! [`HeldDirectory`] is for directories of ours that sandboxed processes have written to: it gives no
//! path away. [`TreeFile`] is a file below the tree that its name is in. [`open_file`] is for all others.

mod below;
mod create;
mod error;
mod held;
mod ignored;
mod listing;
mod ordinary;
mod policy;
mod resolve;
mod scope;
mod sensitive;
mod stepwise;
mod tracked;
mod tree;

pub use below::are_below;
pub use error::{Named, ScopeError};
pub use held::{
    CopiedLinks, FoundPlace, HeldDirectory, HeldEntry, HeldKind, HeldStat, Missing, PlaceError,
    ReplaceError, WholeFile,
};
pub use ignored::{Ignored, unreadable_patterns};
pub use listing::{Entry, EntryKind, Metadata, Walk, WalkLimits};
pub use ordinary::{MOST_BYTES, open_file, read_file, read_text};
pub use policy::{Policy, Quota};
pub use scope::{Located, Prefix, Scope};
pub use sensitive::{is_sensitive, is_sensitive_directory};
pub use tree::{TreeError, TreeFile, WithoutGit, tree_of};
