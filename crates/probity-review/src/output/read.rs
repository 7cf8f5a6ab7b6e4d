//! Reading a `review.json` that may be older than we are, or written by others.

use serde::{Deserialize, Deserializer};

use super::{Invalid, ReviewOutput};

/// Nobody writes a review of this size; whoever offers one wants our memory.
const MAX_BYTES: usize = 64 << 20;

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("it has {bytes} bytes, the limit is {MAX_BYTES}")]
    TooLarge { bytes: usize },
    #[error("it is not a review: {0}")]
    Json(#[from] serde_json::Error),
    #[error("it is a review of schema {0}, and 1.x is what is understood here")]
    Version(String),
    #[error("it contradicts itself: {0}")]
    Invalid(#[from] Invalid),
}

/// Reads and checks; null stands for an empty list, as Go writes it.
pub fn read(text: &str) -> Result<ReviewOutput, ReadError> {
    if text.len() > MAX_BYTES {
        return Err(ReadError::TooLarge { bytes: text.len() });
    }
    let review: ReviewOutput = serde_json::from_str(text)?;
    if !review.schema_version.starts_with("1.") {
        return Err(ReadError::Version(review.schema_version.chars().take(40).collect()));
    }
    review.validate_foreign()?;
    Ok(review)
}

pub(super) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}
