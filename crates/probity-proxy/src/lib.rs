//! The ACP terminating proxy: an editor on one side, contained agents on the other.
//!
//! **Invariant:** the fields it knows are rewritten in place and everything else, unknown methods
//! and fields included, is forwarded byte for byte.
