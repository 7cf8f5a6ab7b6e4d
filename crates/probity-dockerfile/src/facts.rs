//! Placeholder until the facts land in the next merge.

use crate::Dockerfile;

#[derive(Debug)]
pub struct Facts;

impl Facts {
    #[must_use]
    pub fn of(_: &Dockerfile<'_>) -> Self {
        Self
    }
}
