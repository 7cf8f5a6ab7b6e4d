//! Runs the built xtask on workspaces that the tests write.
#![expect(clippy::expect_used, reason = "a fixture that cannot be written ends the test")]

mod arrows;
mod chores;
mod command_line;
mod documents;
mod locks;
mod packages;
mod workspace;
