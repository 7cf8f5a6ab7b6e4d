//! A control without a run: a test whose failure stands alone in it fails whatever the code does.

use super::runner::{Placed, Trial};

/// Why the failure does not depend on anything, if it does not. Only what is certain is said.
pub(super) fn failure(_runner: &str, _placed: &Placed, _last: &Trial) -> Option<String> {
    None
}
