//! Finds secrets in text; masks, tokenizes and restores them.
//!
//! A [`Detector`] knows the published formats of vendors' tokens, private keys, passwords in
//! addresses, and assignments to names that promise a secret. What it finds is a byte range, never
//! a copy of the value. [`mask_same_length`] is for what is printed; [`tokenize`] and
//! [`Tokenized::restore`] are for what is sent away, edited there, and taken back.
//!
//! **Invariant:** pure, and closed when it fails: a detector that cannot be built is an error for
//! the caller, never "no secrets found". No secret appears in an error or a debug print.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, reason = "probity-secrets is pure"))]

mod assignment;
mod base64;
mod boundary;
mod check;
mod checksum;
mod cloud_key;
mod command_line;
mod detector;
mod entropy;
mod harmless;
mod joined;
mod mask;
mod pem;
mod placeholder;
mod rule;
mod secret;
mod table;
mod tokenize;
mod url;
mod values;

pub use detector::{Detector, DetectorError, FindSecrets, Options};
pub use mask::mask_same_length;
pub use secret::{Confidence, Secret, SecretKind};
pub use table::kinds;
pub use tokenize::{Placed, RestoreError, Token, Tokenized, tokenize};
pub use values::SecretValues;
