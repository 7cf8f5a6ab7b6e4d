//! Why a key does not accept a value. The reader of the file adds the key and its place.

use probity_agent::WordsError;
use probity_sandbox::AllowError;

use super::{
    own_rules::BadOwnRules, runner::BadRunner, secret_mounts::BadSecretMount, word::UnknownWord,
};

#[derive(Debug, thiserror::Error)]
pub(crate) enum BadValue {
    #[error("`{text}` is not {expected}")]
    Text { text: String, expected: String },
    #[error("{number} is not {expected}")]
    Number { number: String, expected: String },
    #[error(transparent)]
    Word(#[from] UnknownWord),
    #[error(transparent)]
    CommandLine(#[from] WordsError),
    #[error("the command names no program")]
    NoProgram,
    #[error(transparent)]
    Glob(#[from] globset::Error),
    #[error("`{0}` is not the name of a variable")]
    Variable(String),
    #[error("`{0}` is not an assignment; write NAME=VALUE")]
    Assignment(String),
    #[error(transparent)]
    Host(#[from] AllowError),
    #[error(transparent)]
    Runner(#[from] BadRunner),
    #[error(transparent)]
    OwnRules(#[from] BadOwnRules),
    #[error(transparent)]
    SecretMount(#[from] BadSecretMount),
    #[error("{}", .0.message())]
    Table(#[from] toml::de::Error),
}
