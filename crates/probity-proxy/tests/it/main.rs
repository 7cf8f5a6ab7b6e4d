//! The proxy on pipes: an editor that is a test, agents that are threads.

mod bytes;
mod crosswise;
mod ends;
mod hostile;
mod interleaving;
mod paths;
mod schema;
mod sessions;
mod stage;
