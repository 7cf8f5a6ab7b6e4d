//! Strangers' text, made fit for a terminal, a report and a prompt.
//!
//! Agents, tests, providers and source files write what they like: escape sequences that repaint
//! the screen, marks that turn the direction of the text around them, characters that nobody sees
//! and a model still reads, and megabytes of it. Every room that hands such text on uses these
//! functions, so that no room forgets one of the cases.
//!
//! - [`stripped`] and [`one_line`] take away what steers or misleads, for texts that are kept.
//! - [`visible`] shows it instead, for reports about the text itself.
//! - [`html`] puts it into a page.
//! - [`runner`] breaks the commands that CI runners obey in the output of a program.
//! - [`beginning`], [`ending`], [`capped`] and [`both_ends`] bound a text.

mod bound;
mod hidden;
pub mod html;
pub mod runner;
mod strip;
pub mod visible;

pub use crate::{
    bound::{beginning, both_ends, capped, ending},
    hidden::is_hidden,
    strip::{one_line, stripped},
};
