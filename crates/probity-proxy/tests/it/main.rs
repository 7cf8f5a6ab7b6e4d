//! The proxy on pipes: an editor that is a test, agents that are threads.

mod bytes;
mod stage;
