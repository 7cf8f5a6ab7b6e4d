//! What a stage is for, as far as its name tells.

use probity_dockerfile::Stage;

/// Parts of names that stages for developers and tests have.
const DEVELOPMENT: &[&str] = &["ci", "debug", "dev", "development", "test", "testing"];

/// Whether the name of a stage says that its image is for developers or tests: `dev`, `unit-test`.
pub(crate) fn is_development(stage: &Stage) -> bool {
    let name = stage.key().unwrap_or_default();
    name.split(['-', '_', '.']).any(|part| DEVELOPMENT.contains(&part))
}
