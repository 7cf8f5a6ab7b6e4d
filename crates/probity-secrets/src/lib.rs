//! Finds secrets in text; masks, tokenizes and restores them.
//!
//! **Invariant:** pure, and closed when it fails: a detector that cannot be built is an error for
//! the caller, never "no secrets found". No secret appears in an error or a debug print.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, reason = "probity-secrets is pure"))]
