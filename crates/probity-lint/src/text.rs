//! Edits of the text of a Dockerfile that leave everything else in it as it is.

pub(crate) mod lines;
pub(crate) mod quoting;
pub(crate) mod shell_edits;
pub(crate) mod stage_edits;
