//! The proxy on pipes: an editor that is a test, agents that are threads.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod broken;
mod bytes;
mod crosswise;
mod ends;
mod hostile;
mod interleaving;
mod introduction;
mod logins;
mod methods;
mod paths;
mod schema;
mod sessions;
mod stage;
mod strangers;
