//! Whether a test takes all of its cases or a sample of them.

use std::env;

/// `script/nightly tests` and `cargo xtask eval` ask for all cases.
pub(crate) fn is_whole() -> bool {
    env::var_os("PROBITY_WHOLE_CORPUS").is_some()
}
