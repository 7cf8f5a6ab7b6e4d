//! What `probity check` and the language server do: files found, read, linted and fixed.
//!
//! **Invariant:** no command line and no configuration file is known here. Nothing here prints, and no
//! file of the user is written.

#![cfg_attr(
    not(test),
    warn(
        clippy::disallowed_methods,
        reason = "the caller prints, and `probity_scope` opens files"
    )
)]

pub mod builds;
mod context_files;
pub mod discover;
mod ignore_file;
mod open_texts;
pub mod source;

pub use crate::{
    context_files::read as read_context_files, ignore_file::IgnoreFiles, open_texts::OpenTexts,
};
