//! Confined reading, and creating, below one root directory.
//!
//! Every room that serves files to an agent reads through here: no escape by `..`, by links or by
//! special files, quotas on size and count, and a policy for sensitive files.
//!
//! **Invariant:** a path outside the root is refused by the kernel, not by comparing strings.
